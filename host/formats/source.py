"""A file as JSON: one document, or one value a line. Everything that can be wrong with it is named here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from host.errors import DamagedLine, NotAConversation
from host.formats.found import text_kind, unreadable_kind
from host.formats.reopen import head_of, reopenable
from host.messages.types import JSON

SAMPLE_ROWS = 64  # enough to meet a message behind the summaries that some clients write first
BOM = b"\xef\xbb\xbf"
DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Source:
    """An opened file. ``document`` is its value where the whole file is one, ``sample`` holds its first lines' values.

    ``path`` is its name for titles and errors, ``file`` is where its content lies: another place for a pipe.
    """

    path: Path
    file: Path
    document: object = None
    sample: tuple[object, ...] = ()
    tolerant: bool = False
    damaged: dict[int, str] = field(default_factory=dict)  # lines that a tolerant reading left out, and why

    @property
    def objects(self) -> list[JSON]:
        """The objects in the sample."""
        return [value for value in self.sample if isinstance(value, dict)]

    def values(self) -> Iterator[tuple[int, object]]:
        """Every line's value with its number from 1; blank lines are passed over.

        A line that is no JSON raises ``DamagedLine``; a tolerant source notes it in ``damaged`` and goes on.
        """
        for number, line in _lines(self.file):
            try:
                yield number, parsed(line)
            except Broken as broken:
                self.left_out(number, str(broken))

    def rows(self) -> Iterator[tuple[int, JSON]]:
        """Every line's object; a line that holds another JSON value is damaged too."""
        for number, value in self.values():
            if isinstance(value, dict):
                yield number, value
            else:
                self.left_out(number, no_object(value))

    def left_out(self, number: int, why: str) -> None:
        """Note a line that cannot be used; one that has to be used raises ``DamagedLine``."""
        if not self.tolerant:
            raise DamagedLine(self.path, number, why)
        self.damaged[number] = why


class Broken(Exception):
    """Why a text is not JSON, in one phrase."""


@contextmanager
def open_source(path: Path, *, tolerant: bool = False) -> Iterator[Source]:
    """Look at a file or pipe and say whether it is one JSON document or one value a line.

    The source is good while the ``with`` lasts. Raises ``UsageError`` where it cannot be opened, ``NotAConversation`` where
    it holds no JSON at all, ``DamagedLine`` where it is a JSON document that breaks off.
    """
    with reopenable(path) as file:
        yield _looked_at(path, file, tolerant)


def kind_of(value: object) -> str:
    """What a JSON value is called in an error."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def no_object(value: object) -> str:
    """What is wrong with a line that holds another JSON value."""
    return f"an object is expected, this is {kind_of(value)}"


def _looked_at(path: Path, file: Path, tolerant: bool) -> Source:
    if (kind := unreadable_kind(head_of(path, file))) is not None:
        raise NotAConversation(path, kind)
    first, more = _first_line(file)
    if not first:
        raise NotAConversation(path, "an empty file")
    try:
        value = parsed(first)
    except Broken:
        return _document(path, file, first, tolerant)
    if not isinstance(value, dict | list):
        raise NotAConversation(path, text_kind(first.decode("utf-8", "replace")))
    return Source(path, file, None, _sample(file), tolerant) if more else Source(path, file, value, (value,), tolerant)


def _document(path: Path, file: Path, first: bytes, tolerant: bool) -> Source:
    """The first line is no JSON by itself: a document over several lines, a damaged file, or no JSON."""
    sample = _sample(file)
    if first[:1] not in b"{[":
        if sample and len(sample) * 2 > sum(1 for _ in islice(_lines(file), SAMPLE_ROWS)):
            return Source(path, file, None, sample, tolerant)
        raise NotAConversation(path, text_kind(first.decode("utf-8", "replace")))
    data = file.read_bytes()
    try:
        return Source(path, file, parsed(data), (), tolerant)
    except Broken as broken:
        if any(isinstance(value, dict) for value in sample) and first.startswith(b"{") and len(first) > 1:
            return Source(path, file, None, sample, tolerant)
        raise DamagedLine(path, _line_of(data, broken), str(broken)) from None


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, numbered from 1, without byte order mark and line end."""
    with file.open("rb") as opened:
        for number, line in enumerate(opened, start=1):
            stripped = (line.removeprefix(BOM) if number == 1 else line).strip()
            if stripped:
                yield number, stripped


def _first_line(file: Path) -> tuple[bytes, bool]:
    """The first line that is not blank, and whether another follows."""
    first_two = list(islice(_lines(file), 2))
    return (first_two[0][1] if first_two else b""), len(first_two) > 1


def _sample(file: Path) -> tuple[object, ...]:
    """The objects and lists among the first lines; broken ones are left to the reader."""
    found: list[object] = []
    for _, line in islice(_lines(file), SAMPLE_ROWS):
        try:
            value = parsed(line)
        except Broken:
            continue
        if isinstance(value, dict | list):
            found.append(value)
    return tuple(found)


def parsed(data: bytes) -> object:
    """The JSON value of some bytes; encoded lone surrogates and raw control characters are let through. Raises ``Broken``."""
    try:
        text = data.removeprefix(BOM).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise Broken(f"not UTF-8 text (byte 0x{data[error.start]:02x} at {error.start + 1})") from error
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise Broken(_why(text, error)) from error
    except RecursionError as error:
        raise Broken("nested too deeply") from error
    except ValueError as error:
        raise Broken(f"a number that is too long ({error})") from error


def _why(text: str, error: json.JSONDecodeError) -> str:
    if not text.strip("\0 \r\n"):
        return "nothing but NUL bytes"
    unfinished = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    return "the JSON breaks off before its end" if unfinished else f"not JSON: {error.msg} at column {error.colno}"


def _line_of(data: bytes, broken: Broken) -> int:
    """The line of a document in which it breaks: of a JSON error, or of the bytes that are not UTF-8."""
    cause = broken.__cause__
    if isinstance(cause, json.JSONDecodeError):
        return cause.lineno
    if isinstance(cause, UnicodeDecodeError):
        return data.count(b"\n", 0, cause.start) + 1
    return 1

"""What is to be erased, and how it is recognised wherever it was copied to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from host.messages.searchable import searchable
from host.messages.types import JSON, Message
from host.store.searching.folding import fold
from host.store.titles import base_title

LINE = 12  # characters from which a line of a message gives it away
VALUE = re.compile(r"[^\s\"'`,;()\[\]{}<>|]{6,}")
NAMES = """
    role content name tool_calls tool_call_id tool_name id type function arguments text index image_url url detail input_audio data format
    file file_data file_id filename refusal audio annotations reasoning reasoning_content reasoning_details signature thinking
    cache_control source media_type input is_error tool_use_id summary encrypted_content
"""  # of the fields that messages have: they are nobody's content
FIELDS = frozenset(NAMES.split())
TELLS = re.compile(r"[0-9_@/\\:=#$%-]|[a-z][A-Z]|[^\W\d_]\.[^\W\d_]")  # what makes a token more than a word
MOST_TELLING = 50  # texts by which files are searched for one message: the longest ones
HTML_SAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027"}  # as some writers of JSON spell them


@dataclass(frozen=True)
class Wanted:
    """What to erase. ``marks`` are folded texts, each of which gives the content away.

    ``telling`` are texts that stand in no other message of the archive: whoever holds one of these has it from here.
    """

    marks: tuple[str, ...]
    telling: tuple[str, ...]
    conversation: int | None = None  # the only one to look at, None for all

    def is_in(self, text: str) -> bool:
        """Whether a text holds some of it."""
        folded = fold(text)
        return any(mark in folded for mark in self.marks)

    def is_in_message(self, message: Message) -> bool:
        """Whether a message holds some of it: in what can be searched, in any string of it as it stands, or in a key of its own."""
        return self.is_in("\n".join((*texts_of(message), *keys_in(message))))

    def concerns(self, conversation: int | None) -> bool:
        """Whether a conversation's rows, summaries and documents are looked at."""
        return self.conversation is None or self.conversation == conversation


def wanted_text(text: str) -> Wanted:
    """Everything that holds a text as a literal search finds it, as it stands or written into JSON."""
    marks = tuple(dict.fromkeys(map(fold, spellings(text))))
    return Wanted(marks, marks)


def wanted_message(versions: Iterable[Message], others: Iterable[tuple[Message, bool]], conversation: int) -> Wanted:
    """Everything that quotes a message: a line of it, or a value that no other message of its conversation has.

    ``others`` are the archive's other messages, each with whether it is of the same conversation. What other conversations
    have too gives it away in its own; who holds it elsewhere may have it from them, so it tells nothing of files.
    """
    versions = tuple(versions)
    texts = [text for message in versions for text in texts_of(message)]
    lines = {line for text in texts for line in lines_of(text)}
    keys = [key for message in versions for key in keys_in(message)]
    values = {value for text in (*texts, *keys) for value in values_of(text)}
    only, own_values = lines | values, set(values)
    for other, is_here in others:
        held = {line for text in texts_of(other) for line in lines_of(text)}
        named = {value for text in (*texts_of(other), *keys_in(other)) for value in values_of(text)}
        only -= held | named
        if is_here:
            own_values -= named
    marks = tuple(dict.fromkeys(map(fold, (spelling for mark in (*lines, *own_values) for spelling in spellings(mark)))))
    most = sorted(only, key=len, reverse=True)[:MOST_TELLING]
    telling = tuple(dict.fromkeys(fold(spelling) for mark in most for spelling in spellings(mark)))
    return Wanted(marks, telling, conversation)


def spellings(text: str) -> Iterator[str]:
    """A text as it stands, and as a JSON document, a JSON text inside one or a ``repr`` may spell it."""
    once = dict.fromkeys(
        (text, repr(text)[1:-1], _escaped(text), _escaped(text, ascii_only=True), _escaped(text).replace("/", "\\/"), _html_safe(text))
    )
    yield from once
    yield from dict.fromkeys(_escaped(spelling, ascii_only=ascii_only) for spelling in once for ascii_only in (False, True))


def lines_of(text: str) -> Iterator[str]:
    """The folded lines of a text that are long enough to give it away."""
    return (line for line in map(str.strip, fold(text).splitlines()) if len(line) >= LINE)


def values_of(text: str) -> Iterator[str]:
    """The folded tokens of a text that are more than words: names, numbers, paths, keys."""
    return (fold(found).strip(".:!?*") for found in VALUE.findall(text) if TELLS.search(found))


def is_piece(title: str, texts: Iterable[str]) -> bool:
    """Whether a title, cut or not, is itself a piece of one of these folded texts."""
    piece = fold(base_title(title)).rstrip(".… ")
    return len(piece) >= LINE and any(piece in text for text in texts)


def texts_of(message: Message) -> list[str]:
    """What can be searched in a message, and the strings of it that are not in that."""
    said = searchable(message)
    return [said, *(text for text in strings_in(message) if text not in said)]


def strings_in(value: object) -> Iterator[str]:
    """All strings in a JSON value, at any depth; keys are not among them."""
    return (inner for inner in _values(value) if isinstance(inner, str))


def keys_in(value: object) -> Iterator[str]:
    """The keys in a JSON value, at any depth, but for the names of the fields that messages have."""
    return (key for inner in _values(value) if isinstance(inner, dict) for key in inner if key not in FIELDS)


def _values(value: object) -> Iterator[object]:
    """A JSON value and all values in it."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, dict):
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list | tuple):
            waiting.extend(reversed(value))


def without(document: JSON, wanted: Wanted, note: str) -> JSON:
    """A document in which each string or key that holds some of it is replaced by a note."""
    cleaned: JSON = _without(document, wanted, note)
    return cleaned


def _without(value: object, wanted: Wanted, note: str) -> Any:
    if isinstance(value, str):
        return note if wanted.is_in(value) else value
    if isinstance(value, dict):
        return {_without(key, wanted, note): _without(inner, wanted, note) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without(inner, wanted, note) for inner in value]
    return value


def _escaped(text: str, *, ascii_only: bool = False) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _html_safe(text: str) -> str:
    return "".join(HTML_SAFE.get(char, char) for char in _escaped(text))

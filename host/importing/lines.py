"""A file that grows, line by line from where it was left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from typing import BinaryIO

from host.formats.source import BOM, Broken, no_object, parsed
from host.importing.values import Damage
from host.messages.types import JSON
from host.store.readings import Reading

CHECKED = 1024  # bytes before an offset by which a file is recognised
CHECK_BYTES = 16
CHUNK = 1 << 20
COUNTED, LEAST_COUNTED = 50 << 20, 64 << 10  # bytes of all files, and of each, in which lines are counted: the rest is estimated


class Lines:
    """The objects of a file's lines. ``offset`` and ``line`` are how far it came, ``damaged`` holds what it passed over."""

    def __init__(self, opened: BinaryIO, shown: str, offset: int = 0, line: int = 0) -> None:
        self.offset = offset
        self.line = line
        self.damaged: list[Damage] = []
        self.is_unfinished = False
        self._opened = opened
        self._shown = shown
        opened.seek(offset)

    def __iter__(self) -> Iterator[tuple[int, JSON]]:
        """Objects with their line's number, from 1. A last line without an end counts where it is a whole object, else it waits."""
        for raw in self._opened:
            ended = raw.endswith(b"\n")
            text = (raw.removeprefix(BOM) if self.offset == 0 else raw).strip()
            row = self._object(text, self.line + 1, ended) if text else None
            if row is None and not ended:
                self.is_unfinished = bool(text)
                return
            number = self.line + 1
            self.offset += len(raw)
            self.line += ended
            if row is not None:
                yield number, row

    def pass_over(self, number: int, why: str) -> None:
        """Note a line that holds an object, but not what it should."""
        self.damaged.append(Damage(self._shown, number, why))

    def check(self) -> str:
        """A digest of the bytes before the offset."""
        return check_at(self._opened, self.offset)

    def _object(self, text: bytes, number: int, ended: bool) -> JSON | None:
        try:
            value = parsed(text)
            if isinstance(value, dict):
                return value
            why = no_object(value)
        except Broken as broken:
            why = str(broken)
        if ended:
            self.pass_over(number, why)
        return None


def check_at(opened: BinaryIO, offset: int) -> str:
    """A digest of the bytes right before an offset."""
    begin = max(offset - CHECKED, 0)
    return blake2b(os.pread(opened.fileno(), offset - begin, begin), digest_size=CHECK_BYTES).hexdigest()


def goes_on(opened: BinaryIO, reading: Reading) -> bool:
    """Whether a file is the one that was read, with more behind it or nothing."""
    size = os.fstat(opened.fileno()).st_size
    return size >= reading.offset and check_at(opened, reading.offset) == reading.check


def lines_from(opened: BinaryIO, offset: int, most: int = COUNTED) -> tuple[int, int]:
    """How many lines there are from an offset on, and in how many bytes they were counted; more than ``most`` are estimated by those."""
    size = os.fstat(opened.fileno()).st_size
    ends, at, last = 0, offset, b"\n"
    while at < min(size, offset + most) and (chunk := os.pread(opened.fileno(), min(CHUNK, most), at)):
        ends, at, last = ends + chunk.count(b"\n"), at + len(chunk), chunk
    counted = at - offset
    if at < size and counted:
        return max(round(ends * (size - offset) / counted), 1), counted
    return ends + (not last.endswith(b"\n")), counted

"""A text by its sentences: where they begin and end, without list marks, code fences and other people's words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

LONGEST = 600  # characters; what goes on longer without an end is no sentence
MARK = re.compile(r"\s*(?:(?:[-*+•·・●]|\(?\d{1,2}[.)、)]|#{1,6})\s+|\[[ xX]\]\s+|\d{1,2}[、)])*")
MARKS = frozenset("-*+•·・●(#[0123456789")
"""What a list mark begins with."""
END = re.compile(
    r"""[.!?。！？](?:(?<=[.!?])(?<![.!?].)[.!?]*+["'”’)]*+(?=\s)|(?<=[。！？!?])(?<![。！？!?].)[。！？!?]*+[」』”）]?(?![。！？」』]))"""
)
ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|approx|Mr|Mrs|Ms|Dr|St|No)|(?<!\S)[A-Z])\.$")
LONGEST_ABBREVIATION = len("approx.")
TICKED = re.compile(r"`([^`\n]{1,160})`(?!`)")
FENCE = ("```", "~~~")


class Sentence(NamedTuple):
    """A span of a text."""

    start: int
    end: int
    text: str


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text, rising; a line break ends one, a code fence and a line that quotes hold none."""
    return [sentence for start, line in _spoken_lines(text) for sentence in _of_line(line, start)]


def _spoken_lines(text: str) -> Iterator[tuple[int, str]]:
    fenced, start = False, 0
    for line in text.split("\n"):
        bare = line.lstrip()
        if bare.startswith(FENCE):
            fenced = not fenced
        elif not fenced and bare and not bare.startswith(">"):
            yield start, line
        start += len(line) + 1


def _of_line(line: str, offset: int) -> Iterator[Sentence]:
    start = len(line) - len(line.lstrip())
    if line[start] in MARKS and (mark := MARK.match(line)):
        start = mark.end()
    for stop in [*(end.end() for end in END.finditer(line, start)), len(line)]:
        if stop < len(line) and line[stop - 1] == "." and ABBREVIATED.search(line, max(start, stop - LONGEST_ABBREVIATION), stop):
            continue
        whole = line[start:stop].lstrip()
        bare = whole.rstrip()
        if bare:
            first = offset + stop - len(whole)
            yield Sentence(first, first + len(bare), bare)
        start = stop


class Surroundings:
    """The sentence or line around a place of a text, and the sentence before it in the same text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._sentences = sentences(text)
        self._starts = [sentence.start for sentence in self._sentences]

    def at(self, start: int, end: int) -> tuple[str, int, str]:
        """What stands around a span, the span's place in it, and the sentence before (empty where there is none)."""
        index = bisect_right(self._starts, start) - 1
        if index >= 0 and (here := self._sentences[index]).end >= end and len(here.text) <= LONGEST:
            return here.text, start - here.start, self._sentences[index - 1].text[-LONGEST:] if index else ""
        return self._line(start, end)

    def _line(self, start: int, end: int) -> tuple[str, int, str]:
        first = self._text.rfind("\n", max(0, start - LONGEST // 2), start) + 1 or max(0, start - LONGEST // 2)
        last = self._text.find("\n", end, end + LONGEST // 2)
        return self._text[first : last if last >= 0 else end + LONGEST // 2], start - first, ""


SIGNS = re.compile(r"[{}\[\]=<>|\\(](?:(?<!\()|(?<=\w\())")
OPTION = re.compile(r"\s-{1,2}[a-zA-Z]")
STARTS_RECORD = re.compile(r'"[^"\n]{1,60}"\s?:|\d{1,6}[→\t]|[d-][r-][w-][x-]')
"""The key of a field, the number of a line, the rights of a file."""
COLUMNS = re.compile(r"[^.!?。\s] {2,}\S.*? {2,}\S")
CODE_STARTS = ("#", "//", "$ ", "@@ ", "import ")


def reads_as_prose(line: str) -> bool:
    """Whether a line is words of a person rather than code, a record or a command; what stands in backticks is not looked at."""
    bare = (TICKED.sub("", line) if "`" in line else line).strip()
    if SIGNS.search(bare) or (" " not in bare and bare.isascii()):
        return False
    if STARTS_RECORD.match(bare) or ("  " in bare and COLUMNS.search(bare)):
        return False
    is_import = bare.startswith("from ") and " import " in bare
    is_command = "&&" in bare or (" -" in bare and bare.isascii() and OPTION.search(bare) is not None)
    return not (is_import or is_command or bare.endswith(";") or bare.startswith(CODE_STARTS))

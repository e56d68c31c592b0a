"""Which exact values are worth room where there is little: what was said again and again before what a listing showed once."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from host.messages.facts import Told
from host.messages.facts.fact import LAST_KEPT, RULES, FactKind
from host.messages.facts.sentences import reads_as_prose
from host.messages.reading import call_arguments, call_name, calls_of, parsed_arguments
from host.messages.types import Message, ToolCall
from host.recall.spellings import groups_of, is_part

MOST_OF_A_ROW = 12
"""Values that one row brings: of a file that was read, a log or a specification the rest is opened by its row."""

MOST_OF_A_KIND = {FactKind.id: 8, FactKind.hash: 6, FactKind.quantity: 6, FactKind.date: 4, FactKind.quoted: 12}
"""Values of a kind that logs and code are full of."""

SHORT = 300  # characters up to which an argument is what a tool was asked for; longer ones are contents
WRITES = re.compile(r"(?i)write|edit|patch|create|replace|insert")
WRITTEN_AS = frozenset({"path", "file_path", "filename", "file", "target_file", "notebook_path"})
PATCHED = re.compile(r"\*\*\* (?:Add|Update) File: ([^\n\\\"]+)")

PAIR = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*/[^\W\d_]+(?:-[^\W\d_]+)*")
"""Two words with a slash, as people write alternatives: no path without a dot, a digit, a root or a third part."""

NO_PATH = re.compile(r"/dev/.*|[^./]+(?::\d+)+")
"""The same on every machine, or a word before the numbers of a list."""

RELATIVE = ("./", "../")  # to a file that is not named: imports in code


class Place(IntEnum):
    """Where a value was mentioned, by what that is worth."""

    SHOWN = 1  # in a tool's result, or in code
    MEANT = 2  # in words of the assistant, in what it asked a tool for, as an error
    USERS = 3
    WRITTEN = 4  # as a file that was written or edited


class Mentions:
    """In which rows each value was mentioned."""

    def __init__(self) -> None:
        self._places: defaultdict[str, dict[int, Place]] = defaultdict(dict)

    def hear(self, message: Message, told: Iterable[Told]) -> None:
        """Take in the values of one row."""
        written, asked = _called(message)
        for one in told:
            text = one.fact.text
            places = self._places[text]
            places[one.row] = max(_place(one, written, asked), places.get(one.row, Place.SHOWN))

    def of(self, texts: Iterable[str]) -> Mapping[int, Place]:
        """Rows that mention any of these texts, with the best place in each."""
        found: dict[int, Place] = {}
        for text in texts:
            for row, place in self._places.get(text, {}).items():
                found[row] = max(place, found.get(row, place))
        return found


@dataclass(frozen=True)
class Candidate:
    """A value in the spelling that is to be shown, and all that it was called."""

    told: Told
    spellings: tuple[str, ...]
    worth: int  # of its mentions together: recurrence is the best sign that something matters
    first: int  # row that brought it
    order: int  # in which it was said

    @property
    def rank(self) -> tuple[bool, int, bool, int]:
        """By which candidates are sorted, the best highest."""
        return self.told.role == "user", self.worth, self.told.fact.kind not in LAST_KEPT, self.order


def best_first(holding: Sequence[Told], mentions: Mentions) -> list[Candidate]:
    """The values that are worth room: the user's first, of the others what was said in more messages, then the newest.

    Each once however it is spelled. What one row, or one kind, brings too much of is left out; of the user's it comes last.
    """
    candidates = sorted(_candidates(holding, mentions), key=lambda each: each.rank, reverse=True)
    rows, kinds = Counter[int](), Counter[FactKind]()
    best: list[Candidate] = []
    too_many: list[Candidate] = []
    for each in candidates:
        kind = each.told.fact.kind
        if rows[each.first] < MOST_OF_A_ROW and kinds[kind] < MOST_OF_A_KIND.get(kind, len(candidates)):
            best.append(each)
            rows[each.first] += 1
            kinds[kind] += 1
        elif each.told.role == "user":
            too_many.append(each)
    return best + too_many


def _candidates(holding: Sequence[Told], mentions: Mentions) -> Iterator[Candidate]:
    order = {one.fact.text: index for index, one in enumerate(holding) if one.fact.kind not in RULES}
    values = {one.fact.text: one for one in holding if one.fact.kind not in RULES and _has_meaning(one)}
    for texts in groups_of([(text, _is_path(one)) for text, one in values.items()]):
        places = mentions.of(texts)
        if not (texts[0].startswith(RELATIVE) and set(places.values()) <= {Place.SHOWN}):
            told = _shown([values[text] for text in texts], mentions)
            yield Candidate(told, tuple(texts), sum(places.values()), min(places, default=told.row), order[told.fact.text])


def _is_path(one: Told) -> bool:
    """Also what is like a package's name: that is how a client's user points at files."""
    return one.fact.kind is FactKind.path or one.fact.text.startswith("@")


def _shown(spelled: Sequence[Told], mentions: Mentions) -> Told:
    """The spelling that says most: the user's, where it says more than a bare name; else the one that was used most."""

    def says(one: Told) -> tuple[bool, bool, int, int]:
        text = one.fact.text
        return "/" in text, one.role == "user", len(mentions.of([text])), len(text)

    best = max(spelled, key=says)
    return replace(best, role="user") if any(one.role == "user" for one in spelled) else best


def _has_meaning(one: Told) -> bool:
    """Whether a value says something by itself: not counts and line numbers of tools, alternatives, tags, emphasis."""
    text, kind, before = one.fact.text, one.fact.kind, one.around[max(one.at - 1, 0) : one.at]
    if kind is FactKind.path:
        return not (PAIR.fullmatch(text) or NO_PATH.fullmatch(text) or before == "<")
    if kind is FactKind.quoted and text.isalpha() and text.isupper():
        return before in ("`", '"', "'")
    return one.role != "tool" or not text.isdigit()


def _place(one: Told, written: str, asked: str) -> Place:
    if one.role == "user":
        return Place.USERS
    if one.role == "assistant":
        if one.fact.kind is FactKind.path and is_part(one.fact.text, written):
            return Place.WRITTEN
        if one.fact.text in asked or reads_as_prose(one.around):
            return Place.MEANT
    return Place.MEANT if one.fact.kind is FactKind.error else Place.SHOWN


def _called(message: Message) -> tuple[str, str]:
    """The files that a message writes or edits, and what it asks tools for, in lines."""
    calls = calls_of(message)
    written = [path for call in calls if WRITES.search(call_name(call)) for path in _files_of(call)]
    return "\n".join(written), "\n".join(text for call in calls for text in _short(call))


def _files_of(call: ToolCall) -> list[str]:
    arguments = parsed_arguments(call)
    return [
        *(value for key, value in arguments.items() if key in WRITTEN_AS and isinstance(value, str)),
        *PATCHED.findall(call_arguments(call)),
    ]


def _short(call: ToolCall) -> Iterator[str]:
    for value in parsed_arguments(call).values():
        if isinstance(value, str | int) and len(text := str(value)) <= SHORT:
            yield text

"""Which lines of a linked recording belong together: the live line of it, and branches that were left."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from host.messages.types import JSON

LEFT_BRANCHES = 20  # each repeats what it shares with the live one; older ones are only counted


@dataclass(frozen=True)
class Line:
    """One link of a chain. ``parent`` is empty where none is recorded; ``message``, which has a role, is None where nothing was said."""

    uuid: str
    parent: str
    message: JSON | None = None
    answer: str = ""  # id of the answer that this line is a piece of
    calls: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()
    session: str = ""
    is_error: bool = False
    meanwhile: tuple[object, ...] = ()  # contents that the user said while the answer went on

    @property
    def is_prompt(self) -> bool:
        """Whether somebody says something here, rather than a tool."""
        return self.message is not None and self.message["role"] == "user" and not self.results


def branches(lines: list[Line]) -> list[list[Line]]:
    """The live branch, which ends with the newest message, then the newest left branches in which a prompt was answered.

    Parallel calls fork the chain without being branches: each piece of an answer has its result and the next piece as
    children. So a branch is the path to its end together with all pieces of its answers and the results of their calls.
    """
    chain = _Chain.of(lines)
    found: list[list[Line]] = []
    covered: set[int] = set()
    for end in range(len(lines) - 1, -1, -1):
        if end in covered or lines[end].message is None:
            continue
        fresh = chain.completed(chain.path(end, covered)) - covered
        covered |= fresh
        if not found:
            found.append(chain.at(fresh))
        elif len(found) <= LEFT_BRANCHES and _is_answered(chain.at(fresh)):
            found.append(chain.at(chain.completed(chain.path(end, ()))))
    return found or [[]]


@dataclass(frozen=True)
class _Chain:
    """The lines with what leads from one to another, as places in the list."""

    lines: list[Line]
    parents: list[int]
    pieces: dict[str, list[int]]  # answer -> lines that are pieces of it
    results: dict[str, list[int]]  # call -> lines with its result

    @classmethod
    def of(cls, lines: list[Line]) -> _Chain:
        """Link the lines; one whose parent is not in the file follows the line before it."""
        places = {line.uuid: place for place, line in enumerate(lines)}
        chain = cls(lines, [places.get(line.parent, place - 1) for place, line in enumerate(lines)], {}, {})
        for place, line in enumerate(lines):
            if line.answer:
                chain.pieces.setdefault(line.answer, []).append(place)
            for call in line.results:
                chain.results.setdefault(call, []).append(place)
        return chain

    def path(self, end: int, until: Container[int]) -> set[int]:
        """The way from a line back to the root, or to the first line in ``until``."""
        path: set[int] = set()
        while end >= 0 and end not in path and end not in until:
            path.add(end)
            end = self.parents[end]
        return path

    def completed(self, path: set[int]) -> set[int]:
        """The path with the other pieces of its answers and the results of their calls."""
        answers = {self.lines[place].answer for place in path} - {""}
        pieces = path.union(*(self.pieces[answer] for answer in answers))
        calls = {call for place in pieces for call in self.lines[place].calls}
        return pieces.union(*(self.results.get(call, ()) for call in calls))

    def at(self, places: set[int]) -> list[Line]:
        """The lines at these places, in the order of the file."""
        return [self.lines[place] for place in sorted(places)]


def _is_answered(lines: list[Line]) -> bool:
    first = next((place for place, line in enumerate(lines) if line.is_prompt), len(lines))
    return any(line.message["role"] == "assistant" for line in lines[first:] if line.message)

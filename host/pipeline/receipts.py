"""The receipt of a compaction: what has to be known to the letter of the rows that left the window (design, settle)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from host.messages.facts import FactKind, Told
from host.messages.facts.said import Key


@dataclass(frozen=True)
class Listed:
    """An exact value, or a rule of the user, that stood in a row that left, and what became of it."""

    kind: FactKind
    text: str
    row: int
    role: str
    is_visible: bool  # its text is found in the new window, letter by letter
    replaced_by: Told | None = None  # what took its place since; its own mention where that calls it old and names no other

    @property
    def is_rule(self) -> bool:
        """Whether it is a sentence of the user that binds."""
        return self.kind is FactKind.constraint

    @property
    def is_lost(self) -> bool:
        """Whether it still holds and the window does not say it."""
        return not self.is_visible and self.replaced_by is None

    @property
    def is_replaced(self) -> bool:
        """Whether it is out of the window and no longer holds. Each is one of the three: visible, replaced or lost."""
        return not self.is_visible and self.replaced_by is not None


def listed(left: Iterable[Told], replaced: Mapping[Key, Told], shows: Callable[[str], bool]) -> list[Listed]:
    """The values of every role and the rules of the user in what left, each text once by its newest mention, in row order.

    ``replaced`` says what was replaced by what (``Live.replaced``); ``shows`` whether a text stands in the new window.
    """
    newest = {_key(one): one for one in filter(_counts, left)}
    ordered = sorted(newest.items(), key=lambda item: (item[1].row, item[1].fact.start))
    return [Listed(one.fact.kind, one.fact.text, one.row, one.role, shows(one.fact.text), replaced.get(key)) for key, one in ordered]


def _counts(one: Told) -> bool:
    return one.fact.kind is not FactKind.release and (one.fact.kind is not FactKind.constraint or one.role == "user")


def _key(one: Told) -> Key:
    return one.fact.kind is FactKind.constraint, one.fact.text

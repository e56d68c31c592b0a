"""The account of every row: what the newest view does with it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from host.store.care import Proof
from host.store.sqlite.care.look import FAR, entries_in
from host.store.sqlite.receipts import runs
from host.store.sqlite.views import unfolded

NEWEST = "SELECT upto, entries FROM views WHERE conversation = ? ORDER BY version DESC LIMIT 1"
ROWS = "SELECT position, coalesce(place, position), body IS NULL FROM messages WHERE conversation = ? ORDER BY position"
MADE = "SELECT row, covers FROM made WHERE conversation = ? AND id = ? AND body IS NOT NULL"


@dataclass(frozen=True)
class _Window:
    """What the newest view shows and stands for. ``places`` are those of which it shows some version."""

    upto: int
    shown: frozenset[int]
    covered: frozenset[int]
    places: frozenset[int]


def proofs_of(connection: sqlite3.Connection) -> tuple[Proof, ...]:
    """Per conversation, where each row is."""
    conversations = connection.execute("SELECT id, name FROM conversations ORDER BY id").fetchall()
    return tuple(proof_of(connection, number, name) for number, name in conversations)


def proof_of(connection: sqlite3.Connection, number: int, name: str) -> Proof:
    """Each position of a conversation in exactly one list.

    A summary whose words were erased stands for nothing any more. A new version of a message that the view does not show
    is not represented: the summary was made from the old one.
    """
    rows = connection.execute(ROWS, (number,)).fetchall()
    newest = {place: position for position, place, _ in rows}
    window = _window(connection, number, {position: place for position, place, _ in rows})
    accounts: dict[str, list[int]] = {"shown": [], "covered": [], "superseded": [], "forgotten": [], "not_represented": []}
    for position, place, is_forgotten in rows:
        if is_forgotten:
            accounts["forgotten"].append(position)
        elif newest[place] != position:
            accounts["superseded"].append(position)
        else:
            accounts[_account(window, position, place)].append(position)
    return Proof(name, **{account: runs(positions) for account, positions in accounts.items()})


def _account(window: _Window, position: int, place: int) -> str:
    if position in window.shown or place > window.upto or place in window.places:
        return "shown"
    return "covered" if position in window.covered else "not_represented"


def _window(connection: sqlite3.Connection, number: int, places: dict[int, int]) -> _Window:
    upto, entries = connection.execute(NEWEST, (number,)).fetchone() or (0, "[]")
    listed = list(unfolded(entries_in(entries, max(places, default=0) + FAR)))
    shown = frozenset(position for position, made in listed if not made)
    covered = frozenset(row for _, made in listed if made for row in _stands_for(connection, number, made))
    return _Window(upto, shown, covered, frozenset(places.get(position, position) for position in shown))


def _stands_for(connection: sqlite3.Connection, conversation: int, made: int) -> Iterator[int]:
    row, covers = connection.execute(MADE, (conversation, made)).fetchone() or (None, "[]")
    if row is not None:
        yield row
    for first, stop in json.loads(covers):
        yield from range(first, stop)

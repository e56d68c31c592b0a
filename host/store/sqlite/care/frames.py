"""The check of what stands around the messages: sessions and their segments, views and what they show."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from host.store.care import Finding
from host.store.sqlite.care.look import FAR, Look, entries_in, is_message_text
from host.store.sqlite.views import unfolded

SEGMENTS = (
    "SELECT g.conversation, g.first, g.session, s.conversation FROM segments g LEFT JOIN sessions s ON s.id = g.session ORDER BY g.id"
)
PARENTS = """
SELECT s.name
FROM sessions s
LEFT JOIN sessions p ON p.id = s.parent
WHERE s.parent IS NOT NULL AND (p.id IS NULL OR p.conversation <> s.conversation)
"""
HOMELESS = "SELECT name FROM sessions WHERE conversation NOT IN (SELECT id FROM conversations)"
VIEWS = """
SELECT v.conversation, v.version, v.upto, v.entries, v.undoes, s.conversation
FROM views v
LEFT JOIN sessions s ON s.id = v.session
ORDER BY v.conversation, v.version
"""


def check_sessions(look: Look) -> Iterator[Finding]:
    """Sessions belong to conversations, and every position to a session."""
    for (name,) in look.connection.execute(HOMELESS).fetchall():
        yield Finding(f"session {name}", "its conversation is not there")
    for (name,) in look.connection.execute(PARENTS).fetchall():
        yield Finding(f"session {name}", "its parent is not a session of its conversation")
    look.counts["sessions"] = look.connection.execute("SELECT count(*) FROM sessions").fetchone()[0]
    reached: dict[int, int] = {}
    for conversation, first, session, of in look.connection.execute(SEGMENTS).fetchall():
        name = look.name_of(conversation)
        if of != conversation:
            yield Finding(f"{name}:{first}", f"from here on messages belong to session number {session}, which is not of this conversation")
        yield from _fault_of_segment(look, conversation, first, reached.get(conversation))
        reached[conversation] = first
    for conversation, name in look.conversations():
        if look.lengths.get(conversation) and conversation not in reached:
            yield Finding(f"{name}:1", "its messages belong to no session")


def _fault_of_segment(look: Look, conversation: int, first: int, before: int | None) -> Iterator[Finding]:
    name, last = look.name_of(conversation), look.lengths.get(conversation, 0)
    if before is None and first != 1:
        yield Finding(f"{name}:1", f"its first session begins at position {first}")
    if before is not None and first < before:
        yield Finding(f"{name}:{first}", "a later session begins before an earlier one")
    if first > last + 1:
        yield Finding(f"{name}:{last + 1}", f"rows are gone: a session begins at position {first}")


@dataclass(frozen=True)
class _View:
    name: str
    conversation: int
    version: int
    upto: int
    entries: str
    undoes: int | None
    most: int  # rows that there are, by far

    @property
    def where(self) -> str:
        return f"{self.name} view {self.version}"

    @cached_property
    def shown(self) -> Sequence[tuple[int, int]]:
        """Position and number of made message per entry; ValueError, TypeError for what is no list of entries."""
        return list(unfolded(entries_in(self.entries, self.most)))


def check_views(look: Look) -> Iterator[Finding]:
    """Versions follow each other, what they show exists, and no row is covered twice."""
    made = dict(_made(look.connection))
    before: dict[int, int] = {}
    most = look.total + FAR
    for conversation, version, upto, entries, undoes, session_of in look.connection.execute(VIEWS).fetchall():
        view = _View(look.name_of(conversation), conversation, version, upto, entries, undoes, most)
        yield from _missing_versions(look, view, range(before.get(conversation, 0) + 1, version))
        if session_of != conversation:
            yield Finding(view.where, "its session is not of its conversation")
        yield from (Finding(*fault) for fault in _faults_of_view(look, view, made))
        before[conversation] = version
        look.counts["views"] += 1
    look.counts["made messages"] = len(made)
    for number, body in look.connection.execute("SELECT id, body FROM made WHERE body IS NOT NULL"):
        if not is_message_text(body):
            yield Finding(f"made message {number}", "its text cannot be read")


def _missing_versions(look: Look, view: _View, missing: range) -> Iterator[Finding]:
    if len(missing) > FAR:  # the number of the version itself must be wrong
        yield Finding(view.where, f"{len(missing)} versions before it are not there")
        return
    for version in missing:
        if f"{view.name} {version}" not in look.holes.views:
            yield Finding(f"{view.name} view {version}", "this version is gone and no receipt says why")


def _faults_of_view(look: Look, view: _View, made: dict[int, tuple[int, Any]]) -> Iterator[tuple[str, str]]:
    last = look.lengths.get(view.conversation, 0)
    if view.upto > last:
        yield f"{view.name}:{last + 1}", f"rows are gone: view {view.version} goes up to position {view.upto}"
    if view.undoes is not None and not 0 < view.undoes < view.version:
        yield view.where, f"it undoes version {view.undoes}, which is not before it"
    try:
        shown = view.shown
    except (ValueError, TypeError):
        yield view.where, "its entries cannot be read"
        return
    for position, number in shown:
        if position > last:
            yield f"{view.name}:{position}", f"the row is gone: view {view.version} shows it"
        elif not position and made.get(number, (None, None))[0] != view.conversation:
            yield view.where, f"it shows made message {number}, which is not there"
    yield from _faults_of_covers(view, last, [made[number][1] for _, number in shown if number in made])


def _faults_of_covers(view: _View, last: int, covers: Sequence[Any]) -> Iterator[tuple[str, str]]:
    if any(spans is None for spans in covers):
        yield view.where, "what a made message of it covers cannot be read"
        return
    reached = 0
    for first, stop in sorted((first, stop) for spans in covers for first, stop in spans):
        if first < 1 or stop <= first:
            yield view.where, f"a made message covers positions {first} to {stop - 1}"
        elif stop - 1 > last:
            yield f"{view.name}:{last + 1}", f"rows are gone: a made message of view {view.version} covers position {stop - 1}"
        if first < reached:
            yield f"{view.name}:{first}", f"two made messages of view {view.version} cover it"
        reached = max(reached, stop)


def _made(connection: sqlite3.Connection) -> Iterator[tuple[int, tuple[int, Any]]]:
    """Conversation and covers of each made message; the covers are None where they cannot be read."""
    for number, conversation, covers in connection.execute("SELECT id, conversation, covers FROM made"):
        try:
            yield number, (conversation, [(int(first), int(stop)) for first, stop in json.loads(covers)])
        except (ValueError, TypeError):
            yield number, (conversation, None)

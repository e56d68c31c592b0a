"""The versions of what a model sees: published with compare-and-swap, never changed, and taken back by a new version."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from hashlib import sha256

from host.errors import NotStorable, Outrun
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.store.kept import UNSTORABLE, bytes_to_keep, damaged, erased
from host.store.lineage import handed_over
from host.store.sqlite.archive import number_of, still_there
from host.store.sqlite.bodies import Unreadable, message_in
from host.store.sqlite.connection import Connection
from host.store.sqlite.leases import still_held
from host.store.sqlite.sessions import OPEN, end_session, go_on_in, rotated
from host.store.sqlite.states import save_state
from host.store.times import from_microseconds, microseconds
from host.store.undoing import Undoing, Version, refuse_unknown_rows, to_undo
from host.store.values import COMPRESSION, UNDONE, Lease, Publication, Published

NOBODY = "user"  # the role of a message of which nobody knows it: a window may hold it anywhere
VIEWS = """
SELECT v.version, s.name, v.time, v.upto, v.entries, v.engine, v.trigger, v.receipt, v.undoes
FROM views v
JOIN sessions s ON s.id = v.session
"""
INSERT = """
INSERT INTO views (conversation, version, session, time, upto, entries, engine, trigger, receipt, undoes, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


class SqliteViews:
    """The views of one conversation (protocol Views)."""

    def __init__(self, connection: Connection, conversation: str) -> None:
        self._connection = connection
        self._name = conversation
        self._number = number_of(connection, conversation)

    def current(self) -> Published | None:
        """The newest version, None while the window is the archive itself."""
        found = self._read("ORDER BY v.version DESC LIMIT 1")
        return found[0] if found else None

    def version(self) -> int:
        """The number of the newest version, 0 while there is none."""
        newest: int = self._connection.value("SELECT coalesce(max(version), 0) FROM views WHERE conversation = ?", (self._number,))
        return newest

    def publish(self, publication: Publication, *, expected: int, lease: Lease | None = None) -> Published:
        """Make a view the newest, with its made messages, receipt and state, in one transaction."""
        with self._connection.writing() as connection:
            self._check(connection, expected, lease)
            last = self._last(connection)
            refuse_unknown_rows(publication, last)
            session = connection.execute(OPEN, (self._number,)).fetchone()[0]
            if publication.rotate:
                session = rotated(connection, self._number, first=last + 1)
            entries = [self._written(connection, entry, publication.engine) for entry in publication.ledger]
            values = (
                *(self._number, expected + 1, session, microseconds(), publication.upto, json.dumps(folded(entries))),
                *(publication.engine, publication.trigger, json.dumps(publication.receipt), None),
            )
            state = None if publication.state is None else json.dumps(publication.state)
            connection.execute(INSERT, (*values, state))
            if publication.state is not None:
                save_state(connection, self._number, publication.engine, publication.state)
            return self._written_as(connection, expected + 1)

    def undo(self, *, expected: int) -> Published:
        """Publish the version before the newest compaction again; a rotation is taken back with it."""
        with self._connection.writing() as connection:
            self._check(connection, expected, None)
            undoing = self._to_undo(connection)
            undone, before, state = undoing.undone, undoing.before, undoing.state
            session = before.session if before else self._parent_of(connection, undone.session) or undone.session
            if session != undone.session:
                self._reopen(connection, session, undone.session)
            upto, entries = (before.upto, before.entries) if before else (0, "[]")
            values = (self._number, expected + 1, session, microseconds(), upto, entries, undone.engine, "undo", "{}", undone.version)
            connection.execute(INSERT, (*values, state))
            if state is not None:
                save_state(connection, self._number, undone.engine, json.loads(state))
            return self._written_as(connection, expected + 1)

    def history(self) -> list[Published]:
        """All versions, oldest first."""
        return self._read("ORDER BY v.version")

    def _written_as(self, connection: sqlite3.Connection, version: int) -> Published:
        """A version as everybody reads it, while nobody can write another."""
        return self._read_in(connection, f"AND v.version = {version}")[0]

    def _check(self, connection: sqlite3.Connection, expected: int, lease: Lease | None) -> None:
        still_there(connection, self._number, self._name)
        newest = connection.execute("SELECT coalesce(max(version), 0) FROM views WHERE conversation = ?", (self._number,)).fetchone()[0]
        if newest != expected:
            raise Outrun(f"version {newest} is there, version {expected} was expected")
        if lease is not None and not still_held(connection, lease):
            raise Outrun("the lease passed to another")

    def _last(self, connection: sqlite3.Connection) -> int:
        last: int = connection.execute(
            "SELECT coalesce(max(position), 0) FROM messages WHERE conversation = ?", (self._number,)
        ).fetchone()[0]
        return last

    def _to_undo(self, connection: sqlite3.Connection) -> Undoing:
        asked = "SELECT version, session, upto, entries, undoes, engine, state, trigger FROM views WHERE conversation = ? ORDER BY version"
        return to_undo([Version(*found) for found in connection.execute(asked, (self._number,))])

    def _parent_of(self, connection: sqlite3.Connection, session: int) -> int | None:
        parent: int | None = connection.execute("SELECT parent FROM sessions WHERE id = ?", (session,)).fetchone()[0]
        return parent

    def _reopen(self, connection: sqlite3.Connection, parent: int, child: int) -> None:
        """The parent goes on, the child ends; title and settings move back."""
        name, title, settings = connection.execute("SELECT name, title, settings FROM sessions WHERE id = ?", (child,)).fetchone()
        kept, taken = handed_over(json.loads(settings))
        connection.execute("UPDATE sessions SET settings = ? WHERE id = ?", (json.dumps(taken), parent))
        connection.execute("UPDATE sessions SET settings = ? WHERE id = ?", (json.dumps(kept), child))
        connection.execute("UPDATE sessions SET ended = NULL, end_reason = NULL WHERE id = ? AND end_reason = ?", (parent, COMPRESSION))
        end_session(connection, name, UNDONE)
        had = connection.execute("SELECT title FROM sessions WHERE id = ?", (parent,)).fetchone()[0]
        if had is None and title is not None:
            connection.execute("UPDATE sessions SET title = NULL WHERE id = ?", (child,))
            connection.execute("UPDATE sessions SET title = ? WHERE id = ?", (title, parent))
        go_on_in(connection, self._number, parent, self._last(connection) + 1)

    def _written(self, connection: sqlite3.Connection, entry: Entry, by: str) -> list[int]:
        """An entry as the table holds it: [position] of an original, [0, number] of a made message."""
        if entry.kind is Kind.ORIGINAL and entry.row is not None:
            return [entry.row]
        body = _bytes(entry)
        covers = json.dumps([[span.start, span.stop] for span in entry.covers])
        content = sha256(f"{entry.kind} {entry.row} {covers} ".encode() + body).digest()
        known = connection.execute("SELECT id FROM made WHERE conversation = ? AND content = ?", (self._number, content)).fetchone()
        if known is None:
            known = (
                connection.execute(
                    "INSERT INTO made (conversation, kind, row, covers, by, content, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (self._number, str(entry.kind), entry.row, covers, by, content, body),
                ).lastrowid,
            )
        return [0, known[0] or 0]

    def _read(self, order: str) -> list[Published]:
        with self._connection.snapshot() as connection:
            return self._read_in(connection, order)

    def _read_in(self, connection: sqlite3.Connection, order: str) -> list[Published]:
        found = connection.execute(f"{VIEWS} WHERE v.conversation = ? {order}", (self._number,)).fetchall()
        shown = _Shown(connection, self._number)
        return [
            Published(version, session, from_microseconds(time), shown.ledger(entries), upto, engine, trigger, json.loads(receipt), undoes)
            for version, session, time, upto, entries, engine, trigger, receipt, undoes in found
        ]


class _Shown:
    """The entries of views with their messages, each read once."""

    def __init__(self, connection: sqlite3.Connection, conversation: int) -> None:
        self._connection = connection
        self._conversation = conversation
        self._known: dict[tuple[int, int], Entry] = {}

    def ledger(self, entries: str) -> Ledger:
        return Ledger(self._entry(*at) for at in unfolded(json.loads(entries)))

    def _entry(self, position: int, made: int) -> Entry:
        if (position, made) not in self._known:
            self._known[position, made] = self._made(made) if made else self._original(position)
        return self._known[position, made]

    def _original(self, position: int) -> Entry:
        found = self._connection.execute(
            "SELECT role, body, cuts FROM messages WHERE conversation = ? AND position = ?", (self._conversation, position)
        ).fetchone()
        return Entry(damaged(NOBODY) if found is None else self._message(*found), position)

    def _made(self, number: int) -> Entry:
        kind, row, covers, body = self._connection.execute("SELECT kind, row, covers, body FROM made WHERE id = ?", (number,)).fetchone()
        if body is None and kind == Kind.MERGED and row is not None:
            return self._original(row)  # the summary in front of it was erased, and the message was not
        return Entry(self._message(NOBODY, body), row, Kind(kind), tuple(range(start, stop) for start, stop in json.loads(covers)))

    def _message(self, role: str, body: object, cuts: str | None = None) -> Message:
        if body is None:
            return erased(role)
        try:
            return message_in(self._connection, body, cuts)
        except Unreadable:
            return damaged(role)


def _bytes(entry: Entry) -> bytes:
    try:
        return bytes_to_keep(entry.message)
    except UNSTORABLE as error:
        raise NotStorable(str(error)) from error


def folded(entries: list[list[int]]) -> list[list[int]]:
    """Runs of originals as [first, last], made messages as [0, number]."""
    out: list[list[int]] = []
    for entry in entries:
        if len(entry) == 2:
            out.append(entry)
        elif out and out[-1][0] and out[-1][1] == entry[0] - 1:
            out[-1] = [out[-1][0], entry[0]]
        else:
            out.append([entry[0], entry[0]])
    return out


def unfolded(entries: list[list[int]]) -> Iterator[tuple[int, int]]:
    """Position and number of made message per entry; one of the two is 0."""
    for first, last in entries:
        if first:
            yield from ((position, 0) for position in range(first, last + 1))
        else:
            yield (0, last)

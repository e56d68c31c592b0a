"""The versions of what a model sees, in memory, and the documents of engines."""

from __future__ import annotations

import json
from typing import Any

from host.errors import NotStorable, Outrun
from host.messages.ledger import Entry, Kind, Ledger
from host.store.kept import UNSTORABLE, bytes_to_keep
from host.store.memory.sessions import reopen, rotated
from host.store.memory.tables import Conversation, Made, Shown, Tables
from host.store.rights import FREE
from host.store.times import from_microseconds, microseconds
from host.store.undoing import Version, refuse_unknown_rows, to_undo
from host.store.values import Lease, Publication, Published


class MemoryViews:
    """The views of one conversation in memory (protocol Views)."""

    def __init__(self, tables: Tables, conversation: str) -> None:
        self._tables = tables
        self._of = tables.conversation(conversation)

    def current(self) -> Published | None:
        """The newest version, None while the window is the archive itself."""
        with self._tables.lock:
            return published(self._of, self._of.views[-1]) if self._of.views else None

    def version(self) -> int:
        """The number of the newest version, 0 while there is none."""
        return self._of.version

    def publish(self, publication: Publication, *, expected: int, lease: Lease | None = None) -> Published:
        """Make a view the newest, with its made messages, receipt and state."""
        with self._tables.lock:
            self._check(expected, lease)
            refuse_unknown_rows(publication, self._of.last)
            entries = tuple(map(written, publication.ledger))
            receipt = json.dumps(publication.receipt)
            state = None if publication.state is None else json.dumps(publication.state)
            session = rotated(self._tables, self._of) if publication.rotate else self._of.session
            version = Version(expected + 1, session, publication.upto, entries, None, publication.engine, state, publication.trigger)
            return self._shown(Shown(version, microseconds(), publication.trigger, receipt))

    def undo(self, *, expected: int) -> Published:
        """Publish the version before the newest compaction again; a rotation is taken back with it."""
        with self._tables.lock:
            self._check(expected, None)
            undoing = to_undo([shown.version for shown in self._of.views])
            undone, before = undoing.undone, undoing.before
            session = before.session if before else self._tables.sessions[undone.session].parent or undone.session
            if session != undone.session:
                reopen(self._tables, self._of, session, undone.session)
            upto, entries = (before.upto, before.entries) if before else (0, ())
            version = Version(expected + 1, session, upto, entries, undone.version, undone.engine, undoing.state)
            return self._shown(Shown(version, microseconds(), "undo", "{}"))

    def history(self) -> list[Published]:
        """All versions, oldest first."""
        with self._tables.lock:
            return [published(self._of, shown) for shown in self._of.views]

    def _check(self, expected: int, lease: Lease | None) -> None:
        self._of.require()
        if self._of.version != expected:
            raise Outrun(f"version {self._of.version} is there, version {expected} was expected")
        if lease is not None and not self._tables.rights.get(lease.name, FREE).is_of(lease, microseconds()):
            raise Outrun("the lease passed to another")

    def _shown(self, shown: Shown) -> Published:
        self._of.views.append(shown)
        if shown.version.state is not None:
            self._of.documents[shown.version.engine] = shown.version.state
        return published(self._of, shown)


def written(entry: Entry) -> int | Made:
    """An entry as a view keeps it: the position of an original, a made message with its bytes. NotStorable where JSON cannot hold it."""
    if entry.kind is Kind.ORIGINAL and entry.row is not None:
        return entry.row
    try:
        return Made(entry.kind, entry.row, entry.covers, bytes_to_keep(entry.message))
    except UNSTORABLE as error:
        raise NotStorable(str(error)) from error


def published(conversation: Conversation, shown: Shown) -> Published:
    """A version as the store hands it out."""
    version = shown.version
    return Published(
        version=version.version,
        session=version.session,
        time=from_microseconds(shown.time),
        ledger=Ledger(map(conversation.entry, version.entries)),
        upto=version.upto,
        engine=version.engine,
        trigger=shown.trigger,
        receipt=json.loads(shown.receipt),
        undoes=version.undoes,
    )


class MemoryState:
    """The document of one engine and conversation (protocol State), as JSON so that nobody shares it by accident."""

    def __init__(self, conversation: Conversation | None = None, engine: str = "") -> None:
        self._of = conversation if conversation is not None else Conversation("")
        self._engine = engine

    def load(self) -> dict[str, Any]:
        """The document, empty at first."""
        document: dict[str, Any] = json.loads(self._of.documents.get(self._engine, "{}"))
        return document

    def save(self, document: dict[str, Any]) -> None:
        """Replace the document; TypeError where it is not JSON."""
        text = json.dumps(document)
        self._of.require()
        self._of.documents[self._engine] = text

"""The archive of one conversation, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from host.errors import Forgotten, NotStorable, Outrun
from host.messages.canonical import identity
from host.messages.types import Message
from host.store.kept import UNSTORABLE, bytes_to_keep, fault_of, message_of, printable, role_of, shown, tool_of
from host.store.memory.tables import Kept, Quarantined, Tables
from host.store.query import Query
from host.store.times import microseconds, to_microseconds
from host.store.values import Pulse, Row


class MemoryArchive:
    """All messages of one conversation, as bytes in a list (protocol Archive); without arguments a store of its own."""

    def __init__(self, tables: Tables | None = None, conversation: str | None = None) -> None:
        self._tables = tables if tables is not None else Tables()
        self._of = self._tables.conversation(conversation if conversation is not None else self._tables.begun().conversation)

    def append(self, message: Message, *, replaces: int | None = None, time: datetime | None = None, after: int | None = None) -> int:
        """Keep a message as it is now; returns its position (see the protocol for what it raises)."""
        body, said = self._bytes(message), to_microseconds(time)
        with self._tables.lock:
            self._refuse_outrun(after)
            self._refuse(message)
            return self._kept(message, body, replaces, said)

    def extend(self, messages: Sequence[Message], *, times: Sequence[datetime | None] | None = None, after: int | None = None) -> list[int]:
        """Keep many at once, or none."""
        bodies = [self._bytes(message) for message in messages]
        said = [to_microseconds(time) for time in times] if times is not None else [to_microseconds(None)] * len(bodies)
        together = list(zip(messages, bodies, said, strict=True))
        with self._tables.lock:
            self._refuse_outrun(after)
            for message in messages:
                self._refuse(message)
            return [self._kept(message, body, None, time) for message, body, time in together]

    def read(self, position: int, until: int) -> list[Message]:
        """The messages from position to until, both included; what was forgotten is left out."""
        return [message_of(kept.body) for kept in self._slice(position, until) if kept.body is not None]

    def range(self) -> tuple[int, int]:
        """First and last position, (0, 0) while empty."""
        return (1, self._of.last) if self._of.rows else (0, 0)

    def search(self, query: str, limit: int = 20) -> list[tuple[int, Message]]:
        """Rows that hold the text, case-insensitive, newest first."""
        from host.store.memory.searching import search_of

        page = search_of(self._tables).find(Query(query, conversation=self._of.name, limit=limit))
        found = [(hit.position, self.read(hit.position, hit.position)) for hit in page.hits]
        return [(position, messages[0]) for position, messages in found if messages]

    def rows(self, position: int = 1, until: int | None = None) -> Iterator[Row]:
        """The rows from position to until, both included, superseded and forgotten ones too."""
        return (self._of.row(kept) for kept in self._slice(position, self._of.last if until is None else until))

    def current(self) -> list[Row]:
        """The newest version of each message, in the order of the conversation."""
        with self._tables.lock:
            return [self._of.row(self._of.rows[position - 1]) for _, position in sorted(self._of.newest.items())]

    def places(self) -> dict[int, int]:
        """The place of each row that is a new version, by its position."""
        return {kept.position: kept.place for kept in self._slice(1, self._of.last) if kept.place != kept.position}

    def pulse(self) -> Pulse:
        """What changes when anything changes."""
        with self._tables.lock:
            return Pulse(self._of.last, self._of.version, self._tables.erasures)

    def forget(self, position: int) -> None:
        """Erase one message for good: its row stays without content, and the same content is refused from now on."""
        with self._tables.lock:
            kept = self._of.rows[position - 1]
            if kept.body is not None:
                self._of.tombstones[identity(message_of(kept.body))] = position
                self._of.rows[position - 1] = replace(kept, body=None)
                self._of.pins.pop(kept.place, None)
                self._tables.erasures += 1

    @property
    def quarantine(self) -> tuple[Quarantined, ...]:
        """What was refused because JSON cannot hold it."""
        return tuple(self._of.quarantine)

    def _slice(self, position: int, until: int) -> list[Kept]:
        return self._of.rows[max(position, 1) - 1 : max(until, 0)]

    def _bytes(self, message: Message) -> bytes:
        try:
            return bytes_to_keep(message)
        except UNSTORABLE as error:
            self._of.quarantine.append(Quarantined(microseconds(), printable(fault_of(error)), shown(message)))
            raise NotStorable(str(error)) from error

    def _refuse_outrun(self, after: int | None) -> None:
        self._of.require()
        if after not in (None, self._of.last):
            raise Outrun(f"position {self._of.last} is there, position {after} was expected", what="nothing was kept")

    def _refuse(self, message: Message) -> None:
        self._of.require()
        if self._of.tombstones and (position := self._of.tombstones.get(identity(message))):
            raise Forgotten(position)

    def _kept(self, message: Message, body: bytes, replaces: int | None, time: int) -> int:
        position = self._of.last + 1
        is_version = replaces is not None and 1 <= replaces < position
        place = self._of.rows[replaces - 1].place if replaces is not None and is_version else position
        self._tables.newest_id += 1
        tool = tool_of(message, self._of.called)
        self._of.rows.append(Kept(self._tables.newest_id, position, place, time, role_of(message), tool, body))
        self._of.newest[place] = position
        return position

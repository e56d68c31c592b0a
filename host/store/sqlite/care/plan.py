"""What an erasure takes away: found first, so that a dry run and the erasure see the same."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from host.engine.services import Progress
from host.errors import NoSuchSession, UsageError
from host.messages.canonical import canonical, identity
from host.messages.searchable import searchable
from host.messages.types import Message
from host.store.care import Forget
from host.store.kept import ERASED, message_of
from host.store.protocols import quiet
from host.store.sqlite.bodies import whole
from host.store.sqlite.care.documents import DOCUMENTS, IMPORT_NOTES, Document
from host.store.sqlite.care.look import STEP
from host.store.sqlite.care.recordings import readings_with, recorded_keys
from host.store.sqlite.care.wanted import LINE, Wanted, is_piece, wanted_message, wanted_text, without
from host.store.sqlite.removal import blobs_of, digests_in_use
from host.store.values import FIRST_ID

MESSAGES = "SELECT id, conversation, coalesce(place, position), tool, role, body, cuts FROM messages WHERE body IS NOT NULL"
UNREAD = "id < ? OR id >= ?"
VERSIONS = """
SELECT m.id, c.name, m.conversation, m.position, m.role, m.body, m.cuts
FROM messages m
JOIN conversations c ON c.id = m.conversation
WHERE m.conversation = ? AND coalesce(m.place, m.position) = ? AND m.body IS NOT NULL
ORDER BY m.position
"""
WORD_BYTES = 256  # of a message that is no more than a word: room for its role and for a name
Place = tuple[int, int]
"""Conversation number and position of the first version."""


@dataclass(frozen=True)
class Doomed:
    """A message that goes."""

    row: int
    name: str
    conversation: int
    position: int
    message: Message
    is_repeatable: bool = False  # the same may be said again in earnest, and is to be kept then

    @property
    def id(self) -> str:
        """Conversation and position."""
        return f"{self.name}:{self.position}"


@dataclass(frozen=True)
class Plan:
    """Everything in one store that goes. Rows of tables are named by their keys."""

    wanted: Wanted
    messages: tuple[Doomed, ...] = ()
    tools: tuple[int, ...] = ()  # messages that stay without the name of the tool that they answer
    made: tuple[int, ...] = ()
    documents: tuple[tuple[Document, tuple[object, ...], str], ...] = ()  # with their new text
    titles: tuple[int, ...] = ()
    quarantine: tuple[int, ...] = ()
    pins: tuple[int, ...] = ()
    blobs: frozenset[bytes] = frozenset()
    readings: tuple[int, ...] = ()  # files that are read on without memory
    recorded: tuple[tuple[str, str], ...] = ()  # client and key, by which it would come again
    also_in: tuple[str, ...] = ()  # other conversations that hold the same message, and keep it

    @property
    def is_empty(self) -> bool:
        """Whether nothing in the store holds what is to be erased."""
        return not any(self.counts().values())

    def counts(self) -> dict[str, int]:
        """How much of each kind."""
        changed = Counter([*(document.counted for document, _, _ in self.documents), *(IMPORT_NOTES for _ in self.readings)])
        gone = {
            "messages": self.messages,
            "blobs": self.blobs,
            "summaries": self.made,
            "titles": self.titles,
            "quarantine": self.quarantine,
            "pins": self.pins,
        }
        return {**{kind: len(of) for kind, of in gone.items()}, "tool names": len(self.tools), **changed}


@dataclass
class Found:
    """What reading all messages found: places that go, and rows whose column of tool names alone holds it."""

    wanted: Wanted
    places: set[Place] = field(default_factory=set)
    tools: list[int] = field(default_factory=list)
    read: range = range(FIRST_ID + 1, FIRST_ID + 1)  # the ids that were read: growth comes behind them, history before
    repeatable: frozenset[bytes] = frozenset()  # identities of contents that may be said again
    also_in: frozenset[int] = frozenset()  # other conversations with a message of the same content


@dataclass
class Besides:
    """Where else the content of a message stands: which of it in its own conversation, and in which others."""

    here: set[bytes] = field(default_factory=set)
    conversations: set[int] = field(default_factory=set)

    def note(self, message: Message, contents: Collection[bytes], conversation: int | None) -> None:
        """Another message was read, of another conversation or (None) of the same. What is no more than a word tells nothing there."""
        content = identity(message)
        if content not in contents:
            return
        if conversation is None:
            self.here.add(content)
        elif not _is_word(message):
            self.conversations.add(conversation)


def looked_up(connection: sqlite3.Connection, what: Forget, progress: Progress) -> Found:
    """Read all messages for what goes. UsageError for an order that names nothing, NoSuchSession for an unknown conversation."""
    if what.text is None:
        return _look_for_message(connection, what)
    if not what.text.strip():
        raise UsageError("there is no text to forget", "give a text of at least one character, or a message as conversation:position")
    found = Found(wanted_text(what.text))
    _look_for_text(connection, found, progress)
    return found


def planned(connection: sqlite3.Connection, what: Forget, found: Found) -> Plan:
    """All that goes. Of the messages only those that came since they were read are read now: nobody can write meanwhile."""
    wanted = found.wanted
    if what.text is not None:
        _look_for_text(connection, found, quiet)
    versions = (version for conversation, place in sorted(found.places) for version in _versions(connection, conversation, place))
    doomed = tuple(replace(version, is_repeatable=identity(version.message) in found.repeatable) for version in versions)
    rows = frozenset(version.row for version in doomed)
    blobs = blobs_of(connection, rows)
    return Plan(
        wanted,
        doomed,
        tuple(row for row in found.tools if row not in rows),
        tuple(_made(connection, wanted, {(version.conversation, version.position) for version in doomed})),
        tuple(_documents(connection, wanted)),
        tuple(_titles(connection, wanted)),
        tuple(_quarantine(connection, wanted)),
        tuple(_pins(connection, wanted, found.places)),
        blobs - digests_in_use(connection, besides=rows) if blobs else blobs,
        tuple(readings_with(connection, {version.conversation for version in doomed}, wanted)),
        tuple(dict.fromkeys(recorded_keys(connection, found.places))),
        tuple(_names(connection, found.also_in)),
    )


def _look_for_text(connection: sqlite3.Connection, found: Found, progress: Progress) -> None:
    first, after = found.read.start, found.read.stop
    total = connection.execute(f"SELECT count(*) FROM messages WHERE {UNREAD}", (first, after)).fetchone()[0]
    rows = connection.execute(f"{MESSAGES} AND ({UNREAD}) ORDER BY id", (first, after))
    for done, (row, conversation, place, tool, role, body, cuts) in enumerate(rows):
        if done % STEP == 0:
            progress(done, total, "messages")
        if found.wanted.is_in_message(_readable(connection, role, body, cuts)):
            found.places.add((conversation, place))
        elif tool and found.wanted.is_in(tool):
            found.tools.append(row)
        found.read = range(min(found.read.start, row), max(found.read.stop, row + 1))


def _look_for_message(connection: sqlite3.Connection, what: Forget) -> Found:
    number, place = _place(connection, what)
    versions = list(_versions(connection, number, place))
    contents, besides = frozenset(identity(version.message) for version in versions), Besides()

    def others() -> Iterator[tuple[Message, bool]]:
        asked = connection.execute(f"{MESSAGES} AND NOT (conversation = ? AND coalesce(place, position) = ?)", (number, place))
        for _, conversation, _, _, role, body, cuts in asked:
            message = _readable(connection, role, body, cuts)
            besides.note(message, contents, conversation if conversation != number else None)
            yield message, conversation == number

    wanted = wanted_message([version.message for version in versions], others() if versions else (), number)
    return Found(wanted, {(number, place)}, repeatable=_repeatable(versions, besides.here), also_in=frozenset(besides.conversations))


def _repeatable(versions: Sequence[Doomed], elsewhere: Collection[bytes]) -> frozenset[bytes]:
    """The contents of a message that are no more than a word, or that another message of its conversation has too."""
    contents = {identity(version.message): version.message for version in versions}
    return frozenset(content for content, message in contents.items() if content in elsewhere or _is_word(message))


def _is_word(message: Message) -> bool:
    """Whether a message says no more than a word or two: a picture says more."""
    return len(searchable(message)) < LINE and len(canonical(message)) < WORD_BYTES


def _place(connection: sqlite3.Connection, what: Forget) -> Place:
    name, position = what.conversation, what.position
    if name is None or position is None:
        raise UsageError("there is nothing to forget", "give a text, or a message as conversation:position")
    conversation = connection.execute("SELECT id FROM conversations WHERE name = ?", (name,)).fetchone()
    if conversation is None:
        raise NoSuchSession(name)
    found = connection.execute(
        "SELECT conversation, coalesce(place, position) FROM messages WHERE conversation = ? AND position = ?", (conversation[0], position)
    ).fetchone()
    if found is None:
        raise UsageError(f"{name} has no message at position {position}", "`ctxhost grep` and `ctxhost sessions show` give the positions")
    return found[0], found[1]


def _versions(connection: sqlite3.Connection, conversation: int, place: int) -> Iterator[Doomed]:
    """All versions of a message that still have their content."""
    for row, name, number, position, role, body, cuts in connection.execute(VERSIONS, (conversation, place)).fetchall():
        yield Doomed(row, name, number, position, _readable(connection, role, body, cuts))


def _readable(connection: sqlite3.Connection, role: str, body: bytes, cuts: str | None) -> Message:
    """The message, or what can be read of one that is damaged."""
    try:
        return message_of(whole(connection, body, cuts))
    except (KeyError, ValueError, TypeError, AttributeError):
        return {"role": role, "content": body.decode("utf-8", "replace") if isinstance(body, bytes) else str(body)}


def _made(connection: sqlite3.Connection, wanted: Wanted, gone: Collection[tuple[int, int]]) -> Iterator[int]:
    """The made messages of every version that are a form of an erased one, were made from it, or quote it."""
    asked = connection.execute("SELECT id, conversation, row, covers, body FROM made WHERE body IS NOT NULL")
    for number, conversation, row, covers, body in asked:
        positions = [position for of, position in gone if of == conversation]
        is_of_it = row in positions or any(start <= position < stop for start, stop in spans_of(covers) for position in positions)
        if is_of_it or (wanted.concerns(conversation) and wanted.is_in_message(_readable(connection, "user", body, None))):
            yield number


def spans_of(covers: str) -> list[tuple[int, int]]:
    """The rows that a made message stands for; of a damaged column none, then only its own words tell."""
    try:
        return [(int(start), int(stop)) for start, stop in json.loads(covers)]
    except (ValueError, TypeError):
        return []


def _names(connection: sqlite3.Connection, conversations: Collection[int]) -> Iterator[str]:
    """The names of conversations, in the order in which they came."""
    for number in sorted(conversations):
        yield from (name for (name,) in connection.execute("SELECT name FROM conversations WHERE id = ?", (number,)))


def _documents(connection: sqlite3.Connection, wanted: Wanted) -> Iterator[tuple[Document, tuple[object, ...], str]]:
    for document in filter(lambda document: document.counted, DOCUMENTS):
        for conversation, key, text in document.texts(connection):
            if wanted.concerns(conversation) and (cleaned := _cleaned(text, wanted, document.title)) != text:
                yield document, key, cleaned


def _cleaned(text: str, wanted: Wanted, title: str) -> str:
    """The document without it; the very text where there is nothing of it. A ``title`` in it may be a piece of a message."""
    try:
        held = json.loads(text)
    except ValueError:
        return "{}" if wanted.is_in(text) else text
    cleaned = without(held, wanted, ERASED)
    if title and isinstance(cleaned, dict) and is_piece(str(cleaned.get(title, "")), wanted.marks):
        cleaned = {**cleaned, title: ERASED}
    return text if cleaned == held else json.dumps(cleaned)


def _titles(connection: sqlite3.Connection, wanted: Wanted) -> Iterator[int]:
    """Sessions whose title holds it, or is itself a piece of it."""
    for session, conversation, title in connection.execute("SELECT id, conversation, title FROM sessions WHERE title IS NOT NULL"):
        if wanted.concerns(conversation) and (wanted.is_in(title) or is_piece(title, wanted.marks)):
            yield session


def _quarantine(connection: sqlite3.Connection, wanted: Wanted) -> Iterator[int]:
    for number, conversation, error, shown in connection.execute("SELECT id, conversation, error, shown FROM quarantine"):
        if wanted.concerns(conversation) and wanted.is_in(f"{error}\n{shown}"):
            yield number


def _pins(connection: sqlite3.Connection, wanted: Wanted, places: Collection[Place]) -> Iterator[int]:
    """The pins of what goes, and those whose maker is named so."""
    for number, conversation, position, by in connection.execute("SELECT id, conversation, position, by FROM pins"):
        if (conversation, position) in places or (wanted.concerns(conversation) and wanted.is_in(by)):
            yield number

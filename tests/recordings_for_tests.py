"""Recordings of another client, as an importer hands them over."""

from __future__ import annotations

from collections.abc import Sequence

from host.conversation.restoring import restored
from host.messages.types import JSON, Message
from host.store.readings import Chapter, Entry, Placed, Reading
from host.store.sqlite.store import SqliteStore

FILED = "/home/u/.claude/projects/-src/session-1.jsonl"


def asked(text: str) -> Message:
    """A prompt."""
    return {"role": "user", "content": text}


def answered(text: str) -> Message:
    """An answer."""
    return {"role": "assistant", "content": text}


def fed(
    store: SqliteStore,
    entries: Sequence[Entry],
    *,
    file: str = FILED,
    chain: str = "",
    name: str = "session-1",
    client: str = "claude-code",
    about: JSON | None = None,
    history: bool = False,
) -> list[Placed]:
    """Keep what comes next of one chain of a file; each entry is a byte of it. A session that is there goes on."""
    before = store.imports.reading(file)
    offset = before.offset if before is not None else 0
    reading = Reading(file, client, offset=offset + len(entries), state={"seen": offset + len(entries)})
    known = [session.conversation for session in store.sessions.listed() if (session.id, session.source) == (name, client)]
    chapter = Chapter(chain, name, entries, about or {}, conversation=next(iter(known), None))
    return store.imports.keep(reading, [chapter], expected=offset, history=history)


def shown(store: SqliteStore, conversation: str = "session-1") -> list[object]:
    """The contents of the window with which a conversation would go on."""
    ledger = restored(store.archive(conversation), store.views(conversation).current())
    return [message.get("content") for message in ledger.messages()]

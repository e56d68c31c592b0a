"""A store with something of everything in it, and the damage that files suffer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.store.sqlite.store import FILE, SqliteStore
from host.store.values import Publication

SECRET = "Zebra-Kumquat 77"
LARGE = "large output " * 4_000  # over 32 KiB: cut out and kept as a blob


def spoken(count: int = 9) -> list[Message]:
    """Messages as an agent has them; position 4 is a tool's large answer, position 6 holds the secret."""
    messages: list[Message] = [
        {"role": "system", "content": "You are a careful agent."},
        {"role": "user", "content": "Read the log of the gateway, please."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "gateway.log"}'}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": LARGE},
        {"role": "assistant", "content": "The gateway waits for the database."},
        {"role": "user", "content": f"The vault opens with {SECRET}\nand never at night."},
        {"role": "assistant", "content": "Understood, I will remember it."},
        {"role": "user", "content": "Raise the timeout to 45 seconds."},
        {"role": "assistant", "content": "网关的超时改成四十五秒了。"},
    ]
    notes: list[Message] = [{"role": "user", "content": f"note number {number}"} for number in range(10, count + 1)]
    return [*messages, *notes]


@contextmanager
def furnished(home: Path, messages: list[Message] | None = None) -> Iterator[tuple[SqliteStore, str]]:
    """An open store and its first conversation: some messages, a view with a summary and a digest, a second conversation."""
    store = SqliteStore(home / FILE, durability="normal")
    try:
        conversation = store.sessions.create(title="gateway", source="cli").conversation
        store.archive(conversation).extend(messages or spoken())
        other = store.sessions.create(source="cli").conversation
        store.archive(other).extend([{"role": "user", "content": "something else"}, {"role": "assistant", "content": "yes"}])
        yield store, conversation
    finally:
        store.close()


def compacted(
    store: SqliteStore, conversation: str, *, words: str = "The user wants the gateway to be quicker.", state: str = "calm"
) -> None:
    """Publish a view of the first nine positions: a summary of 2 to 3, a digest of 4, a summary of 5 to 7, the rest as archived."""
    archived = store.archive(conversation).read(1, 9)
    entries = [
        Entry(archived[0], 1),
        Entry({"role": "user", "content": words}, None, Kind.SUMMARY, (range(2, 4),)),
        Entry({"role": "tool", "tool_call_id": "call_1", "content": "[read_file] gateway.log"}, 4, Kind.DIGEST),
        Entry({"role": "assistant", "content": "It was about the vault."}, None, Kind.SUMMARY, (range(5, 8),)),
        *(Entry(archived[position - 1], position) for position in range(8, len(archived) + 1)),
    ]
    views = store.views(conversation)
    views.publish(
        Publication(Ledger(entries), len(archived), "compressor", "manual", {"words": words}, {"previous": words, "mood": state}),
        expected=views.version(),
    )


def change(path: Path, statement: str, *values: object) -> None:
    """Write into the file behind the store's back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement, values)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def pages_of(path: Path, table: str) -> list[int]:
    """The leaf pages of a table or index, in its order."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path", (table,)).fetchall()
    return [page for (page,) in found]


def zero_page(path: Path, page: int) -> None:
    """Overwrite a page with zeros, as a disk does that lost it."""
    with closing(sqlite3.connect(path)) as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(size))


def all_bytes(home: Path) -> bytes:
    """The bytes of every file under a folder, for the search of what must not be there."""
    return b"\n".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())

"""The store on SQLite: one file, everything in it (protocol Store)."""

from __future__ import annotations

from pathlib import Path
from secrets import token_bytes

from host.errors import DamagedStore
from host.messages.facts import encoded, facts_of
from host.messages.types import Message
from host.store.sqlite.archive import SqliteArchive
from host.store.sqlite.care.admin import SqliteAdmin
from host.store.sqlite.connection import Connection
from host.store.sqlite.imports import SqliteImports
from host.store.sqlite.leases import SqliteLeases
from host.store.sqlite.pins import SqlitePins
from host.store.sqlite.searching import SqliteSearch
from host.store.sqlite.sessions import SqliteSessions
from host.store.sqlite.states import SqliteState
from host.store.sqlite.views import SqliteViews
from host.store.values import FILE as FILE


class SqliteStore:
    """An open archive. ``durability``: ``full`` syncs every message to the disk, ``normal`` leaves that to the system."""

    def __init__(self, path: Path, *, durability: str = "full") -> None:
        self.path = path
        self.connection = Connection(path, durability=durability)
        self.key = key_of(self.connection)
        self.leases = SqliteLeases(self.connection)
        self.sessions = SqliteSessions(self.connection)
        self.search = SqliteSearch(self.connection, facts=facts_to_keep)
        self.imports = SqliteImports(self.connection, self.key, self.search)
        self.admin = SqliteAdmin(self.connection, self.key, self.search.index)

    def archive(self, conversation: str) -> SqliteArchive:
        """The archive of a conversation."""
        return SqliteArchive(self.connection, conversation, self.key, self.search)

    def views(self, conversation: str) -> SqliteViews:
        """The views of a conversation."""
        return SqliteViews(self.connection, conversation)

    def pins(self, conversation: str) -> SqlitePins:
        """The pins of a conversation."""
        return SqlitePins(self.connection, conversation)

    def state(self, conversation: str, engine: str) -> SqliteState:
        """The engine's document for a conversation."""
        return SqliteState(self.connection, conversation, engine)

    def close(self) -> None:
        """Give back file and locks."""
        self.connection.close()


def facts_to_keep(message: Message) -> str | None:
    """What the column ``facts`` holds of a message."""
    return encoded(facts_of(message))


def key_of(connection: Connection) -> bytes:
    """The key of the store's digests, made once."""
    asked = "SELECT value FROM store WHERE key = 'digest_key'"
    key: bytes | None = connection.value(asked)
    if key is None:
        if connection.value("SELECT 1 FROM messages LIMIT 1"):
            raise DamagedStore(connection.path, "the key of its digests is gone")
        with connection.writing() as writer:
            writer.execute("INSERT OR IGNORE INTO store (key, value) VALUES ('digest_key', ?)", (token_bytes(32),))
        key = connection.value(asked)
    return key or b""

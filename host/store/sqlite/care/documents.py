"""The JSON documents in the tables: what they must be, and where an erasure has to look."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from host.store.care import Finding
from host.store.sqlite.care.look import Look


@dataclass(frozen=True)
class Document:
    """A column that holds a JSON object. ``conversation`` is how a row names its conversation, "NULL" where it has none."""

    table: str
    column: str
    key: tuple[str, ...] = ("id",)
    conversation: str = "conversation"
    counted: str = ""  # what an erasure calls it; nothing for one that holds no content
    blank: str | None = "{}"  # what a damaged one becomes
    title: str = ""  # the key under which it may hold the title of a conversation

    def texts(self, connection: sqlite3.Connection) -> Iterator[tuple[int | None, tuple[Any, ...], str]]:
        """Conversation, key and text of each row that has one."""
        asked = f"SELECT {self.conversation}, {self.column}, {', '.join(self.key)} FROM {self.table} WHERE {self.column} IS NOT NULL"
        for conversation, text, *key in connection.execute(asked):
            yield conversation, tuple(key), text

    def replace(self, connection: sqlite3.Connection, key: tuple[Any, ...], text: str | None) -> None:
        """Write another text into a row."""
        where = " AND ".join(f"{name} = ?" for name in self.key)
        connection.execute(f"UPDATE {self.table} SET {self.column} = ? WHERE {where}", (text, *key))


IMPORT_NOTES = "import notes"
DOCUMENTS = (
    Document("sessions", "settings", counted="session settings"),
    Document("sessions", "about", counted="session settings", title="title"),
    Document("views", "receipt", counted="view receipts"),
    Document("views", "state", counted="engine states", blank=None),
    Document("engine_state", "document", key=("conversation", "engine"), counted="engine states"),
    Document("receipts", "receipt", conversation="NULL"),
    Document("readings", "state", conversation="NULL"),  # an erasure empties it
    Document("chapters", "keys", counted=IMPORT_NOTES),
)


def check_documents(look: Look) -> Iterator[Finding]:
    """Each document is a JSON object."""
    for document in DOCUMENTS:
        for _, key, text in document.texts(look.connection):
            look.counts["documents"] += 1
            if not _is_object(text):
                yield Finding(f"{document.table} {' '.join(map(str, key))}", f"the {document.column} is no JSON object")


def mend_documents(connection: sqlite3.Connection) -> Iterator[str]:
    """Empty those that are none; an engine without a document begins afresh. Yields which."""
    for document in DOCUMENTS:
        for _, key, text in list(document.texts(connection)):
            if not _is_object(text):
                document.replace(connection, key, document.blank)
                yield f"{document.table} {' '.join(map(str, key))}: the {document.column} was damaged and is empty now"


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, TypeError, RecursionError):
        return False

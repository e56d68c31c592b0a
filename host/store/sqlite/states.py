"""The documents of engines, one per conversation."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from host.messages.types import JSON
from host.store.sqlite.archive import number_of, still_there
from host.store.sqlite.connection import Connection


def save_state(connection: sqlite3.Connection, conversation: int, engine: str, document: JSON) -> None:
    """Replace the document of an engine."""
    connection.execute(
        "INSERT OR REPLACE INTO engine_state (conversation, engine, document) VALUES (?, ?, ?)",
        (conversation, engine, json.dumps(document)),
    )


class SqliteState:
    """The document of one engine and conversation (protocol State)."""

    def __init__(self, connection: Connection, conversation: str, engine: str) -> None:
        self._connection = connection
        self._name = conversation
        self._number = number_of(connection, conversation)
        self._engine = engine

    def load(self) -> dict[str, Any]:
        """The document, empty at first."""
        text = self._connection.value(
            "SELECT document FROM engine_state WHERE conversation = ? AND engine = ?", (self._number, self._engine)
        )
        document: dict[str, Any] = json.loads(text) if text else {}
        return document

    def save(self, document: dict[str, Any]) -> None:
        """Replace the document; TypeError where it is not JSON."""
        json.dumps(document)
        with self._connection.writing() as connection:
            still_there(connection, self._number, self._name)
            save_state(connection, self._number, self._engine, document)

"""A store that lives as long as the process: for replays, tests and trials."""

from __future__ import annotations

import json
from typing import Any

from host.messages.canonical import canonical
from host.messages.searchable import searchable
from host.messages.types import Message


class MemoryArchive:
    """All messages of one conversation, as bytes in a list (protocol Archive)."""

    def __init__(self) -> None:
        self._rows: list[bytes] = []

    def append(self, message: Message) -> int:
        """Keep the message as it is now; TypeError or ValueError for what JSON cannot hold."""
        self._rows.append(canonical(message))
        return len(self._rows)

    def read(self, position: int, until: int) -> list[Message]:
        """The messages of rows position to until, both included."""
        return [_message(row) for row in self._rows[max(0, position - 1) : max(0, until)]]

    def range(self) -> tuple[int, int]:
        """First and last row, (0, 0) while empty."""
        return (1, len(self._rows)) if self._rows else (0, 0)

    def search(self, query: str, limit: int = 20) -> list[tuple[int, Message]]:
        """Rows that hold the text, case-insensitive, newest first."""
        wanted = query.casefold()
        found: list[tuple[int, Message]] = []
        for row in range(len(self._rows), 0, -1):
            if len(found) == limit:
                break
            message = _message(self._rows[row - 1])
            if wanted in searchable(message).casefold():
                found.append((row, message))
        return found


class MemoryState:
    """The document of one engine and conversation (protocol State), as JSON so that nobody shares it by accident."""

    def __init__(self) -> None:
        self._text = "{}"

    def load(self) -> dict[str, Any]:
        """The document, empty at first."""
        document: dict[str, Any] = json.loads(self._text)
        return document

    def save(self, document: dict[str, Any]) -> None:
        """Replace the document; TypeError where it is not JSON."""
        self._text = json.dumps(document)


def _message(row: bytes) -> Message:
    message: Message = json.loads(row.decode("utf-8", "surrogatepass"))
    return message

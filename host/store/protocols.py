"""What a store offers. Rows are never given twice and never change."""

from __future__ import annotations

from typing import Protocol

from host.engine.services import ArchiveReader
from host.messages.types import Message


class Archive(ArchiveReader, Protocol):
    """The archive of one conversation, as its owner sees it; an engine gets the reading half."""

    def append(self, message: Message) -> int:
        """Keep a message as it is now; returns its row, counted from 1."""

"""A home folder with archived conversations, made through the store as a conversation would."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from host.app import open_archive
from host.cli import run
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.store.sqlite.store import SqliteStore
from host.store.values import Publication
from host.testing.messages import assistant, call, result, system, user

TALK: tuple[Message, ...] = (
    system("Be an agent."),
    user("Look into src/网关/接入.py, please."),
    assistant("On it.", [call("c1", "read_file", {"path": "src/网关/接入.py"})]),
    result("c1", "line one\nline two \x1b[2J with a bell \x07 and a needle-42"),
    assistant("It opens a door."),
    user("And now?"),
    assistant("Now it closes."),
)


@dataclass
class Home:
    """A home folder and what a user types about it."""

    path: Path

    def run(self, *arguments: str) -> int:
        """A command line in this home."""
        return run(["--home", str(self.path), *arguments])

    def talk(self, title: str | None = "work", messages: Sequence[Message] = TALK) -> str:
        """Archive a conversation; returns its id."""
        with self.opened() as store:
            kept = store.sessions.create(title=title, source="test")
            store.archive(kept.conversation).extend(list(messages))
            return kept.conversation

    def compact(self, conversation: str, *, covers: range = range(2, 6), rotate: bool = False, summary: str = "Notes: a door.") -> int:
        """Publish a view in which a summary stands for some rows; returns its version."""
        with self.opened() as store:
            views, archive = store.views(conversation), store.archive(conversation)
            rows = [row for row in archive.rows() if row.message is not None]
            made = Entry(user(summary), None, Kind.SUMMARY, (covers,))
            entries = [Entry(row.message, row.position) for row in rows if row.position not in covers and row.message is not None]
            ledger = Ledger([*entries[: covers.start - 1], made, *entries[covers.start - 1 :]])
            receipt = {"before": 900, "after": 300, "kept": len(entries), "covered": [], "lost": [], "repairs": []}
            publication = Publication(ledger, archive.range()[1], "compressor", "manual", receipt, rotate=rotate)
            return views.publish(publication, expected=views.version()).version

    def opened(self) -> _Opened:
        """The archive, for a ``with`` block."""
        return _Opened(self.path)


class _Opened:
    def __init__(self, home: Path) -> None:
        self._home = home

    def __enter__(self) -> SqliteStore:
        self._store = open_archive(self._home, durability="normal")
        return self._store

    def __exit__(self, *_: object) -> None:
        self._store.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home folder that does not exist yet."""
    yield Home(tmp_path / "home")

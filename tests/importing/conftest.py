"""A user's home folder with the sessions of clients, and an archive to import them into."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from host.importing.importer import Importer
from host.importing.values import Imported
from host.messages.reading import text_of
from host.store.sqlite.store import FILE, SqliteStore
from host.store.values import Row

Record = dict[str, Any]
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
PROJECT = "/home/ann/shop"


def session_id(name: str) -> str:
    """An id as clients make them, the same for the same name."""
    return str(uuid5(NAMESPACE_URL, name))


def turns(name: str, count: int, *, begin: datetime = NOON, cwd: str = PROJECT, first: int = 1) -> list[Record]:
    """A Claude Code session of so many prompts, each with an answer; a line a minute."""
    said: list[Record] = []
    for number in range(first, first + count):
        for role, minute in (("user", 2 * number), ("assistant", 2 * number + 1)):
            said.append(line(name, role, f"{role} {number} of {name}", minute, begin=begin, cwd=cwd))
    return said


def line(name: str, role: str, content: object, minute: int, *, begin: datetime = NOON, cwd: str = PROJECT, **more: object) -> Record:
    """A line of a Claude Code session; the one of a minute follows the one of the minute before."""
    message = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg_{name}_{minute}", "model": "claude-test", "content": [{"type": "text", "text": content}]}
    return {
        "type": role,
        "uuid": session_id(f"{name} {minute}"),
        "parentUuid": session_id(f"{name} {minute - 1}") if minute > 2 else None,
        "sessionId": session_id(name),
        "cwd": cwd,
        "version": "2.0.0",
        "gitBranch": "main",
        "isSidechain": False,
        "timestamp": (begin + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z"),
        "message": message,
        **more,
    }


def rollout(name: str, count: int, *, cwd: str = PROJECT, begin: datetime = NOON) -> list[Record]:
    """A Codex session of so many prompts, each with an answer."""
    stamp = begin.isoformat().replace("+00:00", "Z")
    meta = {"id": session_id(name), "timestamp": stamp, "cwd": cwd, "cli_version": "0.1.0"}
    rows: list[Record] = [{"timestamp": stamp, "type": "session_meta", "payload": meta}]
    for number in range(1, count + 1):
        for role, kind in (("user", "input_text"), ("assistant", "output_text")):
            said = {"type": "message", "role": role, "content": [{"type": kind, "text": f"{role} {number} of {name}"}]}
            rows.append({"timestamp": stamp, "type": "response_item", "payload": said})
    return rows


def encoded(rows: Iterable[Record]) -> bytes:
    """Records as the lines of a file."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


class Desk:
    """A user's home folder, an archive, and what is imported."""

    def __init__(self, folder: Path) -> None:
        self.user_home = folder / "ann"
        self.home = folder / "home"
        self.home.mkdir()
        self.environ: Mapping[str, str] = {}
        self.store = SqliteStore(self.home / FILE, durability="normal")
        self.importer = self.another()

    def another(self) -> Importer:
        """An importer that remembers nothing but what the archive does."""
        return Importer(self.store, user_home=self.user_home, environ=self.environ)

    def run(self, *paths: Path, client: str | None = None) -> Imported:
        """Import, by a new importer."""
        return self.another().run(paths, client)

    def claude(self, name: str, rows: Sequence[Record] | bytes, *, folder: str = "-home-ann-shop", age: int = 0) -> Path:
        """Write a session where Claude Code would."""
        return self.write(self.user_home / ".claude" / "projects" / folder / f"{session_id(name)}.jsonl", rows, age=age)

    def codex(self, name: str, rows: Sequence[Record] | bytes, *, folder: str = "sessions/2026/03/04", age: int = 0) -> Path:
        """Write a session where Codex would."""
        return self.write(self.user_home / ".codex" / folder / f"rollout-2026-03-04T12-00-00-{session_id(name)}.jsonl", rows, age=age)

    def write(self, path: Path, rows: Sequence[Record] | bytes, *, age: int = 0) -> Path:
        """Write a file that is so many seconds old."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rows if isinstance(rows, bytes) else encoded(rows))
        moment = NOON.timestamp() + 86_400 - age
        os.utime(path, (moment, moment))
        return path

    def texts(self, name: str) -> list[str]:
        """What the conversation of a client's session holds now, in order."""
        return [text_of(row.message) for row in self.current(name) if row.message is not None]

    def current(self, name: str) -> list[Row]:
        """The messages of a client's session."""
        return self.store.archive(self.store.sessions.get(session_id(name)).conversation).current()

    def rows(self) -> int:
        """How many rows the archive holds."""
        return sum(session.messages for session in self.store.sessions.listed())


def append(path: Path, data: bytes) -> None:
    """Add bytes to a file, as a client does."""
    with path.open("ab") as opened:
        opened.write(data)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A home folder without sessions, and an empty archive."""
    made = Desk(tmp_path)
    yield made
    made.store.close()

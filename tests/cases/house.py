"""A home folder with an archive in it, driven through the Python door, and looked at from outside."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host import Host
from host.conversation.conversation import Conversation
from host.conversation.shelf import OWN
from host.messages.types import JSON, Message
from tests.cases.described import prose
from tests.cases.facts import NoDriver

TITLE = "work"
WINDOW = 6_000  # tokens: ten messages of a story fill half of it
NARROW = {"protect_first_n": 0, "protect_last_n": 2}  # so that ten messages have a middle


@dataclass
class House:
    """``compression`` is that section of config.yaml; ``window`` is in tokens."""

    home: Path
    compression: Mapping[str, Any] = field(default_factory=dict)
    engine: str = ""
    window: int = WINDOW
    durability: str = "full"
    warnings: list[str] = field(default_factory=list)
    _host: Host | None = None

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        config: JSON = {"compression": {**NARROW, **self.compression}, "store": {"durability": self.durability}}
        if self.engine:
            config["context"] = {"engine": self.engine}
        (self.home / "config.yaml").write_text(json.dumps(config), encoding="utf-8")

    def __enter__(self) -> House:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The archive's file."""
        return self.home / "archive.db"

    @property
    def host(self) -> Host:
        """The host, started at the first use."""
        if self._host is None:
            self._host = Host(home=self.home, warn=self.warnings.append)
        return self._host

    def talk(self, title: str = TITLE) -> Conversation:
        """The conversation of this title."""
        return self.host.conversation(title, window=self.window)

    def close(self) -> None:
        """Stop the host; the next use starts it again."""
        if self._host is not None:
            self._host.close()
            self._host = None

    def index(self) -> None:
        """Have everything indexed, as it is after a while."""
        self.host.store.search.catch_up()

    @contextmanager
    def outside(self, timeout: float = 5.0) -> Iterator[sqlite3.Connection]:
        """The file as some other program opens it. Every statement is its own transaction."""
        with closing(sqlite3.connect(self.path, timeout=timeout, isolation_level=None)) as connection:
            yield connection

    def value(self, sql: str) -> Any:
        """The first column of the first row, seen from outside."""
        with self.outside() as connection:
            found = connection.execute(sql).fetchone()
        return found[0] if found else None

    def table(self, name: str) -> list[Any]:
        """A table's rows, seen from outside; the host's own word on why it did not compact is no part of them."""
        kept = f" WHERE engine <> '{OWN}'" if name == "engine_state" else ""
        with self.outside() as connection:
            return connection.execute(f"SELECT * FROM {name}{kept}").fetchall()

    def dump(self) -> list[Any]:
        """All that is archived, seen from outside; what the index notes beside a message is no part of it."""
        asked = "SELECT id, conversation, position, place, time, role, tool, body, cuts, digest FROM messages ORDER BY id"
        with self.outside() as connection:
            return connection.execute(asked).fetchall()


def said(number: int, words: str = "", *, role: str = "", chars: int = 1_600) -> Message:
    """The message of a story with this number: long enough to be summarised, with a word of its own in it."""
    content = " ".join(filter(None, [word_of(number), words, prose(chars)]))
    message: Message = {"role": role or ("user" if number % 2 else "assistant"), "content": content}
    return {**message, "tool_call_id": f"call_{number}"} if role == "tool" else message


def word_of(number: int) -> str:
    """A word that only this message of a story holds."""
    return f"note{number:05d}"


def messages_of(given: object) -> list[Message]:
    """The messages that a case lists: as they stand, or texts of the user."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise NoDriver(f"no driver reads {given!r}")
    return [_message(entry) for entry in given]


def _message(entry: object) -> Message:
    if isinstance(entry, str):
        return {"role": "user", "content": entry}
    if isinstance(entry, Mapping) and isinstance(entry.get("role"), str):
        return dict(entry)  # type: ignore[return-value]
    raise NoDriver(f"no driver reads {entry!r} as a message")


def index_tables(house: House) -> list[str]:
    """The full-text tables of the file."""
    with house.outside() as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE % USING fts5(%' ORDER BY name")
        return [name for (name,) in found]


def index_bytes(house: House) -> int:
    """What the search index takes in the file."""
    return sum(house.value(f"SELECT coalesce(sum(length(block)), 0) FROM {table}_data") for table in index_tables(house))


def stray_rows(house: House) -> int:
    """Rows that the index still holds for messages that are gone."""
    counted = [f"{table}_docsize" for table in index_tables(house)]
    kept = [table for table in counted if house.value(f"SELECT count(*) FROM sqlite_master WHERE name = '{table}'")]
    known = "SELECT id FROM messages WHERE body IS NOT NULL"
    return sum(house.value(f"SELECT count(*) FROM (SELECT id FROM {table} EXCEPT {known})") for table in kept)


def is_unlocked(house: House) -> bool:
    """Whether another program could write at once."""
    with house.outside(timeout=0) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        connection.execute("ROLLBACK")
    return True


def soundness(house: House) -> str:
    """``ok``, or what SQLite and the product's own check find."""
    with house.outside() as connection:
        lines = [line for (line,) in connection.execute("PRAGMA integrity_check")]
    found = [f"{finding.where}: {finding.what}" for finding in house.host.store.admin.verify(prove=True).findings]
    return "; ".join([*lines, *found]) if lines != ["ok"] or found else "ok"

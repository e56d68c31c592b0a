"""What happens to a file while it is open: interrupts, removals, other programs."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

import pytest

from host.errors import ForeignFile, StoreUnavailable
from host.store.sqlite import connection
from host.store.sqlite.connection import Connection
from host.store.sqlite.store import SqliteStore
from host.testing.messages import user


def test_an_interrupt_just_before_the_block_leaves_no_transaction_open(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "archive.db")
    archive = store.archive(store.sessions.create().conversation)
    begun = store.connection.writing()
    begun.__enter__()  # the interrupt comes here: nobody calls __exit__
    store.connection.depth -= 1
    store.connection.lock.release()
    assert archive.append(user("kept")) == 1
    other = sqlite3.connect(tmp_path / "archive.db")
    assert other.execute("SELECT count(*) FROM messages").fetchone() == (1,)


def test_an_interrupt_while_the_lock_is_waited_for_leaves_no_transaction_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Connection(tmp_path / "archive.db")

    class Interrupted:
        """Raises as a signal would, right after the transaction began."""

        def __init__(self, real: sqlite3.Connection) -> None:
            self.real = real

        def __getattr__(self, name: str) -> object:
            return getattr(self.real, name)

        def execute(self, sql: str, *parameters: object) -> object:
            done = self.real.execute(sql, *parameters)  # type: ignore[arg-type]
            if sql == "BEGIN IMMEDIATE":
                raise KeyboardInterrupt
            return done

    real = held.database.conn
    monkeypatch.setattr(held.database, "conn", Interrupted(real))
    with pytest.raises(KeyboardInterrupt), held.writing():
        pass
    assert not real.in_transaction
    free: list[bool] = []
    thread = threading.Thread(target=lambda: free.append(held.lock.acquire(timeout=5)))
    thread.start()
    thread.join()
    assert free == [True]


def test_a_file_that_was_removed_takes_no_more_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path / "archive.db")
    archive = store.archive(store.sessions.create().conversation)
    archive.append(user("one"))
    (tmp_path / "archive.db").rename(tmp_path / "moved.db")
    monkeypatch.setattr(connection, "LOOK_SECONDS", 0.0)
    time.sleep(0.25)
    with pytest.raises(StoreUnavailable, match="removed or replaced"):
        archive.append(user("two"))
    (tmp_path / "moved.db").rename(tmp_path / "archive.db")
    assert archive.append(user("two")) == 2


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE recipes (name TEXT)")
    theirs.commit()
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(ForeignFile):
        SqliteStore(path)
    assert path.read_bytes() == before

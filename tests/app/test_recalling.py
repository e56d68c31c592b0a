"""The recall tools of a project: what the first call needs is made ready while nobody waits."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from host.app.current import CurrentArchive
from host.app.recalling import READYING, Recalling
from host.app.stores import archive_of, open_archive
from host.errors import StoreError
from host.importing.importer import Importer
from host.importing.values import CaughtUp
from host.recall.answers import Answer
from host.recall.boundary import Boundary
from host.store.protocols import FileStore
from host.testing.messages import user
from tests.mcp.session_files import SessionFile


@pytest.fixture
def tools(tmp_path: Path) -> Recalling:
    boundary = Boundary(everything=True)
    return Recalling(tmp_path, boundary, import_command="ctxhost import", user_home=tmp_path / "ann", environ={})


def ready() -> None:
    """Wait for what is made ready."""
    for thread in threading.enumerate():
        if thread.name == READYING:
            thread.join()


def test_who_asks_for_the_tools_finds_what_is_archived_then_and_later(tools: Recalling, tmp_path: Path) -> None:
    store = open_archive(tmp_path)
    archive = store.archive(store.sessions.create().conversation)
    archive.append(user("kumquat one"))
    assert [schema["function"]["name"] for schema in tools.tools()] == ["lcm_grep", "lcm_expand"]
    archive.append(user("kumquat two"))
    found = json.loads(tools.call("lcm_grep", {"query": "kumquat"}).text)
    assert len(found["hits"]) == 2
    ready()
    assert tools.tools() == tools.tools()
    tools.close()
    store.close()


def test_what_waits_is_indexed_before_the_first_search(tools: Recalling, tmp_path: Path) -> None:
    store = open_archive(tmp_path)
    store.archive(store.sessions.create().conversation).extend([user(f"kumquat {number}") for number in range(500)])
    tools.tools()
    ready()
    assert store.search.catch_up(seconds=0) == 0
    tools.close()
    store.close()


def test_asking_for_the_tools_makes_no_archive(tools: Recalling, tmp_path: Path) -> None:
    tools.tools()
    ready()
    tools.close()
    assert not archive_of(tmp_path).exists()


def test_an_archive_that_cannot_be_opened_is_for_the_call_to_say(tools: Recalling, tmp_path: Path) -> None:
    archive_of(tmp_path).write_bytes(b"no archive at all, but a text that somebody put there" * 100)
    assert len(tools.tools()) == 2
    with pytest.raises(StoreError):
        tools.call("lcm_grep", {"query": "kumquat"})
    tools.close()


class Slow:
    """An importer and an index that take all the time that they are given, on a clock that only they move."""

    def __init__(self, reading_takes: float) -> None:
        self.now = 100.0
        self.given: list[float] = []
        self._reading_takes = reading_takes
        self.search = self.sessions = self

    def clock(self) -> float:
        return self.now

    def listed(self, **_: object) -> list[str]:
        return ["a session"]

    def read(self, directories: Sequence[str], seconds: float) -> CaughtUp:
        self.given.append(seconds)
        self.now += self._reading_takes
        return CaughtUp(lines_left=3)

    def index(self, *, seconds: float) -> int:
        self.given.append(seconds)
        self.now += seconds
        return 0


class Reads:
    """Hands on to one of them."""

    def __init__(self, slow: Slow) -> None:
        self.catch_up = slow.read


class Indexes:
    """Hands on to one of them."""

    def __init__(self, slow: Slow) -> None:
        self.search, self.sessions = self, slow
        self.catch_up = slow.index


@pytest.mark.parametrize(("reading_takes", "left_to_index"), [(0.15, 0.05), (0.01, 0.19), (0.2, 0.0), (0.7, 0.0)])
def test_what_is_done_before_a_search_is_given_200_ms_in_all(reading_takes: float, left_to_index: float) -> None:
    slow = Slow(reading_takes)
    store, importer = cast(FileStore, Indexes(slow)), cast(Importer, Reads(slow))
    notices = CurrentArchive(store, importer, (), "ctxhost import", clock=slow.clock).catch_up()
    assert notices == ("3 lines not indexed yet; `ctxhost import` reads them all",)
    assert slow.given == pytest.approx([0.15, left_to_index])
    assert slow.now <= 100.0 + max(0.2, reading_takes) + 1e-9


def test_a_search_does_not_wait_for_another_process_that_writes(tools: Recalling, tmp_path: Path) -> None:
    file = SessionFile(tmp_path / "ann", "/srv/shop", "66666666-aaaa-4bbb-8ccc-000000000006").user("The kumquat is ripe.")
    assert len(json.loads(tools.call("lcm_grep", {"query": "kumquat"}).text)["hits"]) == 1
    file.user("Another kumquat.")
    with closing(sqlite3.connect(archive_of(tmp_path), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        answer = tools.call("lcm_grep", {"query": "kumquat"})
        waited = time.monotonic() - begun
    found = json.loads(answer.text)
    assert len(found["hits"]) == 1 and found["notices"]
    assert waited < 3  # who waits for such a lock waits 10 s and more
    assert len(json.loads(tools.call("lcm_grep", {"query": "kumquat"}).text)["hits"]) == 2
    tools.close()


def test_a_call_that_finds_its_archive_broken_does_not_drop_the_one_that_was_opened_since(tools: Recalling, tmp_path: Path) -> None:
    tools.call("lcm_grep", {"query": "kumquat"})
    broken = tools._opened
    assert broken is not None
    archive_of(tmp_path).rename(tmp_path / "gone.db")
    answers: list[Answer] = []
    inside, opened = threading.Event(), threading.Event()
    usable = broken.is_usable

    def slowly() -> bool:
        inside.set()
        opened.wait(30)
        return usable() and False

    broken.is_usable = slowly  # type: ignore[method-assign]
    late = threading.Thread(target=lambda: answers.append(tools.call("lcm_expand", {"message": "nobody:1"})))
    late.start()
    inside.wait(30)
    with tools._lock:
        tools._opened = None
    tools.call("lcm_grep", {"query": "kumquat"})
    newer = tools._opened
    opened.set()
    late.join()
    assert newer is not broken and tools._opened is newer
    assert answers[0].is_error
    tools.close()

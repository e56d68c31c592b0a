"""The recall tools of a project: what the first call needs is made ready while nobody waits."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from host.app.recalling import READYING, Recalling
from host.app.stores import archive_of, open_archive
from host.errors import StoreError
from host.recall.boundary import Boundary
from host.testing.messages import user


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

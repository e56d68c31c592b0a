"""Both stores do what the protocols say; the suite finds a store that does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from host.messages.types import Message
from host.store.memory import MemoryArchive, MemoryStore
from host.store.memory.views import MemoryViews
from host.store.protocols import Store
from host.store.sqlite.store import SqliteStore
from host.store.values import Lease, Publication, Published
from host.testing.conformance import SHARED_STORE_CHECKS, STORE_CHECKS, check_store


def again(store: Store) -> Store:
    """The same data another time: a second connection to a file, in memory the store itself."""
    return SqliteStore(store.path, durability="normal") if isinstance(store, SqliteStore) else store


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "archive.db", durability="normal")
    yield made
    made.close()


@pytest.mark.parametrize("check", STORE_CHECKS.values(), ids=STORE_CHECKS.keys())
def test_store(check: Callable[[Store], None], store: Store) -> None:
    check(store)


@pytest.mark.parametrize("check", SHARED_STORE_CHECKS.values(), ids=SHARED_STORE_CHECKS.keys())
def test_shared_store(check: Callable[[Store, Store], None], store: Store) -> None:
    another = again(store)
    check(store, another)
    another.close()


def test_the_suite_runs_without_pytest() -> None:
    outcomes = list(check_store(MemoryStore, beside=again))
    assert [outcome.name for outcome in outcomes] == [*STORE_CHECKS, *SHARED_STORE_CHECKS]
    assert [str(outcome) for outcome in outcomes if not outcome.passed] == []
    assert len(list(check_store(MemoryStore))) == len(STORE_CHECKS)


class Trimming(MemoryArchive):
    """Cuts texts at the first NUL, as C does."""

    def append(self, message: Message, *, replaces: int | None = None, time: datetime | None = None, after: int | None = None) -> int:
        text = message.get("content") if isinstance(message, dict) else None
        cut = {**message, "content": text.split("\x00")[0]} if isinstance(text, str) else message
        return super().append(cut, replaces=replaces, time=time, after=after)


class Unfenced(MemoryViews):
    """Publishes whatever the version and the lease are."""

    def publish(self, publication: Publication, *, expected: int, lease: Lease | None = None) -> Published:
        return super().publish(publication, expected=self.version())


class Faulty(MemoryStore):
    """A store with two faults that real ones had."""

    def archive(self, conversation: str) -> MemoryArchive:
        return Trimming(self.tables, conversation)

    def views(self, conversation: str) -> MemoryViews:
        return Unfenced(self.tables, conversation)


def test_the_suite_finds_faults_and_says_where() -> None:
    failed = {outcome.name: str(outcome) for outcome in check_store(Faulty, beside=again) if not outcome.passed}
    assert list(failed) == [
        "a message comes back byte for byte",
        "a stale version is refused",
        "a lease that is not held is refused",
        "of two who publish one is outrun",
        "a lease holds for all",
        "of many who publish one wins",
    ]
    assert failed["a message comes back byte for byte"].endswith("NotConforming: not so: comes back byte for byte: NUL")
    assert "publish on version 0: gave Published(" in failed["a stale version is refused"]


def broken() -> Store:
    raise OSError("no disk")


def test_a_store_that_does_not_open_fails_every_check() -> None:
    outcomes = list(check_store(broken))
    assert {str(outcome.error) for outcome in outcomes} == {"no disk"}

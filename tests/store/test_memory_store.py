"""What only the store in memory has: an archive by itself, messages that are forgotten, a quarantine to look into."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from host.errors import Forgotten, NotStorable
from host.messages.ledger import Entry, Ledger
from host.messages.types import Message
from host.store.memory import MemoryArchive, MemoryState, MemoryStore
from host.store.values import Publication


def user(content: str) -> Message:
    return {"role": "user", "content": content}


def test_an_archive_and_a_state_stand_alone() -> None:
    archive, other = MemoryArchive(), MemoryArchive()
    assert (archive.append(user("a")), archive.append(user("b")), other.append(user("c"))) == (1, 2, 1)
    assert (archive.range(), other.range()) == ((1, 2), (1, 1))
    state, another = MemoryState(), MemoryState()
    state.save({"n": 1})
    assert (state.load(), another.load()) == ({"n": 1}, {})


def test_what_is_forgotten_is_refused_and_its_place_stays() -> None:
    store = MemoryStore()
    session = store.sessions.create()
    archive, views = store.archive(session.conversation), store.views(session.conversation)
    archive.extend([user("a"), user("secret"), user("b")])
    views.publish(Publication(Ledger([Entry(user("secret"), 2), Entry(user("b"), 3)]), 3), expected=0)
    archive.forget(2)
    archive.forget(2)
    assert archive.read(1, 3) == [user("a"), user("b")]
    assert [(row.position, row.message) for row in archive.current()] == [(1, user("a")), (2, None), (3, user("b"))]
    view = views.current()
    assert view is not None
    assert [message["content"] for message in view.ledger.messages()] == ["[erased by ctxhost archive forget]", "b"]
    for again in (user("secret"), cast(Message, {"content": "secret", "role": "user", "timestamp": 1})):
        with pytest.raises(Forgotten) as refused:
            archive.append(again)
        assert refused.value.position == 2
        with pytest.raises(Forgotten):
            archive.extend([user("c"), again])
    assert archive.range() == (1, 3)
    assert archive.append(user("c")) == 4
    assert MemoryArchive().append(user("secret")) == 1


class Loud:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


QUARANTINED = [
    (b"bytes", "TypeError: Object of type bytes is not JSON serializable", "{'role': 'user', 'content': b'bytes'}"),
    (Loud(), "TypeError: Object of type Loud is not JSON serializable", "<no repr: RuntimeError>"),
    ({"k\udc81": {1}}, "TypeError: Object of type set is not JSON serializable", r"{'role': 'user', 'content': {'k\udc81': {1}}}"),
]


@pytest.mark.parametrize(("content", "error", "shown"), QUARANTINED)
def test_quarantine_says_what_was_refused_and_why(content: Any, error: str, shown: str) -> None:
    archive = MemoryArchive()
    with pytest.raises(NotStorable, match="cannot be kept"):
        archive.append(cast(Message, {"role": "user", "content": content}))
    (held,) = archive.quarantine
    assert (held.error, held.shown) == (error, shown)


def test_threads_share_a_store() -> None:
    store = MemoryStore()
    archive = store.archive(store.sessions.create().conversation)

    def write(writer: int) -> None:
        for number in range(50):
            archive.append(user(f"{writer} {number}"))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = list(archive.rows())
    assert [row.position for row in rows] == list(range(1, 801))
    for writer in range(16):
        own = [message["content"] for message in archive.read(1, 800) if str(message["content"]).startswith(f"{writer} ")]
        assert own == [f"{writer} {number}" for number in range(50)]

"""What an engine leaves before the exchanges that are kept from it, where it ends in the user's name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from host.messages.ledger import Kind
from host.messages.violations import violations
from host.store.memory import MemoryStore
from host.store.sqlite.store import SqliteStore
from host.testing.messages import chat, system, user
from host.transforms.bridges import is_bridge
from host.transforms.handoff import handoff_text
from tests.desk import Desk, fed
from tests.engines_for_tests import Scripted

SESSION = [system("You are an agent."), *chat(12, chars=900)]


@pytest.fixture(params=["sqlite", "memory"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    store: Any = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "home" / "archive.db", durability="normal")
    yield Desk(store)
    store.close()


def test_no_turn_without_words_is_ever_in_a_window(desk: Desk) -> None:
    talk = fed(desk.open(Scripted(lambda messages: [messages[0], user("recap: things were said")])), SESSION)
    for _ in range(3):
        outcome = talk.compact(keep=2)
        assert outcome.refused is None
        for shown in (talk, desk.open()):
            messages = list(shown.view.messages)
            assert all(message["content"] for message in messages) and violations(messages, strict=True) == []
            assert sum(map(is_bridge, messages)) == 1 and len(messages) == 7
        fed(talk, chat(4, chars=900))


def test_the_turn_goes_with_the_words_that_it_stood_behind(desk: Desk) -> None:
    engine = Scripted(lambda messages: [messages[0], user("recap " * 400)])
    talk = fed(desk.open(engine), SESSION)
    assert talk.compact(keep=2).refused is None
    engine.returns = lambda messages: [messages[0], user(handoff_text("notes")), *messages[2:]]
    fed(talk, chat(4, chars=900))
    assert talk.compact().refused is None
    assert not any(map(is_bridge, talk.view.messages))
    assert [entry.kind for entry in talk.view.ledger[:3]] == [Kind.ORIGINAL, Kind.MERGED, Kind.ORIGINAL]

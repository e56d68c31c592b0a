"""A window that is shown anew in the middle of a turn: the turn goes on as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from host.conversation.conversation import Conversation
from host.conversation.triggers import POST_RESPONSE, Trigger
from host.engine.services import ModelFacts
from host.errors import UsageError
from host.messages.types import Reply, Usage
from host.store.memory import MemoryStore
from host.testing.messages import assistant, call, result, user
from tests.desk import Desk

CALLS = assistant(None, [call("a", "run"), call("b", "run")])


@pytest.mark.parametrize("at", [0, 1, 2])
def test_results_that_come_in_behind_another_process_are_considered_all_the_same(at: int) -> None:
    """``at`` is how many messages of the group are in when the other process's row is taken in."""
    conversation = Desk(MemoryStore()).open()
    conversation.add(user("Go"))
    conversation.window()
    considered: list[Trigger] = []
    conversation._current.consider = considered.append  # type: ignore[method-assign, assignment]
    for number, message in enumerate([CALLS, result("a", "1"), result("b", "2")]):
        if number == at:
            conversation.reread()
        conversation.add(message)
    assert considered == [POST_RESPONSE]


@pytest.mark.parametrize(
    "verb",
    [
        lambda talk: talk.answered(Reply(assistant("a"), None, "stop")),
        lambda talk: talk.measured(Usage(10)),
        lambda talk: talk.refused(ValueError("no")),
        lambda talk: talk.use_model(ModelFacts("m", 4_000)),
    ],
)
def test_a_conversation_that_is_closed_hears_nothing_of_a_model(verb: Callable[[Conversation], Any]) -> None:
    conversation = Desk(MemoryStore()).open()
    conversation.close()
    with pytest.raises(UsageError, match="closed"):
        verb(conversation)

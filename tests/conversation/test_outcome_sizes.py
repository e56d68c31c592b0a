"""A compaction is told in the measure of its receipt, and a call that compacted has no reason why it did not."""

from __future__ import annotations

import pytest

from host.conversation.feedback import feedback
from host.engine.idle import Idle, Reason
from host.messages.types import Message, ToolSchema, Usage
from host.store.memory import MemoryStore
from host.testing.messages import chat, system, user
from tests.desk import Desk, fed
from tests.engines_for_tests import Scripted, compressor

SESSION = [system("S"), *chat(40, chars=900), user("go on")]
TOOLS: list[ToolSchema] = [{"type": "function", "function": {"name": "look", "description": "word " * 200, "parameters": {}}}]


@pytest.mark.parametrize("usage", [10, 600, 3_000, 50_000, 10**12])
@pytest.mark.parametrize("tools", [[], TOOLS])
def test_whatever_a_provider_counted_before_and_after_are_those_of_the_receipt(usage: int, tools: list[ToolSchema]) -> None:
    talk = fed(Desk(MemoryStore()).open(compressor(64_000)), SESSION)
    talk.window(tools)
    talk.measured(Usage(usage))
    preview, outcome = talk.preview(), talk.compact()
    receipt, schemas = talk.view.receipt, talk.services.facts.tools
    assert receipt is not None and outcome.refused is None
    assert (outcome.before, outcome.after) == (receipt.before + schemas, receipt.after + schemas)
    assert (preview.before, preview.after) == (outcome.before, outcome.after)
    assert outcome.after < outcome.before and outcome.progressed and "denser" not in str(feedback(outcome).note)


def shorter(messages: list[Message]) -> list[Message]:
    """Half of what is behind the system prompt, as long as that is much."""
    return [messages[0], *messages[len(messages) // 2 :]] if len(messages) > 24 else messages


def test_a_second_pass_in_vain_is_no_reason_after_one_that_compacted() -> None:
    desk, engine = Desk(MemoryStore()), Scripted(shorter)
    talk = fed(desk.open(engine), SESSION)
    engine.threshold_tokens = 100
    talk.window()
    assert engine.calls == 2 and talk.view.version == 1
    assert talk.idle is None
    assert talk.compact().reason is Reason.NOTHING_TO_COMPRESS
    assert [talk.idle] == [Idle(Reason.NOTHING_TO_COMPRESS, "there was nothing to compact")]

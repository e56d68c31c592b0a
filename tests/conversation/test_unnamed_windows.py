"""A service whose window is smaller than configured and that does not say how large it is."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from host.conversation.ceilings import LEAST_CEILING, Limits, Taken
from host.conversation.conversation import Conversation
from host.conversation.retrying import GiveUp, Retry
from host.engine.services import ModelFacts
from host.messages.types import Message, Reply, Usage
from host.store.memory import MemoryStore
from host.testing.messages import WORDS, assistant, system, user
from host.tokens import Counter
from tests.desk import Desk
from tests.engines_for_tests import compressor

CONFIGURED, TAKEN = 64_000, 8_192  # tokens
COUNT = Counter()


class Said(Exception):
    """A refusal as a client raises it."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"Error code: {status}")
        self.status_code, self.body = status, body


UNNAMED: dict[str, Said] = {
    "a page": Said(413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
    "an empty 413": Said(413, ""),
    "an empty 400": Said(400, ""),
    "a bare string": Said(400, "prompt is too long"),
    "bedrock": Said(400, {"message": "Input is too long for requested model."}),
    "ollama": Said(500, {"error": "input length exceeds the context length"}),
    "a budget": Said(
        413,
        {
            "error": {
                "message": "Request too large for model `x` on tokens per minute (TPM): Limit 8000, Requested 9001, please reduce "
                "your message size and try again.",
                "type": "tokens",
                "code": "rate_limit_exceeded",
            }
        },
    ),
    "a limit below what it took": Said(400, {"error": {"message": "This model's maximum context length is 2013 tokens."}}),
    "a limit far above": Said(400, {"error": {"message": "This model's maximum context length is 32768 tokens."}}),
}


@dataclass
class Service:
    """Answers what it takes, counts it or does not, and refuses the rest in one wording."""

    refusal: Said
    counts: bool = True
    sizes: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)

    def asked(self, conversation: Conversation) -> GiveUp | None:
        """One answer, asked for as often as the conversation wants."""
        for _ in range(8):
            tokens = COUNT.messages(conversation.window())
            self.sizes.append(tokens)
            if tokens <= TAKEN:
                conversation.answered(Reply(assistant("Fine."), Usage(tokens) if self.counts else None, "stop"))
                conversation.add(assistant("Fine."))
                return None
            self.refused.append(len(self.sizes))
            remedy = conversation.refused(self.refusal)
            if isinstance(remedy, GiveUp):
                return remedy
        return GiveUp("asked too often")


def line(number: int, words: int = 900) -> Message:
    return user(f"Message {number}: {' '.join(random.Random(number).choices(WORDS, k=words))}")


def said(conversation: Conversation, service: Service, numbers: range) -> list[GiveUp | None]:
    answers = []
    for number in numbers:
        conversation.add(line(number))
        answers.append(service.asked(conversation))
    return answers


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("wording", UNNAMED)
def test_a_window_that_nobody_names_is_found_once_and_known_to_the_next_process(wording: str, counts: bool) -> None:
    desk, service = Desk(MemoryStore()), Service(UNNAMED[wording], counts)
    first = desk.open(compressor(CONFIGURED))
    first.add(system("You are an agent."))
    assert said(first, service, range(30)) == [None] * 30
    assert 1 <= len(service.refused) <= 2
    assert first.services.facts.window == CONFIGURED
    first.close()
    service.refused.clear()
    second = desk.open(compressor(CONFIGURED))
    assert second.services.facts.ceiling <= TAKEN
    assert said(second, service, range(30, 45)) == [None] * 15
    assert service.refused == []
    assert second.services.facts.window == CONFIGURED


def test_a_ceiling_belongs_to_its_model_and_comes_back_with_it() -> None:
    service = Service(UNNAMED["bedrock"])
    talk = Desk(MemoryStore()).open(compressor(CONFIGURED))
    said(talk, service, range(12))
    facts, ceiling = talk.services.facts, talk.services.facts.ceiling
    assert 0 < ceiling <= TAKEN
    talk.use_model(ModelFacts("another", 100_000))
    assert talk.services.facts.ceiling == 0
    talk.use_model(ModelFacts(facts.model, CONFIGURED))
    assert talk.services.facts.ceiling == ceiling


def test_why_nothing_was_compacted_and_the_ceiling_are_kept_beside_each_other() -> None:
    desk = Desk(MemoryStore())
    shelf = desk.shelf()
    talk = desk.open(compressor(CONFIGURED), shelf)
    said(talk, Service(UNNAMED["bedrock"]), range(12))
    talk.window()
    talk.close()
    assert shelf.notes is not None
    assert {"idle", "taken"} <= set(shelf.notes.load())


def test_a_later_answer_raises_the_ceiling_and_one_as_long_as_was_refused_ends_it() -> None:
    known = Taken().after_answer(5_000).after_refusal(10_000, 0)
    assert known == Taken(5_000, 10_000, 8_000)
    assert known.after_answer(9_000) == Taken(9_000, 10_000, 9_000)
    assert known.after_answer(10_000) == Taken(10_000)
    assert known.after_answer(7_000).ceiling == 8_000


def test_refusals_in_a_row_lower_it_ever_more_and_never_below_use() -> None:
    known, ceilings = Taken(3_000), []
    for times in range(4):
        known = known.after_refusal(8_000, times)
        ceilings.append(known.ceiling)
    assert ceilings == [6_400, 4_800, 3_200, 3_200]
    assert Taken().after_refusal(2_100, 3).ceiling == LEAST_CEILING
    assert Taken().after_refusal(1_500, 0) == Taken()


def test_a_service_that_takes_less_than_it_did_is_believed() -> None:
    assert Taken(20_000).after_refusal(9_000, 0) == Taken(0, 9_000, 7_200)


@pytest.mark.parametrize(
    ("limit", "tokens", "counted", "believed"),
    [
        (8_192, 9_001, True, True),
        (9, 9_001, True, False),
        (1_023, 9_001, True, False),
        (4_096, 9_001, True, False),  # 6,000 were answered
        (4_096, 5_000, True, True),  # and now not even 5,000 are
        (32_768, 9_001, True, False),
        (8_192, 7_000, False, True),  # estimates are rough
        (32_768, 9_001, False, False),
    ],
)
def test_a_limit_that_cannot_be_the_window_is_not_believed(limit: int, tokens: int, counted: bool, believed: bool) -> None:
    talk = Desk(MemoryStore()).open(compressor(CONFIGURED))
    limits = Limits(talk._current, None)
    limits.answered(6_000)
    assert limits.believes(limit, tokens, counted=counted) is believed


def test_an_excess_alone_names_the_window_where_the_service_counted() -> None:
    talk = Desk(MemoryStore()).open(compressor(CONFIGURED))
    talk.add(line(1, 10_000))
    talk.window()
    sent = talk.estimate()
    talk.refused(Said(400, {"error": {"message": f"prompt too long; exceeded max context length by {sent - TAKEN} tokens"}}))
    assert talk.services.facts.usable == TAKEN


def test_an_empty_refusal_of_a_grown_conversation_is_no_reason_for_a_ceiling_once_another_is_named() -> None:
    service = Service(UNNAMED["bedrock"])
    talk = Desk(MemoryStore()).open(compressor(CONFIGURED))
    said(talk, service, range(4))
    talk.add(line(5))
    talk.window()
    assert isinstance(talk.refused(Said(400, "")), Retry)
    talk.window()
    talk.refused(Said(400, {"error": {"message": "Unsupported parameter: 'logprobs' is not supported with this model"}}))
    assert talk.services.facts.ceiling == 0


@pytest.mark.parametrize("status", [400, 413])
def test_an_empty_refusal_of_a_first_request_that_is_small_compacts_nothing(status: int) -> None:
    talk = Desk(MemoryStore()).open(compressor(CONFIGURED))
    talk.add(user("Hello."))
    talk.window()
    assert isinstance(talk.refused(Said(status, "")), GiveUp)
    assert talk.services.facts.ceiling == 0


def test_a_prompt_that_is_cut_silently_is_noticed_in_the_same_chat() -> None:
    desk = Desk(MemoryStore())
    talk = desk.open(compressor(CONFIGURED))
    read = 4_096
    for number in range(8):
        talk.add(line(number))
        sent = COUNT.messages(talk.window())
        talk.answered(Reply(assistant("Fine."), Usage(min(sent, read)), "stop"))
        talk.add(assistant("Fine."))
        if sent * 0.6 > read:
            break
    assert any("not believed" in warning for warning in desk.warnings)
    assert talk.estimate() > 0.95 * COUNT.messages(talk.window())


def test_a_service_that_counts_fewer_tokens_from_the_beginning_is_believed() -> None:
    desk = Desk(MemoryStore())
    talk = desk.open(compressor(CONFIGURED))
    for number in range(12):
        talk.add(line(number))
        sent = COUNT.messages(talk.window())
        talk.answered(Reply(assistant("Fine."), Usage(sent * 55 // 100), "stop"))
        talk.add(assistant("Fine."))
    assert desk.warnings == []

"""What becomes of a request that a service did not take: mended where that helps, never sent twice unchanged."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.conversation.asked import size_in_bytes
from host.conversation.conversation import Conversation
from host.conversation.remedies import REMEDIES
from host.conversation.retrying import GiveUp, Retry
from host.engine.outcome import Outcome
from host.engine.services import ModelFacts, Services
from host.messages.reading import has_image
from host.messages.types import Message, Part, Reply, Usage
from host.messages.violations import violations
from host.provider.refusals.kinds import Kind
from host.store.memory import MemoryArchive
from host.testing.engines import services
from host.testing.messages import assistant, call, chat, result, system, tool_session, user
from tests.engines_for_tests import Scripted, compressor


class Said(Exception):
    """A refusal as a client raises it."""

    def __init__(self, words: str, status: int | None = 400, **more: object) -> None:
        super().__init__(words)
        self.status_code, self.code = status, more.get("code")
        self.body = {"error": {"message": words, **more}}


TOO_LONG = Said("prompt is too long: 250000 tokens > 200000 maximum")
TOO_LONG_FOR_8K = Said(
    "This model's maximum context length is 4096 tokens. However, your messages resulted in 6000 tokens.", code="context_length_exceeded"
)
HEAVY = Said("Request exceeds the maximum size", 413)
CAP = Said("max_tokens: 32768 > context_window: 200000 - input_tokens: 190000 = available_tokens: 10000")
CAP_UNKNOWN = Said("max_tokens must be <= 8192")
TIER = Said("Extra usage is required for long context requests.", 429)
BUDGET = Said(
    "Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 14368, please reduce your message size",
    413,
    type="tokens",
    code="rate_limit_exceeded",
)
TEXT_ONLY = Said("tool message content must be a string")
UNPAIRED = Said("No tool output found for function call call_abc.", type="invalid_request_error", param="input")
NO_MEMORY = Said(
    "Prefill would require ~15.27 GB peak (current 13.46 GB + KV+SDPA 1.80 GB) but dynamic ceiling is 13.50 GB; "
    "free memory or reduce context length.",
    type="BadRequestError",
)
NOT_OURS = [
    Said("rate limit", 429),
    Said("overloaded", 529),
    Said("Incorrect API key provided", 401),
    Said("Unsupported parameter: 'max_tokens' is not supported with this model"),
    Said("You exceeded your current quota", 429, code="insufficient_quota"),
    ValueError("something else altogether"),
]
PICTURE: Part = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 40_000}}


class Talk:
    """A conversation, its warnings and outcomes, and the limits that it learnt."""

    def __init__(self, window: int = 8_000, engine: Any = None, **more: Any) -> None:
        self.engine = engine or compressor(window)
        given: Services = getattr(self.engine, "services", None) or services(window)
        self.warnings: list[str] = []
        self.outcomes: list[Outcome] = []
        self.learnt: list[int] = []
        self.switches: list[tuple[str, str, bool, int]] = []
        more = {"on_switch": lambda *told: self.switches.append(told), **more}
        self.host = Conversation(
            self.engine, given, MemoryArchive(), warn=self.warnings.append, watch=self.outcomes.append, learn=self.learnt.append, **more
        )

    def told(self, messages: list[Message]) -> Talk:
        for message in messages:
            self.host.add(message)
        return self


def refused(talk: Talk, error: BaseException, max_tokens: int | None = None) -> Retry | GiveUp:
    talk.host.window()
    return talk.host.refused(error, max_tokens=max_tokens)


def long_talk(turns: int = 40) -> list[Message]:
    return [system("Be an agent."), *chat(turns, chars=300)]


def test_every_kind_has_a_remedy() -> None:
    assert set(REMEDIES) == set(Kind)


def test_a_stated_limit_is_adopted_at_once_and_learnt_after_the_next_answer() -> None:
    talk = Talk(64_000).told(long_talk())
    before = talk.engine.threshold_tokens
    assert isinstance(refused(talk, TOO_LONG_FOR_8K), Retry)
    assert talk.host.services.facts.window == talk.engine.context_length == 4_096
    assert talk.engine.threshold_tokens < before
    assert talk.learnt == []
    talk.host.window()
    talk.host.measured(Usage(2_000))
    assert talk.learnt == [4_096]
    talk.host.measured(Usage(2_000))
    assert talk.learnt == [4_096]


def test_a_limit_above_the_window_changes_nothing() -> None:
    talk = Talk(64_000).told(long_talk())
    refused(talk, TOO_LONG)
    assert talk.host.services.facts.window == 64_000


def test_three_attempts_then_an_error_with_the_counts_and_no_request_after_it() -> None:
    talk = Talk(engine=Scripted(lambda messages: [messages[0], *messages[3:]], 8_000)).told(long_talk(20))
    answers = [refused(talk, TOO_LONG) for _ in range(4)]
    assert [bool(answer) for answer in answers] == [True, True, True, False]
    assert "3 attempts" in answers[-1].why and "messages" in answers[-1].why
    assert len(talk.outcomes) == 3


def test_compactions_before_a_call_are_among_the_attempts() -> None:
    talk = Talk(engine=Scripted(lambda messages: [messages[0], *messages[13:]], 8_000)).told(long_talk(130))
    talk.host.window()
    assert {outcome.trigger for outcome in talk.outcomes} == {"preflight"}
    answers = [bool(talk.host.refused(TOO_LONG)) for _ in range(3)]
    assert answers == [True, True, False]


def test_a_turn_of_many_large_results_is_compacted_as_often_as_it_needs() -> None:
    talk = Talk(32_000).told([system("Be an agent."), user("Look through all of it.")])
    for number in range(60):
        window = talk.host.window()
        assert talk.host.estimate() <= 32_000
        assert any(message.get("content") == "Look through all of it." for message in window)
        talk.host.measured(None)
        talk.host.add(assistant(None, [call(f"c{number}", "run")]))
        talk.host.add(result(f"c{number}", "word " * 3_000))
    assert sum(outcome.progressed for outcome in talk.outcomes) > 3


def test_where_nothing_can_go_the_same_request_is_not_sent_again() -> None:
    talk = Talk().told([user("x" * 5_000)])
    answer = refused(talk, TOO_LONG)
    assert isinstance(answer, GiveUp)
    assert "system prompt, tools and newest message alone exceed the window" in answer.why


def test_switched_off_a_refusal_compacts_nothing_and_says_what_to_do() -> None:
    talk = Talk(automatic=False).told(long_talk())
    answer = refused(talk, TOO_LONG)
    assert isinstance(answer, GiveUp) and "compression.enabled" in answer.why
    assert talk.outcomes == []


@pytest.mark.parametrize("automatic", [True, False])
def test_an_answer_that_is_too_long_is_capped_and_the_history_stays(automatic: bool) -> None:
    talk = Talk(200_000, automatic=automatic).told(long_talk())
    before = talk.host.view.messages
    answer = refused(talk, CAP, 32_768)
    assert isinstance(answer, Retry) and answer.max_tokens == 10_000 - 64
    assert talk.host.view.messages == before and talk.outcomes == []
    unknown = talk.host.refused(CAP_UNKNOWN, max_tokens=32_768)
    assert isinstance(unknown, GiveUp) and "model.max_tokens" in unknown.why


def test_the_long_context_tier_lowers_the_window_for_this_conversation_alone() -> None:
    talk = Talk(1_000_000).told(long_talk())
    answer = refused(talk, TIER)
    assert isinstance(answer, Retry) and answer.wait > 0
    assert talk.host.services.facts.window == 200_000 and talk.outcomes == []
    talk.host.measured(None)
    assert talk.learnt == []
    assert isinstance(talk.host.refused(TIER), GiveUp)


def test_the_long_context_tier_compacts_what_does_not_fit_the_standard_window() -> None:
    talk = Talk(1_000_000).told([system("Be an agent."), *chat(1_200, chars=900)])
    assert talk.host.estimate() > 200_000
    assert isinstance(refused(talk, TIER), Retry)
    assert [outcome.trigger for outcome in talk.outcomes] == ["refusal"] and talk.host.estimate() < 200_000


def test_over_a_budget_per_minute_the_answer_is_capped_or_the_window_compacted_once() -> None:
    talk = Talk(128_000).told(long_talk(10))
    answer = refused(talk, BUDGET, 8_000)
    assert isinstance(answer, Retry) and answer.max_tokens is not None and answer.max_tokens < 6_000
    assert talk.host.services.facts.window == 128_000
    talk = Talk(128_000).told(long_talk(200))
    assert [bool(refused(talk, BUDGET)) for _ in range(2)] == [True, False]
    assert talk.host.services.facts.window == 128_000 and len(talk.outcomes) == 1


def pictured(role: str, number: int) -> list[Message]:
    content: list[Part] = [{"type": "text", "text": f"picture {number}"}, PICTURE]
    if role == "user":
        return [{"role": "user", "content": content}, assistant("I see.")]
    return [assistant(None, [call(f"p{number}", "shot")]), {"role": "tool", "tool_call_id": f"p{number}", "content": content}]


@pytest.mark.parametrize("automatic", [True, False])
@pytest.mark.parametrize("role", ["user", "tool"])
def test_a_body_that_is_too_large_loses_old_pictures_and_no_summary_is_asked_for(role: str, automatic: bool) -> None:
    talk = Talk(200_000, automatic=automatic).told([system("Be an agent."), user("look"), *pictured(role, 1), *pictured(role, 2)])
    talk.told(pictured("user", 3)[:1])
    before = talk.host.window()
    assert isinstance(talk.host.refused(HEAVY), Retry)
    after = talk.host.window()
    assert size_in_bytes(after) < size_in_bytes(before) / 2
    assert after[-1] == before[-1] and has_image(after[-1])
    assert talk.outcomes == [] and violations(after) == []
    assert isinstance(talk.host.refused(HEAVY), GiveUp) or size_in_bytes(talk.host.window()) < size_in_bytes(after)


def test_pictures_of_tools_in_the_newest_turn_go_where_nothing_else_helps() -> None:
    talk = Talk(200_000).told([system("Be an agent."), user("look"), *(m for number in range(3) for m in pictured("tool", number))])
    before = talk.host.window()
    assert isinstance(talk.host.refused(HEAVY), Retry)
    assert not any(map(has_image, talk.host.window())) and any(map(has_image, before))


def test_a_body_that_is_too_large_without_pictures_is_compacted() -> None:
    talk = Talk(64_000).told([system("Be an agent."), *tool_session(60, seed=3)])
    before = size_in_bytes(talk.host.window())
    assert isinstance(talk.host.refused(HEAVY), Retry)
    assert size_in_bytes(talk.host.window()) < before


def test_a_service_that_takes_only_text_of_tools_gets_text_from_then_on() -> None:
    talk = Talk(200_000).told([system("Be an agent."), user("look"), *pictured("tool", 1)])
    assert isinstance(refused(talk, TEXT_ONLY), Retry)
    talk.told(pictured("tool", 2))
    contents = [message["content"] for message in talk.host.window() if message["role"] == "tool"]
    assert all(isinstance(content, str) for content in contents) and "picture 2" in str(contents[1])
    assert isinstance(talk.host.refused(TEXT_ONLY), GiveUp)
    assert isinstance(talk.host.view.messages[-1]["content"], list)


def test_pairs_that_are_whole_are_not_sent_again() -> None:
    talk = Talk().told(long_talk(4))
    assert isinstance(refused(talk, UNPAIRED), GiveUp)
    assert talk.outcomes == []


def test_a_server_without_memory_is_told_and_nothing_changes() -> None:
    talk = Talk().told(long_talk(4))
    before = talk.host.view
    answer = refused(talk, NO_MEMORY)
    assert isinstance(answer, GiveUp) and "memory" in answer.why
    assert talk.host.view == before and talk.outcomes == []


@pytest.mark.parametrize("error", NOT_OURS, ids=str)
def test_what_is_not_about_the_window_is_the_callers(error: Exception) -> None:
    talk = Talk().told(long_talk(4))
    assert isinstance(refused(talk, error), GiveUp)
    assert talk.outcomes == [] and talk.host.services.facts.window == 8_000


def test_another_model_begins_anew() -> None:
    talk = Talk(engine=Scripted(lambda messages: [messages[0], *messages[3:]], 8_000)).told(long_talk(20))
    for _ in range(4):
        refused(talk, TOO_LONG)
    talk.host.use_model(ModelFacts("other", 4_000))
    assert talk.engine.context_length == 4_000
    assert talk.host.gauge.real_tokens is None
    assert refused(talk, TOO_LONG)


def test_a_fallback_with_a_smaller_window_is_compacted_for_before_its_first_call() -> None:
    talk = Talk(64_000).told(long_talk(80))
    talk.host.window()
    talk.host.measured(Usage(8_000))
    talk.host.use_model(ModelFacts("small", 4_000))
    talk.host.window()
    assert talk.outcomes and talk.host.estimate() <= 4_000


@pytest.mark.parametrize("counted", [100, 60_000])
def test_an_impossible_count_is_not_believed_and_said_once(counted: int) -> None:
    talk = Talk(64_000).told(long_talk())
    talk.host.window()
    estimate = talk.host.estimate()
    assert estimate / 10 > 100 and 4 * estimate < 60_000
    for _ in range(2):
        talk.host.window()
        talk.host.measured(Usage(counted))
    assert talk.host.estimate() == estimate and talk.host.gauge.real_tokens is None
    assert len([warning for warning in talk.warnings if "not believed" in warning]) == 1
    talk.host.measured(Usage(estimate + 50))
    assert talk.host.gauge.real_tokens == estimate + 50


def test_an_answer_counts_and_one_to_a_prompt_that_was_cut_is_not_measured() -> None:
    talk = Talk(65_536, automatic=False).told([system("Be an agent."), *chat(400, chars=950)])
    talk.host.window()
    estimate = talk.host.estimate()
    assert estimate > 65_536
    assert talk.host.answered(Reply(assistant("Yes."), Usage(32_770), "stop")) is None
    assert talk.host.gauge.real_tokens is None
    assert any("not believed" in warning for warning in talk.warnings)
    short = Talk(64_000).told(long_talk(4))
    short.host.window()
    assert short.host.answered(Reply(assistant("Yes."), Usage(700), "stop")) is None
    assert short.host.gauge.real_tokens == 700


def test_every_published_compaction_is_told_with_its_number() -> None:
    talk = Talk().told(long_talk(130))
    talk.host.window()
    talk.told([user("and now?"), *chat(60, chars=300)])
    talk.host.compact()
    assert [(in_place, count) for _, _, in_place, count in talk.switches] == [(True, n + 1) for n in range(len(talk.switches))]
    assert len(talk.switches) == sum(outcome.refused is None for outcome in talk.outcomes) > 1


ERRORS: list[BaseException] = [
    TOO_LONG, TOO_LONG_FOR_8K, HEAVY, CAP, CAP_UNKNOWN, BUDGET, TEXT_ONLY, UNPAIRED, NO_MEMORY, *NOT_OURS,
]  # fmt: skip
STEPS = st.lists(
    st.one_of(
        st.sampled_from(["ask", "tool", "answer", "off"]),
        st.tuples(st.sampled_from(range(len(ERRORS))), st.sampled_from([None, 500, 20_000])),
    ),
    max_size=25,
)


def request_of(talk: Talk, cap: int | None) -> str:
    return json.dumps([talk.host.window(), cap])


@settings(max_examples=60, deadline=None)
@given(STEPS, st.sampled_from([4_000, 16_000, 200_000]), st.booleans())
def test_whatever_happens_no_refused_request_is_sent_again_and_attempts_end(steps: list[Any], window: int, automatic: bool) -> None:
    talk = Talk(window, automatic=automatic).told([system("Be an agent."), *chat(20, chars=300)])
    newest, retries = "", 0
    for number, step in enumerate(steps):
        if step == "ask":
            newest = f"request {number} " * 20
            talk.host.add(user(newest))
        elif step == "tool":
            talk.host.add(assistant(None, [call(f"c{number}", "run")]))
            talk.host.add({"role": "tool", "tool_call_id": f"c{number}", "content": [{"type": "text", "text": "out " * 200}]})
        elif isinstance(step, str):
            talk.host.window()
            talk.host.measured(Usage(talk.host.estimate()) if step == "answer" else None)
        retries = 0 if isinstance(step, str) else retries
        sent = talk.host.window()
        assert violations(sent) == []
        assert not newest or any(newest in str(message["content"]) for message in sent)
        if isinstance(step, str):
            continue
        which, cap = step
        before = request_of(talk, cap)
        answer = talk.host.refused(ERRORS[which], max_tokens=cap)
        if isinstance(answer, Retry):
            retries += 1
            assert request_of(talk, answer.max_tokens or cap) != before
        assert retries <= 3


def test_facts_given_to_another_model_keep_what_the_tools_cost() -> None:
    talk = Talk(64_000).told(long_talk(4))
    talk.host.window([{"type": "function", "function": {"name": "run", "description": "runs " * 50}}])
    tools = talk.host.services.facts.tools
    talk.host.use_model(replace(ModelFacts("other", 32_000), tools=0))
    assert talk.host.services.facts == ModelFacts("other", 32_000, 0, tools) and tools > 0

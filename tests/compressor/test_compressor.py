"""The built-in engine: with a model, without one, over and over."""

from __future__ import annotations

from typing import Any

from host.compressor.template import Section
from host.errors import ProviderError
from host.messages.types import Message
from host.messages.violations import violations
from host.provider.ask import asking
from host.provider.openai_client import OpenAIProvider
from host.testing import LoopbackServer
from host.testing.messages import assistant, system, tool_session, user
from host.transforms.handoff import END_MARKER, PREFIX, handoff_body, handoff_text, is_handoff, merged_in_front, split_merged, with_note
from tests.engines_for_tests import compressor


def session(n: int = 160) -> list[Message]:
    return [system("You are an agent."), *tool_session(n, seed=7)]


def handoff(messages: list[Message]) -> Message:
    (found,) = filter(is_handoff, messages)
    return found


def test_a_model_is_asked_once_with_every_section_and_its_words_become_the_handoff() -> None:
    with LoopbackServer(["## Goal\nMove the service."]) as server:
        engine = compressor(16_000, ask=asking(OpenAIProvider("m", base_url=server.base_url, max_retries=0)))
        result = engine.compress(session(), focus_topic="the retry bug")
        (request,) = server.requests
    prompt = request.messages[0]["content"]
    assert all(f"## {section}" in prompt for section in Section)
    assert "FOCUS: the retry bug" in prompt and "[REDACTED]" in prompt
    text = str(handoff(result)["content"])
    assert text.startswith(PREFIX) and END_MARKER in text
    assert handoff_body(handoff(result)).endswith("## Goal\nMove the service.")
    assert not engine.last_report.fallback_used


def test_the_second_prompt_takes_up_the_first_summary() -> None:
    prompts: list[str] = []

    def ask(prompt: str, **more: Any) -> str:
        prompts.append(prompt)
        return f"## Goal\nsummary {len(prompts)}"

    engine = compressor(16_000, ask=ask)
    first = engine.compress(session())
    second = engine.compress([*first, *session(120)[1:]])
    assert f"PREVIOUS SUMMARY:\n{handoff_body(handoff(first))}" in prompts[1]
    assert handoff_body(handoff(second)).endswith("## Goal\nsummary 2")


def test_a_model_that_fails_is_replaced_by_notes_and_the_report_says_so() -> None:
    def ask(prompt: str, **more: Any) -> str:
        raise ProviderError("the service is down")

    engine = compressor(16_000, ask=ask)
    result = engine.compress(session())
    assert violations(result) == []
    assert engine.last_report.fallback_used and engine.last_report.error == "the service is down"
    assert engine.last_report.dropped > 100 and "ctxhost grep" in engine.last_report.note
    assert handoff_body(handoff(result)).startswith("## ")


def test_without_a_model_nothing_counts_as_a_failure() -> None:
    engine = compressor(16_000)
    engine.compress(session())
    report = engine.last_report
    assert report.made_progress and not report.fallback_used and report.dropped == 0


def test_secrets_do_not_reach_the_model_nor_come_back_from_it() -> None:
    key, seen = "ghp_" + "Ab1" * 12, []

    def ask(prompt: str, **more: Any) -> str:
        seen.append(prompt)
        return f"the token is {key}"

    result = compressor(8_000, ask=ask).compress([system("s"), user(f"token {key}"), *session(100)[2:]])
    assert seen and key not in seen[0]
    assert key not in str(handoff(result)["content"])


def test_a_summary_that_is_too_long_is_cut_to_its_room() -> None:
    engine = compressor(8_000, ask=lambda prompt, **more: "word " * 20_000)
    result = engine.compress(session())
    assert engine.services.count.messages(result) <= engine.threshold_tokens


def test_status_shows_no_sentinel() -> None:
    engine = compressor(16_000)
    engine.compress(session())
    assert engine.get_status()["last_prompt_tokens"] == 0
    assert engine.get_status()["compression_count"] == 1


def test_a_summary_shrinks_where_the_note_alone_is_over_the_threshold() -> None:
    engine = compressor(8_000)
    engine.compression_count = 1
    count = engine.services.count.messages
    notes = handoff_text("\n".join(f"- rule {n}: never touch file {n}.py" for n in range(60)))
    head = [with_note(system("s")), merged_in_front(notes, user("go"))]
    words = next(n for n in range(9_000, 0, -5) if count([*head, assistant("word " * n)]) <= engine.threshold_tokens + 15)
    full = [*head, assistant("word " * words)]
    assert count(full) > engine.threshold_tokens
    result = engine.compress(full)
    assert count(result) <= engine.threshold_tokens
    assert split_merged(result[1])[-1] == user("go")

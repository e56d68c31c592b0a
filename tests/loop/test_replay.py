"""A recording run again: what counts as a call, what is judged, what the figures say."""

from __future__ import annotations

from typing import Any

from host.conversation.conversation import Conversation
from host.engine.contract import ContextEngine
from host.engine.outcome import Outcome
from host.loop.replay import Replayed, replay
from host.messages.types import Message
from host.store.memory import MemoryArchive
from host.testing.engines import services
from host.testing.messages import assistant, call, result, system, tool_session, user
from host.tokens import Estimator, Remembered
from tests.engines_for_tests import Scripted, compressor


def replayed(recording: list[Message], engine: ContextEngine, tools: list[Any] | None = None) -> Replayed:
    count, archive, outcomes = Remembered(Estimator()), MemoryArchive(), list[Outcome]()
    given = getattr(engine, "services", None) or services(engine.context_length)
    given.count = count
    conversation = Conversation(engine, given, archive, gauge=count.gauge, warn=lambda text: None, watch=outcomes.append)
    return replay(conversation, recording, tools or [], count=count.messages, compactions=outcomes)


def session(n: int = 120) -> list[Message]:
    return [system("You are an agent."), *tool_session(n, seed=3)]


def test_each_recorded_reply_is_one_call_with_what_stood_before_it() -> None:
    recording = [user("a"), assistant("b"), user("c"), assistant("d")]
    result = replayed(recording, compressor(8_000))
    assert [(c.index, c.messages) for c in result.calls] == [(1, 1), (3, 3)]
    assert [c.tokens for c in result.calls] == [c.recorded_tokens for c in result.calls]
    assert result.is_fine and result.final == tuple(recording)


def test_the_compressor_keeps_every_call_legal_whole_and_within_the_window() -> None:
    result = replayed(session(), compressor(8_000))
    assert result.is_fine
    assert result.peak <= 8_000 and len(result.compactions) > 3
    assert result.sent < result.sent_without
    assert result.unfinished == ()


def test_a_do_nothing_engine_is_found_out() -> None:
    result = replayed(session(), Scripted(lambda messages: messages))
    assert not result.is_fine
    assert result.overfull and not result.broken


def test_an_engine_that_keeps_only_the_last_message_is_found_out() -> None:
    result = replayed(session(), Scripted(lambda messages: messages[-1:]))
    assert not result.is_fine
    assert result.overfull  # its list is refused: the newest calls are not in it


def test_an_engine_that_forgets_the_request_is_mended_by_the_host() -> None:
    def without_user(messages: list[Message]) -> list[Message]:
        return [m for m in messages[-12:] if m["role"] != "user"]

    result = replayed(session(), Scripted(without_user))
    assert result.broken == ()


def test_a_call_that_cannot_fit_is_named_with_its_arithmetic_and_is_no_fault_of_the_engine() -> None:
    recording = [user("read"), assistant(None, [call("a", "read_file")]), result("a", "word " * 14_000), assistant("read")]
    outcome = replayed(recording, compressor(8_000))
    assert outcome.is_fine
    (impossible,) = outcome.impossible
    assert impossible.index == 3
    assert str(impossible.irreducible).endswith(f"= {impossible.irreducible.total:,}")
    assert impossible.irreducible.total > 8_000


def test_tools_stand_in_every_request() -> None:
    tools = [{"type": "function", "function": {"name": "terminal", "description": "Run a command. " * 40}}]
    recording = [user("a"), assistant("b")]
    plain, laden = replayed(recording, compressor(8_000)), replayed(recording, compressor(8_000), tools)
    assert laden.calls[0].tokens == plain.calls[0].tokens + laden.calls[0].irreducible.tools
    assert laden.calls[0].irreducible.tools > 100


def test_progress_counts_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    recording = [user("a"), assistant("b"), user("c")]
    engine = compressor(8_000)
    count = Remembered(Estimator())
    conversation = Conversation(engine, engine.services, MemoryArchive(), gauge=count.gauge, warn=print)
    replay(conversation, recording, [], count=count.messages, compactions=[], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]

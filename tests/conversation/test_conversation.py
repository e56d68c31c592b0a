"""The owner of the sequence: what comes in, when it is compacted, what goes out."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from host.conversation.conversation import Conversation
from host.conversation.triggers import TRIGGERS
from host.engine.contract import ContextEngine
from host.engine.outcome import Outcome
from host.engine.services import Services
from host.errors import EngineFailed, UsageError
from host.messages.types import Message, Usage
from host.messages.violations import violations
from host.store.memory import MemoryArchive
from host.testing.messages import assistant, call, result, system, tool_session, user
from tests.engines_for_tests import Scripted, compressor, services


class Stage:
    """A conversation with ears."""

    def __init__(self, engine: ContextEngine, given: Services | None = None, **more: Any) -> None:
        self.warnings: list[str] = []
        self.outcomes: list[Outcome] = []
        given = given or getattr(engine, "services", None) or services()
        archive = cast(MemoryArchive, given.archive)
        self.conversation = Conversation(engine, given, archive, warn=self.warnings.append, watch=self.outcomes.append, **more)

    def feed(self, messages: list[Message]) -> Stage:
        for message in messages:
            self.conversation.add(message)
        return self


def long_session(n: int = 120) -> list[Message]:
    return [system("You are an agent."), *tool_session(n, seed=3)]


def test_every_message_is_archived_before_the_next_call_in_its_own_row() -> None:
    stage = Stage(compressor(200_000))
    rows = [stage.conversation.add(message) for message in long_session(20)]
    assert rows == list(range(1, len(rows) + 1))
    first, last = stage.conversation.archive.range()
    assert stage.conversation.archive.read(first, last) == long_session(20)


def test_below_the_threshold_the_window_is_what_came_in_as_the_same_objects() -> None:
    session = long_session(20)
    window = Stage(compressor(200_000)).feed(session).conversation.window()
    assert all(new is old for new, old in zip(window, session, strict=True))


def test_preflight_compacts_at_the_threshold_and_the_window_is_legal() -> None:
    stage = Stage(compressor(8_000)).feed(long_session())
    window = stage.conversation.window()
    assert [outcome.trigger for outcome in stage.outcomes] == ["preflight"]
    assert violations(window) == []
    assert stage.conversation.estimate() < stage.conversation.engine.threshold_tokens


def test_real_usage_over_the_threshold_compacts_when_the_results_are_in() -> None:
    stage = Stage(compressor(64_000)).feed(long_session(40))
    stage.conversation.window()
    stage.conversation.measured(Usage(60_000, 10))
    stage.conversation.add(assistant(None, [call("p", "terminal"), call("q", "terminal")]))
    stage.conversation.add(result("p", "one"))
    assert stage.outcomes == []
    stage.conversation.add(result("q", "two"))
    assert [outcome.trigger for outcome in stage.outcomes] == ["post-response"]


def test_completion_tokens_never_count_as_context_12026() -> None:
    stage = Stage(compressor(64_000)).feed(long_session(10))
    stage.conversation.window()
    stage.conversation.measured(Usage(5_000, 59_000))
    stage.conversation.window()
    assert stage.outcomes == []


def test_right_after_a_compaction_the_old_usage_says_nothing_36718() -> None:
    stage = Stage(compressor(64_000)).feed(long_session(60))
    stage.conversation.measured(Usage(60_000))
    stage.conversation.compact()
    stage.conversation.add(assistant(None, [call("p", "terminal")]))
    stage.conversation.add(result("p", "one"))
    assert [outcome.trigger for outcome in stage.outcomes] == ["manual"]


def test_no_compaction_while_calls_wait_for_their_results() -> None:
    stage = Stage(compressor(8_000)).feed([*long_session(), assistant(None, [call("p", "terminal")])])
    stage.conversation.window()
    assert stage.outcomes == []
    with pytest.raises(UsageError, match="wait"):
        stage.conversation.compact()


def test_tools_count_as_part_of_the_request() -> None:
    stage = Stage(compressor(64_000)).feed(long_session(30))
    tools = [{"type": "function", "function": {"name": f"t{i}", "description": "does things " * 300}} for i in range(90)]
    stage.conversation.window(tools)
    assert stage.outcomes and stage.outcomes[0].before > 54_400


@pytest.mark.parametrize("returns", [None, "text", [], [{"role": "narrator"}]])
def test_junk_leaves_the_window_as_it_was_with_one_warning_that_names_the_engine(returns: object) -> None:
    session = long_session()
    stage = Stage(Scripted(returns), services(8_000)).feed(session)
    assert stage.conversation.window() == session
    assert all("scripted" in warning for warning in stage.warnings) and len(stage.warnings) == 1


def test_an_engine_that_raises_ends_the_compaction_not_the_turn() -> None:
    def fail(messages: list[Message]) -> list[Message]:
        raise RuntimeError("boom")

    session = long_session()
    stage = Stage(Scripted(fail), services(8_000)).feed(session)
    assert stage.conversation.window() == session
    assert "boom" in stage.warnings[0]


def test_an_engine_that_raises_is_an_error_where_the_user_asked_for_one() -> None:
    stage = Stage(Scripted("text"), services(8_000), on_error="error").feed(long_session())
    with pytest.raises(EngineFailed, match="scripted"):
        stage.conversation.window()


def test_an_engine_that_marks_messages_in_place_changes_nothing_here() -> None:
    def scribble(messages: list[Message]) -> list[Message]:
        for message in messages:
            message["_seen"] = True  # type: ignore[typeddict-unknown-key]
            message["content"] = "gone"
        return messages[-4:]

    session = long_session()
    stage = Stage(Scripted(scribble), services(8_000)).feed(session)
    stage.conversation.window()
    assert session == long_session()


def test_an_engine_that_does_nothing_is_asked_once_a_call() -> None:
    engine = Scripted(lambda messages: messages)
    stage = Stage(engine, services(8_000)).feed(long_session())
    stage.conversation.window()
    assert engine.calls == 1


def test_versions_count_up_and_the_receipt_tells_what_is_covered() -> None:
    stage = Stage(compressor(8_000)).feed(long_session())
    assert stage.conversation.view.version == 0
    stage.conversation.window()
    view = stage.conversation.view
    assert view.version == 1 and view.receipt is not None
    assert view.receipt.lost == () and view.receipt.covered
    shown = {entry.row for entry in view.ledger if entry.row}
    covered = {row for span in view.receipt.covered for row in span}
    assert shown | covered == set(range(1, len(long_session()) + 1))


def test_tools_of_the_engine_are_offered_and_answered() -> None:
    stage = Stage(compressor(8_000))
    assert stage.conversation.tools() == []
    answer = json.loads(stage.conversation.call(call("x", "lcm_grep", "{}")))
    assert "Unknown context engine tool" in answer["error"]
    assert "not JSON" in json.loads(stage.conversation.call(call("x", "lcm_grep", "{oops")))["error"]


def test_the_newest_request_is_the_same_object_after_many_compactions() -> None:
    stage = Stage(compressor(8_000))
    stage.feed([system("s"), user("the one request: keep port 8443")])
    request = stage.conversation.view.messages[1]
    for message in tool_session(300, seed=5):
        if message["role"] == "user":
            continue
        if message["role"] == "assistant":
            stage.conversation.window()
        stage.conversation.add(message)
    window = stage.conversation.window()
    assert any(m is request or "the one request: keep port 8443" in str(m["content"]) for m in window)
    assert len(stage.outcomes) > 2


@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda trigger: trigger.name)
def test_every_trigger_says_when_it_fires_and_what_it_counts(trigger: Any) -> None:
    assert trigger.when and trigger.counts and trigger.passes >= 1


def test_switched_off_nothing_is_compacted_but_by_hand() -> None:
    stage = Stage(compressor(8_000), automatic=False).feed(long_session())
    assert stage.conversation.window() == long_session()
    assert stage.conversation.compact().progressed


def test_a_torn_conversation_is_given_out_paired_and_kept_as_it_came() -> None:
    torn = [user("a"), assistant(None, [call("p", "f")]), result("p", "1"), result("p", "2"), assistant(None, [call("q", "f")]), user("b")]
    stage = Stage(compressor(200_000)).feed(torn)
    assert violations(stage.conversation.window()) == []
    assert stage.conversation.archive.read(1, 6) == torn


def test_an_engine_of_the_references_contract_is_told_its_window() -> None:
    engine = Scripted(lambda messages: messages, window=1)
    Stage(engine, services(8_000))
    assert engine.context_length == 8_000 and engine.threshold_tokens == 6_000

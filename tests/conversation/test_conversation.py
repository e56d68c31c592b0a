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
from host.errors import EngineFailed, NotStorable, UsageError
from host.messages.types import Message, Usage
from host.messages.violations import violations
from host.store.memory import MemoryArchive
from host.testing.engines import services
from host.testing.messages import assistant, call, result, system, tool_session, user
from host.transforms.handoff import split_merged
from tests.engines_for_tests import Scripted, compressor


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
    stage = Stage(compressor(64_000)).feed(long_session(80))
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
    (followed,) = [warning for warning in stage.warnings if "not followed" in warning]
    assert "scripted" in followed


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
    assert any(m is request or split_merged(m)[-1] == request for m in window)
    assert len(stage.outcomes) > 2


def test_triggers_have_names_of_their_own_and_the_users_alone_is_forced() -> None:
    forced = [(trigger.name, trigger.force) for trigger in TRIGGERS]
    assert forced == [("hygiene", False), ("preflight", False), ("post-response", False), ("refusal", False), ("manual", True)]


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


@pytest.mark.parametrize("method", ["should_compress", "update_from_response", "get_tool_schemas", "update_model"])
def test_whatever_of_an_engine_raises_the_turn_goes_on_with_one_warning(method: str) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("boom")

    engine = Scripted(lambda messages: messages)
    setattr(engine, method, fail)
    stage = Stage(engine, services(8_000)).feed(long_session())
    for _ in range(2):
        assert stage.conversation.window()
        stage.conversation.measured(Usage(7_000))
        stage.conversation.tools()
    boom = [warning for warning in stage.warnings if "boom" in warning]
    assert len(boom) == 1 or method == "update_model"


def test_of_tools_with_one_name_the_first_counts() -> None:
    engine = Scripted(lambda messages: messages)
    schemas = [{"name": "find", "description": "one"}, {"name": "find", "description": "two"}, {"name": ""}, {"name": 5}, None]
    setattr(engine, "get_tool_schemas", lambda: schemas)  # noqa: B010  a method of the class
    stage = Stage(engine, services(8_000))
    assert [tool["function"]["description"] for tool in stage.conversation.tools()] == ["one"]
    assert [warning for warning in stage.warnings if "'find' more than once" in warning]


def test_a_tool_that_fails_answers_with_its_error() -> None:
    class Clumsy(Scripted):
        def handle_tool_call(self, name: str, args: Any, **kwargs: Any) -> str:
            kwargs["messages"][0]["content"] = "scribbled"
            raise KeyError(name)

    stage = Stage(Clumsy(None), services(200_000)).feed([user("a")])
    assert "KeyError" in json.loads(stage.conversation.call(call("x", "lcm_grep", "{}")))["error"]
    assert "no JSON object" in json.loads(stage.conversation.call(call("x", "lcm_grep", "[1]")))["error"]
    assert stage.conversation.window() == [user("a")]


def test_usage_is_about_the_window_that_was_given_out() -> None:
    stage = Stage(compressor(200_000)).feed([user("a")])
    stage.conversation.window()
    stage.conversation.add(assistant("word " * 4_000))
    stage.conversation.measured(Usage(10))
    assert stage.conversation.estimate() > 3_000


def test_a_calibrated_size_and_a_counted_one_are_not_compared() -> None:
    stage = Stage(compressor(16_000)).feed(long_session(100))
    for _ in range(12):
        stage.conversation.gauge.record(Usage(max(1, stage.conversation.estimate() // 3)), stage.conversation.window())
    before = len(stage.conversation.window())
    stage.conversation.compact()
    assert len(stage.conversation.window()) < before


def test_asking_by_hand_for_nothing_does_not_pause_the_automatic_compactions() -> None:
    stage = Stage(compressor(8_000)).feed([user("a"), assistant("b")])
    for _ in range(3):
        assert stage.conversation.compact().refused == "there was nothing to compact"
    stage.feed(long_session())
    assert stage.conversation.window() != [user("a"), assistant("b"), *long_session()]


@pytest.mark.parametrize("odd", ["text", {}, {"role": 7}, {"role": "user", "content": {1, 2}}])
def test_what_is_no_message_is_refused_and_nothing_is_kept(odd: Any) -> None:
    stage = Stage(compressor(8_000))
    with pytest.raises((UsageError, NotStorable), match="message"):
        stage.conversation.add(odd)
    assert stage.conversation.archive.range() == (0, 0)


@pytest.mark.parametrize("leaving", [SystemExit(0), GeneratorExit(), BaseException("odd")])
def test_an_engine_that_wants_to_leave_ends_its_compaction_alone(leaving: BaseException) -> None:
    def leave(messages: list[Message]) -> list[Message]:
        raise leaving

    stage = Stage(Scripted(leave), services(8_000)).feed(long_session())
    assert stage.conversation.window() == long_session()
    assert type(leaving).__name__ in stage.warnings[0]


def test_an_engine_that_fails_again_and_again_is_not_asked_any_more() -> None:
    engine = Scripted(lambda messages: 1 / 0)
    stage = Stage(engine, services(8_000)).feed(long_session())
    for _ in range(10):
        stage.conversation.window()
    assert engine.calls == 3
    assert sum("not asked again" in warning for warning in stage.warnings) == 1


def test_a_window_that_an_engine_left_too_full_is_said_once() -> None:
    stage = Stage(Scripted(lambda messages: messages), services(8_000)).feed(long_session())
    stage.conversation.window()
    stage.conversation.add(user("more"))
    stage.conversation.window()
    assert sum("the model takes 8,000" in warning for warning in stage.warnings) == 1


def test_what_an_engine_prints_is_no_part_of_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    def chatty(messages: list[Message]) -> list[Message]:
        print("hello from the engine")
        return messages

    Stage(Scripted(chatty), services(8_000)).feed(long_session()).conversation.window()
    shown = capsys.readouterr()
    assert shown.out == "" and "hello" in shown.err


@pytest.mark.parametrize("content", [None, "", [], "  "])
def test_a_message_without_words_is_kept_like_any_other(content: Any) -> None:
    empty: Message = {"role": "user", "content": content}
    stage = Stage(compressor(8_000)).feed([*long_session(), empty])
    window = stage.conversation.window()
    assert any(split_merged(m)[-1] == empty for m in window)
    stage.feed([assistant("a"), *long_session(40)[1:]])
    assert violations(stage.conversation.window()) == []


def raising(self: object, *args: object) -> int:
    raise RuntimeError("boom")


@pytest.mark.parametrize(
    "odd",
    [
        {"threshold_tokens": property(raising)},
        {"last_prompt_tokens": property(raising)},
        {"compress": property(raising)},
        {"should_compress": lambda self, tokens=None: type("Odd", (), {"__bool__": raising})()},
        {"update_model": lambda self, *args, **kwargs: setattr(self, "threshold_tokens", None)},
    ],
    ids=lambda odd: next(iter(odd)),
)
def test_whatever_is_read_of_an_engine_is_read_behind_the_door(odd: dict[str, Any]) -> None:
    class Plain(ContextEngine):
        name = "odd"

        def update_from_response(self, usage: dict[str, Any]) -> None: ...

        def should_compress(self, prompt_tokens: int | None = None) -> bool:
            return True

        def compress(self, messages: list[Message], *args: Any, **kwargs: Any) -> list[Message]:
            return messages[-1:]

    engine = type("Odd", (Plain,), odd)()
    stage = Stage(engine, services(8_000)).feed(long_session())
    stage.conversation.window()
    stage.conversation.measured(Usage(7_000))
    stage.conversation.add(assistant(None, [call("p", "f")]))
    stage.conversation.add(result("p", "r"))
    assert 0 < stage.conversation.threshold <= 8_000
    assert violations(stage.conversation.window()) == []


def test_an_exception_that_cannot_tell_itself_and_an_async_method_are_told() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    def fail(messages: list[Message]) -> list[Message]:
        raise Mute

    async def later(messages: list[Message]) -> list[Message]:
        return messages

    for returns, told in ((fail, "Mute"), (later, "async")):
        stage = Stage(Scripted(returns), services(8_000)).feed(long_session())
        stage.conversation.window()
        assert told in stage.warnings[0]


def test_a_summary_without_an_end_marker_is_given_one_when_it_is_merged() -> None:
    def legacy(messages: list[Message]) -> list[Message]:
        request = max(i for i, m in enumerate(messages) if m["role"] == "user")
        return [messages[0], user("[CONTEXT SUMMARY]: what was done"), *messages[request:]]

    stage = Stage(Scripted(legacy), services(8_000))
    request = user("the request")
    for message in [*long_session(), request]:
        if message["role"] == "assistant":
            stage.conversation.window()
        stage.conversation.add(message)
    window = stage.conversation.window()
    assert any(split_merged(m)[-1] == request for m in window)

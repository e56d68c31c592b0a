"""Tools under one lid: names, arguments, failures, time-outs."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from host.loop.recalling import recall_tools
from host.loop.toolbox import HOST, Owned, Toolbox
from host.messages.types import ToolCall, ToolSchema
from host.store.memory import MemoryStore
from host.testing.messages import call, user
from tests.agents_for_tests import Echo, plugin


@dataclass
class Engine:
    """An engine with these tools."""

    names: tuple[str, ...] = ()
    answer: str = '{"found": 3}'
    calls: list[ToolCall] = field(default_factory=list)

    def tools(self) -> list[ToolSchema]:
        return [{"type": "function", "function": {"name": name}} for name in self.names]

    def call(self, tool_call: ToolCall) -> str:
        self.calls.append(tool_call)
        return self.answer


def box(*tools: Any, engine: Engine | None = None, warnings: list[str] | None = None) -> Toolbox:
    owned = [tool if isinstance(tool, Owned) else plugin(tool) for tool in tools]
    return Toolbox(engine or Engine(), owned, warn=(warnings if warnings is not None else []).append)


def fails(error: BaseException) -> Any:
    def behave(arguments: Mapping[str, Any]) -> object:
        raise error

    return behave


def said(toolbox: Toolbox, name: str, arguments: Any = "{}") -> str:
    result = toolbox.call(call("c1", name, arguments))
    assert result.failed, result.text
    return str(json.loads(result.text.split("\n")[0])["error"])


def test_every_name_is_offered_once_the_engines_first() -> None:
    warnings: list[str] = []
    first, second = Echo("grep"), Echo("grep")
    toolbox = box(plugin(first, "plugin a"), plugin(second, "plugin b"), Echo("open"), engine=Engine(("open",)), warnings=warnings)
    assert [schema["function"]["name"] for schema in toolbox.schemas()] == ["open", "grep"]
    toolbox.call(call("c1", "grep"))
    assert (len(first.calls), len(second.calls)) == (1, 0)
    assert len(warnings) == 2 and any("plugin b" in text and "plugin a" in text for text in warnings)


def test_an_engine_or_a_plugin_replaces_a_tool_of_the_host_in_silence() -> None:
    warnings: list[str] = []
    engine = Engine(("lcm_grep",))
    store = MemoryStore()
    own = recall_tools(store, store.sessions.create().conversation, everything=False, count=len)
    toolbox = box(*own, engine=engine, warnings=warnings)
    assert toolbox.names() == ["lcm_grep", "lcm_expand"] and warnings == []
    assert toolbox.call(call("c1", "lcm_grep")).text == engine.answer and len(engine.calls) == 1


def test_another_tool_of_the_host_gives_way_with_a_warning() -> None:
    warnings: list[str] = []
    toolbox = box(Owned(HOST, Echo("grep")), engine=Engine(("grep",)), warnings=warnings)
    assert toolbox.names() == ["grep"] == [schema["function"]["name"] for schema in toolbox.schemas()]
    assert warnings == ["the tool 'grep' of the host is not offered: the engine has one of this name"]


def test_the_hosts_own_tools_find_what_was_said() -> None:
    store = MemoryStore()
    conversation = store.sessions.create().conversation
    store.archive(conversation).append(user("the needle lies in haystack 42"))
    toolbox = box(*recall_tools(store, conversation, everything=False, count=lambda text: len(text) // 4))
    found = toolbox.call(call("c1", "lcm_grep", {"query": "needle"}))
    assert not found.failed and "haystack 42" in found.text
    wrong = toolbox.call(call("c2", "lcm_grep", {"query": 3.5, "limit": "many"}))
    assert wrong.failed and "right_form" in wrong.text


def test_arguments_arrive_exactly_as_they_were_written() -> None:
    echo = Echo()
    secret = {"words": "key sk-proj-0123456789abcdef0123456789abcdef \ud800 \x00", "n": 1e300, "deep": {"a": [None, True]}}
    result = box(echo).call(call("c1", "echo", json.dumps(secret)))
    assert echo.calls == [secret] and result.text == secret["words"]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("ecko", "{}", "did you mean 'echo'?"),
        ("", "{}", "there is no tool"),
        ("echo", '{"words": ', "no JSON"),
        ("echo", "[1]", "list, not an object"),
        ("echo", "null", "NoneType, not an object"),
        ("echo", '{"word": 1}', "needs words; given were: word"),
        ("echo", "", "needs words; given were: none"),
        ("echo", "[" * 100_000, "no JSON"),
    ],
)
def test_a_call_that_cannot_be_made_says_why(name: str, arguments: str, words: str) -> None:
    echo = Echo(required=("words",))
    assert words in said(box(echo), name, arguments)
    assert echo.calls == []


@pytest.mark.parametrize(
    ("error", "words"),
    [(ValueError("no such town"), "ValueError: no such town"), (SystemExit(3), "SystemExit"), (RecursionError(), "RecursionError")],
)
@pytest.mark.parametrize("timeout", [None, 20.0])
def test_what_a_tool_raises_is_its_result(error: BaseException, words: str, timeout: float | None) -> None:
    toolbox = box(Owned("plugin test", Echo(behave=fails(error)), timeout))
    assert words in said(toolbox, "echo")


def test_an_interrupt_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        box(Echo(behave=fails(KeyboardInterrupt()))).call(call("c1", "echo"))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("as it is", "as it is"),
        ({"a": ["ü", 1]}, '{"a": ["ü", 1]}'),
        (None, "null"),
        (b"raw", "\"b'raw'\""),
        ("x" * 2_000_000, "x" * 2_000_000),
        ("half \ud83d", "half \ud83d"),
    ],
)
def test_results_of_any_type_become_text(given: object, text: str) -> None:
    result = box(Echo(behave=lambda arguments: given)).call(call("c1", "echo"))
    assert (result.text, result.failed) == (text, False)


def test_a_result_that_is_no_json_is_a_failure() -> None:
    circle: list[object] = []
    circle.append(circle)
    assert "ValueError" in said(box(Echo(behave=lambda arguments: circle)), "echo")


def test_a_tool_that_says_that_it_failed_has_failed() -> None:
    assert said(box(engine=Engine(("find",), answer='{"error": "nothing there"}')), "find") == "nothing there"


def test_a_tool_that_hangs_is_left_behind() -> None:
    release = threading.Event()
    toolbox = box(plugin(Echo(behave=lambda arguments: release.wait(60)), timeout=0.05))
    assert "did not answer within 0.05 seconds" in said(toolbox, "echo")
    release.set()


def test_what_a_tool_prints_is_no_part_of_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    box(Echo(behave=lambda arguments: print("to the user") or "done")).call(call("c1", "echo"))
    assert capsys.readouterr() == ("", "to the user\n")


def test_what_a_tool_prints_that_nobody_waits_for_is_no_part_of_it_either(capsys: pytest.CaptureFixture[str]) -> None:
    release, printed = threading.Event(), threading.Event()

    def behave(arguments: Mapping[str, Any]) -> object:
        release.wait(20)
        print("much later")
        printed.set()
        return "done"

    said(box(plugin(Echo(behave=behave), timeout=0.05)), "echo")
    release.set()
    assert printed.wait(20) and capsys.readouterr() == ("", "much later\n")


def test_a_call_that_fails_the_same_way_again_and_again_gets_a_hint() -> None:
    toolbox = box(Echo(behave=fails(ValueError("no"))), Echo("other"))
    texts = [toolbox.call(call(f"c{n}", "echo", '{"words": "x"}')).text for n in range(3)]
    assert "3 times in a row" in texts[2] and not any("in a row" in text for text in texts[:2])
    toolbox.call(call("c4", "other"))
    assert "in a row" not in toolbox.call(call("c5", "echo", '{"words": "x"}')).text


def test_a_tool_without_a_name_is_not_offered() -> None:
    warnings: list[str] = []
    assert box(Echo(""), warnings=warnings).schemas() == [] and len(warnings) == 1


def test_the_hosts_tools_are_named_as_its_own() -> None:
    store = MemoryStore()
    assert {owned.owner for owned in recall_tools(store, "c", everything=True, count=len)} == {HOST}

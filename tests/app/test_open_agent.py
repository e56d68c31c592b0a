"""An agent as the configuration describes it, against servers on the loopback address."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from host.app.agents import NoModel, agent_model, open_agent, with_model
from host.app.host import Place
from host.app.stores import open_archive
from host.app.wiring import load_config
from host.loop.agent import Agent
from host.loop.events import Compacted, Ending, Event, Noticed, Said, Switched, Warned
from host.loop.opening import DEFAULT
from host.messages.violations import violations
from host.provider.learnt_windows import FILE
from host.testing import LoopbackServer, completion, fault
from host.testing.loopback import Step
from host.testing.messages import assistant, call, chat, user

TOO_LONG = "This model's maximum context length is 6000 tokens. However, your messages resulted in 9421 tokens."
USAGE = {"prompt_tokens": 90, "completion_tokens": 5}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def place(folder: Path, **sections: Any) -> Place:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(json.dumps(sections), "utf-8")
    return Place(None, home)


@contextmanager
def opened(where: Place, events: list[Event] | None = None, **more: Any) -> Iterator[Agent]:
    store = open_archive(where.home, durability="normal")
    kept = store.sessions.listed()
    session = kept[0] if kept else store.sessions.create(source="test")
    agent = open_agent(where, store, session, tell=None if events is None else events.append, **more)
    try:
        yield agent
    finally:
        agent.close()
        store.close()


def test_a_turn_with_a_tool_over_the_wire(tmp_path: Path) -> None:
    look = completion(None, calls=[call("c1", "lcm_grep", {"query": "needle"})], usage=USAGE)
    with LoopbackServer([look, completion("It is here.", usage=USAGE)]) as server:
        where = place(tmp_path, model={"name": "loopback", "base_url": server.base_url})
        with opened(where) as agent:
            turn = agent.turn("Where is the needle?")
        assert turn.reason == Ending.ANSWERED and turn.message is not None and turn.message["content"] == "It is here."
        first, second = server.requests
    assert [tool["function"]["name"] for tool in first.body["tools"]] == ["lcm_grep", "lcm_expand"]
    assert first.messages[0] == {"role": "system", "content": DEFAULT}
    assert "Where is the needle?" in second.messages[-1]["content"] and second.messages[-1]["tool_call_id"] == "c1"
    assert second.messages[: len(first.messages)] == first.messages
    assert first.headers["authorization"] == "Bearer not-needed"


def test_the_answer_is_streamed_to_who_listens(tmp_path: Path) -> None:
    events: list[Event] = []
    with LoopbackServer([completion("Word by word.", usage=USAGE)], repeat=True) as server:
        with opened(place(tmp_path, model={"name": "loopback", "base_url": server.base_url}), events) as agent:
            assert agent.turn("Speak").reason == Ending.ANSWERED
        assert server.requests[0].body["stream"] is True
    assert "".join(event.text for event in events if isinstance(event, Said)) == "Word by word."
    assert any(isinstance(event, Noticed) for event in events)


def test_a_refused_request_is_compacted_and_the_limit_remembered(tmp_path: Path) -> None:
    events: list[Event] = []
    with LoopbackServer([fault(400, TOO_LONG, code="context_length_exceeded"), "Fine."], repeat=True) as server:  # summaries too
        where = place(tmp_path, model={"name": "loopback", "base_url": server.base_url, "context_length": 40_000})
        with opened(where, events, stream=False) as agent:
            for message in chat(80, chars=400):
                agent.conversation.add(message)
            assert agent.turn("Still there?").message == assistant("Fine.")
            assert agent.conversation.services.facts.window == 6_000
        refused, taken = server.requests[0].messages, server.requests[-1].messages
    assert len(taken) < len(refused) and taken[-1] == user("Still there?")
    assert violations(taken) == []  # type: ignore[arg-type]
    assert any(isinstance(event, Compacted) for event in events)


def test_each_model_is_asked_at_its_own_address_with_its_own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIN_KEY", "main-key-0123456789")
    monkeypatch.setenv("SPARE_KEY", "spare-key-0123456789")
    events: list[Event] = []
    with LoopbackServer([fault(401, "no")], repeat=True) as main, LoopbackServer(["I stand in."], repeat=True) as spare:
        fallback = [
            {"name": "there", "base_url": main.base_url, "api_key_env": "NOT_SET"},
            {"name": "spare", "base_url": spare.base_url, "api_key_env": "SPARE_KEY"},
        ]
        model = {"name": "main", "base_url": main.base_url, "api_key_env": "MAIN_KEY", "fallback": fallback}
        with opened(place(tmp_path, model=model), events, stream=False) as agent:
            assert agent.turn("Hello").message == assistant("I stand in.")
            assert agent.model.name == "spare"
        sent = [request.headers["authorization"] for request in [*main.requests, *spare.requests]]
    assert sent == ["Bearer main-key-0123456789", "Bearer not-needed", "Bearer spare-key-0123456789"]
    assert [event.model for event in events if isinstance(event, Switched)] == ["there", "spare"]


def test_a_main_model_without_a_key_leaves_the_first_place_to_a_fallback(tmp_path: Path) -> None:
    events: list[Event] = []
    with LoopbackServer(["Here."], repeat=True) as server:
        model = {"name": "gpt-9", "fallback": [{"name": "spare", "base_url": server.base_url}]}
        with opened(place(tmp_path, model=model), events, stream=False) as agent:
            assert agent.model.name == "spare" == agent.conversation.services.facts.model
            assert agent.turn("Hi").message == assistant("Here.")
    assert any(isinstance(event, Warned) and "OPENAI_API_KEY" in event.text for event in events)


@pytest.mark.parametrize(("model", "words"), [({}, "no model is configured"), ({"name": "gpt-9"}, "OPENAI_API_KEY")])
def test_without_a_model_three_lines_say_how_to_set_one(tmp_path: Path, model: dict[str, str], words: str) -> None:
    with pytest.raises(NoModel, match=words) as caught, opened(place(tmp_path, model=model)):
        pass
    assert len(str(caught.value).splitlines()) == 4 and "scripted:FILE" in str(caught.value)
    assert caught.value.exit_status == 2


def test_the_system_prompt_is_the_configured_one_and_stays_after_a_change(tmp_path: Path) -> None:
    with LoopbackServer(["One."], repeat=True) as server:
        model = {"name": "loopback", "base_url": server.base_url}
        with opened(place(tmp_path, model=model, agent={"system_prompt": "Be a pirate."}), stream=False) as agent:
            agent.turn("first")
        with opened(place(tmp_path, model=model, agent={"system_prompt": "Be a baker."}), stream=False) as agent:
            agent.turn("second")
        texts = [[message["content"] for message in request.messages] for request in server.requests]
        raw = [request.raw for request in server.requests]
    assert texts == [["Be a pirate.", "first"], ["Be a pirate.", "first", "One.", "second"]]
    begun = raw[0][raw[0].index(b'"messages"') :].partition(b"first")[0]
    assert begun in raw[1], "the bytes of the prefix are the same"


PLUGIN = """
from host.plugin import hookimpl

class Desk:
    name = "DESK"
    def __init__(self, place):
        self.place = place
    def block(self):
        return f"works in {self.place.workspace.name}, keeps in {self.place.folder.name}"

@hookimpl
def ctxhost_memory(place):
    return Desk(place)

class Bell:
    name = "ring"
    schema = {"name": "ring", "description": "Ring the bell.", "parameters": {"type": "object", "required": ["times"]}}
    def call(self, arguments):
        return "ding " * arguments["times"]

@hookimpl
def ctxhost_tools(place):
    return [Bell()]

class Hello:
    name, summary = "hello", "Say hello."
    def run(self, words):
        return f"hello {words}"

@hookimpl
def ctxhost_commands():
    return [Hello()]

@hookimpl
def on_session_switch(session, parent, reset, reason):
    print("switched", reason, reset)
"""


def test_plugins_bring_tools_commands_and_a_memory_that_is_read_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ring = completion(None, calls=[call("c1", "ring", {"times": 2})], usage=USAGE)
    with LoopbackServer([ring, completion("Rung.", usage=USAGE)]) as server:
        model = {"name": "loopback", "base_url": server.base_url}
        where = place(tmp_path, model=model, plugins={"enabled": ["desk"]}, agent={"system_prompt": "Hi."})
        folder = where.home / "plugins" / "desk"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(PLUGIN, "utf-8")
        with opened(where, stream=False) as agent:
            agent.turn("Ring twice")
            assert [command.run("you") for command in agent.commands] == ["hello you"]
        first, second = server.requests
    assert first.messages[0]["content"] == f"Hi.\n\n# DESK\n\nworks in {tmp_path.name}, keeps in memories"
    assert second.messages[-1]["content"] == "ding ding "
    assert [tool["function"]["name"] for tool in first.body["tools"]] == ["ring", "lcm_grep", "lcm_expand"]
    assert "switched new True" in capsys.readouterr().err


def test_claude_at_an_address_that_caches_gets_markers_and_nothing_of_them_is_kept(tmp_path: Path) -> None:
    with LoopbackServer(["One."], repeat=True) as server:
        address = server.base_url.removesuffix("/v1") + "/anthropic"
        where = place(tmp_path, model={"name": "claude-sonnet-4.5", "base_url": address})
        with opened(where, stream=False) as agent:
            agent.turn("first")
            kept = [row.message for row in agent.conversation.archive.rows()]
        sent = server.requests[0].messages
    assert "cache_control" in json.dumps(sent) and "cache_control" not in json.dumps(kept)


def test_another_model_may_be_named_or_chosen_later(tmp_path: Path) -> None:
    with LoopbackServer(["One.", "Two."]) as server:
        model = {"name": "first", "base_url": server.base_url, "context_length": 40_000, "fallback": [{"name": "spare"}]}
        where = place(tmp_path, model=model)
        with opened(where, model="other", stream=False) as agent:
            agent.turn("hello")
            agent.use(agent_model(where, "spare"))
            agent.turn("hello again")
        assert [request.body["model"] for request in server.requests] == ["other", "spare"]


def test_a_scripted_model_has_no_address_and_asks_nobody_for_summaries(tmp_path: Path) -> None:
    where = place(tmp_path, model={"name": "first", "base_url": "http://127.0.0.1:9/v1", "fallback": [{"name": "spare"}]})
    script = tmp_path / "talk.json"
    script.write_text('{"window": 9000, "steps": ["Fine."]}', "utf-8")
    changed = with_model(load_config(where), f"scripted:{script}").config.model
    assert (changed.name, changed.base_url, changed.fallback) == ("", "", ())
    with opened(where, model=f"scripted:{script}") as agent:
        assert agent.conversation.services.facts.window == 9000


def test_what_a_fallback_states_is_remembered_of_the_fallback(tmp_path: Path) -> None:
    """Of one with the main model's name at another address too."""
    long: list[Step] = [fault(400, TOO_LONG), completion("Fine.", usage=USAGE)]
    with LoopbackServer([fault(401, "revoked"), "A summary."], repeat=True) as down, LoopbackServer(long) as other:
        main = {"name": "m", "base_url": down.base_url, "fallback": [{"name": "m", "base_url": other.base_url}]}
        where = place(tmp_path, model=main)
        with opened(where, stream=False) as agent:
            for message in chat(80, chars=400):
                agent.conversation.add(message)
            assert agent.turn("Go").message == assistant("Fine.")
        known = json.loads((where.home / FILE).read_text())
    assert known == {f"m {other.base_url}": 6_000}


def test_a_stop_ends_the_wait_of_a_client(tmp_path: Path) -> None:
    with LoopbackServer([fault(429, headers={"Retry-After": "25"})], repeat=True) as server:
        where = place(tmp_path, model={"name": "m", "base_url": server.base_url})
        with opened(where, stream=False) as agent:
            begun = time.monotonic()
            stopping = threading.Thread(target=stopped, args=(agent, server))
            stopping.start()
            turn = agent.turn("Go")
            stopping.join()
        assert turn.reason == Ending.INTERRUPTED and len(server.requests) == 1 and time.monotonic() - begun < 20


def stopped(agent: Agent, server: LoopbackServer) -> None:
    """Stop it while its client waits before the second request."""
    end = time.monotonic() + 10
    while not server.requests and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.1)
    agent.stop()

"""``ctxhost run`` as a script meets it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from host.cli.screen import Events
from host.engine.outcome import Outcome
from host.loop.events import (
    Answered,
    Called,
    Compacted,
    Ended,
    Ending,
    Event,
    Noticed,
    Retrying,
    Returned,
    Said,
    Switched,
    Thought,
    Warned,
    Working,
)
from host.loop.open_calls import NOT_RUN
from host.messages.types import Usage
from host.testing import Answer, LoopbackServer, completion, fault
from host.testing.messages import assistant, call, user
from tests.cli.conftest import Home

Printed = pytest.CaptureFixture[str]
USAGE = {"prompt_tokens": 90, "completion_tokens": 5}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer([completion("Six degrees.", usage=USAGE)], repeat=True) as answering:
        yield answering


def configured(home: Home, server: LoopbackServer, **sections: Any) -> Home:
    home.path.mkdir(exist_ok=True)
    sections = {"model": {"name": "loopback", "base_url": server.base_url}, **sections}
    (home.path / "config.yaml").write_text(json.dumps(sections), "utf-8")
    return home


def archived(home: Home) -> list[Any]:
    with home.opened() as store:
        (conversation,) = {session.conversation for session in store.sessions.listed()}
        return [row.message for row in store.archive(conversation).rows()]


def typed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))


def test_the_answer_and_nothing_else_on_standard_output(home: Home, server: LoopbackServer, capsys: Printed) -> None:
    assert configured(home, server).run("run", "How warm is it?") == 0
    assert capsys.readouterr().out == "Six degrees.\n"
    assert archived(home)[1:] == [user("How warm is it?"), assistant("Six degrees.")]


def test_a_session_goes_on(home: Home, server: LoopbackServer, capsys: Printed) -> None:
    configured(home, server).run("run", "one")
    assert home.run("run", "--session", "last", "two") == 0
    assert [message["content"] for message in server.requests[1].messages[1:]] == ["one", "Six degrees.", "two"]
    assert home.run("run", "--session", "nobody", "three") == 2


@pytest.mark.parametrize("arguments", [("run",), ("run", "-")])
def test_the_prompt_may_come_in_on_standard_input(
    home: Home, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    typed(monkeypatch, "Grüße\r\n".encode())
    assert configured(home, server).run(*arguments) == 0
    assert archived(home)[1] == user("Grüße\r\n")


@pytest.mark.parametrize("prompt", ["", "  \n", "\t"])
def test_an_empty_prompt_is_wrong_usage(home: Home, server: LoopbackServer, capsys: Printed, prompt: str) -> None:
    assert configured(home, server).run("run", prompt) == 2
    assert "prompt is empty" in capsys.readouterr().err and not server.requests
    assert not (home.path / "archive.db").exists()


@pytest.mark.parametrize(
    ("data", "kept", "warns"),
    [
        (b"nul \x00 byte", "nul \x00 byte", False),
        (b"bad \xff byte", "bad \ufffd byte", True),
        ("already \ufffd".encode(), "already \ufffd", False),
        (b"\xef\xbb\xbfwith a mark", "with a mark", False),
        (b"x" * 3_000_000, "x" * 3_000_000, False),
    ],
    ids=["nul", "not utf-8", "replaced before", "byte order mark", "huge"],
)
def test_a_prompt_of_any_kind_is_taken(
    home: Home, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, capsys: Printed, data: bytes, kept: str, warns: bool
) -> None:
    typed(monkeypatch, data)
    assert configured(home, server).run("run", "-", "--window", "10000000") == 0
    assert archived(home)[1] == user(kept)
    assert ("not UTF-8" in capsys.readouterr().err) == warns


def test_a_prompt_on_the_command_line_may_hold_bytes_that_are_no_text(home: Home, server: LoopbackServer) -> None:
    assert configured(home, server).run("run", os.fsdecode(b"caf\xe9")) == 0
    assert archived(home)[1] == user("caf\ufffd")


def test_events_as_json_lines(home: Home, server: LoopbackServer, capsys: Printed) -> None:
    assert configured(home, server).run("run", "--json", "Hello") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert "".join(event["text"] for event in events if event["type"] == "said") == "Six degrees."
    assert events[-1] == {"type": "ended", "reason": "answered", "detail": ""}
    assert events[-2]["message"]["content"] == "Six degrees."


def test_tools_are_told_on_standard_error_unless_quiet(home: Home, capsys: Printed) -> None:
    look = completion("Let me look.", calls=[call("c1", "lcm_grep", {"query": "x"})], usage=USAGE)
    with LoopbackServer([look, completion("Nothing.", usage=USAGE)] * 2) as server:
        assert configured(home, server).run("run", "Look") == 0
        printed = capsys.readouterr()
        assert printed.out == "Let me look.\nNothing.\n" and 'calls lcm_grep {"query": "x"}' in printed.err
        assert home.run("run", "--quiet", "Look") == 0
        assert capsys.readouterr() == ("Let me look.\nNothing.\n", "")


def test_without_a_model_it_says_how_to_set_one(home: Home, capsys: Printed) -> None:
    assert home.run("run", "Hello") == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4 and "model.name" in lines[1] and "scripted:FILE" in lines[3]
    assert not home.path.exists() or not list(home.path.glob("*.db"))


def test_a_model_that_fails_is_status_3_and_the_request_can_be_resumed(home: Home, capsys: Printed) -> None:
    with LoopbackServer([fault(401, "no such key"), completion("Now.", usage=USAGE)]) as server:
        assert configured(home, server).run("run", "Hello") == 3
        told = capsys.readouterr().err
        assert "refused the API key" in told and "--resume" not in told, "asking again mends no key"
        assert home.run("run", "--session", "last", "--resume") == 0
        assert capsys.readouterr().out == "Now.\n"
        assert home.run("run", "--session", "last", "--resume") == 0
        assert len(server.requests) == 2
    assert archived(home)[1:] == [user("Hello"), assistant("Now.")]


def test_the_cause_of_a_failure_comes_before_the_way_on(home: Home, capsys: Printed) -> None:
    script = home.path.parent / "script.yaml"
    script.write_text("- {fail: timed_out}", "utf-8")
    assert home.run("run", "--model", f"scripted:{script}", "Hello") == 3
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("the request is archived; to ask again: ctxhost")
    assert next(line for line in lines if line.startswith("error: ")) != lines[-1]


def test_a_cut_answer_is_told(home: Home, capsys: Printed) -> None:
    usage = {"prompt_tokens": 90, "completion_tokens": 20}
    with LoopbackServer([completion("And then", usage=usage, finish_reason="length")], repeat=True) as server:
        assert configured(home, server).run("run", "Hello") == 0
        assert "the answer was cut at 20 tokens: it may not be longer (model.max_tokens)" in capsys.readouterr().err
        assert home.run("run", "--json", "Hello") == 0
        events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [event["finish_reason"] for event in events if event["type"] == "answered"] == ["length"]
        assert home.run("run", "-q", "Hello") == 0
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("prompt", "told"), [("/compress the port", True), ("/?", True), ("/etc/hosts is what?", False), ("Hello", False)])
def test_a_command_of_the_chat_is_a_text_here_which_is_told(
    home: Home, server: LoopbackServer, capsys: Printed, prompt: str, told: bool
) -> None:
    assert configured(home, server).run("run", prompt) == 0
    assert ("is a command of `ctxhost chat`" in capsys.readouterr().err) == told
    assert archived(home)[1] == user(prompt)


@pytest.mark.parametrize("arguments", [("--resume",), ("--resume", "--session", "last", "a prompt")])
def test_resume_wants_a_session_and_no_prompt(home: Home, server: LoopbackServer, arguments: tuple[str, ...]) -> None:
    assert configured(home, server).run("run", *arguments) == 2


def test_a_turn_that_uses_up_its_calls_is_status_1(home: Home, capsys: Printed) -> None:
    look = completion(None, calls=[call("c1", "lcm_grep", {"query": "x"})], usage=USAGE)
    with LoopbackServer([look], repeat=True) as server:
        assert configured(home, server, agent={"max_calls": 1}).run("run", "Look") == 1
    assert "exhausted" in capsys.readouterr().err


def heeding() -> None:
    """Ctrl-C counts in the process that begins, also where the tests run in the background of a shell that ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def stopped_by(order: signal.Signals, home: Home) -> tuple[int, bytes, bytes]:
    """Status, output and errors of a run that gets a signal while it waits for the answer."""
    command = [sys.executable, "-m", "host", "--home", str(home.path), "run", "Hello"]
    with LoopbackServer([Answer(completion("late"), delay=60.0)]) as server:
        configured(home, server)
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=Path(__file__).parents[2], preexec_fn=heeding
        )
        until = time.monotonic() + 60
        while not server.requests and time.monotonic() < until and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(order)
        out, errors = process.communicate(timeout=60)
    return process.returncode, out, errors


def test_control_c_keeps_what_was_said_and_is_status_130(home: Home) -> None:
    status, out, errors = stopped_by(signal.SIGINT, home)
    assert status == 130, errors
    assert out == b"" and b"interrupted" in errors and b"Traceback" not in errors
    assert archived(home)[1:] == [user("Hello")] and NOT_RUN not in str(archived(home))


def test_an_order_to_end_keeps_the_request_and_is_status_143(home: Home) -> None:
    status, _, errors = stopped_by(signal.SIGTERM, home)
    assert status == 143, errors
    assert b"--resume" in errors and b"Traceback" not in errors
    assert archived(home)[1:] == [user("Hello")]


def test_an_agent_that_cannot_be_opened_leaves_no_session(home: Home, server: LoopbackServer) -> None:
    assert configured(home, server, context={"on_missing": "error"}).run("run", "--engine", "nope", "Hello") != 0
    with home.opened() as store:
        assert store.sessions.listed() == []


@pytest.mark.parametrize("session", ["last", "work"])
def test_an_ended_session_goes_on_where_its_conversation_does(home: Home, server: LoopbackServer, session: str) -> None:
    configured(home, server).talk("work")
    with home.opened() as store:
        store.sessions.end(store.sessions.find("work").id, "done")
    assert home.run("run", "--session", session, "And?") == 0
    assert archived(home)[-1] == assistant("Six degrees.")


def test_every_kind_of_event_is_a_line_of_json_whatever_is_in_it() -> None:
    odd = "\ud800 \x00 \u2028 \x1b"
    odd_call = call("c1", odd, {"x": odd})
    events: list[Event] = [
        Said(odd),
        Thought(odd),
        Called(odd_call),
        Returned(odd_call, odd, failed=True, seconds=0.5),
        Working(odd, 1, 2),
        Compacted(Outcome("preflight", 9, 3, 4, 2, refused=odd)),
        Retrying(odd, 1.0),
        Switched(odd, odd),
        Noticed(odd),
        Warned(odd),
        Answered(assistant(odd, [odd_call]), Usage(1, 2)),
        Ended(Ending.FAILED, odd),
    ]
    assert {type(event) for event in events} == set(get_args(Event))
    out = io.StringIO()
    for event in events:
        Events(out).tell(event)
    lines = out.getvalue().encode("ascii").splitlines()
    assert [json.loads(line)["type"] for line in lines] == [type(event).__name__.lower() for event in events]
    assert json.loads(lines[0])["text"] == odd


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
@pytest.mark.parametrize("options", ["", "--json"])
def test_a_full_standard_output_is_told_by_its_name(home: Home, server: LoopbackServer, options: str) -> None:
    configured(home, server)
    line = f"{sys.executable} -m host --home {home.path} run {options} Hello >/dev/full"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False, timeout=60)
    assert done.returncode == 2
    assert "error: standard output" in done.stderr and "Traceback" not in done.stderr

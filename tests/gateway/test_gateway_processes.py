"""Two processes answer for one session of a gateway: whatever dies in between, nothing is lost and nothing doubled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from host.app import open_archive
from host.gateway.inbound import Origin
from host.gateway.registry import Registry
from host.loop.open_calls import DIED
from host.messages.reading import text_of
from host.messages.types import Message
from host.messages.violations import violations
from host.testing import Answer, LoopbackServer, completion
from host.testing.loopback import Step
from host.testing.messages import call, user

ANNA = Origin("telegram", "42", user="anna b")
ROOT = Path(__file__).parents[2]
MESSAGES = 20  # of each process
LEASE = 1.0  # seconds: so long a message waits for a process that died
CHILD = """
import os, signal, sys
from pathlib import Path
from host.app import open_archive
from host.conversation.conversation import Conversation
from host.conversation.shelf import Shelf
from host.gateway.gateway import Gateway
from host.gateway.inbound import Inbound, Origin
from host.loop import leases
from host.loop.agent import Agent
from host.loop.models import AgentModel, Models
from host.loop.toolbox import Toolbox
from host.provider.openai_client import OpenAIProvider
from host.testing.engines import services
from tests.agents_for_tests import Echo, plugin
from tests.engines_for_tests import compressor

home, url, lease, *texts = sys.argv[1:]
leases.LEASE_SECONDS = float(lease)
store = open_archive(Path(home), durability="normal")
die = Echo("die", behave=lambda arguments: os.kill(os.getpid(), signal.SIGKILL))

def opened(session, tell):
    engine = compressor(16_000)
    shelf = Shelf.of(store, session.conversation, engine.name, in_place=False)
    conversation = Conversation(engine, engine.services, shelf, warn=lambda text: print(text, file=sys.stderr))
    main = AgentModel("loopback", OpenAIProvider("loopback", base_url=url), services(16_000).facts)
    return Agent(conversation, Models(main), Toolbox(conversation, [plugin(die)]), tell, opening=lambda: "Be kind.", stream=False)

with Gateway(store, opened) as gateway:
    for text in texts:
        answer = gateway.receive(Inbound(Origin("telegram", "42", user="anna b"), text, id=text))
        print(answer.reason, answer.text, sep=" ", flush=True)
"""


@contextmanager
def process(home: Path, server: LoopbackServer, *texts: str) -> Iterator[subprocess.Popen[str]]:
    """A process of the gateway that takes these messages one after the other; the text is the delivery's id."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "loopback"}
    command = [sys.executable, "-c", CHILD, str(home), server.base_url, str(LEASE), *texts]
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def answers(running: subprocess.Popen[str]) -> list[str]:
    """What a process printed, once it has ended as it should."""
    out, errors = running.communicate(timeout=60)
    assert running.returncode == 0, errors
    return out.splitlines()


def archived(home: Path) -> list[Message]:
    """Every message of the one session of the origin."""
    store = open_archive(home)
    try:
        session = Registry(store).session(ANNA)
        assert session is not None
        assert {each.conversation for each in store.sessions.listed()} == {session.conversation}
        archive = store.archive(session.conversation)
        return list(archive.read(*archive.range()))
    finally:
        store.close()


def roles(messages: Sequence[Message]) -> list[str]:
    return [message["role"] for message in messages]


def wait_for_request(server: LoopbackServer, running: subprocess.Popen[str], number: int = 1) -> None:
    until = time.monotonic() + 60
    while len(server.requests) < number and time.monotonic() < until and running.poll() is None:
        time.sleep(0.01)
    assert len(server.requests) >= number


def test_two_processes_talk_to_one_session_at_once(tmp_path: Path) -> None:
    first, second = ([f"{name}{number}" for number in range(MESSAGES)] for name in "ab")
    with LoopbackServer([completion("Noted.", usage={"prompt_tokens": 90})], repeat=True) as server:
        with process(tmp_path, server, *first) as one, process(tmp_path, server, *second) as other:
            assert answers(one) == answers(other) == ["answered Noted."] * MESSAGES
        sent = [request.messages for request in server.requests]
    messages = archived(tmp_path)
    assert roles(messages) == ["system", *["user", "assistant"] * (2 * MESSAGES)]
    asked = [text_of(message) for message in messages if message["role"] == "user"]
    assert [text for text in asked if text[0] == "a"] == first
    assert [text for text in asked if text[0] == "b"] == second
    assert [request[-1]["content"] for request in sent] == asked
    assert all(list(request) == messages[: len(request)] for request in sent), "every request holds all that was said before it"
    assert violations(messages) == []


@pytest.mark.parametrize("again", [1, 3], ids=["delivered again", "delivered again three times"])
def test_a_kill_in_the_model_call_and_the_platform_delivers_to_another_process(tmp_path: Path, again: int) -> None:
    script: list[Step] = [completion("Hello."), Answer(completion("too late"), delay=60.0), completion("Paid.")]
    with LoopbackServer(script) as server:
        with process(tmp_path, server, "hello", "pay the bill") as one:
            wait_for_request(server, one, 2)
            one.send_signal(signal.SIGKILL)
        with process(tmp_path, server, *["pay the bill"] * again) as other:
            assert answers(other) == ["answered Paid."] * again
        assert len(server.requests) == 3
    messages = archived(tmp_path)
    assert roles(messages) == ["system", "user", "assistant", "user", "assistant"]
    assert text_of(messages[-1]) == "Paid."


def test_a_kill_in_a_tool_and_the_platform_delivers_to_another_process(tmp_path: Path) -> None:
    with LoopbackServer([completion(None, calls=[call("c1", "die", {})]), completion("I could not.")]) as server:
        with process(tmp_path, server, "try it") as one:
            one.communicate(timeout=60)
            assert one.returncode == -signal.SIGKILL
        with process(tmp_path, server, "try it", "try it") as other:
            assert answers(other) == ["answered I could not."] * 2
        assert violations([*server.requests[-1].messages]) == []  # type: ignore[list-item]
    messages = archived(tmp_path)
    assert roles(messages) == ["system", "user", "assistant", "tool", "assistant"]
    assert text_of(messages[3]) == DIED


def test_another_message_than_the_one_that_died_comes_first(tmp_path: Path) -> None:
    script: list[Step] = [Answer(completion("too late"), delay=60.0), completion("Both.")]
    with LoopbackServer(script) as server:
        with process(tmp_path, server, "one") as first:
            wait_for_request(server, first)
            first.send_signal(signal.SIGKILL)
        with process(tmp_path, server, "two", "one", "two") as other:
            told = answers(other)
        assert violations([*server.requests[-1].messages]) == []  # type: ignore[list-item]
    assert told == ["answered Both.", "answered ", "answered Both."]
    assert archived(tmp_path)[1:3] == [user("one"), user("two")]
    assert roles(archived(tmp_path)) == ["system", "user", "user", "assistant"]


def test_new_in_one_process_is_new_in_the_other(tmp_path: Path) -> None:
    with LoopbackServer([completion("Hm.")], repeat=True) as server:
        for texts in (["hello"], ["/new", "hi"], ["/new", "hello", "you"]):
            with process(tmp_path, server, *texts) as running:
                told = answers(running)
        assert [request.messages[-1]["content"] for request in server.requests] == ["hello", "hi", "you"]
    assert told[:2] == ["command ", "answered "], "a command and a message that were delivered before are not taken again"

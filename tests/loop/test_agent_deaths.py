"""A process that is killed in the middle of a turn: nothing is lost, nothing doubled, nothing done twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from host.app import open_archive
from host.conversation.conversation import Conversation
from host.conversation.shelf import Shelf
from host.loop.open_calls import DIED
from host.messages.types import Message
from host.messages.violations import violations
from host.testing import Answer, LoopbackServer, completion
from host.testing.engines import services
from host.testing.messages import assistant, call, result, system, user
from tests.agents_for_tests import Bench
from tests.engines_for_tests import compressor

CHILD = """
import os, signal, sys
from pathlib import Path
from host.app import open_archive
from host.provider.openai_client import OpenAIProvider
from tests.agents_for_tests import Bench

home, url = Path(sys.argv[1]), sys.argv[2]
with_store = open_archive(home)
bench = Bench(with_store)
bench.echo.behave = lambda arguments: os.kill(os.getpid(), signal.SIGKILL) if arguments["words"] == "b" else "fine"
agent = bench.agent([], tell=None, opening=lambda: "Be kind.")
agent.use(type(agent.model)("loopback", OpenAIProvider("loopback", base_url=url), agent.model.facts))
agent.turn("Go")
"""
ROOT = Path(__file__).parents[2]


def start(home: Path, server: LoopbackServer) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))}
    return subprocess.Popen([sys.executable, "-c", CHILD, home, server.base_url], env=environment, stderr=subprocess.PIPE)


def reopened(home: Path) -> Bench:
    """The conversation as the next process finds it."""
    bench = Bench()
    store = open_archive(home)
    conversation = store.sessions.listed()[0].conversation
    shelf = Shelf.of(store, conversation, "compressor", in_place=False)
    shelf.state.belong_to("compressor")
    bench.conversation = Conversation(compressor(8_000), services(8_000), shelf, warn=bench.desk.warnings.append)
    return bench


def test_in_the_middle_of_a_tool(tmp_path: Path) -> None:
    calls = [call("c-a", "echo", {"words": "a"}), call("c-b", "echo", {"words": "b"}), call("c-c", "echo", {"words": "c"})]
    with LoopbackServer([completion(None, calls=calls)]) as server:
        process = start(tmp_path, server)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, errors
    bench = reopened(tmp_path)
    before: list[Message] = bench.archived()
    assert [message["role"] for message in before] == ["system", "user", "assistant", "tool"]
    turn = bench.agent(["I see."]).resume()
    assert turn is not None and turn.message == assistant("I see.")
    assert bench.echo.calls == [], "a call may have taken effect: it is not made again"
    assert bench.archived() == [*before, result("c-b", DIED), result("c-c", DIED), assistant("I see.")]
    assert violations(list(bench.main.requests[0].messages)) == []


def test_in_the_middle_of_a_model_call(tmp_path: Path) -> None:
    with LoopbackServer([Answer(completion("too late"), delay=60.0)]) as server:
        process = start(tmp_path, server)
        until = time.monotonic() + 60
        while not server.requests and time.monotonic() < until and process.poll() is None:
            time.sleep(0.02)
        process.kill()
        _, errors = process.communicate(timeout=60)
        assert len(server.requests) == 1, errors
    bench = reopened(tmp_path)
    assert bench.archived() == [system("Be kind."), user("Go")]
    agent = bench.agent(["Here I am.", "Once more."], opening=lambda: "Be kind.")
    resumed = agent.resume()
    assert resumed is not None and resumed.message == assistant("Here I am.")
    assert agent.turn("And?").message == assistant("Once more.")
    assert bench.roles() == ["system", "user", "assistant", "user", "assistant"]

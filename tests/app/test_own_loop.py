"""The example of one's own loop, run as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from host import Host
from host.messages.types import Message, ToolCall
from host.messages.violations import violations
from host.testing import LoopbackServer, completion, fault
from host.testing.messages import assistant, system, user

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_loop.py"
TOO_LONG = "This model's maximum context length is 6000 tokens. However, your messages resulted in 9421 tokens."
CALL: ToolCall = {"id": "c1", "type": "function", "function": {"name": "temperature", "arguments": '{"town": "Bergen"}'}}


def run_example(home: Path, server: LoopbackServer) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CTXHOST_HOME": str(home), "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "loopback"}
    return subprocess.run([sys.executable, EXAMPLE], env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_a_tool_call_and_an_answer_and_every_message_is_kept(tmp_path: Path) -> None:
    with LoopbackServer([completion(None, calls=[CALL], usage={"prompt_tokens": 90}), "It is 6 degrees in Bergen."]) as server:
        done = run_example(tmp_path, server)
    assert done.stdout == "It is 6 degrees in Bergen.\n", done.stderr
    assert [message["role"] for message in server.requests[1].messages] == ["user", "assistant", "tool"]
    with Host(home=tmp_path) as host:
        assert [row.role for row in host.conversation("own loop").archive.rows()] == ["user", "assistant", "tool", "assistant"]


def test_a_refused_window_is_compacted_and_sent_again_and_the_limit_is_learnt(tmp_path: Path) -> None:
    with Host(home=tmp_path) as host:
        talk = host.conversation("own loop")
        talk.add(system("You know the weather."))
        for turn in range(60):
            talk.add(user(f"And in town {turn}? " + "Please take your time. " * 12))
            talk.add(assistant(f"In town {turn} it is {turn % 30} degrees. " + "The wind comes from the west. " * 8))
    with LoopbackServer([fault(400, TOO_LONG, code="context_length_exceeded"), "It is 6 degrees."]) as server:
        done = run_example(tmp_path, server)
    assert done.stdout == "It is 6 degrees.\n", done.stderr
    refused, taken = (request.messages for request in server.requests)
    assert len(taken) < len(refused)
    assert taken[-1] == refused[-1] == user("How warm is it in Bergen?")
    sent: list[Message] = [*taken]  # type: ignore[list-item]
    assert violations(sent) == []


def test_a_refusal_that_no_compaction_helps_is_raised(tmp_path: Path) -> None:
    with LoopbackServer([fault(400, TOO_LONG, code="context_length_exceeded")]) as server:
        done = run_example(tmp_path, server)
    assert done.returncode == 1
    assert "BadRequestError" in done.stderr
    assert len(server.requests) == 1

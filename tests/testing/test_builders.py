"""Builders of messages and sessions."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from host.messages.types import Message
from host.messages.violations import violations
from host.testing.messages import assistant, big_session, call, chat, result, system, tool_session, user


def test_one_message_each() -> None:
    assert [system("s"), user("u"), assistant("a"), assistant()] == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "content": None},
    ]


def test_a_call_and_its_result() -> None:
    group = [assistant("look", [call("c1", "read_file", {"path": "读我.md"})]), result("c1", "text")]
    assert group == [
        {
            "role": "assistant",
            "content": "look",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "读我.md"}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "text"},
    ]
    assert call("c2", "run", "not json")["function"]["arguments"] == "not json"


@pytest.mark.parametrize(("n", "chars"), [(0, 10), (1, 1), (7, 200), (40, 3_000)])
def test_a_chat_has_the_asked_size(n: int, chars: int) -> None:
    messages = chat(n, chars)
    assert len(messages) == n
    assert all(len(str(message["content"])) == chars for message in messages)


def test_a_chat_alternates_and_repeats_nothing() -> None:
    messages = chat(100, 60)
    assert violations(messages, strict=True) == []
    assert len({str(message["content"]) for message in messages}) == 100


@pytest.mark.parametrize("n", [*range(12), 57, 400])
def test_a_tool_session_is_legal_at_any_length(n: int) -> None:
    session = tool_session(n, seed=n)
    assert len(session) == n
    assert violations(session, strict=n > 1) == [] or n == 0


def test_a_tool_session_is_the_same_for_the_same_seed() -> None:
    assert tool_session(80, seed=3) == tool_session(80, seed=3)
    assert tool_session(80, seed=3) != tool_session(80, seed=4)


def test_results_have_about_the_asked_size() -> None:
    sizes = [len(str(message["content"])) for message in tool_session(300, chars=1_000) if message["role"] == "tool"]
    assert min(sizes) >= 500
    assert max(sizes) <= 1_500


def size_of(messages: list[Message]) -> int:
    return sum(len(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()) for message in messages)


@pytest.mark.parametrize(("n", "each"), [(10_000, 4_700), (2_000, 2_000)])
def test_a_big_session_has_the_asked_bytes(n: int, each: int) -> None:
    session = big_session(n, each, seed=1)
    assert len(session) == n
    assert 0.9 < size_of(session) / (n * each) < 1.15
    assert violations(session, strict=True) == []


def test_the_testing_room_needs_no_hypothesis() -> None:
    probe = "import sys; sys.modules['hypothesis'] = None; import host.testing, host.testing.messages; print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert done.stdout.strip() == "False"

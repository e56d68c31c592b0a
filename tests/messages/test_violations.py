"""What a provider would refuse, by rule and place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from host.messages.types import Message
from host.messages.violations import STRICT_RULES, Rule, violations
from host.testing.histories import histories
from host.testing.messages import assistant, call, result, system, user

CALL = assistant(None, [call("a", "f")])
TABLE: dict[str, tuple[list[Any], list[tuple[int, str]]]] = {
    "nothing": ([], [(0, "empty-list")]),
    "no object": (["text"], [(0, "not-a-message")]),
    "no role": ([{"content": "x"}], [(0, "unknown-role")]),
    "odd role": ([{"role": ["user"], "content": "x"}], [(0, "unknown-role")]),
    "orphan result": ([user("x"), result("gone", "r")], [(1, "orphan-result")]),
    "second result": ([user("x"), CALL, result("a", "1"), result("a", "2")], [(3, "orphan-result")]),
    "missing result": ([user("x"), CALL, user("y")], [(1, "missing-result")]),
    "missing at the end": ([user("x"), CALL], [(1, "missing-result")]),
    "one of two missing": ([assistant(None, [call("a", "f"), call("b", "f")]), result("b", "r")], [(0, "missing-result")]),
    "result too late": ([user("x"), CALL, user("y"), result("a", "r")], [(1, "missing-result"), (3, "misplaced-result")]),
    "id twice in one message": ([assistant(None, [call("a", "f"), call("a", "g")]), result("a", "r")], [(0, "duplicate-call")]),
    "id again after its result": ([user("x"), CALL, result("a", "1"), CALL, result("a", "2")], []),
    "no arguments at all": (
        [{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f"}}]}, result("a", "r")],
        [(0, "arguments-not-json")],
    ),
    "arguments cut off": ([assistant(None, [call("a", "f", '{"x": ')]), result("a", "r")], [(0, "arguments-not-json")]),
    "NaN is no JSON": ([assistant(None, [call("a", "f", '{"x": NaN}')]), result("a", "r")], [(0, "arguments-not-json")]),
    "blank tool": ([assistant(None, [call("a", " ")]), result("a", "r")], [(0, "blank-name")]),
    "blank speaker": ([{"role": "user", "name": "", "content": "x"}], [(0, "blank-name")]),
    "blank call id": ([assistant(None, [call("", "f")])], [(0, "blank-id")]),
    "blank result id": ([user("x"), {"role": "tool", "content": "r"}], [(1, "blank-id")]),
    "empty calls": ([user("x"), {"role": "assistant", "content": "y", "tool_calls": []}], [(1, "empty-calls")]),
    "null calls": ([user("x"), {"role": "assistant", "content": "y", "tool_calls": None}], []),
    "null content": ([{"role": "user", "content": None}], []),
    "call_id before id": (
        [{"role": "assistant", "content": "", "tool_calls": [{**call("fc", "f"), "call_id": "c"}]}, result("c", "r")],
        [],
    ),
}
STRICT: dict[str, tuple[list[Message], list[tuple[int, str]]]] = {
    "assistant first": ([system("s"), assistant("a"), user("b")], [(1, "first-not-user")]),
    "late system": ([user("a"), system("s"), assistant("b")], [(1, "late-system")]),
    "two users": ([user("a"), user("b")], [(1, "repeated-user")]),
    "two users around a system": ([user("a"), system("s"), user("b")], [(1, "late-system"), (2, "repeated-user")]),
    "two assistants": ([user("a"), assistant("b"), assistant("c")], [(2, "repeated-assistant")]),
    "two assistants around a result": ([user("a"), CALL, result("a", "r"), assistant("c")], []),
    "two prompts at the start": ([system("s"), {"role": "developer", "content": "d"}, user("a")], []),
}


def found(messages: list[Any], *, strict: bool = False) -> list[tuple[int, str]]:
    return [(violation.index, violation.rule.value) for violation in violations(messages, strict=strict)]


@pytest.mark.parametrize("name", TABLE)
def test_always_wrong(name: str) -> None:
    messages, expected = TABLE[name]
    assert found(messages) == expected


@pytest.mark.parametrize("name", STRICT)
def test_wrong_for_strict_providers_alone(name: str) -> None:
    messages, expected = STRICT[name]
    assert found(messages) == []
    assert found(messages, strict=True) == expected


def test_every_rule_has_an_example() -> None:
    shown = {rule for _, expected in [*TABLE.values(), *STRICT.values()] for _, rule in expected}
    assert shown == {rule.value for rule in Rule}
    assert {rule for _, expected in STRICT.values() for _, rule in expected} == {rule.value for rule in STRICT_RULES}


@given(histories(strict=True))
def test_strictly_legal_histories_have_none(history: list[Message]) -> None:
    assert found(history, strict=True) == []

"""What a provider would refuse in a list of messages, judged as it would be sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from math import isinf
from typing import cast

from host.messages.reading import SYSTEM_ROLES, call_arguments, call_id, call_name, calls_of, tool_call_id
from host.messages.types import Message

ROLES = SYSTEM_ROLES | {"user", "assistant", "tool"}


class Rule(StrEnum):
    """The rules by name. The last four hold only under ``strict``: some providers take what they forbid."""

    EMPTY_LIST = "empty-list"
    NOT_A_MESSAGE = "not-a-message"
    UNKNOWN_ROLE = "unknown-role"
    BLANK_NAME = "blank-name"
    BLANK_ID = "blank-id"
    EMPTY_CALLS = "empty-calls"
    ARGUMENTS_NOT_JSON = "arguments-not-json"
    DUPLICATE_CALL = "duplicate-call"
    ORPHAN_RESULT = "orphan-result"
    MISPLACED_RESULT = "misplaced-result"
    MISSING_RESULT = "missing-result"
    FIRST_NOT_USER = "first-not-user"
    LATE_SYSTEM = "late-system"
    REPEATED_USER = "repeated-user"
    REPEATED_ASSISTANT = "repeated-assistant"


STRICT_RULES = frozenset({Rule.FIRST_NOT_USER, Rule.LATE_SYSTEM, Rule.REPEATED_USER, Rule.REPEATED_ASSISTANT})


@dataclass(frozen=True)
class Violation:
    """One broken rule; ``index`` is the message's place in the list (0 for an empty list)."""

    index: int
    rule: Rule
    detail: str

    def __str__(self) -> str:
        return f"message {self.index}: {self.rule}: {self.detail}"


def violations(messages: Sequence[Message], *, strict: bool = False) -> list[Violation]:
    """All broken rules in list order (design, Messages and identity). An empty answer means: can be sent."""
    if not messages:
        return [Violation(0, Rule.EMPTY_LIST, "there is nothing to send")]
    judge = _Judge()
    for index, message in enumerate(messages):
        judge.read(index, message)
    judge.close_group()
    if strict:
        judge.found.extend(_order_violations(messages))
    return sorted(judge.found, key=lambda violation: violation.index)


def is_json(text: str) -> bool:
    """Whether a text is one JSON value; NaN and Infinity are not JSON."""
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


@lru_cache(maxsize=4_096)  # the calls of a window are looked at before every request
def is_json_object(text: str) -> bool:
    """Whether a text is one JSON object, all its numbers finite."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(text, parse_constant=_refuse_constant, parse_float=_finite), dict)
    except (ValueError, RecursionError):
        return False


def _finite(digits: str) -> float:
    value = float(digits)
    if isinf(value):
        _refuse_constant(digits)
    return value


@dataclass
class _Judge:
    """Walks the list once, with the calls of the open group."""

    found: list[Violation] = field(default_factory=list)
    open_calls: dict[str, int] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)

    def read(self, index: int, entry: object) -> None:
        if not isinstance(entry, dict):
            self.report(index, Rule.NOT_A_MESSAGE, f"a message is an object, this is {type(entry).__name__}")
            return
        message = cast(Message, entry)
        role: object = message.get("role")
        if not isinstance(role, str) or role not in ROLES:
            self.report(index, Rule.UNKNOWN_ROLE, f"role {role!r} is none of {', '.join(sorted(ROLES))}")
        if _is_blank(message.get("name", "unnamed")):
            self.report(index, Rule.BLANK_NAME, "`name` is there but blank")
        if role == "tool":
            self.read_result(index, message)
            return
        self.close_group()
        if role == "assistant":
            self.read_calls(index, message)

    def read_calls(self, index: int, message: Message) -> None:
        if message.get("tool_calls") == []:
            self.report(index, Rule.EMPTY_CALLS, "`tool_calls` is an empty list; leave the key out")
        for call in calls_of(message):
            name, key = call_name(call), call_id(call)
            if _is_blank(name):
                self.report(index, Rule.BLANK_NAME, f"call {key!r} names no tool")
            if not is_json(call_arguments(call)):
                self.report(index, Rule.ARGUMENTS_NOT_JSON, f"arguments of call {key!r} ({name}) are not JSON")
            if _is_blank(key):
                self.report(index, Rule.BLANK_ID, f"a call of {name!r} has no id")
            elif key in self.open_calls:
                self.report(index, Rule.DUPLICATE_CALL, f"call id {key!r} is used twice before its result")
            else:
                self.open_calls[key] = index
                self.called.add(key)

    def read_result(self, index: int, message: Message) -> None:
        key = tool_call_id(message)
        if _is_blank(key):
            self.report(index, Rule.BLANK_ID, "a tool result names no call")
        elif key in self.open_calls:
            del self.open_calls[key]
            self.answered.add(key)
        elif key in self.called and key not in self.answered:
            self.report(index, Rule.MISPLACED_RESULT, f"the result of call {key!r} does not follow its call directly")
        else:
            self.report(index, Rule.ORPHAN_RESULT, f"no open call {key!r} before this result")

    def close_group(self) -> None:
        """A message that is no result ends the group: what is open now stays unanswered."""
        for key, index in self.open_calls.items():
            self.report(index, Rule.MISSING_RESULT, f"call {key!r} has no result directly after it")
        self.open_calls.clear()

    def report(self, index: int, rule: Rule, detail: str) -> None:
        self.found.append(Violation(index, rule, detail))


def _order_violations(messages: Sequence[Message]) -> list[Violation]:
    found: list[Violation] = []
    before = ""
    for index, message in enumerate(messages):
        role = message.get("role", "")
        if role in SYSTEM_ROLES:
            if before:
                found.append(Violation(index, Rule.LATE_SYSTEM, f"a {role} message stands after the conversation began"))
            continue
        if not before and role != "user":
            found.append(Violation(index, Rule.FIRST_NOT_USER, f"the conversation begins with {role!r}"))
        if role == before == "user":
            found.append(Violation(index, Rule.REPEATED_USER, "two user turns in a row"))
        if role == before == "assistant":
            found.append(Violation(index, Rule.REPEATED_ASSISTANT, "two assistant turns in a row"))
        before = role
    return found


def _is_blank(value: object) -> bool:
    return not isinstance(value, str) or not value.strip()


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")

"""The whole of ``compress``, and how head, summary and tail become one list: hermes.md 5.5."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

from host.compressor.compressor import Compressor
from host.messages.reading import calls_of, is_system
from host.messages.types import Message
from host.messages.violations import violations
from host.transforms.assemble import assemble, choose_seat
from host.transforms.boundary import Cut, choose_cut, newest_request
from host.transforms.handoff import END_MARKER, handoff_text, is_handoff
from host.transforms.plan import Plan
from tests.golden.engines import BODY, compressor
from tests.golden.reading import Driver, Golden, shown
from tests.reference_cost import tail_cost


def engine_for(case: Golden) -> Compressor:
    """The engine as the case describes it; the budgets that it overrides are those of a running session."""
    engine = compressor()
    engine.budgets = replace(engine.budgets, tail=case.input["tail_token_budget"])
    engine.protect_first_n = case.input.get("protect_first_n", engine.protect_first_n)
    engine.compression_count = case.input.get("compression_count", 0)
    return engine


def compressed(case: Golden) -> tuple[list[Message], dict[str, Any]]:
    """What comes back, and the bookkeeping under the reference's names."""
    engine, given = engine_for(case), deepcopy(case.input["messages"])
    after = engine.compress(given)
    report = engine.last_report
    figures = {
        "input_unchanged": given == case.input["messages"],
        "compression_count": engine.compression_count,
        "ineffective": engine.state.ineffective,
        "made_progress": report.made_progress,
        "aborted": report.aborted,
        "fallback_used": report.fallback_used,
        "dropped": report.dropped,
    }
    return after, figures


def expected_figures(case: Golden) -> dict[str, Any]:
    """The case's figures."""
    return {key: value for key, value in case.output.items() if key not in ("messages", "boundaries")}


def compress(case: Golden) -> None:
    after, figures = compressed(case)
    assert shown(after) == case.output["messages"]
    assert figures == expected_figures(case)


def compress_without_output(case: Golden) -> None:
    """Cases that give the figures alone."""
    after, figures = compressed(case)
    assert figures == expected_figures(case)
    assert violations(after, strict=True) == []
    if not figures["made_progress"]:
        assert after == case.input["messages"]
    if "boundaries" in case.output:
        found = choose_cut(case.input["messages"], engine_for(case).plan())
        assert {"compress_start": found.start, "compress_end": found.end} == {
            key: case.output["boundaries"][key] for key in ("compress_start", "compress_end")
        }


def compress_better(case: Golden) -> None:
    """The reference loses or rewrites the user's words here; these are the rules of the window that it breaks."""
    messages = case.input["messages"]
    request = messages[newest_request(messages)]
    after, figures = compressed(case)
    assert figures["input_unchanged"] and figures["made_progress"]
    if "compression_count" in case.output:
        assert figures == expected_figures(case)
    assert violations(after) == []
    spoken = [message for message in after if not is_system(message)]
    assert spoken[0]["role"] == "user"
    assert [text for message in spoken if message["role"] == "user" for text in unmerged(message)][-1] == request["content"]
    assert sum(map(is_handoff, after)) == 1
    for message in after:
        assert message in messages or is_handoff(message) or is_system(message) or message["role"] == "tool"
    assert all(is_merge_of(message, messages) for message in after if is_handoff(message))


def unmerged(message: Message) -> list[str]:
    """The words of a message that a person wrote, none where it is a summary alone."""
    text = str(message["content"])
    behind = text.partition(END_MARKER)[2].strip() if is_handoff(message) else text
    return [behind] if behind else []


def is_merge_of(message: Message, messages: list[Message]) -> bool:
    """Whether a handoff stands alone, or in front of one of these messages that is otherwise unchanged."""
    handoff, text = handoff_text(BODY), str(message["content"])
    if text == handoff and not calls_of(message):
        return True
    original = text.removeprefix(handoff).removeprefix("\n\n") or None
    return text.startswith(handoff) and {**message, "content": original} in messages


def role(case: Golden) -> None:
    """The choice by itself, and the list that is made of it."""
    given = case.input
    seat = choose_seat(given["last_head_role"], given["first_tail_role"], user_survives=given["user_in_head_or_tail"])
    assert {"summary_role": seat.role, "merged": seat.merged} == {key: case.output[key] for key in ("summary_role", "merged")}
    head, after = joined(case)
    assert [is_handoff(message) for message in after].index(True) == len(head)
    assert after[len(head)]["role"] == seat.role
    assert sum(map(is_handoff, after)) == 1
    assert str(after[len(head)]["content"]).endswith("first of the tail" if seat.merged else END_MARKER)


def role_of_the_first(case: Golden) -> None:
    """The first message after the system prompt is the user's, whatever the reference chose."""
    given = case.input
    seat = choose_seat("none", given["first_tail_role"], user_survives=given["user_in_head_or_tail"])
    _, after = joined(case)
    assert seat.role == after[0]["role"] == "user"
    assert seat.merged == (given["first_tail_role"] == "user")
    assert is_handoff(after[0])
    assert str(after[0]["content"]).endswith("first of the tail" if seat.merged else END_MARKER)


def joined(case: Golden) -> tuple[list[Message], list[Message]]:
    """A head with the roles of the case, and the whole list; a user stands where the case says that one survives."""
    last, first = case.input["last_head_role"], case.input["first_tail_role"]
    opening = ["user"] if last != "none" and case.output["summary_index"] == 2 else []
    head = [message for role in (*opening, *([] if last == "none" else [last])) for message in group(role, "of the head")]
    survivor = ["user"] if case.input["user_in_head_or_tail"] and "user" not in (*opening, last, first) else []
    tail = [group(first, "first of the tail")[-1], *(message for role in survivor for message in group(role, "of the tail"))]
    middle: Message = {"role": "user", "content": "of the middle"}
    plan = Plan(cost=tail_cost, tail=0, summary=0)
    return head, assemble([*head, middle, *tail], Cut(len(head), len(head) + 1), handoff_text(BODY), plan)


def group(role: str, text: str) -> list[Message]:
    """One message; a tool result with the call that it answers."""
    if role != "tool":
        return [{"role": role, "content": text}]
    call: Message = {"role": "assistant", "content": None, "tool_calls": [{"id": text, "function": {"name": "f", "arguments": "{}"}}]}
    return [call, {"role": "tool", "tool_call_id": text, "content": text}]


DRIVERS: dict[str, Driver] = {
    "compress_basic": compress,
    "compress_too_few": compress,
    "compress_min_boundary": compress,
    "compress_head_ends_assistant": compress_better,
    "compress_merge_into_tail": compress_better,
    "compress_system_only_head_52160": compress_better,
    "compress_zero_user_58753": compress_better,
    "active_request_*": compress_better,
    "empty_window_*": compress_without_output,
    "role_[!n]*": role,
    "role_none_*": role_of_the_first,
}

"""Phase 1: old tool results become one line each, without a model (seed 4, phase 1; hermes.md 5.1)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from host.messages.reading import call_arguments, call_id, call_name, calls_of, is_image, parsed_arguments
from host.messages.types import Message, Part, ToolCall
from host.transforms.digests import digest
from host.transforms.plan import Cost

DUPLICATE = "[Duplicate tool output — same content as a more recent call]"
CLEARED = "[Old tool output cleared to save context space]"
SCREENSHOT = "[screenshot removed to save context]"
ENVELOPE = "[screenshot removed] "
TRUNCATED = "...[truncated]"

DUPLICATE_FROM_CHARS = 200
KEEP_RESULT_CHARS = 200  # below this a digest is hardly shorter than the result
SHRINK_ARGUMENTS_CHARS = 500
KEEP_LEAF_CHARS = 200
ENVELOPE_TEXT_CHARS = 200


@dataclass(frozen=True)
class Pruned:
    """The shorter list (untouched messages are the same objects) and how many results were shortened."""

    messages: list[Message]
    shortened: int


def prune(messages: Sequence[Message], *, cost: Cost, protect_last: int, tail_budget: int = 0) -> Pruned:
    """Three passes: equal outputs once, old outputs as one line, long call arguments cut inside their JSON.

    The last two leave the protected end alone: ``tail_budget`` tokens and at least ``protect_last`` messages.
    """
    end = prune_end(messages, cost=cost, protect_last=protect_last, tail_budget=tail_budget)
    deduplicated, duplicates = drop_duplicates(messages)
    digested, digests = digest_results(deduplicated, end)
    return Pruned([shrink_arguments(m) if i < end else m for i, m in enumerate(digested)], duplicates + digests)


def prune_end(messages: Sequence[Message], *, cost: Cost, protect_last: int, tail_budget: int) -> int:
    """Index before which results may be shortened."""
    count = len(messages)
    floor = min(protect_last, count)
    if tail_budget <= 0:
        return max(0, count - protect_last)
    spent, boundary = 0, count
    for index in range(count - 1, -1, -1):
        boundary = index
        spent += cost(messages[index])
        if spent > tail_budget and count - index >= floor:
            break
    return count - max(count - boundary, floor)


def drop_duplicates(messages: Sequence[Message]) -> tuple[list[Message], int]:
    """Equal tool outputs keep their text only at the newest call."""
    seen: set[str] = set()
    kept: list[Message] = []
    for message in reversed(messages):
        content = message.get("content")
        if message.get("role") == "tool" and isinstance(content, str) and len(content) >= DUPLICATE_FROM_CHARS:
            if content in seen:
                message = cast(Message, {**message, "content": DUPLICATE})
            seen.add(content)
        kept.append(message)
    kept.reverse()
    return kept, sum(new is not old for new, old in zip(kept, messages, strict=True))


def digest_results(messages: Sequence[Message], end: int) -> tuple[list[Message], int]:
    """Tool results before ``end`` that are long or hold pictures become a line."""
    calls: dict[str, ToolCall] = {}
    kept = list(messages)
    shortened = 0
    for index, message in enumerate(messages[:end]):
        calls.update((call_id(call), call) for call in calls_of(message))
        if message.get("role") != "tool":
            continue
        short = shortened_result(message, calls.get(str(message.get("tool_call_id") or "")))
        if short is not message:
            kept[index] = short
            shortened += 1
    return kept, shortened


def shortened_result(message: Message, call: ToolCall | None) -> Message:
    """One tool result in short; the same object where nothing is gained."""
    content: object = message.get("content")
    if isinstance(content, list) and any(isinstance(part, dict) and is_image(part) for part in content):
        return with_content(message, [_without_picture(part) for part in content])
    if isinstance(content, dict) and content.get("_multimodal"):
        summary = str(content.get("text_summary") or "")[:ENVELOPE_TEXT_CHARS]
        return with_content(message, ENVELOPE + summary if summary else SCREENSHOT)
    if not isinstance(content, str) or len(content) <= KEEP_RESULT_CHARS:
        return message
    name = call_name(call) if call else "unknown"
    return with_content(message, digest(name or "unknown", parsed_arguments(call) if call else {}, content))


def shrink_arguments(message: Message) -> Message:
    """An assistant message whose long call arguments are cut inside their JSON; the same object where none is."""
    calls = calls_of(message)
    if not any(len(call_arguments(call)) > SHRINK_ARGUMENTS_CHARS for call in calls):
        return message
    shorter = [_shrunk_call(call) for call in calls]
    if all(new is old for new, old in zip(shorter, calls, strict=True)):
        return message
    return cast(Message, {**message, "tool_calls": shorter})


def shrink_json(text: str) -> str:
    """Argument text with every string leaf over KEEP_LEAF_CHARS cut; always JSON again, unchanged where it is none."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return text
    shorter = _shrunk_leaf(parsed)
    if shorter == parsed:
        return text
    try:
        return json.dumps(shorter, ensure_ascii=False, allow_nan=False)
    except ValueError:  # a number too large for a float would come back as Infinity, which is not JSON
        return text


def with_content(message: Message, content: str | list[Part]) -> Message:
    """A copy of the message with another content; the original is not touched."""
    return cast(Message, {**message, "content": content})


def _shrunk_call(call: ToolCall) -> ToolCall:
    text = call_arguments(call)
    shorter = shrink_json(text) if len(text) > SHRINK_ARGUMENTS_CHARS else text
    if shorter == text:
        return call
    return cast(ToolCall, {**call, "function": {**call["function"], "arguments": shorter}})


def _shrunk_leaf(value: Any) -> Any:
    if isinstance(value, str):
        return value[:KEEP_LEAF_CHARS] + TRUNCATED if len(value) > KEEP_LEAF_CHARS else value
    if isinstance(value, list):
        return [_shrunk_leaf(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: _shrunk_leaf(entry) for key, entry in value.items()}
    return value


def _without_picture(part: object) -> Part:
    if isinstance(part, dict) and is_image(part):
        return {"type": "text", "text": SCREENSHOT}
    return cast(Part, part)

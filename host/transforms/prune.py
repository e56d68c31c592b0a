"""Phase 1: old tool results become one line each, without a model (seed 4, phase 1; hermes.md 5.1)."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from functools import cached_property
from typing import Any, cast, overload

from host.messages.masked import Mask, masked, with_values
from host.messages.reading import call_arguments, call_id, call_name, calls_of, is_image, parsed_arguments, tool_call_id
from host.messages.types import Message, Part, ToolCall
from host.transforms.digests import digest
from host.transforms.plan import Cost

DUPLICATE = "[Duplicate tool output — same content as a more recent call]"
SCREENSHOT = "[screenshot removed to save context]"
ENVELOPE = "[screenshot removed] "
TRUNCATED = "...[truncated]"

DUPLICATE_FROM_CHARS = 200
KEEP_RESULT_CHARS = 200  # below this a digest is hardly shorter than the result
SHRINK_ARGUMENTS_CHARS = 500
KEEP_LEAF_CHARS = 200
ENVELOPE_TEXT_CHARS = 200
READ = 2_000  # characters of a value in a call that are masked before it is cut


def prune(
    messages: Sequence[Message],
    *,
    cost: Cost,
    protect_last: int,
    tail_budget: int = 0,
    pinned: Container[int] = frozenset(),
    mask: Mask = str,
) -> Pruning:
    """Equal outputs once, old outputs as one line, long call arguments cut inside their JSON.

    The last two leave the protected end alone: ``tail_budget`` tokens and at least ``protect_last`` messages. Messages at
    ``pinned`` indices stay as they are. ``mask`` hides secrets in what is cut: of half a secret nobody could tell that it is one.
    """
    return Pruning(messages, prune_end(messages, cost=cost, protect_last=protect_last, tail_budget=tail_budget), pinned, mask)


class Pruning(Sequence[Message]):
    """The pruned list. A message is shortened when it is first looked at: of a long list, a cut looks at few.

    Untouched messages are the same objects.
    """

    def __init__(self, messages: Sequence[Message], end: int, pinned: Container[int] = frozenset(), mask: Mask = str) -> None:
        self._messages = messages
        self._mask = mask
        self._end = end  # before it results may be shortened
        self._pinned_indices = pinned
        self._pruned: dict[int, Message] = {}
        self._newest: dict[str, int] = {}  # long output -> where it stands last
        self._read_from = len(messages)  # outputs from here on are in _newest

    @property
    def shortened(self) -> int:
        """How many tool results are shorter; looks at all of them."""
        pairs = zip(self, self._messages, strict=True)
        return sum(new is not old for new, old in pairs if old.get("role") == "tool")

    def __len__(self) -> int:
        return len(self._messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        if at not in self._pruned:
            self._pruned[at] = self._shorten(at)
        return self._pruned[at]

    def _shorten(self, index: int) -> Message:
        message = self._messages[index]
        if index in self._pinned_indices:
            return message
        if message.get("role") != "tool":
            return shrink_arguments(message, self._mask) if index < self._end else message
        if self._is_repeated(index):
            return with_content(message, DUPLICATE)
        return shortened_result(message, self._call_of(index), self._mask) if index < self._end else message

    def _is_repeated(self, index: int) -> bool:
        """Whether a newer result has the same long text."""
        for at in range(self._read_from - 1, index - 1, -1):
            if output := long_output(self._messages[at]):
                self._newest.setdefault(output, at)
        self._read_from = min(self._read_from, index)
        return self._newest.get(long_output(self._messages[index]), -1) > index

    def _call_of(self, index: int) -> ToolCall | None:
        """The newest call before a result that has its id."""
        return next((call for at, call in reversed(self._calls.get(tool_call_id(self._messages[index]), ())) if at < index), None)

    @cached_property
    def _calls(self) -> dict[str, list[tuple[int, ToolCall]]]:
        calls: dict[str, list[tuple[int, ToolCall]]] = {}
        for index, message in enumerate(self._messages[: self._end]):
            for call in calls_of(message):
                calls.setdefault(call_id(call), []).append((index, call))
        return calls


def long_output(message: Message) -> str:
    """The text of a tool result that is long enough to be shown once only, else an empty one."""
    content = message.get("content")
    return content if message.get("role") == "tool" and isinstance(content, str) and len(content) >= DUPLICATE_FROM_CHARS else ""


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


def shortened_result(message: Message, call: ToolCall | None, mask: Mask = str) -> Message:
    """One tool result in short; the same object where nothing is gained."""
    content: object = message.get("content")
    if isinstance(content, list) and any(isinstance(part, dict) and is_image(part) for part in content):
        return with_content(message, [_without_picture(part) for part in content])
    if isinstance(content, dict) and content.get("_multimodal"):
        summary = masked(str(content.get("text_summary") or ""), mask, READ)[:ENVELOPE_TEXT_CHARS]
        return with_content(message, ENVELOPE + summary if summary else SCREENSHOT)
    if not isinstance(content, str) or len(content) <= KEEP_RESULT_CHARS:
        return message
    name = call_name(call) if call else "unknown"
    arguments = with_values(parsed_arguments(call), lambda text: masked(text, mask, READ)) if call else {}
    return with_content(message, digest(name or "unknown", arguments, content))


def shrink_arguments(message: Message, mask: Mask = str) -> Message:
    """An assistant message whose long call arguments are cut inside their JSON; the same object where none is."""
    calls = calls_of(message)
    if not any(len(call_arguments(call)) > SHRINK_ARGUMENTS_CHARS for call in calls):
        return message
    shorter = [_shrunk_call(call, mask) for call in calls]
    if all(new is old for new, old in zip(shorter, calls, strict=True)):
        return message
    return cast(Message, {**message, "tool_calls": shorter})


def shrink_json(text: str, mask: Mask = str) -> str:
    """Argument text with every string leaf over KEEP_LEAF_CHARS cut; always JSON again, unchanged where it is none."""
    try:
        parsed = json.loads(text)
        shorter = _shrunk_leaf(parsed, mask)
        return text if shorter == parsed else json.dumps(shorter, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):  # no JSON, nested too deeply, or a number that would come back as Infinity
        return text


def with_content(message: Message, content: str | list[Part]) -> Message:
    """A copy of the message with another content; the original is not touched."""
    return cast(Message, {**message, "content": content})


def _shrunk_call(call: ToolCall, mask: Mask) -> ToolCall:
    text = call_arguments(call)
    shorter = shrink_json(text, mask) if len(text) > SHRINK_ARGUMENTS_CHARS else text
    if shorter == text:
        return call
    return cast(ToolCall, {**call, "function": {**call["function"], "arguments": shorter}})


def _shrunk_leaf(value: Any, mask: Mask) -> Any:
    if isinstance(value, str):
        return masked(value, mask, READ)[:KEEP_LEAF_CHARS] + TRUNCATED if len(value) > KEEP_LEAF_CHARS else value
    if isinstance(value, list):
        return [_shrunk_leaf(entry, mask) for entry in value]
    if isinstance(value, Mapping):
        return {key: _shrunk_leaf(entry, mask) for key, entry in value.items()}
    return value


def _without_picture(part: object) -> Part:
    if isinstance(part, dict) and is_image(part):
        return {"type": "text", "text": SCREENSHOT}
    return cast(Part, part)

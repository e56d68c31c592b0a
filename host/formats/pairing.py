"""Every tool result behind its call: the half of mending that looks at more than one message."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from operator import is_
from typing import cast

from host.messages.reading import call_id, call_name, calls_of, has_words, tool_call_id
from host.messages.types import Message, ToolCall

NO_RESULT = "[no result was recorded]"


@dataclass(eq=False)
class _Group:
    """A message with the results that follow it; ``open`` holds the calls without one, in their order."""

    head: Message
    open: dict[str, str] = field(default_factory=dict)  # id on the wire -> tool
    wires: dict[str, list[str]] = field(default_factory=dict)  # id as recorded -> ids on the wire
    results: list[Message] = field(default_factory=list)


@dataclass
class Pairing:
    """Takes the messages of a recording one by one and gives back a list in which every call has its result."""

    counts: Counter[str]
    groups: list[_Group] = field(default_factory=list)
    waiting: dict[str, list[_Group]] = field(default_factory=dict)  # id as recorded -> groups that called by it
    known: set[str] = field(default_factory=set)  # ids of all calls so far

    def take(self, message: Message) -> None:
        """Add the next message; copies and orphans leave no trace but their count."""
        if message.get("role") == "tool":
            self.take_result(message)
            return
        calls = calls_of(message)
        group = _Group(message)
        kept = self.register(group, calls)
        if kept or not calls or has_words(message):
            group.head = with_calls(message, kept) if calls else message
            self.groups.append(group)

    def register(self, group: _Group, calls: list[ToolCall]) -> list[ToolCall]:
        """The calls of a group under ids that are theirs alone; copies of a call that still waits are left out."""
        kept: list[ToolCall] = []
        for call in calls:
            recorded = _filled(call_id(call))
            if recorded and _is_copy(call, [*kept, *self.calls_just_before(recorded)]):
                self.counts["repeated calls"] += 1
                continue
            wire = self.wire_id_for(recorded, group)
            group.open[wire] = call_name(call)
            group.wires.setdefault(recorded, []).append(wire)
            self.waiting.setdefault(recorded, []).append(group)
            self.known.add(wire)
            kept.append(self.with_id(call, wire))
        return kept

    def take_result(self, message: Message) -> None:
        """Put a result behind its call; one that no call waits for is dropped."""
        recorded = _filled(tool_call_id(message))
        group = self.group_waiting_for(recorded)
        wire = _open_id(group, recorded, message) if group else None
        if group is None or wire is None:
            self.counts["repeated results" if recorded in self.known else "orphan results"] += 1
            return
        self.counts["blank call ids"] += not recorded
        self.counts["results out of place"] += group is not self.groups[-1]
        del group.open[wire]
        group.results.append(message if message.get("tool_call_id") == wire else {**message, "tool_call_id": wire})

    def finish(self) -> list[Message]:
        """The whole list; a stub stands behind the group's own results for every call that was never answered."""
        finished: list[Message] = []
        for group in self.groups:
            stubs: list[Message] = [{"role": "tool", "tool_call_id": wire, "content": NO_RESULT} for wire in group.open]
            self.counts["unanswered calls"] += len(stubs)
            finished += [group.head, *group.results, *stubs]
        return finished

    def group_waiting_for(self, recorded: str) -> _Group | None:
        """The newest group that waits for this id; a result without id belongs to the newest group of all."""
        if not recorded:
            return self.groups[-1] if self.groups and self.groups[-1].open else None
        groups = self.waiting.get(recorded, [])
        while groups and not any(wire in groups[-1].open for wire in groups[-1].wires[recorded]):
            groups.pop()
        return groups[-1] if groups else None

    def calls_just_before(self, recorded: str) -> list[ToolCall]:
        """The calls of the newest group if it still waits for this id: only there an equal call is a copy."""
        group = self.group_waiting_for(recorded)
        return calls_of(group.head) if group is not None and self.groups[-1:] == [group] else []

    def wire_id_for(self, recorded: str, group: _Group) -> str:
        """The recorded id, or a new one where it is blank or its group has it already."""
        if recorded and recorded not in group.open:
            return recorded
        self.counts["call ids used twice" if recorded else "blank call ids"] += 1
        number, stem = len(self.known), recorded or "call"
        while (made := f"{stem}_{number}") in self.known:
            number += 1
        return made

    def with_id(self, call: ToolCall, wire: str) -> ToolCall:
        """The call under this id, the same object where it has it."""
        recorded: object = call.get("call_id") or call.get("id")
        if recorded == wire:
            return call
        self.counts["call ids that were no text"] += str(recorded) == wire
        changed: ToolCall = {**call, "id": wire}
        if "call_id" in call:
            changed["call_id"] = wire
        return changed


def with_calls(message: Message, calls: list[ToolCall]) -> Message:
    """The message with these calls: the same object where it has exactly them, without the key where there are none."""
    recorded: list[object] = [*(message.get("tool_calls") or [])]
    if len(calls) == len(recorded) and all(map(is_, calls, recorded)):
        return message
    return {**message, "tool_calls": calls} if calls else without(message, "tool_calls")


def without(message: Message, key: str) -> Message:
    """The message without one of its keys."""
    return cast("Message", {name: value for name, value in message.items() if name != key})


def _filled(text: str) -> str:
    return text if text.strip() else ""


def _open_id(group: _Group, recorded: str, message: Message) -> str | None:
    """The open call that a result answers; one without id answers the first of its tool, else the first."""
    if recorded:
        return next((wire for wire in group.wires[recorded] if wire in group.open), None)
    named = (wire for wire, tool in group.open.items() if tool == message.get("name"))
    return next(named, None) or next(iter(group.open), None)


def _is_copy(call: ToolCall, others: list[ToolCall]) -> bool:
    return any(call_id(other) == call_id(call) and other.get("function") == call.get("function") for other in others)

"""Where a conversation stands between two model calls."""

from __future__ import annotations

from dataclasses import dataclass, replace

from host.messages.reading import call_arguments, call_id, calls_of, tool_call_id
from host.messages.types import Message
from host.messages.violations import is_json


@dataclass(frozen=True)
class Turn:
    """Which calls wait, and whether a reply's results have just come in.

    ``torn``: calls and results that do not pair, or arguments that are no JSON, came in; they cannot be sent as they are.
    """

    waiting: frozenset[str] = frozenset()  # ids of calls without a result
    asked: bool = False  # a window was given out and no reply came yet
    replied: bool = False  # the reply to it has calls
    results_in: bool = False  # the last message completed their results
    torn: bool = False

    def after(self, message: Message) -> Turn:
        """The turn with one more message."""
        if message.get("role") == "tool":
            answered = tool_call_id(message)
            waiting = self.waiting - {answered}
            done = self.replied and not waiting
            torn = self.torn or answered not in self.waiting
            return replace(self, waiting=waiting, replied=self.replied and not done, results_in=done, torn=torn)
        calls = calls_of(message)
        ids = frozenset(map(call_id, calls))
        torn = self.torn or bool(self.waiting) or len(ids) < len(calls) or not all(is_json(call_arguments(call)) for call in calls)
        return Turn(waiting=ids, replied=self.asked and bool(ids), torn=torn)

"""Putting the messages of a recording together that its client wrote in pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from host.formats.content import joined, json_text, text_part
from host.formats.loose import listed, objects_in, text_under
from host.messages.types import JSON, Content, Message, Part, ToolCall


@dataclass
class AssistantTurn:
    """One answer of the model while its pieces are collected."""

    key: str = ""
    parts: list[Part] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    unanswered: set[str] = field(default_factory=set)

    @property
    def is_blank(self) -> bool:
        """Whether nothing was said or called yet."""
        return not self.parts and not self.calls

    @property
    def is_empty(self) -> bool:
        """Whether nothing readable was recorded, no thought either."""
        return self.is_blank and not self.reasoning

    @classmethod
    def of(cls, message: Message, key: str = "", *, spoken: bool = True, waiting: Sequence[int] = ()) -> AssistantTurn:
        """The answer that ``message`` was made of, to go on with: the inverse of ``message()``.

        ``spoken`` says whether an empty text is a part of it, ``waiting`` are the places of the calls without a result.
        """
        recorded = cast("JSON", message)
        calls = cast("list[ToolCall]", objects_in(recorded.get("tool_calls")))
        return cls(
            key,
            parts_of(message) if spoken else [],
            [thought] if (thought := text_under(recorded, "reasoning_content")) else [],
            calls,
            {calls[place].get("id", "") for place in waiting if place < len(calls)},
        )

    @property
    def waiting(self) -> list[int]:
        """The places of the calls without a result."""
        return [place for place, call in enumerate(self.calls) if call.get("id", "") in self.unanswered]

    def call(self, call_id: str, name: str, arguments: object) -> None:
        """Add a tool call; arguments that are no text are written as JSON."""
        text = arguments if isinstance(arguments, str) else json_text({} if arguments is None else arguments)
        self.calls.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": text}})
        self.unanswered.add(call_id)

    def message(self) -> Message:
        """The whole answer; content is null where there are only calls."""
        content: Content = None if self.calls and not self.parts else joined([*self.parts])
        made: Message = {"role": "assistant", "content": content}
        if self.reasoning:
            made["reasoning_content"] = "\n\n".join(self.reasoning)
        if self.calls:
            made["tool_calls"] = list(self.calls)
        return made


@dataclass
class Assembly:
    """A conversation in the making, in the order of the recording."""

    items: list[Message | AssistantTurn] = field(default_factory=list)
    turn: AssistantTurn | None = None  # the newest answer, while pieces may still join it
    meanwhile: list[Message] = field(default_factory=list)  # said while it went on

    def say(self, role: str, content: Content) -> None:
        """Add a message that is complete; what comes after it belongs to another answer."""
        self._end_turn()
        self.items.append({"role": role, "content": content})

    def interject(self, content: Content) -> None:
        """Add what the user said while an answer goes on; it stands behind the pieces and the results of that."""
        self.meanwhile.append({"role": "user", "content": content})

    def answer(self, key: str = "") -> AssistantTurn:
        """Begin a new answer."""
        self._end_turn()
        self.turn = AssistantTurn(key)
        self.items.append(self.turn)
        return self.turn

    def result(self, call_id: str, content: Content) -> None:
        """Add a tool's result."""
        self.items.append({"role": "tool", "tool_call_id": call_id, "content": content})
        if self.turn is not None:
            self.turn.unanswered.discard(call_id)

    def messages(self) -> list[Message]:
        """The finished list; answers of which nothing readable was recorded are left out."""
        items = [*self.items, *self.meanwhile]
        return [_finished(item) for item in items if not (isinstance(item, AssistantTurn) and item.is_empty)]

    def _end_turn(self) -> None:
        self.turn = None
        self.items.extend(self.meanwhile)
        self.meanwhile = []


def parts_of(message: Message) -> list[Part]:
    """The content of a message as parts, a text as one of them."""
    content = message.get("content")
    return [text_part(content)] if isinstance(content, str) else [*listed(content)]


def _finished(item: Message | AssistantTurn) -> Message:
    return item.message() if isinstance(item, AssistantTurn) else item

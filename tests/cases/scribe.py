"""A summary model that does what a case says: it answers, refuses, or fails, and keeps what it was asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any

from host.engine.services import SummaryModel
from host.messages.types import Message, Reply, ToolSchema
from host.provider.errors import Service, failure_of
from host.provider.provider import OnDelta
from host.provider.scripted import Scripted, ScriptedProvider
from tests.cases.facts import NoDriver

MAIN = "<main>"
ROOMY = 1_000_000  # tokens of a model's window that no prompt of a case fills
ANSWER = "## Goal\nWhat was said before."
STATUS = re.compile(r"\b([45]\d\d)\b")
TYPE_NAME = re.compile(r"\w*(?:Error|Timeout|Exception)\b")
BASES = (
    (re.compile(r"Timeout"), "TimeoutException"),
    (re.compile(r"Connect|Protocol|Network|ReadError|WriteError"), "TransportError"),
    (re.compile(r"Decod"), "DecodingError"),
)
"""What a client's exceptions are by their names, and the base that they have there."""

Script = Callable[[str], Scripted]
"""What a prompt is answered with."""


@dataclass
class Scribe:
    """One model. ``log`` is shared by all models of a conversation: their names in the order in which they were asked."""

    script: Script
    name: str = MAIN
    window: int = ROOMY
    window_is_guessed: bool = False
    log: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        on_delta: OnDelta | None = None,
    ) -> Reply:
        """The next message (protocol Provider)."""
        prompt = "\n\n".join(str(message.get("content")) for message in messages)
        self.prompts.append(prompt)
        self.log.append(self.name)
        return ScriptedProvider([self.script(prompt)]).ask(messages, tools=tools, max_tokens=max_tokens, timeout=timeout)

    def as_model(self) -> SummaryModel:
        """As the compressor gets it."""

        def ask(prompt: str, *, max_tokens: int | None = None, timeout: float | None = None) -> Reply:
            return self.ask([{"role": "user", "content": prompt}], max_tokens=max_tokens, timeout=timeout)

        return SummaryModel(self.name, ask, self.window, self.window_is_guessed)


def always(answer: Scripted) -> Script:
    """The same answer to everything."""
    return lambda prompt: answer


def one_by_one(*answers: Scripted) -> Script:
    """These answers in turn, the last of them for good."""
    coming = chain(answers, repeat(answers[-1]))
    return lambda prompt: next(coming)


def reply_of(given: object) -> Reply:
    """The answer that a case describes: a text, a message with ``finish_reason``, or null for no content at all."""
    if given is None or isinstance(given, str):
        return Reply({"role": "assistant", "content": given}, finish_reason="stop")
    if not isinstance(given, Mapping):
        raise NoDriver(f"no driver reads {given!r} as a model's answer")
    message: Any = {"role": "assistant", **{key: value for key, value in given.items() if key != "finish_reason"}}
    return Reply(message, finish_reason=given.get("finish_reason", "stop"))


def error_of(text: object) -> Exception:
    """What the product makes of a client's exception with this text: its type by the name, its status by the number in it."""
    if not isinstance(text, str):
        raise NoDriver(f"no driver reads {text!r} as an error")
    text = text.removesuffix("(each time)").strip()
    named = TYPE_NAME.match(text)
    name = named[0] if named else "APIStatusError"
    bases = [type(base, (Exception,), {}) for pattern, base in BASES if pattern.search(name)]
    raised = type(name, (*bases[:1], Exception) if bases else (Exception,), {})(text)
    if found := STATUS.search(text):
        raised.status_code = int(found[1])
        raised.body = {"error": {"message": text}}
    return failure_of(raised, Service("a-model", ""))

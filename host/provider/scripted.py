"""A model that says what it was told to say: for demos, tests and rehearsals, without a key or a network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from host.engine.services import SummaryModel
from host.messages.reading import call_name, calls_of, text_of
from host.messages.types import Message, Reply, ToolSchema
from host.provider.answers import reply_of
from host.provider.ask import replying
from host.provider.errors import (
    BadRequest,
    KeyMissing,
    KeyRefused,
    NotThere,
    OutOfReplies,
    PaymentDue,
    QuotaUsedUp,
    RateLimited,
    ServerFailed,
    Service,
    ServiceError,
    TimedOut,
    Unreachable,
)
from host.provider.provider import Delta, OnDelta
from host.provider.scripted_notes import notes_from, understood

Scripted = str | Message | Reply | BaseException

SERVICE = Service("the scripted model", "")
USUAL_TIMEOUT = 300.0  # seconds, where nobody asks for another
PIECES = re.compile(r"\s*\S+\s*|\s+")  # of a text, as it streams
LEAKED = "sk-proj-" + "Leak3dByTheScriptedModel"
INJECTED = re.compile(
    r"\b(?:ignore|disregard|forget)\b[^\n]{0,80}?\b(?:reply|answer|respond|say|write|output)\b[^\n:]{0,40}:\s*(\S.*)", re.I
)


@dataclass(frozen=True)
class Asked:
    """One request as it came in; ``timeout`` in seconds."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_tokens: int | None = None
    timeout: float | None = None

    @property
    def prompt(self) -> str:
        """The text of the newest message."""
        return text_of(self.messages[-1]) if self.messages else ""


class ScriptedProvider:
    """Gives its replies in order, one a request; an exception among them is raised.

    ``requests`` holds what it was asked. After the last reply it raises OutOfReplies.
    """

    def __init__(self, replies: Iterable[Scripted]) -> None:
        self.replies = tuple(replies)
        self.requests: list[Asked] = []

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        on_delta: OnDelta | None = None,
    ) -> Reply:
        """The next scripted reply."""
        turn = len(self.requests)
        self.requests.append(Asked(tuple(messages), tuple(tools), max_tokens, timeout))
        if turn >= len(self.replies):
            raise OutOfReplies(turn + 1, len(self.replies))
        return told(_as_reply(self.replies[turn]), on_delta)


def told(reply: Reply, on_delta: OnDelta | None) -> Reply:
    """The reply, after its reasoning, its text word by word, and the names of its calls were told."""
    if on_delta is not None:
        reasoning = reply.message.get("reasoning_content")
        if isinstance(reasoning, str) and reasoning:
            on_delta(Delta(reasoning=reasoning))
        for piece in PIECES.findall(text_of(reply.message)):
            on_delta(Delta(text=piece))
        for call in calls_of(reply.message):
            on_delta(Delta(call=call_name(call)))
    return reply


def _as_reply(scripted: Scripted) -> Reply:
    if isinstance(scripted, BaseException):
        raise scripted
    if isinstance(scripted, Reply):
        return scripted
    if isinstance(scripted, str):
        return Reply({"role": "assistant", "content": scripted}, finish_reason="stop")
    reason = "tool_calls" if scripted.get("tool_calls") else "stop"
    return Reply(scripted, finish_reason=reason)


Behaviour = Callable[[Asked], Reply]
"""How a scripted summary model takes one request: the same request, the same reply or the same ServiceError."""


class ScriptedSummary:
    """A summary model that behaves as it is told: by the names of ``BEHAVIOURS``, one a request; the last one stays.

    ``requests`` holds what it was asked.
    """

    def __init__(self, *behaviours: str | Behaviour, name: str = "scripted") -> None:
        self.name = name
        self.requests: list[Asked] = []
        self._behaviours = [BEHAVIOURS[each] if isinstance(each, str) else each for each in behaviours or ("answers",)]

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        on_delta: OnDelta | None = None,
    ) -> Reply:
        """What the behaviour whose turn it is makes of the request."""
        asked = Asked(tuple(messages), tuple(tools), max_tokens, timeout)
        behaviour = self._behaviours[min(len(self.requests), len(self._behaviours) - 1)]
        self.requests.append(asked)
        return told(behaviour(asked), on_delta)

    def as_model(self, window: int = 128_000, *, window_is_guessed: bool = False) -> SummaryModel:
        """What ``Services.summary_models`` holds of it; ``window`` in tokens."""
        return SummaryModel(self.name, replying(self), window, window_is_guessed)


@dataclass(frozen=True)
class Slow:
    """Needs ``seconds`` for an answer; who waits less gets TimedOut. No time passes unless ``wait`` lets it."""

    seconds: float = 2 * USUAL_TIMEOUT
    wait: Callable[[float], object] = lambda seconds: None

    def __call__(self, asked: Asked) -> Reply:
        patience = USUAL_TIMEOUT if asked.timeout is None else asked.timeout
        let_pass(self.seconds, patience, self.wait)
        return answers(asked)


def let_pass(seconds: float, patience: float | None, wait: Callable[[float], object]) -> None:
    """Let the time before an answer pass; raises TimedOut where nobody waits so long. ``patience`` None has no end."""
    wait(seconds if patience is None else min(seconds, patience))
    if patience is not None and seconds > patience:
        raise TimedOut(SERVICE, f"nothing came within {patience:g} seconds")


@dataclass(frozen=True)
class Failing:
    """Fails with this class of error, in the words that a service would use."""

    error: type[ServiceError]
    detail: str = ""
    status: int | None = None

    def __call__(self, asked: Asked) -> Reply:
        raise self.error(SERVICE, self.detail, status=self.status)


@dataclass(frozen=True)
class Garbled:
    """Sends this body in the place of a chat completion."""

    body: bytes

    def __call__(self, asked: Asked) -> Reply:
        return reply_of(self.body, SERVICE)


def answers(asked: Asked) -> Reply:
    """Short, structured notes of what the prompt holds."""
    return _as_reply(notes_from(asked.prompt))


def echoes(asked: Asked) -> Reply:
    """The prompt once more."""
    return _as_reply(asked.prompt)


def refuses(asked: Asked) -> Reply:
    """A refusal that the service marks as one."""
    refusal = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    return Reply(cast(Message, refusal), finish_reason="stop")


def declines(asked: Asked) -> Reply:
    """A refusal in plain words."""
    return _as_reply("I'm sorry, but I can't help with summarizing this conversation.")


def cut_off(asked: Asked) -> Reply:
    """Half of the notes, because the output limit was reached."""
    notes = notes_from(asked.prompt)
    return Reply({"role": "assistant", "content": notes[: len(notes) // 2]}, finish_reason="length")


def blank(asked: Asked) -> Reply:
    """White space."""
    return _as_reply(" \n\n ")


def only_thinks(asked: Asked) -> Reply:
    """Reasoning beside an empty content."""
    return _as_reply({"role": "assistant", "content": "", "reasoning_content": "The user wants a summary. Let me see what there is."})


def thinks_aloud(asked: Asked) -> Reply:
    """Reasoning in tags, in front of the notes."""
    return _as_reply(f"<think>They want a summary of {len(asked.prompt)} characters.</think>\n{notes_from(asked.prompt)}")


def only_thinks_aloud(asked: Asked) -> Reply:
    """Reasoning in a tag that is never closed, and nothing after it."""
    return _as_reply("<think>They want a summary. First I should look at the turns.")


def leaks(asked: Asked) -> Reply:
    """Notes with a secret in them."""
    return _as_reply(f"{notes_from(asked.prompt)}\n- the key in use is {LEAKED}")


def obeys(asked: Asked) -> Reply:
    """What a text in the turns tells its reader to say; notes where none does."""
    orders = (INJECTED.search(text) for _, text in understood(asked.prompt).turns)
    found = next((order[1] for order in orders if order), None)
    return _as_reply(found) if found else answers(asked)


def asks_for_a_tool(asked: Asked) -> Reply:
    """A tool call, as if the conversation went on."""
    call = {"id": "call_scripted", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "notes.md"}'}}
    return _as_reply(cast(Message, {"role": "assistant", "content": None, "tool_calls": [call]}))


def leaves_blank(asked: Asked) -> Reply:
    """The wanted headings with nothing under them."""
    return _as_reply("\n\n".join(f"## {heading}\nNone" for heading in understood(asked.prompt).headings))


def rambles(asked: Asked) -> Reply:
    """Notes that are far longer than asked for."""
    return _as_reply("\n".join([notes_from(asked.prompt), *(f"- and then, as I was saying, came point {n}" for n in range(8_000))]))


TOO_LONG = "This model's maximum context length is 6000 tokens. However, your messages resulted in 9421 tokens."
NO_QUOTA = "You exceeded your current quota, please check your plan and billing details. (insufficient_quota)"

BEHAVIOURS: Mapping[str, Behaviour] = {
    "answers": answers,
    "thinks_aloud": thinks_aloud,
    "leaks": leaks,
    "rambles": rambles,
    "slow": Slow(),
    "key_missing": Failing(KeyMissing),
    "key_refused": Failing(KeyRefused, "Incorrect API key provided.", 401),
    "payment_due": Failing(PaymentDue, "Insufficient credits.", 402),
    "not_there": Failing(NotThere, "The model does not exist.", 404),
    "bad_request": Failing(BadRequest, "Unsupported parameter.", 400),
    "too_long": Failing(BadRequest, TOO_LONG, 400),
    "rate_limited": Failing(RateLimited, "Too many requests.", 429),
    "no_quota": Failing(QuotaUsedUp, NO_QUOTA, 429),
    "server_failed": Failing(ServerFailed, "The server had an error.", 500),
    "overloaded": Failing(ServerFailed, "Overloaded.", 529),
    "timed_out": Failing(TimedOut),
    "unreachable": Failing(Unreachable, "Connection refused."),
    "unknown_error": Failing(ServiceError, "Something went wrong."),
    "not_json": Garbled(b"<html><body>502 Bad Gateway</body></html>"),
    "no_choices": Garbled(b'{"id": "x", "choices": []}'),
    "no_message": Garbled(b'{"choices": [{"index": 0}]}'),
    "error_in_body": Garbled(b'{"error": {"message": "upstream failed", "code": 502}}'),
    "echoes": echoes,
    "refuses": refuses,
    "declines": declines,
    "cut_off": cut_off,
    "blank": blank,
    "only_thinks": only_thinks,
    "only_thinks_aloud": only_thinks_aloud,
    "obeys": obeys,
    "asks_for_a_tool": asks_for_a_tool,
    "leaves_blank": leaves_blank,
}
"""Name -> behaviour: a model that works, one that fails in each class of host/provider/errors.py, one that misbehaves."""

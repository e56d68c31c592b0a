"""Prompt caching at providers that keep what is marked: where the markers go, and who understands them (hermes.md 14)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress, count, islice
from operator import is_, is_not
from typing import Any, Literal, cast

from host.messages.reading import calls_of, is_system, last_index, part_text
from host.messages.types import Message, Part
from host.provider.addresses import host_and_path, is_in

MARKER = "cache_control"
MOST_MARKERS = 4  # a request with more is refused
LOOK_BACK = 20  # blocks, its own among them, in which a provider looks from a marker for what it has kept
SEALED = frozenset({"thinking", "redacted_thinking"})  # parts that are sent as they came
TEXTUAL = frozenset({"text", "input_text", "output_text"})

Ttl = Literal["5m", "1h"]
"""How long a provider keeps what it read: ``prompt_caching.cache_ttl``. Five minutes is what a marker means that says nothing."""


class Layout(StrEnum):
    """Where in a message a marker stands."""

    NATIVE = "native"
    """Anthropic's own wire: beside the content of tool results and of what has no content, else inside it."""

    ENVELOPE = "envelope"
    """The OpenAI format: inside the content only; what has none carries no marker."""


# --- who understands markers ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Service:
    """Who serves models: by the name in ``model.provider``, or by the host of ``model.base_url``."""

    providers: tuple[str, ...]
    hosts: tuple[str, ...]


ANTHROPIC = Service(("anthropic",), ("api.anthropic.com",))
MINIMAX = Service(("minimax", "minimax-cn"), ("api.minimax.io", "api.minimaxi.com"))
OPENROUTER = Service(("openrouter",), ("openrouter.ai",))
NOUS = Service(("nous", "nous-portal"), ("nousresearch.com",))
OPENCODE = Service(("opencode", "opencode-zen", "opencode-go"), ("opencode.ai",))
ALIBABA = Service(("alibaba",), ("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"))
SERVICES = (ANTHROPIC, MINIMAX, OPENROUTER, NOUS, OPENCODE, ALIBABA)
"""A host that is known says who serves, whatever the provider is called."""


@dataclass(frozen=True)
class Rule:
    """A layout that a service takes for models whose name holds one of the words (none: for all of them).

    ``service`` None is anyone. ``wire``: only at an address that speaks Anthropic's wire, which ends with ``/anthropic``.
    """

    layout: Layout
    service: Service | None
    models: tuple[str, ...] = ()
    wire: bool = False


LAYOUTS: tuple[Rule, ...] = (
    Rule(Layout.NATIVE, ANTHROPIC),
    Rule(Layout.NATIVE, None, ("claude",), wire=True),
    Rule(Layout.NATIVE, MINIMAX, wire=True),
    Rule(Layout.ENVELOPE, OPENROUTER, ("claude", "kimi", "moonshot")),
    Rule(Layout.ENVELOPE, NOUS, ("claude", "kimi", "moonshot", "qwen")),
    Rule(Layout.ENVELOPE, OPENCODE, ("qwen",)),
    Rule(Layout.ENVELOPE, ALIBABA, ("qwen",)),
)
"""The first rule that applies; without one no markers are sent, because a provider may refuse what it does not know."""


def layout_for(model: str, provider: str = "", base_url: str | None = None) -> Layout | None:
    """The layout for a model of this provider at this address; None where markers would not be understood."""
    host, path = host_and_path(base_url or "")
    service = _service(provider.strip().lower(), host)
    on_wire = path.rstrip("/").removesuffix("/v1").endswith("/anthropic")
    for rule in LAYOUTS:
        named = not rule.models or any(word in model.lower() for word in rule.models)
        if named and (rule.service in (None, service)) and (on_wire or not rule.wire):
            return rule.layout
    return None


def banner(model: str, layout: Layout, ttl: Ttl) -> str:
    """The line that says at the start that caching is on."""
    return f"💾 Prompt caching: ENABLED ({model}, {layout.value} layout, {ttl} TTL)"


def _service(provider: str, host: str) -> Service | None:
    by_host = (service for service in SERVICES if is_in(host, service.hosts))
    by_name = (service for service in SERVICES if provider in service.providers)
    return next(by_host, None) or next(by_name, None)


# --- where markers stand ----------------------------------------------------------------------------------------------


class Unmarked:
    """Messages without cache markers, each looked through once: a request mostly begins with all of the former one's messages.

    It goes by what is the same object, so an edited message has to be a new one.
    """

    def __init__(self) -> None:
        self._last: tuple[Sequence[Message], list[Message]] = ((), [])  # a request as it came, and the same without markers

    def of(self, messages: Sequence[Message]) -> list[Message]:
        """The messages without markers, in a list of the caller's own; one that has none is the same object."""
        before, bare = self._last
        same = _common_prefix(before, messages)
        bare = bare[:same] + [message if _plain(message) else unmarked(message) for message in messages[same:]]
        self._last = (tuple(messages), bare)
        return list(bare)


def mark(messages: Sequence[Message], layout: Layout, ttl: Ttl = "5m", *, known: Unmarked | None = None) -> list[Message]:
    """The request with its cache markers: the system prompt's, and those of the last carriers, at most four in all.

    Markers that were there before are taken away. Nothing else changes: inputs stay as they are, an untouched message
    is the same object, and a text that carries a marker becomes the one text part that providers read as the same bytes.

    Why a request reads what the former one left: a provider keeps the prompt up to each marker, and from each marker of
    the next request it looks back block by block, 20 of them, for the longest prompt that it has kept. While a history
    only grows, the bytes before the former markers stay, and the new markers are one answer further on, within these
    20 blocks mostly. Where an answer brought more, a bundle of tool results, the first of the moving markers stays where
    the former request had its last. ``known`` spares a look at what the former request held already.
    """
    bare = (known or Unmarked()).of(messages)
    for index, marked in _markings(bare, layout, ttl).items():
        bare[index] = marked
    return bare


def unmarked(message: Message) -> Message:
    """The message without cache markers, beside its content and inside; the same object where there are none."""
    return cast(Message, _bare(message, levels=3))


def _plain(message: Message) -> bool:
    """Whether a quick look is enough to see that there is no marker: for most of a long history it is."""
    if MARKER in message or isinstance(message.get("content"), list):
        return False
    calls = message.get("tool_calls")
    return not calls or (isinstance(calls, list) and len(calls) == 1 and isinstance(calls[0], dict) and MARKER not in calls[0])


def _common_prefix(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many messages at the beginning are the same objects."""
    shorter = min(len(before), len(now))
    if all(map(is_, before, now)):
        return shorter
    return next(compress(count(), map(is_not, before, now)), shorter)


def _bare(value: Any, levels: int) -> Any:
    """Messages, their parts and calls, and the parts of those: deeper no format has a marker."""
    if not isinstance(value, dict) or not levels:
        return value
    kept = {key: entry for key, entry in value.items() if key != MARKER}
    for key in ("content", "tool_calls"):
        if isinstance(entries := kept.get(key), list):
            bare = [_bare(entry, levels - 1) for entry in entries]
            if any(new is not old for new, old in zip(bare, entries, strict=True)):
                kept[key] = bare
    return value if len(kept) == len(value) and all(kept[key] is value[key] for key in kept) else kept


def _markings(messages: Sequence[Message], layout: Layout, ttl: Ttl) -> dict[int, Message]:
    """The messages that carry a marker, by their place."""
    start = 1 if messages and is_system(messages[0]) else 0
    prompt = [(0, marked)] if start and (marked := _marked(messages[0], layout, ttl)) else []

    def carriers(end: int) -> Iterator[tuple[int, Message]]:
        for index in range(end - 1, start - 1, -1):
            if not is_system(messages[index]) and (carried := _marked(messages[index], layout, ttl)):
                yield index, carried

    newest = list(islice(carriers(len(messages)), MOST_MARKERS - len(prompt)))
    former = next(carriers(last_index(messages, lambda message: message.get("role") == "assistant")), None)
    if former and _blocks(messages[former[0] : newest[-1][0] + 1]) > LOOK_BACK:
        newest[-1] = former
    return dict((*prompt, *newest))


def _marked(message: Message, layout: Layout, ttl: Ttl) -> Message | None:
    """The message with a marker; None where it has no place for one."""
    content, role = message.get("content"), message.get("role")
    marker: Part = {MARKER: {"type": "ephemeral", "ttl": "1h"} if ttl == "1h" else {"type": "ephemeral"}}
    beside = cast(Message, {**message, **marker})
    if layout is Layout.NATIVE and role == "tool":
        return beside
    if isinstance(content, str) and content.strip():
        return cast(Message, {**message, "content": [{"type": "text", "text": content, **marker}]})
    if isinstance(content, list) and (held := [index for index, part in enumerate(content) if _can_hold(part)]):
        last = held[-1]
        return cast(Message, {**message, "content": [*content[:last], {**content[last], **marker}, *content[last + 1 :]]})
    says_nothing = role == "assistant" and not calls_of(message)
    return None if layout is Layout.ENVELOPE or says_nothing else beside


def _can_hold(part: object) -> bool:
    """Whether a provider takes a marker on this part: not on a text without words, nor on sealed reasoning."""
    if not isinstance(part, dict) or part.get("type") in SEALED:
        return False
    return part.get("type") not in TEXTUAL or bool(part_text(part).strip())


def _blocks(messages: Sequence[Message]) -> int:
    """How many blocks a provider may make of these messages, rather too many than too few."""
    return sum(map(_blocks_of, messages))


def _blocks_of(message: Message) -> int:
    listed = [entries for key in ("content", "reasoning_details") if isinstance(entries := message.get(key), list)]
    plain = [key for key in ("content", "reasoning", "reasoning_content") if isinstance(message.get(key), str)]
    return sum(map(len, listed)) + len(plain) + len(calls_of(message))

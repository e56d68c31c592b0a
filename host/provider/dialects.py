"""How each service wants a request worded: what is known of it beforehand, and what its refusals teach."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from host.messages.types import JSON
from host.provider.addresses import host_and_path, is_in
from host.provider.errors import ServiceError
from host.provider.wire import (
    ANY,
    SAFE,
    Dialect,
    with_empty_for_null,
    with_plain_calls,
    with_plain_name,
    with_short_ids,
    with_system_role,
    with_text_results,
    without_name,
    without_silence,
)

CAPS = ("max_tokens", "max_completion_tokens")
LONGEST_PATH = 80  # characters before a key that say what it is a key of
OWN_ROLES = (without_silence, with_plain_name, with_plain_calls)  # the role ``developer`` is known there

OPENAI = Dialect(OWN_ROLES, cap="max_completion_tokens")  # newer models refuse the old name
AZURE = Dialect(OWN_ROLES)
MISTRAL = Dialect((*SAFE, without_name, with_short_ids), goes_on=True)


@dataclass(frozen=True)
class Known:
    """A row: whose address ends with one of the hosts, whose provider has one of the names, or whose model is called so."""

    dialect: Dialect
    hosts: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    models: re.Pattern[str] | None = None

    def fits(self, host: str, provider: str, model: str) -> bool:
        """Whether the row is about this service."""
        return provider in self.providers or is_in(host, self.hosts) or bool(self.models and self.models.search(model))


DIALECTS: tuple[Known, ...] = (
    Known(
        MISTRAL,
        ("mistral.ai",),
        ("mistral",),
        re.compile(r"(?:^|/)(?:open-)?(?:mi[sx]tral|codestral|devstral|magistral|ministral|pixtral)"),
    ),
    Known(OPENAI, ("api.openai.com",), ("openai",)),
    Known(AZURE, ("openai.azure.com", "cognitiveservices.azure.com"), ("azure",)),
)
"""The first row that fits is meant; any other service gets what every service takes."""


def dialect_for(url: str, model: str = "", provider: str = "") -> Dialect:
    """The dialect of the service at an address, of a model there, or of a provider by its name."""
    asked = host_and_path(url)[0], provider.strip().lower(), model.strip().lower()
    return next((known.dialect for known in DIALECTS if known.fits(*asked)), ANY)


# --- what refusals teach -----------------------------------------------------------------------------------------

Lesson = Callable[[Dialect, str, JSON], Dialect]
"""What a refusal (its words) of a request teaches: a dialect, the same where it is about something else."""

NOT_KNOWN = re.compile(
    r"unsupported|not supported|does not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|extra_forbidden"
    r"|extra (?:inputs?|fields?|keys?|parameters?)|additional propert|invalid (?:param|field|key|argument)",
    re.IGNORECASE,
)
TEXT_ONLY = re.compile(
    r"text is not set|multimodal_tool_content_unsupported"
    r"|\btool\b[^\n]{0,80}\b(?:must be|should be|has to be|only)\b[^\n]{0,40}\b(?:string|text)\b"
    r"|\b(?:only|string|text)\b[^\n]{0,40}\btool (?:messages?|results?|role)\b",
    re.IGNORECASE,
)
NO_NULL = re.compile(
    r"\bcontent\b[^\n]{0,120}(?:valid string|must be a string|is required|(?:not|cannot) be (?:null|none|empty))"
    r"|\bcontent\b[^\n]{0,60}\b(?:null|none(?:type)?)\b|(?:null|none(?:type)?)\b[^\n]{0,60}\bcontent\b|no attribute 'content'",
    re.IGNORECASE,
)
GOING_ON = re.compile(
    r"unexpected role 'user' after role 'tool'|\buser\b[^\n]{0,30} after [^\n]{0,15}\btool\b|roles must alternate|expected last role",
    re.IGNORECASE,
)
NOT_OF_A_MESSAGE = re.compile(r"\b(?:tools?|functions?|parameters)\b(?:[\W\d]|\b(?:functions?|parameters|properties)\b)*$")
"""The path before a key that is one of a tool, or of a call."""
KEPT_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id"})  # of a message: without them it is another one


def _cap(dialect: Dialect, words: str, request: JSON) -> Dialect:
    other = next(cap for cap in CAPS if cap != dialect.cap)
    refused = dialect.cap in request and NOT_KNOWN.search(words) and _names(words, dialect.cap)
    return replace(dialect, cap=other) if refused else dialect


def _stream_options(dialect: Dialect, words: str, request: JSON) -> Dialect:
    refused = "stream_options" in request and _names(words, "stream_options")
    return replace(dialect, counts_streams=False) if refused else dialect


def _text_results(dialect: Dialect, words: str, request: JSON) -> Dialect:
    lists = any(message.get("role") == "tool" and isinstance(message.get("content"), list) for message in request["messages"])
    return replace(dialect, changes=(*dialect.changes, with_text_results)) if lists and TEXT_ONLY.search(words) else dialect


def _no_null(dialect: Dialect, words: str, request: JSON) -> Dialect:
    sent = any(message.get("role") == "assistant" and message.get("content") is None for message in request["messages"])
    new = with_empty_for_null not in dialect.changes
    return replace(dialect, changes=(*dialect.changes, with_empty_for_null)) if sent and new and NO_NULL.search(words) else dialect


def _going_on(dialect: Dialect, words: str, request: JSON) -> Dialect:
    return replace(dialect, goes_on=True) if GOING_ON.search(words) else dialect


def _system_role(dialect: Dialect, words: str, request: JSON) -> Dialect:
    sent = any(message.get("role") == "developer" for message in request["messages"])
    return replace(dialect, changes=(*dialect.changes, with_system_role)) if sent and _names(words, "developer") else dialect


def _unwanted(dialect: Dialect, words: str, request: JSON) -> Dialect:
    if not NOT_KNOWN.search(words):
        return dialect
    keys = {key for message in request["messages"] for key in message} - KEPT_KEYS
    return replace(dialect, unwanted=dialect.unwanted | {key for key in keys if _names_in_a_message(words, key)})


LESSONS: tuple[Lesson, ...] = (_cap, _stream_options, _text_results, _no_null, _going_on, _system_role, _unwanted)
"""The first that changes something is learnt."""


def learnt(dialect: Dialect, refusal: ServiceError, request: Mapping[str, Any]) -> Dialect | None:
    """The dialect that a refusal of a request teaches; None where it is about something else than words."""
    words = f"{refusal.detail}\n{json.dumps(refusal.body, ensure_ascii=False)}"
    taught = (lesson(dialect, words, dict(request)) for lesson in LESSONS)
    return next((found for found in taught if found != dialect), None)


def _names(words: str, key: str) -> bool:
    return bool(_mentions(words, key))


def _names_in_a_message(words: str, key: str) -> bool:
    return any(not NOT_OF_A_MESSAGE.search(words[max(0, at - LONGEST_PATH) : at]) for at in _mentions(words, key))


def _mentions(words: str, key: str) -> list[int]:
    return [found.start() for found in re.finditer(rf"(?<!\w){re.escape(key)}(?!\w)", words)]

"""What a refusal can be about, and what is known of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a refusal is about."""

    CONTEXT_OVERFLOW = "context_overflow"
    SILENT_OVERFLOW = "silent_overflow"
    SILENT_TRUNCATION = "silent_truncation"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    OUTPUT_CAP = "output_cap"
    LONG_CONTEXT_TIER = "long_context_tier"
    LONG_CONTEXT_BETA = "oauth_long_context_beta_forbidden"
    OVER_RATE_BUDGET = "request_over_rate_budget"
    RATE_LIMIT = "rate_limit"
    IMAGE_TOO_LARGE = "image_too_large"
    TOOL_CONTENT = "multimodal_tool_content_unsupported"
    PAIRING = "tool_pairing"
    SERVER_RESOURCE = "server_resource"
    SERVER_ERROR = "server_error"
    AUTH = "auth"
    BILLING = "billing"
    NETWORK = "timeout"
    FORMAT = "format_error"
    UNKNOWN = "unknown"

    @property
    def retryable(self) -> bool:
        """Whether a request may pass after a pause or a change."""
        return ABOUT[self].retryable

    @property
    def compresses(self) -> bool:
        """Whether a shorter conversation is the cure."""
        return ABOUT[self].compresses

    @property
    def words(self) -> str:
        """What it means, for a user."""
        return ABOUT[self].words


@dataclass(frozen=True)
class About:
    """What is known of a kind."""

    words: str
    retryable: bool = False
    compresses: bool = False


ABOUT: dict[Kind, About] = {
    Kind.CONTEXT_OVERFLOW: About("the request is longer than the model's window", True, True),
    Kind.SILENT_OVERFLOW: About("the request filled the window and nothing was answered", True, True),
    Kind.SILENT_TRUNCATION: About("the service read only a part of the request", True, True),
    Kind.PAYLOAD_TOO_LARGE: About("the request has more bytes, pictures or messages than the service takes", True, True),
    Kind.OUTPUT_CAP: About("the answer that was asked for may not be as long", True),
    Kind.LONG_CONTEXT_TIER: About("the account has no part in the long-context tier", True, True),
    Kind.LONG_CONTEXT_BETA: About("the long-context beta is closed to this account", True),
    Kind.OVER_RATE_BUDGET: About("one request is larger than the token budget of a minute", True, True),
    Kind.RATE_LIMIT: About("the service was asked too often", True),
    Kind.IMAGE_TOO_LARGE: About("a picture is too large", True),
    Kind.TOOL_CONTENT: About("the model takes tool results as text alone", True),
    Kind.PAIRING: About("a tool call and its result do not stand together", True),
    Kind.SERVER_RESOURCE: About("the server has too little memory for the request"),
    Kind.SERVER_ERROR: About("the service has a fault of its own", True),
    Kind.AUTH: About("the key was not accepted"),
    Kind.BILLING: About("the account has no credit or quota left"),
    Kind.NETWORK: About("no whole answer came", True),
    Kind.FORMAT: About("the request is not as the service wants it"),
    Kind.UNKNOWN: About("nobody knows", True),
}
"""Every kind."""


@dataclass(frozen=True)
class Sent:
    """The request that was refused: estimated tokens, the model's window, messages, and the cap on the answer if one was set.

    ``accepted``: tokens of the largest request that the same model answered, 0 where nobody knows of any.
    """

    tokens: int = 0
    window: int = 0
    messages: int = 0
    max_tokens: int | None = None
    accepted: int = 0


@dataclass(frozen=True)
class Refusal:
    """What a refusal says. Numbers are tokens, None where it does not name them.

    ``limit`` is the model's window as the service states it (the budget of a minute for OVER_RATE_BUDGET), ``sent`` what it
    counted, ``available`` the longest answer that it would still give, ``reserve`` the answer that was asked for, ``over`` the
    excess. ``message`` is the index of the message that it objects to, ``wait`` the seconds after which it may be asked again.
    """

    kind: Kind
    limit: int | None = None
    sent: int | None = None
    available: int | None = None
    message: int | None = None
    wait: float | None = None
    reserve: int | None = None
    over: int | None = None


def kinds_as_markdown() -> str:
    """The kinds as a table for the documentation."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "| kind | what it means | may pass | shortened |"
    yield "| --- | --- | --- | --- |"
    for kind, about in ABOUT.items():
        yield f"| `{kind}` | {about.words} | {'yes' if about.retryable else 'no'} | {'yes' if about.compresses else 'no'} |"

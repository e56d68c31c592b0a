"""How a call to a model can fail, drawn first.

    ProviderError
    ├── OutOfReplies            a scripted model was asked once too often
    └── ServiceError            label
        ├── KeyMissing          auth         no API key is set
        ├── KeyRefused          auth         401, 403
        ├── PaymentDue          billing      402
        ├── QuotaUsedUp         billing      429 that will not pass by itself
        ├── NotThere            not_found    404
        ├── BadRequest          bad_request  400 and the other 4xx
        ├── RateLimited         rate_limit   429
        ├── ServerFailed        server       5xx
        ├── TimedOut            timeout      408, or no answer within the time given
        ├── Unreachable         connection   refused, dropped, cut short
        ├── Unreadable          malformed    an answer that is no chat completion
        └── EmptyReply          empty        an answer without a word

Texts may repeat what the service said, never a secret: ``Service.hide`` has gone over them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from host.errors import ProviderError
from host.messages.masked import masked
from host.messages.redact import redact
from host.provider.bodies import code_in, pause_in, words_of

SHOWN_CHARS = 400  # of the service's own words: enough for a reason, not for an HTML page
BODY_CHARS = 20_000  # of one text in an error's body: a refusal that quotes the whole request is no use to anybody
BODY_DEPTH = 20  # levels
SHORTEST_SECRET = 8  # a placeholder such as "x" is no secret, and masking it would maim every text
CREDENTIALS = re.compile(r"(?<=//)[^/@]*@|[?#].*$")  # of an address: user:password@, and a query, which may hold a token


@dataclass(frozen=True)
class Service:
    """A model and the address it is asked at; knows which words must never be shown.

    ``key_name`` is the environment variable that its key is in, empty where there is none or nobody knows.
    """

    model: str
    url: str
    secrets: tuple[str, ...] = field(default=(), repr=False)
    key_name: str = ""

    def __str__(self) -> str:
        shown = CREDENTIALS.sub("", self.url)
        return f"{self.model} at {shown}" if shown else self.model

    def hide(self, text: str) -> str:
        """The text with every secret masked: those of this service, and whatever else looks like one."""
        for secret in self.secrets:
            if len(secret) >= SHORTEST_SECRET:
                text = text.replace(secret, "[key]")
        return masked(text, lambda read: redact(read, force=True), BODY_CHARS)

    def hide_in(self, value: Any, depth: int = BODY_DEPTH) -> Any:
        """A copy of a JSON value with the secrets in its texts masked."""
        if isinstance(value, str):
            return self.hide(value)
        if not isinstance(value, Mapping | list):
            return value
        if not depth:
            return "…"
        if isinstance(value, list):
            return [self.hide_in(entry, depth - 1) for entry in value]
        return {self.hide(str(key)): self.hide_in(entry, depth - 1) for key, entry in value.items()}


class OutOfReplies(ProviderError):
    """A scripted model was asked more often than it has replies."""

    def __init__(self, request: int, scripted: int, advice: str = "script one reply for each request that the conversation makes") -> None:
        super().__init__(f"the scripted model has no reply for request {request}: {scripted} were scripted", advice)


class ServiceError(ProviderError):
    """A model's service failed.

    ``label`` names the class of failure, ``status`` is the HTTP status (None where no answer came), ``detail`` what
    the service said, ``retry_after`` the seconds it wants to be left alone; ``passing``: the same call may succeed soon.
    ``body`` is the whole error as it came: parsed JSON, or the text, None where there was none; ``code`` the service's name for it;
    ``headers`` what the answer said of limits (``retry-after`` and ``x-ratelimit`` alone, names in lower case).
    """

    label: ClassVar[str] = "other"
    passing: ClassVar[bool] = False
    happened: ClassVar[str] = "failed"
    of_key: ClassVar[str] = ""  # goes on with ``happened`` where the key's variable is known, which {} stands for
    mend_key: ClassVar[str] = ""  # the remedy in that case
    remedy: ClassVar[str] = "run again with -v to see more, or try another model (model.name)"

    def __init__(
        self,
        service: Service,
        detail: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.detail = service.hide(detail)
        self.status = status
        self.retry_after = retry_after
        self.body = service.hide_in(body)
        self.code = code_in(self.body)
        self.headers = dict(headers or {})
        answered = f" (HTTP {status})" if status else ""
        reason = f": {_one_line(self.detail)}" if self.detail.strip() else ""
        name = service.key_name
        of_key = self.of_key.format(name) if name else ""
        remedy = self.mend_key.format(name) if name and self.mend_key else self.remedy
        super().__init__(f"{service} {self.happened}{of_key}{answered}{reason}", remedy)


class KeyMissing(ServiceError):
    """The service wants a key and none is set."""

    label = "auth"
    happened = "needs an API key and none is set"
    remedy = "put the key into the environment variable that model.api_key_env names, or set model.base_url to a local server"


class KeyRefused(ServiceError):
    """The key is wrong, or may not do this."""

    label = "auth"
    happened = "refused the API key"
    of_key = " in {}"
    mend_key = "check the key in the environment variable {}, and that it may use this model"
    remedy = "check the key in the environment variable that model.api_key_env names, and that it may use this model"


class PaymentDue(ServiceError):
    """The account has no credit."""

    label = "billing"
    happened = "wants to be paid first"
    of_key = " for the key in {}"
    mend_key = "add credit to the account of the key in {}, or set another model"
    remedy = "add credit to the account, or set model.name and model.provider to another one"


class QuotaUsedUp(ServiceError):
    """The quota of the account is used up: nothing that passes by itself."""

    label = "billing"
    happened = "has no quota left"
    of_key = " for the key in {}"
    mend_key = "see to plan and billing of the account of the key in {}: asking again does not help"
    remedy = "see to plan and billing of the account, or set another model: asking again does not help"


class NotThere(ServiceError):
    """No such model, or no such address."""

    label = "not_found"
    happened = "does not exist"
    remedy = "check model.name and model.base_url (most servers want it to end with /v1)"


class BadRequest(ServiceError):
    """The service does not accept the request as it is."""

    label = "bad_request"
    happened = "did not accept the request"
    remedy = "the service's own words say what it objects to; model.max_tokens and model.context_length are the usual causes"


class RateLimited(ServiceError):
    """Too many requests or tokens in a short time."""

    label = "rate_limit"
    passing = True
    happened = "limits how often it may be asked"
    remedy = "wait a moment and go on; nothing of the conversation is lost"


class ServerFailed(ServiceError):
    """The service has a fault of its own."""

    label = "server"
    passing = True
    happened = "has a fault of its own"
    remedy = "wait a moment and go on, or set model.fallback"


class TimedOut(ServiceError):
    """No complete answer within the time given."""

    label = "timeout"
    happened = "did not answer in time"
    remedy = "try again; for a slow model raise the timeout"


class Unreachable(ServiceError):
    """No connection, or one that broke before the answer was complete."""

    label = "connection"
    passing = True
    happened = "could not be reached"
    remedy = "check model.base_url, that the server runs, and the network"


class Unreadable(ServiceError):
    """The answer is no chat completion."""

    label = "malformed"
    happened = "answered with something that is no chat completion"
    remedy = "check that model.base_url is an OpenAI-compatible address (most end with /v1)"


class EmptyReply(ServiceError):
    """The answer holds no text where text was asked for."""

    label = "empty"
    happened = "answered without a word"
    remedy = "try again, or use another model; a reasoning model may need a higher max_tokens"


BY_STATUS: dict[int, type[ServiceError]] = {
    401: KeyRefused,
    402: PaymentDue,
    403: KeyRefused,
    404: NotThere,
    408: TimedOut,
    429: RateLimited,
}
"""HTTP status -> class; other 4xx are BadRequest, all 5xx ServerFailed."""

USED_UP = "insufficient_quota"  # code or type of an error
USED_UP_WORDS = ("exceeded your current quota", USED_UP)
"""What a 429 says that waiting does not help; some services say so of a limit per minute too, and then when to come again."""

BY_TYPE_NAME: dict[str, type[ServiceError]] = {
    "APITimeoutError": TimedOut,
    "TimeoutException": TimedOut,
    "TimeoutError": TimedOut,
    "APIConnectionError": Unreachable,
    "TransportError": Unreachable,
    "OSError": Unreachable,
    "UnicodeDecodeError": Unreadable,
    "DecodingError": Unreadable,
}
"""Name of an exception's type or of one of its bases -> class, for failures without a status.

By name, because openai 2 stands on httpx and openai 3 on httpx2, and neither is a dependency of ours.
"""


def of_status(status: int) -> type[ServiceError]:
    """The class of failure that an HTTP status stands for."""
    if status in BY_STATUS:
        return BY_STATUS[status]
    if status >= 500:
        return ServerFailed
    return BadRequest if status >= 400 else ServiceError


def failure_of(error: Exception, service: Service) -> ServiceError:
    """What went wrong, in our words, for any exception that a call through the client raised."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        headers = _headers_of(error)
        kind, pause = of_status(status), pause_in(headers)
        if kind is RateLimited and _is_used_up(error, pause):
            kind = QuotaUsedUp
        return kind(service, _said(error), status=status, retry_after=pause, body=_body_of(error), headers=headers)
    return class_of(error)(service, _said(error))


def class_of(error: object) -> type[ServiceError]:
    """The class of failure that an exception without a status is, ours or a client's."""
    if isinstance(error, ServiceError):
        return type(error)
    names = (base.__name__ for base in type(error).__mro__)
    return next((BY_TYPE_NAME[name] for name in names if name in BY_TYPE_NAME), ServiceError)


def _headers_of(error: Exception) -> dict[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", {})
    named = ((name.lower(), value) for name, value in headers.items())
    return {name: value for name, value in named if name.startswith(("retry-after", "x-ratelimit"))}


def _body_of(error: Exception) -> Any:
    """The whole body; the client itself keeps only what stands under ``error``."""
    kept = getattr(error, "body", None)
    try:
        text = str(getattr(error, "response", None).text)  # type: ignore[union-attr]
    except (AttributeError, RuntimeError, ValueError):  # a response that was never read, or is no text
        return kept
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text or kept or None


def _is_used_up(error: Exception, pause: float | None) -> bool:
    if USED_UP in (getattr(error, "code", None), getattr(error, "type", None)):
        return True
    said = _said(error).casefold()
    return pause is None and any(words in said for words in USED_UP_WORDS)


def _said(error: Exception) -> str:
    """The service's own words, else those of the innermost cause ("Connection error." alone helps nobody)."""
    body = getattr(error, "body", None)
    words = words_of(body)
    if words or isinstance(getattr(error, "status_code", None), int):
        return words
    innermost = list(_causes(error))[-1]
    return str(innermost) or type(innermost).__name__


def _causes(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1] + "…"

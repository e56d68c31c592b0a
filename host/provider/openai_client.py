"""Models behind an OpenAI-compatible address: OpenAI itself, aggregators, local servers."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from host.messages.types import JSON, Message, Reply, ToolSchema, Usage
from host.provider.errors import (
    EmptyReply,
    KeyMissing,
    KeyRefused,
    Service,
    ServiceError,
    Unreadable,
    failure_of,
    of_status,
    words_of,
)
from host.provider.wire import sendable, wire

if TYPE_CHECKING:
    from openai import OpenAI

OPENAI_KEY = "OPENAI_API_KEY"
OPENAI_URL = "https://api.openai.com/v1"
PLACEHOLDER_KEY = "not-needed"  # the client insists on a key, local servers do not
USAGE_KEYS = ("usage", "usageMetadata", "timings")  # where services count, the first that is there
FIRST_PAUSE = 0.5  # seconds before the first retry, doubled before each further one
LONGEST_PAUSE = 30.0  # seconds; who is asked to wait longer is told so instead


class OpenAIProvider:
    """Asks one model through the openai client, which is imported at the first question.

    ``timeout`` is in seconds and covers a whole call, retries included. ``max_retries`` is how often a failure that
    may pass (rate limit, server fault, broken connection) is tried again. With a ``base_url`` of its own a service
    gets the ``api_key`` given here or a placeholder, never the key that the environment holds for OpenAI. ``options`` are
    further arguments of the client's call, such as ``reasoning_effort`` and ``extra_body``. ``key_name`` is the environment variable
    that ``api_key`` is from: failures name it.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 300.0,
        max_retries: int = 2,
        options: Mapping[str, Any] | None = None,
        key_name: str = "",
    ) -> None:
        self.model = model
        self.timeout = timeout
        self.max_retries = max_retries
        self.options = dict(options or {})
        url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
        own_key = None if base_url else os.environ.get(OPENAI_KEY)
        self._key = (api_key or own_key or ("" if url == OPENAI_URL else PLACEHOLDER_KEY)).strip()
        named = key_name if api_key else OPENAI_KEY if own_key else ""
        self.service = Service(model, url, secrets=(self._key, urlsplit(url).password or ""), key_name=named)

    def __repr__(self) -> str:
        return f"OpenAIProvider({self.service})"

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> Reply:
        """The model's next message; raises a ServiceError that says what failed and what to do."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        request = self._request(messages, tools, max_tokens)
        for pause in self._pauses():
            try:
                return reply_of(self._answer(request, deadline), self.service)
            except ServiceError as error:
                wait = pause if error.retry_after is None else error.retry_after
                if not error.passing or wait > LONGEST_PAUSE or time.monotonic() + wait >= deadline:
                    raise
            time.sleep(wait)
        return reply_of(self._answer(request, deadline), self.service)

    def _pauses(self) -> Iterator[float]:
        return (FIRST_PAUSE * 2**attempt for attempt in range(self.max_retries))

    def _request(self, messages: list[Message], tools: Sequence[ToolSchema], max_tokens: int | None) -> JSON:
        request: JSON = {"model": self.model, "messages": wire(messages), **self.options}
        if tools:
            request["tools"] = sendable(tools)
        if max_tokens is not None:
            # OpenAI's newer models refuse the old name, most other servers do not know the new one
            request["max_completion_tokens" if self.service.url.rstrip("/") == OPENAI_URL else "max_tokens"] = max_tokens
        return request

    def _answer(self, request: JSON, deadline: float) -> bytes:
        """The body of one answer. It is read in pieces, so that a server that only keeps the line warm times out too."""
        client = self._client
        try:
            body = bytearray()
            left = max(deadline - time.monotonic(), 0.001)
            with client.chat.completions.with_streaming_response.create(**request, timeout=left) as response:
                for piece in response.iter_bytes():
                    body += piece
                    if time.monotonic() > deadline:
                        raise TimeoutError("the answer was still coming in")
            return bytes(body)
        except Exception as error:  # noqa: BLE001 - the provider's door: whatever the client raises becomes a ServiceError
            # the client's own text may hold the key, so it is not kept as the cause
            raise failure_of(error, self.service) from None

    @cached_property
    def _client(self) -> OpenAI:
        if not self._key:
            raise KeyMissing(self.service)
        if not (self._key.isascii() and self._key.isprintable()):
            raise KeyRefused(self.service, "it holds a character that no HTTP header may carry")
        from openai import OpenAI

        return OpenAI(api_key=self._key, base_url=self.service.url, max_retries=0)


def reply_of(body: bytes, service: Service) -> Reply:
    """Read a chat completion; the message keeps every key it came with, a refusal or ``content: null`` included.

    Raises Unreadable for anything else, EmptyReply where there are no choices, and the error inside the body where
    a service reports its failure with status 200.
    """
    answer = _object_in(body, service)
    choice = _first_choice(answer, service)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Unreadable(service, "the choice holds no message")
    counted = (answer.get(key) for key in USAGE_KEYS)
    usage, reason = next((found for found in counted if isinstance(found, dict)), None), choice.get("finish_reason")
    return Reply(
        message=cast(Message, {"role": "assistant"} | message),
        usage=Usage.from_provider(usage),
        finish_reason=reason if isinstance(reason, str) else None,
        raw=answer,
    )


def _object_in(body: bytes, service: Service) -> JSON:
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        raise Unreadable(service, body[:200].decode("utf-8", "replace") or "an empty body") from None
    if not isinstance(answer, dict):
        raise Unreadable(service, f"the body is a JSON {type(answer).__name__}, not an object")
    return answer


def _first_choice(answer: JSON, service: Service) -> JSON:
    choices = answer.get("choices")
    if isinstance(choices, list) and choices:
        if isinstance(choices[0], dict):
            return choices[0]
        raise Unreadable(service, "the choice is no object")
    error: Any = answer.get("error")
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else None
        raise (of_status(status) if status else ServiceError)(service, words_of(error), status=status)
    if choices is None:
        raise Unreadable(service, "the body holds no choices")
    raise EmptyReply(service, "no choices")

"""Models behind an OpenAI-compatible address: OpenAI itself, aggregators, local servers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from host.messages.types import JSON, Message, Reply, ToolSchema
from host.provider.answers import reply_of
from host.provider.dialects import dialect_for, learnt
from host.provider.errors import BadRequest, KeyMissing, KeyRefused, ServerFailed, Service, ServiceError, failure_of
from host.provider.provider import OnDelta
from host.provider.streaming import Heard, reply_from
from host.provider.wire import Dialect, sendable, wire

if TYPE_CHECKING:
    from openai import OpenAI

OPENAI_KEY = "OPENAI_API_KEY"
OPENAI_URL = "https://api.openai.com/v1"
PLACEHOLDER_KEY = "not-needed"  # the client insists on a key, local servers do not
FIRST_PAUSE = 0.5  # seconds before the first retry, doubled before each further one
LONGEST_PAUSE = 30.0  # seconds; who is asked to wait longer is told so instead


@dataclass(frozen=True)
class Question:
    """What is asked, whatever the service's wording; ``heard`` hears the answer as it comes, None: it is not streamed."""

    messages: list[Message]
    tools: Sequence[ToolSchema] = ()
    max_tokens: int | None = None
    heard: Heard | None = None

    @property
    def told(self) -> bool:
        """Whether a part of the answer was passed on already."""
        return self.heard is not None and self.heard.anything


class OpenAIProvider:
    """Asks one model through the openai client, which is imported at the first question.

    ``timeout`` is in seconds and covers a whole call, retries included. ``max_retries`` is how often a failure that
    may pass (rate limit, server fault, broken connection) is tried again. With a ``base_url`` of its own a service
    gets the ``api_key`` given here or a placeholder, never the key that the environment holds for OpenAI. ``options`` are
    further arguments of the client's call, such as ``reasoning_effort`` and ``extra_body``. ``key_name`` is the environment variable
    that ``api_key`` is from: failures name it. ``provider`` is the service's name in config. ``dialect`` is how the service wants a
    request worded; it begins with what is known of the service, and what a refusal teaches is kept. ``sleep`` lets seconds pass before
    a request is made once more; what it raises ends the call: nothing is sent any more.
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
        provider: str = "",
        sleep: Callable[[float], None] | None = None,
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
        self.dialect = dialect_for(url, model, provider)
        self._sleep = sleep or time.sleep

    def __repr__(self) -> str:
        return f"OpenAIProvider({self.service})"

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        on_delta: OnDelta | None = None,
    ) -> Reply:
        """The model's next message; raises a ServiceError that says what failed and what to do.

        With ``on_delta`` the answer is streamed. What was told once is not asked for again: a stream that breaks off then is
        an error. What ``on_delta`` raises ends the call and comes out as it is.
        """
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        question = Question(messages, tools, max_tokens, Heard(on_delta) if on_delta else None)
        for pause in self._pauses():
            try:
                return self._understood(question, deadline)
            except ServiceError as error:
                wait = pause if error.retry_after is None else error.retry_after
                if not error.passing or question.told or wait > LONGEST_PAUSE or time.monotonic() + wait >= deadline:
                    raise
            self._sleep(wait)
        return self._understood(question, deadline)

    def _pauses(self) -> Iterator[float]:
        return (FIRST_PAUSE * 2**attempt for attempt in range(self.max_retries))

    def _understood(self, question: Question, deadline: float) -> Reply:
        """The answer; a service that objects to the wording is asked again in its own, which is kept for what follows."""
        tried: list[Dialect] = []
        while True:
            tried.append(self.dialect)
            request = self._request(question, self.dialect)
            try:
                return self._reply(request, question.heard, deadline)
            except (BadRequest, ServerFailed) as refusal:  # some servers call a request that they cannot read a fault of their own
                taught = None if question.told else learnt(self.dialect, refusal, request)
                if taught is None or taught in tried or time.monotonic() >= deadline:
                    raise
                self.dialect = taught
            self._sleep(0.0)

    def _request(self, question: Question, dialect: Dialect) -> JSON:
        request: JSON = {"model": self.model, "messages": wire(question.messages, dialect), **self.options}
        if question.tools:
            request["tools"] = sendable(question.tools)
        if question.max_tokens is not None:
            request[dialect.cap] = question.max_tokens
        if question.heard:
            request["stream"] = True
            if dialect.counts_streams:
                request.setdefault("stream_options", {"include_usage": True})
        return request

    def _reply(self, request: JSON, heard: Heard | None, deadline: float) -> Reply:
        with closing(self._pieces(request, deadline)) as pieces:
            if heard:
                return reply_from(pieces, heard, self.service)
            return reply_of(b"".join(pieces), self.service)

    def _pieces(self, request: JSON, deadline: float) -> Generator[bytes]:
        """One answer as it comes in. The time is looked at after each piece: a server that only keeps the line warm times out too."""
        client = self._client
        try:
            left = max(deadline - time.monotonic(), 0.001)
            with client.chat.completions.with_streaming_response.create(**request, timeout=left) as response:
                for piece in response.iter_bytes():
                    yield piece
                    if time.monotonic() > deadline:
                        raise TimeoutError("the answer was still coming in")
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

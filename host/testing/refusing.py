"""Every way in which services refuse a request, by name, and a model with a window that refuses what is too long for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from host.messages.types import JSON
from host.provider.refusals.kinds import Kind
from host.testing.loopback import CHARS_PER_TOKEN, Answer, Received, Step, completion, fault
from host.testing.streams import Stream

if TYPE_CHECKING:
    from host.tokens import Counter


@dataclass(frozen=True)
class Numbers:
    """What a refusal names, in tokens: the window, what was counted in the input, the answer asked for, the longest there is."""

    limit: int = 6_000
    sent: int = 9_421
    reserve: int = 1_000
    cap: int = 500

    @property
    def over(self) -> int:
        """The excess."""
        return self.sent + self.reserve - self.limit


USUAL = Numbers()


@dataclass(frozen=True)
class Refusing:
    """A refusal: what it is about, and the answer, in whose texts ``{limit}`` and the other Numbers stand for numbers."""

    kind: Kind
    answer: Answer | Stream

    def step(self, numbers: Numbers = USUAL) -> Answer | Stream:
        """The step to play, with its numbers filled in."""
        values = {field.name: getattr(numbers, field.name) for field in fields(numbers)} | {"over": numbers.over}
        if isinstance(self.answer, Stream):
            return replace(self.answer, reply=_filled(self.answer.reply, values), error=_filled(self.answer.error, values))
        return replace(self.answer, body=_filled(self.answer.body, values))


def _filled(value: Any, numbers: Mapping[str, int]) -> Any:
    """The value with its placeholders filled; a text that is nothing else becomes the number."""
    if isinstance(value, dict):
        return {key: _filled(entry, numbers) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry, numbers) for entry in value]
    if not isinstance(value, str):
        return value
    if (name := value.strip("{}")) in numbers and value == f"{{{name}}}":
        return numbers[name]
    for name, number in numbers.items():
        value = value.replace(f"{{{name}}}", str(number))
    return value


def _said(message: str, **more: Any) -> JSON:
    """The usual envelope."""
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


def _bare(message: str, **more: Any) -> JSON:
    """The envelope of servers that leave out ``error``."""
    return {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400, **more}


def _anthropic(message: str, type: str = "invalid_request_error") -> JSON:
    return {"type": "error", "error": {"type": type, "message": message}, "request_id": "req_1"}


def _gemini(message: str, code: int = 400, status: str = "INVALID_ARGUMENT", **more: Any) -> JSON:
    return {"error": {"code": code, "message": message, "status": status, **more}}


def _counted(text: str, prompt: str, written: int, finish_reason: str | None = None) -> JSON:
    return completion(text, usage={"prompt_tokens": prompt, "completion_tokens": written}, finish_reason=finish_reason)


def _rows(kind: Kind, status: int, bodies: Mapping[str, Any], **headers: str) -> dict[str, Refusing]:
    """Refusals of one kind that come with one status, by name."""
    return {name: Refusing(kind, Answer(body, status=status, headers=headers)) for name, body in bodies.items()}


LENGTH = "This model's maximum context length is {limit} tokens."
TOO_LONG = "prompt is too long: {sent} tokens > {limit} maximum"
SUM = "input length and `max_tokens` exceed context limit: {sent} + {reserve} > {limit}"
GEMINI_COUNT = "The input token count ({sent}) exceeds the maximum number of tokens allowed ({limit})."
ENDPOINT = "This endpoint's maximum context length is {limit} tokens. However, you requested about {sent} tokens"
PARTS = "({sent} in the messages, {reserve} in the completion)"
NO_MEMORY = "Prefill would require 15.2 GB at its peak but the dynamic ceiling is 13.5 GB; free memory or reduce context length."
HTML = "<html><head><title>{0}</title></head><body><h1>{0}</h1></body></html>"
EXCEEDED = "context_length_exceeded"

OVERFLOWS: dict[str, Any] = {
    "openai-context": _said(f"{LENGTH} However, your messages resulted in {{sent}} tokens.", param="messages", code=EXCEEDED),
    "openai-window": _said("Your input exceeds the context window of this model.", param="input", code=EXCEEDED),
    "azure": _said("Input tokens exceed the configured limit of {limit} tokens. Your messages resulted in {sent} tokens.", code=EXCEEDED),
    "deepseek": _said(f"{LENGTH} However, you requested more {PARTS}.", code="invalid_request_error"),
    "anthropic-too-long": _anthropic(TOO_LONG),
    "anthropic-sum": _anthropic(SUM),
    "vllm": _bare(f"{LENGTH} However, you requested more {PARTS}."),
    "vllm-output": _said(
        f"{LENGTH} However, you requested {{reserve}} output tokens and your prompt contains at least {{sent}} input tokens.", code=400
    ),
    "vllm-pictures": _bare("The prompt (total length {sent}) is too long to fit into the model (context length {limit})."),
    "llama-cpp": _said(
        "the request exceeds the available context size",
        code=400,
        type="exceed_context_size_error",
        n_prompt_tokens="{sent}",
        n_ctx="{limit}",
    ),
    "gemini-array": [_gemini(GEMINI_COUNT)],
    "gemini-double-encoded": {"error": {"message": json.dumps(_gemini(GEMINI_COUNT)), "code": 400, "status": "Bad Request"}},
    "openrouter": _said(f"{ENDPOINT} ({{sent}} of text input, {{reserve}} in the output).", code=400),
    "lm-studio-string": {
        "error": "The number of tokens to keep from the initial prompt is greater than the context length "
        "(n_keep: {sent}>= n_ctx: {limit})."
    },
    "ollama": {"error": "prompt too long; exceeded max context length by {over} tokens"},
    "bedrock": {"name": "ValidationException", "message": "Input is too long for requested model."},
    "bedrock-claude": {"Error": {"Code": "ValidationException", "Message": f"The model returned the following errors: {TOO_LONG}"}},
    "databricks": {"error_code": "BAD_REQUEST", "message": json.dumps({"external_model_error": _anthropic(SUM)})},
    "cerebras": {"message": "Current length is {sent} while limit is {limit}", "type": "invalid_request_error", "code": EXCEEDED},
    "xai": {"code": "invalid argument", "error": "This model's maximum prompt length is {limit} but the request contains {sent} tokens."},
    "mistral-length": _bare("Prompt contains {sent} tokens, too large for model with {limit} maximum context length"),
    "qwen": _said("Range of input length should be [1, {limit}]", code="InvalidParameter"),
    "zai": _said("tokens in request more than max tokens allowed", code="1210"),
    "minimax": _anthropic("invalid params, context window exceeds limit (2013)"),
    "router": _said("Request requires approximately {sent} tokens, but the largest known context limit is {limit} tokens."),
    "chinese": _said("输入超过最大长度 {limit}"),
    "no-words-400": {"error": {"message": "Error"}},
}
"""Status 400; the last one says nothing at all, and only the size of the request tells what it is about."""

REFUSALS: dict[str, Refusing] = {
    **_rows(Kind.CONTEXT_OVERFLOW, 400, OVERFLOWS),
    **_rows(
        Kind.CONTEXT_OVERFLOW,
        422,
        {
            "together": _said(
                "`inputs` tokens + `max_new_tokens` must be <= {limit}. Given: {sent} `inputs` tokens and {reserve} `max_new_tokens`"
            )
        },
    ),
    **_rows(Kind.CONTEXT_OVERFLOW, 500, {"llama-cpp-500": OVERFLOWS["llama-cpp"]}),
    "in-stream-overflow": Refusing(
        Kind.CONTEXT_OVERFLOW,
        Stream("I will look into", error={"error": {"message": "Your input exceeds the context window.", "code": EXCEEDED}}),
    ),
    "silent-overflow": Refusing(Kind.SILENT_OVERFLOW, Stream(_counted("", "{sent}", 0))),
    "silent-overflow-length": Refusing(Kind.SILENT_OVERFLOW, Stream(_counted("", "{sent}", 0, finish_reason="length"))),
    "silent-truncation": Refusing(Kind.SILENT_TRUNCATION, Stream(_counted("Hello! How can I help?", "{cap}", 8))),
    **_rows(Kind.PAYLOAD_TOO_LARGE, 413, {"empty-413": "", "html-413": HTML.format("413 Request Entity Too Large")}),
    **_rows(
        Kind.OUTPUT_CAP,
        400,
        {
            "output-cap": _said(
                "max_tokens is too large: {reserve}. This model supports at most {cap} completion tokens.", param="max_tokens"
            ),
            "output-cap-range": _said("`max_tokens` is not valid: expected a value <= {cap}, but got {reserve}", code="InvalidParameter"),
            "output-cap-anthropic": _anthropic("max_tokens: {reserve} > {cap}, which is the maximum allowed number of output tokens"),
        },
    ),
    **_rows(Kind.LONG_CONTEXT_TIER, 429, {"tier": _anthropic("Extra usage is required for long context requests.", "rate_limit_error")}),
    **_rows(Kind.LONG_CONTEXT_BETA, 400, {"beta": _anthropic("The long context beta is not yet available for this subscription.")}),
    **_rows(
        Kind.OVER_RATE_BUDGET,
        413,
        {
            "groq-budget": _said(
                "Request too large for the model on tokens per minute (TPM): Limit {limit}, Requested {sent}.",
                type="tokens",
                code="rate_limit_exceeded",
            )
        },
    ),
    **_rows(
        Kind.RATE_LIMIT,
        429,
        {"rate-limit": _said("Rate limit reached for requests", type="requests", code="rate_limit_exceeded")},
        **{"Retry-After": "1"},
    ),
    **_rows(
        Kind.RATE_LIMIT,
        429,
        {
            "bedrock-throttle": {"message": "Throttling error: Too many tokens, please wait before trying again."},
            "gemini-quota": _gemini(
                "You exceeded your current quota.", 429, "RESOURCE_EXHAUSTED", details=[{"quotaMetric": "free_tier_input_token_count"}]
            ),
        },
    ),
    **_rows(Kind.BILLING, 429, {"quota": _said("You exceeded your current quota.", type="insufficient_quota", code="insufficient_quota")}),
    **_rows(Kind.BILLING, 402, {"credit": _said("Insufficient credits.", code=402)}),
    **_rows(
        Kind.IMAGE_TOO_LARGE,
        400,
        {
            "image-too-large": _anthropic("image dimensions exceed max allowed size for many-image requests: 2000 pixels"),
            "image-bytes": _anthropic("image.source.base64: image exceeds 5 MB maximum: 9437184 bytes > 5242880 bytes"),
        },
    ),
    **_rows(Kind.TOOL_CONTENT, 400, {"text-results": _said("tool message content must be a string")}),
    **_rows(
        Kind.PAIRING,
        400,
        {
            "openai-pairing": _said("No tool output found for function call call_1.", param="input"),
            "anthropic-pairing": _anthropic("messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: call_1"),
            "mistral-pairing": _bare(
                "Not the same number of function calls and responses", type="invalid_request_message_order", code="3230"
            ),
        },
    ),
    **_rows(Kind.SERVER_RESOURCE, 400, {"server-memory": _said(NO_MEMORY)}),
    **_rows(Kind.SERVER_RESOURCE, 500, {"cuda": _said("CUDA error: out of memory", type="server_error")}),
    **_rows(Kind.AUTH, 401, {"auth": _said("Incorrect API key provided.", code="invalid_api_key")}),
    **_rows(Kind.AUTH, 403, {"forbidden": _said("This key may not use the model.", type="permission_error")}),
    **_rows(Kind.FORMAT, 400, {"parameter": _said("Unsupported parameter: 'reasoning_effort'", param="reasoning_effort")}),
    **_rows(Kind.SERVER_ERROR, 502, {"html-502": HTML.format("502 Bad Gateway")}),
    **_rows(Kind.SERVER_ERROR, 529, {"overloaded": _anthropic("Overloaded", "overloaded_error")}),
    "in-stream-overloaded": Refusing(Kind.SERVER_ERROR, Stream("I will", error=_anthropic("Overloaded", "overloaded_error"))),
    **_rows(Kind.NETWORK, 504, {"html-504": HTML.format("504 Gateway")}),
    "dropped": Refusing(Kind.NETWORK, Answer(drop=True)),
    "cut-stream": Refusing(Kind.NETWORK, Stream("I will look into it.", cut=2)),
}
"""Name -> refusal. Rates and faults of the server that pass by themselves are among them: they must not be taken for a length."""

Tokens = Callable[[Received], int]
"""Counts a request."""


def by_bytes(received: Received) -> int:
    """Four bytes of the request are a token."""
    return len(received.raw) // CHARS_PER_TOKEN


def by_counter(received: Received) -> int:
    """As the host counts: messages and tools."""
    counter = _counter()
    messages: Any = received.messages
    return counter.messages(messages) + counter.tools(received.body.get("tools") or ())


@cache
def _counter() -> Counter:
    from host.tokens import Counter

    return Counter()


def windowed(
    window: int, reply: Step, *, wording: str = "openai-context", count: Tokens = by_counter, with_answer: bool = True
) -> Callable[[Received], Step]:
    """A step of a model with a window in tokens: the reply, or one of REFUSALS where the request does not fit.

    ``with_answer``: the tokens that the request wants for the answer take room too.
    """
    if wording not in REFUSALS:
        raise KeyError(f"no refusal is called {wording!r}; there are: {', '.join(REFUSALS)}")

    def step(received: Received) -> Step:
        if not isinstance(received.body, dict) or not isinstance(received.body.get("messages"), list):
            return fault(400, "a chat completion needs messages")
        sent, reserve = count(received), received.max_tokens if with_answer else 0
        if sent + reserve <= window:
            return reply
        return REFUSALS[wording].step(Numbers(window, sent, reserve, max(1, window - sent)))

    return step


def refusals_as_markdown() -> str:
    """The names by kind as a table for the documentation."""
    rows = (f"| `{kind}` | {', '.join(f'`{name}`' for name, each in REFUSALS.items() if each.kind is kind)} |" for kind in Kind)
    return "\n".join(["| kind | refusals |", "| --- | --- |", *(row for row in rows if not row.endswith("|  |"))])

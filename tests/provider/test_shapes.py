"""Every row of the table of refusals, and what stands near it."""

from __future__ import annotations

from typing import Any

import pytest

from host.provider.refusals.classifier import Kind, Sent, classify
from host.provider.refusals.shapes import SHAPES


class Refused(Exception):
    """A refusal as a client raises it."""

    def __init__(self, status: int | None, body: Any) -> None:
        super().__init__("")
        self.status_code = status
        self.body = body


ROWS: list[tuple[int | None, str]] = [
    (429, "Extra usage is required for long context requests."),
    (400, "The long context beta is not yet available for this subscription."),
    (400, "tool message content must be a string"),
    (400, "Too many images in request. Max is 10."),
    (400, "image exceeds 5 MB maximum"),
    (400, "Unsupported parameter: 'max_tokens' is not supported with this model"),
    (400, "No tool output found for function call call_abc."),
    (400, "provider returned an empty response (very low max_tokens?)"),
    (500, "CUDA error: out of memory"),
    (413, "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 14368"),
    (429, "RESOURCE_EXHAUSTED"),
    (400, "Your credit balance is too low to access the API."),
    (400, "Throttling error: slow down"),
    (400, "max_tokens must be <= 8192"),
    (400, "Input is too long for requested model."),
    (400, "Please reduce the length of what you send"),
    (400, "输入超过最大长度"),
    (400, "Die Unterhaltung ist zu lang."),
    (None, "Request entity too large"),
    (503, "The server is overloaded"),
    (400, "Invalid API key provided"),
    (None, "SSL: tlsv1 alert internal error"),
]
"""One text for each row, in the order of the table, which no row before takes."""


def test_every_row_has_an_example() -> None:
    taken = [next(at for at, shape in enumerate(SHAPES) if shape.takes(status, frozenset(), words)) for status, words in ROWS]
    assert taken == list(range(len(SHAPES)))


OTHERS: list[tuple[int | None, str, Kind, int | None]] = [
    (400, "prompt is too long: 1,000,001 tokens > 1_000_000 maximum", Kind.CONTEXT_OVERFLOW, 1_000_000),
    (400, "This model's maximum context length is 128k tokens.", Kind.CONTEXT_OVERFLOW, 128_000),
    (400, "context length is 131072.0 tokens, input is too long", Kind.CONTEXT_OVERFLOW, 131_072),
    (500, "the request exceeds the available context size. try increasing it", Kind.CONTEXT_OVERFLOW, None),
    (400, "too many tokens: size limit exceeded by 2345 tokens. limit is 4096 tokens", Kind.CONTEXT_OVERFLOW, 4_096),
    (
        400,
        "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 40960 maximum context length",
        Kind.CONTEXT_OVERFLOW,
        40_960,
    ),
    (400, "Invalid request: Your request exceeded model token limit: 131072", Kind.CONTEXT_OVERFLOW, 131_072),
    (400, "The input (150000 tokens) is longer than the model's context length (131072 tokens).", Kind.CONTEXT_OVERFLOW, 131_072),
    (400, "Range of input length should be [1, 129024]", Kind.CONTEXT_OVERFLOW, 129_024),
    (400, "<|embed_text|> The input token length exceeds the model's maximum input length 202752", Kind.CONTEXT_OVERFLOW, 202_752),
    (400, "prompt token count of 150000 exceeds the limit of 128000", Kind.CONTEXT_OVERFLOW, 128_000),
    (400, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens", Kind.OUTPUT_CAP, None),
    (400, "max_tokens is too large: 200000. This model supports at most 16384 completion tokens", Kind.OUTPUT_CAP, None),
    (429, "Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000", Kind.RATE_LIMIT, None),
    (400, "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after", Kind.PAIRING, None),
    (401, "token expired", Kind.AUTH, None),
    (400, "模型上下文长度 131072,输入超出限制", Kind.CONTEXT_OVERFLOW, 131_072),
]


@pytest.mark.parametrize(("status", "words", "kind", "limit"), OTHERS)
def test_a_wording(status: int | None, words: str, kind: Kind, limit: int | None) -> None:
    refusal = classify(Refused(status, {"error": {"message": words}}), Sent())
    assert (refusal.kind, refusal.limit) == (kind, limit)


COUNTED: list[tuple[str, int | None, int | None, int | None]] = [
    (
        "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 140000 tokens: "
        "130000 tokens from the input messages and 10000 tokens for the completion.",
        131_072,
        130_000,
        1_072,
    ),
    ("Prompt length (5000) exceeds max_input_len 4096", 4_096, 5_000, None),
    ("too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 150000", 128_000, 150_000, None),
    (
        "This model's maximum context length is 128000 tokens. However, you requested 130000 tokens "
        "(120000 in the messages, 5000 in the functions, 5000 in the completion).",
        128_000,
        125_000,
        3_000,
    ),
    ("Request tokens 9000 exceed the model window of 8k", 8_000, 9_000, None),
    ("prompt too long; exceeded max context length by 100918 tokens", None, None, None),
    ("invalid params, context window exceeds limit (2013)", None, None, None),
]


@pytest.mark.parametrize(("words", "limit", "sent", "available"), COUNTED)
def test_the_numbers(words: str, limit: int | None, sent: int | None, available: int | None) -> None:
    refusal = classify(Refused(400, words), Sent())
    assert (refusal.kind, refusal.limit, refusal.sent, refusal.available) == (Kind.CONTEXT_OVERFLOW, limit, sent, available)


@pytest.mark.parametrize("words", ["tools: too many tools, at most 128", "invalid tool name: too long in messages", "bad temperature"])
def test_what_is_not_about_the_window(words: str) -> None:
    assert classify(Refused(400, words), Sent()).kind is Kind.FORMAT

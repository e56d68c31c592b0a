"""Refusals as services word them, collected before the table of shapes had seen them: their kinds and numbers."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from host.provider.refusals.classifier import Kind, Sent, classify

FOLDER = Path(__file__).parents[1] / "given" / "refusals"
ROWS: list[dict[str, Any]] = [json.loads(line) for file in sorted(FOLDER.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]


class Refused(Exception):
    """A refusal as a client raises it."""

    def __init__(self, status: int | None, body: Any, headers: dict[str, str] | None = None) -> None:
        super().__init__("")
        self.status_code = status
        self.body = body
        self.response = SimpleNamespace(headers=headers or {})


@pytest.mark.parametrize("row", ROWS, ids=[f"{at}-{row['kind']}" for at, row in enumerate(ROWS, 1)])
def test_a_refusal_that_a_service_sent(row: dict[str, Any]) -> None:
    found = classify(Refused(row["status"], row["body"], row["headers"]), Sent())
    assert {
        "kind": found.kind,
        "limit": found.limit,
        "sent": found.sent,
        "available": found.available,
        "message": found.message if "message" in row else None,
    } == {name: row.get(name) for name in ("kind", "limit", "sent", "available", "message")}


def test_the_pause_that_a_header_names() -> None:
    asked = [row for row in ROWS if "retry-after" in row["headers"]]
    assert asked
    assert all(classify(Refused(r["status"], r["body"], r["headers"]), Sent()).wait == float(r["headers"]["retry-after"]) for r in asked)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Invalid 'messages[3].content[0].text': string too long. Expected maximum length 10485760", Kind.PAYLOAD_TOO_LARGE),
        ("Invalid 'tools[0].function.name': string too long. Expected maximum length 64", Kind.FORMAT),
        ("Invalid 'messages[3].tool_calls[0].id': string too long. Expected maximum length 40", Kind.FORMAT),
        ("Invalid 'tools': array too long. Expected an array with maximum length 128", Kind.FORMAT),
        ("messages: List should have at most 100000 items after validation, not 100001", Kind.PAYLOAD_TOO_LARGE),
        ("Image too large. The context of message 4 is kept, and its tokens are not charged.", Kind.IMAGE_TOO_LARGE),
        ("Images take too many tokens: the image exceeds the context window", Kind.CONTEXT_OVERFLOW),
    ],
)
def test_what_is_too_long_or_too_many(words: str, kind: Kind) -> None:
    assert classify(Refused(400, {"error": {"message": words, "code": "string_above_max_length"}}), Sent()).kind is kind


@pytest.mark.parametrize(
    ("words", "index"),
    [
        ("messages.4.content.1.image.source.base64: image exceeds 5 MB maximum", 4),
        ("Invalid 'messages[17].content': string too long", 17),
        ("Invalid parameter: messages with role 'tool', at messages.[3].role", 3),
        ("messages.33: `tool_use` ids were found without `tool_result` blocks", 33),
        ("too many messages 5 in a row", None),
    ],
)
def test_the_message_that_is_objected_to(words: str, index: int | None) -> None:
    assert classify(Refused(400, words), Sent()).message == index


@pytest.mark.parametrize("sent", [Sent(), Sent(190_000, 200_000, 500)])
@pytest.mark.parametrize("words", ["certificate verify failed: unable to get local issuer certificate", "certificate has expired"])
def test_a_certificate_is_never_a_matter_of_length(words: str, sent: Sent) -> None:
    assert classify(Refused(None, words), sent).kind is Kind.NETWORK


@pytest.mark.parametrize(
    "words",
    [
        "Unknown model. Check the docs for the context window of each model; tokens are billed.",
        "stop sequence too long",
        "The prompt contains more than one system message",
        "Conversation roles must alternate; no more than one user message in a row",
        "internal error: the model took too long to answer your prompt",
        "logit_bias: more than 300 tokens",
        "Tool schema uses more than 20 input parameters",
        "input token count must be greater than 0",
        "Your input was rejected as it may go beyond our usage guidelines",
        "You cannot use more than 16 tools with this prompt",
        "cached context tokens: at most 4 cache breakpoints",
        "Too many tokens per minute in the prompt, slow down",
        "max_tokens must be greater than thinking.budget_tokens",
    ],
)
def test_what_speaks_of_tokens_and_prompts_and_means_no_window(words: str) -> None:
    assert not classify(Refused(400, words), Sent()).kind.compresses


@pytest.mark.parametrize(
    ("words", "limit", "sent"),
    [
        ("The prompt (9,100 tokens) goes beyond the 8192 that fit", 8_192, 9_100),
        ("模型上下文窗口上限为8192个token，输入为9100个token", 8_192, 9_100),
        ("The conversation exceeds the context window by 9100 tokens", None, None),
        ("The prompt of 12582912 bytes exceeds the context window", None, None),
        ("gpt-4-32768: the input exceeds the context window", None, None),
    ],
)
def test_the_numbers_are_told_by_where_they_stand(words: str, limit: int | None, sent: int | None) -> None:
    found = classify(Refused(400, words), Sent())
    assert (found.kind, found.limit, found.sent) == (Kind.CONTEXT_OVERFLOW, limit, sent)

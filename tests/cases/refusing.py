"""Cases of kind ``provider-error``: what a refusal is taken for, and the numbers that are read in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from host.messages.types import Reply, Usage
from host.provider.refusals.classifier import Kind, Refusal, Sent, classify, classify_reply
from tests.cases.case import Case
from tests.cases.facts import Facts, NoDriver
from tests.cases.refused_talk import played

CLASSES = {Kind.OUTPUT_CAP: "output_cap_invalid", Kind.PAIRING: "format_error"}
"""The names of the file where they are not ours."""


class Refused(Exception):
    """A refusal as a client raises it."""

    def __init__(self, status: int | None, body: Any) -> None:
        super().__init__("")
        self.status_code = status
        self.body = body


def classified(case: Case, folder: Path) -> Facts:
    """A refusal, or an answer that hides one, given to the classifier."""
    given = case.input
    sent = Sent(given.get("estimated_prompt_tokens", 0), given.get("context_length", 0))
    if given["http_status"] == 200:
        reply = _reply(given["body"])
        refusal = _silent(reply, sent)
        return {**_facts(refusal), **played(given, refusal, reply), **_condition(refusal, given["body"], sent)}
    error = Refused(given["http_status"], given["body"])
    refusal = classify(error, sent)
    return {**_facts(refusal), **played(given, refusal, error), **_action(refusal)}


def _reply(body: Any) -> Reply:
    return Reply({"role": "assistant", "content": body["stream_text"]}, Usage.from_provider(body["usage"]), body["finish_reason"])


def _silent(reply: Reply, sent: Sent) -> Refusal:
    found = classify_reply(reply, sent)
    if found is None:
        raise NoDriver("the answer counts")
    return found


def _facts(refusal: Refusal) -> Facts:
    kind = refusal.kind
    return {
        "class": CLASSES.get(kind, kind.value),
        "retryable": kind.retryable,
        "compress": kind.compresses,
        "parsed_limit": refusal.limit,
        "parsed_prompt_tokens": refusal.sent,
        "parsed_requested": refusal.sent,
        "parsed_output_reserve": refusal.reserve,
        "parsed_excess": refusal.over,
        "over_by": refusal.over,
    }


def _condition(refusal: Refusal, body: Any, sent: Sent) -> Facts:
    """Why an answer was taken for a refusal."""
    silent = refusal.sent is not None and refusal.sent > sent.window > 0 and isinstance(body, dict) and body.get("stream_text") == ""
    return {"condition": f"prompt_tokens > configured context_length {sent.window} and empty text"} if silent else {}


def _action(refusal: Refusal) -> Facts:
    """What a cap on the answer is said to be answered with; all else is seen in a conversation."""
    if refusal.kind is Kind.OUTPUT_CAP and refusal.available:
        return {"action": f"lower max_tokens to <={refusal.available} and retry once, or fail with the message"}
    return {}

"""Refusals in whatever wrapping, and answers that hide one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.types import Reply, Usage
from host.provider.errors import BadRequest, Service
from host.provider.refusals.classifier import Kind, Sent, classify, classify_reply, kinds_as_markdown
from host.provider.refusals.kinds import ABOUT

WORDS = "prompt is too long: 215692 tokens > 200000 maximum"
ERROR = {"error": {"message": WORDS}}


class Refused(Exception):
    """A refusal as a client raises it."""

    def __init__(self, status: int | None, body: Any, text: str = "") -> None:
        super().__init__(text)
        self.status_code = status
        self.body = body


@pytest.mark.parametrize(
    "body",
    [
        WORDS,
        WORDS.encode(),
        [ERROR],
        {"error": WORDS},
        {"error": {"message": json.dumps(ERROR)}},
        {"message": json.dumps({"message": json.dumps(ERROR)})},
        {"stream_event": {"response": ERROR}},
        {"error": {"message": "Provider returned error", "metadata": {"raw": json.dumps(ERROR)}}},
        f"Error code: 400 - {ERROR!r}",
        f"<html><body>{WORDS}</body></html>",
    ],
)
def test_a_body_of_any_shape(body: Any) -> None:
    refusal = classify(Refused(400, body), Sent())
    assert (refusal.kind, refusal.limit, refusal.sent) == (Kind.CONTEXT_OVERFLOW, 200_000, 215_692)


def test_a_cause_and_our_own_error() -> None:
    outer = RuntimeError("it failed")
    outer.__cause__ = Refused(400, ERROR)
    assert classify(outer, Sent()).limit == 200_000
    assert classify(BadRequest(Service("m", ""), "no such voice", status=400), Sent()).kind is Kind.FORMAT


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.sampled_from(["error", "message", "code"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.none() | st.integers(100, 599), ANY_JSON, st.text())
def test_nothing_is_raised(status: int | None, body: Any, text: str) -> None:
    assert classify(Refused(status, body, text), Sent()).kind in Kind
    assert classify(body, Sent()).kind in Kind


NAMES = ("body", "detail", "message", "code", "status", "status_code", "response", "retry_after", "headers", "text", "__cause__")


def _hostile(names: set[str], printed: bool) -> Exception:
    """An error whose properties of these names raise, and whose text too where it is not printed."""

    def fails(self: object, *rest: object) -> Any:
        raise RuntimeError("no such thing")

    members: dict[str, Any] = {name: property(fails) for name in names}
    return type("Hostile", (Exception,), members if printed else {**members, "__str__": fails, "__repr__": fails})(WORDS)  # type: ignore[no-any-return]


@given(st.sets(st.sampled_from(NAMES)), st.booleans(), st.none() | st.integers())
def test_an_error_whose_properties_raise(names: set[str], printed: bool, number: int | None) -> None:
    error = _hostile(names, printed)
    kind = classify(error, Sent()).kind
    assert kind is (Kind.CONTEXT_OVERFLOW if printed else Kind.UNKNOWN)
    assert classify(Refused(400, [error, {"code": number}, Unreadable()], WORDS), Sent()).kind is Kind.CONTEXT_OVERFLOW


class Unreadable(dict[str, Any]):
    """A body that fails when it is read."""

    def items(self) -> Any:
        raise RuntimeError("gone")


def test_what_stands_before_the_part_that_cannot_be_read_is_read() -> None:
    assert classify(Refused(400, [ERROR, Unreadable()]), Sent()).limit == 200_000
    assert classify(Refused(400, {"code": -(10**400)}), Sent()).kind is Kind.FORMAT


@pytest.mark.parametrize(
    ("text", "wait"), [("rate limit: try again in 7.66s", 7.66), ('{"retryDelay": "40s"}', 40.0), ("rate limit", None)]
)
def test_the_wait(text: str, wait: float | None) -> None:
    assert classify(Refused(429, text), Sent()).wait == wait


REPLIES = [
    ("", "stop", Usage(36_000), Sent(30_000, 32_768), Kind.SILENT_OVERFLOW),
    ("", "length", Usage(32_768), Sent(30_000, 32_768), Kind.SILENT_OVERFLOW),
    ("", "stop", Usage(30_000), Sent(40_000, 32_768), Kind.SILENT_OVERFLOW),
    ("well", "stop", Usage(4_096, 5), Sent(30_000, 32_768), Kind.SILENT_TRUNCATION),
    ("well", "stop", Usage(32_700, 5), Sent(40_000, 32_768), Kind.SILENT_TRUNCATION),
    ("well", "stop", Usage(100, 5), Sent(3_900, 32_768), None),
    ("well", "stop", Usage(20_000, 5), Sent(30_000, 32_768), None),
    ("well", "stop", Usage(36_000, 5), Sent(30_000, 32_768), None),
    ("", "stop", Usage(1_000, 9), Sent(1_000, 32_768), None),
]


@pytest.mark.parametrize(("text", "reason", "usage", "sent", "kind"), REPLIES)
def test_an_answer_that_hides_a_refusal(text: str, reason: str, usage: Usage, sent: Sent, kind: Kind | None) -> None:
    found = classify_reply(Reply({"role": "assistant", "content": text}, usage, reason), sent)
    assert (found.kind if found else None) is kind


def test_every_kind_is_described() -> None:
    assert set(ABOUT) == set(Kind)
    assert all(f"`{kind}`" in kinds_as_markdown() for kind in Kind)

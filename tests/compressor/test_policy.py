"""What kind of failure it was, and what is done then."""

from __future__ import annotations

import json

import pytest

from host.compressor.failures import SHOWN, Failure, failure_of, shown_error, stated_limit
from host.compressor.faults import Fault, UnusableAnswer
from host.compressor.policy import ATTEMPTS, POLICY, Decision, Ending, decision_for, markdown, stays
from host.errors import CtxhostError
from host.messages.redact import redact
from host.provider.errors import (
    BadRequest,
    EmptyReply,
    KeyMissing,
    KeyRefused,
    NotThere,
    PaymentDue,
    QuotaUsedUp,
    RateLimited,
    ServerFailed,
    Service,
    ServiceError,
    TimedOut,
    Unreachable,
    Unreadable,
)

SERVICE = Service("timeout-model", "http://no-api-key.example/v1")  # nothing may be read out of its name
LONG = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."


class ReadTimeout(Exception):
    """As HTTP clients call it."""


class Coded(Exception):
    """An exception of a client that we do not know."""

    def __init__(self, text: str, status_code: int) -> None:
        super().__init__(text)
        self.status_code = status_code


OURS: list[tuple[ServiceError, Failure]] = [
    (KeyMissing(SERVICE), Failure.ACCESS),
    (KeyRefused(SERVICE, status=401), Failure.ACCESS),
    (PaymentDue(SERVICE, status=402), Failure.ACCESS),
    (NotThere(SERVICE, status=404), Failure.MODEL_MISSING),
    (BadRequest(SERVICE, "bad request", status=400), Failure.BAD_REQUEST),
    (BadRequest(SERVICE, LONG, status=400), Failure.TOO_LONG),
    (BadRequest(SERVICE, "request entity", status=413), Failure.TOO_LONG),
    (RateLimited(SERVICE, "slow down", status=429), Failure.RATE_LIMIT),
    (RateLimited(SERVICE, "insufficient_quota", status=429), Failure.QUOTA),
    (QuotaUsedUp(SERVICE, "no more today", status=429), Failure.QUOTA),
    (ServerFailed(SERVICE, status=500), Failure.SERVER),
    (ServerFailed(SERVICE, status=504), Failure.GATEWAY),
    (TimedOut(SERVICE), Failure.TIMEOUT),
    (TimedOut(SERVICE, status=408), Failure.GATEWAY),
    (Unreachable(SERVICE), Failure.CONNECTION),
    (Unreadable(SERVICE), Failure.UNREADABLE),
    (EmptyReply(SERVICE), Failure.UNUSABLE),
    (ServiceError(SERVICE), Failure.OTHER),
]
FOREIGN: list[tuple[Exception, Failure]] = [
    (RuntimeError("No LLM provider configured for task=compression"), Failure.NO_MODEL),
    (RuntimeError("Provider 'x' is set but no API key was found"), Failure.ACCESS),
    (Coded("Forbidden", 403), Failure.ACCESS),
    (Coded("You exceeded your current quota", 429), Failure.QUOTA),
    (Coded("rate limit: too many tokens per minute", 429), Failure.RATE_LIMIT),
    (Coded("no available channel", 503), Failure.MODEL_MISSING),
    (Coded("teapot", 418), Failure.BAD_REQUEST),
    (RuntimeError("HTTP 504"), Failure.GATEWAY),
    (RuntimeError("Error code: 401 - nope"), Failure.ACCESS),
    (RuntimeError("400 prompt is too long: 300000 tokens > 100000 maximum"), Failure.TOO_LONG),
    (ReadTimeout(), Failure.TIMEOUT),
    (TimeoutError("x"), Failure.TIMEOUT),
    (ConnectionError("refused"), Failure.CONNECTION),
    (RuntimeError("peer closed connection (incomplete chunked read)"), Failure.CONNECTION),
    (json.JSONDecodeError("Expecting value", "", 0), Failure.UNREADABLE),
    (UnusableAnswer(Fault.EMPTY, "it holds no text"), Failure.UNUSABLE),
    (ZeroDivisionError(), Failure.OTHER),
    (KeyError("context"), Failure.OTHER),
]


@pytest.mark.parametrize(("error", "kind"), [*OURS, *FOREIGN], ids=lambda value: str(value)[:60])
def test_the_kind_of_a_failure(error: Exception, kind: Failure) -> None:
    assert failure_of(error) is kind


def test_every_kind_has_a_decision_and_is_met_in_a_test() -> None:
    assert POLICY.keys() == set(Failure) == {kind for _, kind in [*OURS, *FOREIGN]}


@pytest.mark.parametrize(("kind", "decision"), POLICY.items())
def test_no_decision_contradicts_itself(kind: Failure, decision: Decision) -> None:
    assert list(decision.cooldown) == sorted(decision.cooldown)
    is_choice = kind is Failure.NO_MODEL
    assert (decision.ends is Ending.NOTES) is is_choice
    assert bool(decision.cooldown) is decision.retry_on_main is not is_choice
    assert decision.smaller_pieces is (kind is Failure.TOO_LONG)
    assert [decision.seconds(n) for n in range(1, 9)] == sorted(decision.seconds(n) for n in range(1, 9))


@pytest.mark.parametrize("kind", Failure)
def test_a_user_who_wants_no_notes_gets_none_but_by_choice(kind: Failure) -> None:
    ends = decision_for(kind, abort_on_failure=True).ends
    assert ends is (Ending.NOTES if kind is Failure.NO_MODEL else Ending.ABORT)
    assert decision_for(kind, abort_on_failure=False) is POLICY[kind]


@pytest.mark.parametrize(
    ("ends", "past", "cooling", "attempts", "expected"),
    [
        (Ending.ABORT, True, True, 99, True),
        (Ending.FALLBACK, False, False, 1, False),
        (Ending.WAIT, False, True, 99, True),
        (Ending.WAIT, True, False, 1, True),
        (Ending.WAIT, True, False, ATTEMPTS, False),
        (Ending.WAIT, True, True, 1, False),
    ],
)
def test_what_waits_does_so_while_the_window_fits_its_model(ends: Ending, past: bool, cooling: bool, attempts: int, expected: bool) -> None:
    assert stays(ends, past_window=past, cooling=cooling, attempts=attempts) is expected


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        (LONG, 8_192),
        ("prompt is too long: 300000 tokens > 100000 maximum", 100_000),
        ("context window of 32,768 tokens", 32_768),
        ("max_model_len is 4096", 4_096),
        ("context length exceeded", None),
        ("the maximum is 12 images", None),
        ("maximum context length is 99999999999999999999", None),
    ],
)
def test_the_window_that_a_refusal_names(words: str, limit: int | None) -> None:
    assert stated_limit(RuntimeError(words)) == stated_limit(BadRequest(SERVICE, words, status=400)) == limit


def test_an_error_is_shown_on_one_short_line_without_secrets() -> None:
    key = "ghp_" + "Ab1" * 12
    shown = shown_error(CtxhostError(f"with {key}\nand " + "words " * 90, "advice"), redact)
    assert key not in shown and "advice" not in shown and "\n" not in shown
    assert len(shown) == SHOWN and shown.endswith("...")
    assert shown_error(ReadTimeout(), redact) == "ReadTimeout"


def test_the_table_of_the_manual_names_every_kind() -> None:
    text = "\n".join(markdown())
    assert all(f"| {kind} |" in text for kind in Failure)

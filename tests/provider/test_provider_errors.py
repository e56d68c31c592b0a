"""Failures by class."""

from __future__ import annotations

import pytest

from host.errors import ProviderError
from host.provider.bodies import words_of
from host.provider.errors import (
    BY_STATUS,
    BY_TYPE_NAME,
    SHOWN_CHARS,
    BadRequest,
    KeyRefused,
    NotThere,
    PaymentDue,
    RateLimited,
    ServerFailed,
    Service,
    ServiceError,
    TimedOut,
    Unreachable,
    failure_of,
    of_status,
)

SERVICE = Service("some-model", "http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("status", "kind", "label"),
    [
        (400, BadRequest, "bad_request"),
        (401, KeyRefused, "auth"),
        (402, PaymentDue, "billing"),
        (403, KeyRefused, "auth"),
        (404, NotThere, "not_found"),
        (408, TimedOut, "timeout"),
        (413, BadRequest, "bad_request"),
        (422, BadRequest, "bad_request"),
        (429, RateLimited, "rate_limit"),
        (500, ServerFailed, "server"),
        (503, ServerFailed, "server"),
        (529, ServerFailed, "server"),
        (302, ServiceError, "other"),
    ],
)
def test_a_status_has_a_class(status: int, kind: type[ServiceError], label: str) -> None:
    assert of_status(status) is kind
    assert kind.label == label


@pytest.mark.parametrize("kind", [ServiceError, *BY_STATUS.values(), *BY_TYPE_NAME.values()])
def test_every_failure_says_what_and_what_to_do(kind: type[ServiceError]) -> None:
    error = kind(SERVICE, "some words", status=499)
    what, advice = str(error).split("\n")
    assert what == f"some-model at http://127.0.0.1:9/v1 {kind.happened} (HTTP 499): some words"
    assert advice == kind.remedy
    assert isinstance(error, ProviderError)
    assert error.exit_status == 3


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("slow"), TimedOut),
        (ConnectionResetError("peer"), Unreachable),
        (OSError("no route"), Unreachable),
        (RuntimeError("odd"), ServiceError),
    ],
)
def test_failures_without_a_status_are_told_by_their_type(error: Exception, kind: type[ServiceError]) -> None:
    failure = failure_of(error, SERVICE)
    assert type(failure) is kind
    assert failure.detail == str(error)
    assert failure.status is None


def test_the_innermost_cause_is_what_is_told() -> None:
    error = RuntimeError("Connection error.")
    error.__cause__ = OSError("[Errno 111] Connection refused")
    assert "Connection refused" in failure_of(error, SERVICE).what


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"message": "too long"}, "too long"),
        ({"error": {"message": "wrapped"}}, "wrapped"),
        ({"code": "invalid", "error": "a bare string"}, "a bare string"),
        ({"detail": "not found"}, "not found"),
        ("<html>bad gateway</html>", "<html>bad gateway</html>"),
        ({"message": None, "error": {}}, ""),
        (None, ""),
        (["odd"], "odd"),
        ([{"error": {"message": "in a list"}}], "in a list"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
    ],
)
def test_the_words_of_a_service_are_found_in_any_wrapping(body: object, words: str) -> None:
    assert words_of(body) == words


def test_long_words_are_cut_in_the_text_and_whole_in_detail() -> None:
    page = "<html>\n" + "x" * 5_000
    error = ServerFailed(SERVICE, page)
    assert error.detail == page
    assert "\n" not in error.what
    assert len(error.what) < SHOWN_CHARS + 100


def test_secrets_are_masked_everywhere() -> None:
    service = Service("m", "http://me:pass-phrase@host/v1?token=abcdefgh1", secrets=("sk-very-secret", "pass-phrase"))
    error = KeyRefused(service, "wrong key sk-very-secret for me:pass-phrase")
    for text in (str(error), error.detail, repr(service), str(service)):
        assert "sk-very-secret" not in text
    assert "pass-phrase" not in str(error)
    assert str(service) == "m at http://host/v1"


def test_a_placeholder_is_no_secret() -> None:
    assert "context" in BadRequest(Service("m", "http://h/v1", secrets=("x", "")), "maximum context length").what


def test_an_odd_address_is_shown_as_it_is() -> None:
    assert str(Service("m", "localhost:8080")) == "m at localhost:8080"
    assert str(Service("the model", "")) == "the model"

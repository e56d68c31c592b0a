"""Refusals: their kinds and the numbers in them (hermes.md 3.4)."""

from __future__ import annotations

from host.provider.refusals import numbers
from host.provider.refusals.classifier import Kind, Sent, classify
from tests.golden.reading import Driver, Golden

DEFAULT_WINDOW = 200_000
ERROR_NUMBER_NAMED = "context_length_exceeded: "


class Refused(Exception):
    """A refusal as a client raises it."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status_code = status


def limit(case: Golden) -> None:
    text = case.input["text"]
    wanted = int(text.removeprefix(ERROR_NUMBER_NAMED)) if case.use == "improve" else case.output
    assert numbers.limit_in(text) == wanted


def limit_if_lower(case: Golden) -> None:
    found = numbers.limit_in(case.input["text"])
    assert [found if found and found < current else None for current in case.input["current"]] == case.output


def output_cap(case: Golden) -> None:
    refusal = classify(Refused(case.input["text"], 400), Sent())
    assert [refusal.available, refusal.kind is Kind.OUTPUT_CAP] == case.output


def kind(case: Golden) -> None:
    given = case.input
    sent = Sent(given.get("approx_tokens", 0), given.get("context_length", DEFAULT_WINDOW), given.get("num_messages", 0))
    found = classify(Refused(given["text"], given["status"]), sent).kind
    assert {"reason": found.value, "retryable": found.retryable, "should_compress": found.compresses} == case.output


DRIVERS: dict[str, Driver] = {
    "parse_limit_*": limit,
    "limit_only_if_lower": limit_if_lower,
    "output_cap_*": output_cap,
    "classify_*": kind,
}

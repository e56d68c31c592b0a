"""Why an answer is no summary, and the error that says so."""

from __future__ import annotations

from enum import StrEnum

from host.errors import ProviderError


class Fault(StrEnum):
    """Why an answer is no summary."""

    EMPTY = "empty"
    REASONING_ONLY = "only reasoning"
    CUT_OFF = "cut off"
    BROKEN_OFF = "broken off"
    REFUSED = "refused"
    TOOL_CALL = "tool call"
    ERROR = "error report"
    ECHO = "echo"
    REPEATS = "repetition"
    UNFILLED = "nothing filled in"
    OFF_TOPIC = "not a summary"


Finding = tuple[Fault, str]
"""What is wrong with an answer, and a word on it."""

ADVICE = "if this goes on, set another model as auxiliary.compression.model in config.yaml"


class UnusableAnswer(ProviderError):
    """The model answered, but not with a summary. ``kind`` says what it gave instead."""

    def __init__(self, kind: Fault, detail: str) -> None:
        super().__init__(f"the summary model's answer cannot be used ({kind}): {detail}", ADVICE)
        self.kind = kind
        self.detail = detail

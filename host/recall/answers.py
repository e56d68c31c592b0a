"""What a tool gives back: JSON as text, or an error that the model can act on."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from host.errors import CtxhostError, UsageError
from host.messages.types import JSON

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
LONGEST_GIVEN = 80  # characters of a wrong value that are shown


@dataclass(frozen=True)
class Answer:
    """``text`` is JSON in valid UTF-8."""

    text: str
    is_error: bool = False


class Wrong(UsageError):
    """An argument that has no plain meaning. ``where`` names it, ``expected`` says what it should be."""

    def __init__(self, where: str, given: object, expected: str, what: str = "") -> None:
        super().__init__(what or f"the argument {where!r} cannot be used", expected)
        self.where = where
        self.given = shown(given)
        self.expected = expected

    def as_json(self) -> JSON:
        """For the model."""
        return {"what": self.what, "where": self.where, "given": self.given, "expected": self.expected}


def as_text(told: object) -> str:
    """The JSON as it is sent. Half a surrogate pair is escaped, so that the text can be encoded."""
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def shown(value: object) -> str:
    """A value as an error names it, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= LONGEST_GIVEN else f"{text[:LONGEST_GIVEN]}…"


def failure(error: CtxhostError) -> Answer:
    """An error of the archive, with what to do."""
    return Answer(as_text({"error": {"what": error.what, "what_to_do": error.advice}}), is_error=True)

"""A provider's refusal of a request, read in its smallest form: the window is too long (hermes.md 3.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from host.provider.errors import words_of

TOO_LONG = "context_length_exceeded"
LIMIT = re.compile(r"(?:maximum context length|context (?:window|length|limit))\D{0,40}?(\d[\d,_]{2,})", re.IGNORECASE)
SENT = re.compile(r"(?:resulted in|requested|you sent|contains?)\D{0,30}?(\d[\d,_]{2,})", re.IGNORECASE)


@dataclass(frozen=True)
class TooLong:
    """The window was refused. ``limit`` and ``sent`` are tokens, None where the refusal does not name them."""

    limit: int | None = None
    sent: int | None = None


def too_long(error: BaseException) -> TooLong | None:
    """What a refusal says about the length; None where it is about something else."""
    body: Any = getattr(error, "body", None)
    codes = {getattr(error, "code", None), body.get("code") if isinstance(body, dict) else None}
    inner = body.get("error") if isinstance(body, dict) else None
    codes.add(inner.get("code") if isinstance(inner, dict) else None)
    if TOO_LONG not in codes:
        return None
    words = words_of(body) or str(error)
    return TooLong(_tokens(LIMIT, words), _tokens(SENT, words))


def _tokens(pattern: re.Pattern[str], words: str) -> int | None:
    found = pattern.search(words)
    return int(re.sub(r"\D", "", found[1])) if found else None

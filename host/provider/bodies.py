"""What the bodies and headers of errors say, whatever shape a service gives them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

SAYING = ("message", "Message", "error", "Error", "detail", "msg", "errors")
"""Keys under which services say what is wrong, or wrap what does."""


def words_of(body: object) -> str:
    """The message inside an error body, however deep the service wraps it; empty where there is none."""
    if isinstance(body, dict):
        return next(filter(None, (words_of(body.get(key)) for key in SAYING)), "")
    if isinstance(body, list):
        return next(filter(None, map(words_of, body[:1])), "")
    return body if isinstance(body, str) else ""


def code_in(body: object) -> str | None:
    """The service's own name for an error: the innermost ``code``, else its ``type``; None where it has none."""
    if isinstance(body, list):
        return code_in(body[0]) if body else None
    if not isinstance(body, dict):
        return None
    inner = next((found for key in ("error", "Error") if (found := code_in(body.get(key)))), None)
    named = (body.get(key) for key in ("code", "Code", "type"))
    return inner or next((str(name) for name in named if name and isinstance(name, str | int) and not isinstance(name, bool)), None)


def pause_in(headers: Mapping[str, str]) -> float | None:
    """The seconds that a service wants to be left alone, by the headers of its answer; None where they do not say."""
    for name, share in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / share
        except ValueError:
            continue
        if seconds >= 0:
            return seconds
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds())

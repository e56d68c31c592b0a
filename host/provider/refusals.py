"""A provider's refusal of a request, read in its smallest form: the window is too long, or a picture in it too large (hermes.md 3.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from host.provider.errors import words_of
from host.provider.images import MAX_BYTES, MAX_SIDE, max_side_in

TOO_LONG = "context_length_exceeded"
LIMIT = re.compile(r"(?:maximum context length|context (?:window|length|limit))\D{0,40}?(\d[\d,_]{2,})", re.IGNORECASE)
SENT = re.compile(r"(?:resulted in|requested|you sent|contains?)\D{0,30}?(\d[\d,_]{2,})", re.IGNORECASE)

REFUSING = frozenset({None, 400, 413, 422})  # HTTP statuses under which a request is refused for what is in it
PICTURE_REFUSED = re.compile(
    r"\bimages?\b[^\n]{0,60}?\b(exceeds?|too (?:large|big)|larger than|over the)\b"
    r"|\b(?:exceeds?|too (?:large|big)|maximum|max)\b[^\n]{0,60}?\bimage(?: file)? (?:size|dimensions?|bytes)\b",
    re.IGNORECASE,
)
ABOUT_LENGTH = re.compile(r"\bcontext\b|\btokens?\b", re.IGNORECASE)  # of a window, pictures or not
LARGEST = re.compile(r"(?:exceeds?|max(?:imum)?|limit|under|over)\D{0,30}?([\d.]+) ?(MB|MiB)\b", re.IGNORECASE)
LEAST_MAX_BYTES = 64 * 1024
MARGIN = 0.95  # of a limit that a provider names: it may count a picture otherwise than we do


@dataclass(frozen=True)
class ImageTooLarge:
    """A picture was refused: the longest side in pixels, and the bytes of its base64 text, that a smaller one may have."""

    max_side: int = MAX_SIDE
    max_bytes: int = MAX_BYTES


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


def image_too_large(error: BaseException) -> ImageTooLarge | None:
    """What a refusal says about the size of a picture; None where it is about something else."""
    status = getattr(error, "status_code", getattr(error, "status", None))
    words = words_of(getattr(error, "body", None)) or str(error)
    if status not in REFUSING or ABOUT_LENGTH.search(words) or not PICTURE_REFUSED.search(words):
        return None
    return ImageTooLarge(max_side_in(words), _largest(words))


def _largest(words: str) -> int:
    """The bytes that a picture may have by the provider's own word, where that is less than is usual."""
    found = LARGEST.search(words)
    named = float(found[1].strip(".") or 0) * 1024 * 1024 * MARGIN if found and found[1].count(".") < 2 else MAX_BYTES
    return int(min(max(named, LEAST_MAX_BYTES), MAX_BYTES))


def _tokens(pattern: re.Pattern[str], words: str) -> int | None:
    found = pattern.search(words)
    return int(re.sub(r"\D", "", found[1])) if found else None

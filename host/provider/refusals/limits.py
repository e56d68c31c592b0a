"""A provider's refusal of a request, read in its smallest form: the window is too long, or a picture in it too large (hermes.md 3.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from host.provider.images import MAX_BYTES, MAX_SIDE, max_side_in
from host.provider.refusals.classifier import Kind, Sent, classify
from host.provider.refusals.texts import texts_of

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
    refusal = classify(error, Sent())
    return TooLong(refusal.limit, refusal.sent) if refusal.kind is Kind.CONTEXT_OVERFLOW else None


def image_too_large(error: BaseException) -> ImageTooLarge | None:
    """What a refusal says about the size of a picture; None where it is about something else."""
    if classify(error, Sent()).kind is not Kind.IMAGE_TOO_LARGE:
        return None
    words = texts_of(error)[2]
    return ImageTooLarge(max_side_in(words), _largest(words))


def _largest(words: str) -> int:
    """The bytes that a picture may have by the provider's own word, where that is less than is usual."""
    found = LARGEST.search(words)
    named = float(found[1].strip(".") or 0) * 1024 * 1024 * MARGIN if found and found[1].count(".") < 2 else MAX_BYTES
    return int(min(max(named, LEAST_MAX_BYTES), MAX_BYTES))

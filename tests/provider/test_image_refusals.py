"""Refusals of a picture for its size, told from all others."""

from __future__ import annotations

from typing import Any

import pytest

from host.provider.errors import BadRequest, RateLimited, ServerFailed, Service
from host.provider.images import MAX_BYTES, MAX_SIDE
from host.provider.refusals.limits import ImageTooLarge, image_too_large, too_long

SERVICE = Service("m", "")
MIB = 1024 * 1024


class Raised(Exception):
    """An error as the openai client raises it."""

    def __init__(self, status_code: int | None, body: Any, text: str = "") -> None:
        super().__init__(text)
        self.status_code = status_code
        self.body = body


REFUSED = [
    (400, "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6137392 bytes > 5242880 bytes", ImageTooLarge()),
    (400, "messages.3.content.0.image.source.base64.data: image dimensions exceed max allowed size: 8000 pixels", ImageTooLarge()),
    (
        400,
        "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
        ImageTooLarge(2_000),
    ),
    (400, "Image too large. Please upload an image below the limit.", ImageTooLarge()),
    (400, "Invalid image: the image file size is too large, maximum 20 MB", ImageTooLarge()),
    (400, "Image size exceeds 4MB.", ImageTooLarge(MAX_SIDE, int(4 * MIB * 0.95))),
    (400, "image exceeds 3.75 MB maximum", ImageTooLarge(MAX_SIDE, int(3.75 * MIB * 0.95))),
    (400, "image exceeds 0.0 MB", ImageTooLarge(MAX_SIDE, 64 * 1024)),
    (413, "Request too large: exceeds maximum image size", ImageTooLarge()),
    (422, "The images are too big", ImageTooLarge()),
    (None, "image exceeds 5 MB maximum", ImageTooLarge()),
]


@pytest.mark.parametrize(("status", "words", "found"), REFUSED)
def test_a_picture_that_is_too_large(status: int | None, words: str, found: ImageTooLarge) -> None:
    for body in ({"error": {"message": words}}, {"message": words, "code": None}, words):
        assert image_too_large(Raised(status, body)) == found
    assert image_too_large(BadRequest(SERVICE, words, status=status)) == found


@pytest.mark.parametrize(
    "error",
    [
        BadRequest(SERVICE, "The input with 3 images exceeds the maximum context length of 128000 tokens", status=400),
        BadRequest(SERVICE, "image is not a valid PNG", status=400),
        BadRequest(SERVICE, "prompt is too long", status=400),
        BadRequest(SERVICE, "Request payload size exceeds the limit: 20971520 bytes", status=413),
        BadRequest(SERVICE, "", status=413),
        RateLimited(SERVICE, "image exceeds 5 MB maximum", status=429),
        ServerFailed(SERVICE, "image too large", status=500),
        ValueError("imagery exceeds expectations"),
        KeyboardInterrupt(),
    ],
)
def test_what_is_about_something_else(error: BaseException) -> None:
    assert image_too_large(error) is None


def test_a_window_that_is_too_long_stays_one() -> None:
    error = Raised(400, {"code": "context_length_exceeded", "message": "maximum context length is 6000 tokens, images included"})
    assert too_long(error) is not None
    assert image_too_large(error) is None


def test_the_limits_never_exceed_what_is_usual() -> None:
    assert (MAX_SIDE, MAX_BYTES) == (8_000, 4 * MIB)

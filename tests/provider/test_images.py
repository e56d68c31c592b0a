"""Pictures made smaller: under both limits, in every wire format, and never the caller's own."""

from __future__ import annotations

import json
import random
import sys
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest
from PIL import Image

from host.messages.types import Message, Part
from host.provider.images import MAX_BYTES, WITHOUT_PILLOW, max_side_in, picture_in, shrink_images

GOLDEN = json.loads((Path(__file__).parents[1] / "given" / "golden.json").read_text(encoding="utf-8"))["cases"]
CASES = [case for case in GOLDEN if case["name"].startswith("image_shrink_") and "width" in case["input"]]


def drawn(width: int, height: int, form: str = "PNG", mode: str = "RGB", **options: Any) -> str:
    """A plain picture as base64."""
    written = BytesIO()
    Image.new(mode, (width, height), 200 if mode in ("L", "P") else None).save(written, form, **options)
    return b64encode(written.getvalue()).decode()


def noisy(width: int, height: int, form: str, mode: str = "RGB", **options: Any) -> str:
    """A picture that no compression makes small."""
    pixels = random.Random(7).randbytes(width * height * len(mode))
    written = BytesIO()
    Image.frombytes(mode, (width, height), pixels).save(written, form, **options)
    return b64encode(written.getvalue()).decode()


def as_dict(data: str, kind: str) -> Part:
    return {"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{data}", "detail": "high"}}


def as_text(data: str, kind: str) -> Part:
    return {"type": "image_url", "image_url": f"data:image/{kind};base64,{data}"}


def as_input(data: str, kind: str) -> Part:
    return {"type": "input_image", "image_url": f"DATA:image/{kind};base64,{data}"}


def as_source(data: str, kind: str) -> Part:
    return {"type": "image", "source": {"type": "base64", "media_type": f"image/{kind}", "data": data}, "cache_control": {"type": "x"}}


SHAPES = [as_dict, as_text, as_input, as_source]


def says(*parts: Part) -> Message:
    return {"role": "user", "content": [{"type": "text", "text": "look"}, *parts]}


def seen(message: Message, place: int = 1) -> Image.Image:
    """The picture that a part of the message shows."""
    part = cast(list[Part], message["content"])[place]
    picture = picture_in(part)
    assert picture is not None
    return Image.open(BytesIO(b64decode(picture.data, validate=True)))


def kept(message: Message, **limits: int) -> tuple[str, ...]:
    """What is said of a picture that stays as it is."""
    found = shrink_images([message], **limits)
    assert found.changed == 0
    assert found.messages[0] is message
    return found.left_over


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_worked_cases(case: dict[str, Any]) -> None:
    given, wanted = case["input"], case["output"]
    found = shrink_images([says(as_dict(drawn(given["width"], given["height"]), "png"))], max_side=given["max_dimension"])
    assert (found.changed > 0, list(seen(found.messages[0]).size)) == (wanted["changed"], wanted["size"])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_a_side_over_the_limit_in_every_wire_format(shape: Callable[[str, str], Part], form: str) -> None:
    message = says(shape(drawn(1_000, 400, form), form.lower()))
    before = deepcopy(message)
    found = shrink_images([message], max_side=600)
    assert (found.changed, found.left_over) == (1, ())
    assert message == before, "the input is never touched"
    smaller = seen(found.messages[0])
    assert (smaller.size, smaller.format) == ((500, 200), form)
    part, old = cast(list[Part], found.messages[0]["content"])[1], cast(list[Part], message["content"])[1]
    assert part.keys() == old.keys()
    if shape is as_dict:
        assert part["image_url"]["detail"] == "high"


@pytest.mark.parametrize("shape", SHAPES)
def test_bytes_over_the_limit(shape: Callable[[str, str], Part]) -> None:
    data = noisy(400, 300, "JPEG", quality=98)
    found = shrink_images([says(shape(data, "jpeg"))], max_bytes=len(data) - 1)
    assert (found.changed, found.left_over) == (1, ())
    picture = picture_in(cast(list[Part], found.messages[0]["content"])[1])
    assert picture is not None
    assert len(picture.data) < len(data)
    assert seen(found.messages[0]).size == (400, 300), "another quality was enough"


def test_a_picture_over_both_limits_ends_within_both() -> None:
    data = noisy(900, 600, "PNG")
    found = shrink_images([says(as_dict(data, "png"))], max_side=500, max_bytes=100_000)
    picture = picture_in(cast(list[Part], found.messages[0]["content"])[1])
    assert picture is not None
    assert len(picture.data) <= 100_000
    assert max(seen(found.messages[0]).size) <= 500
    assert seen(found.messages[0]).format == "PNG"


def test_fewer_pixels_may_take_more_bytes_where_only_the_side_was_too_long() -> None:
    checkered = Image.new("1", (1_201, 1_201))
    checkered.putdata([255 * ((x ^ y) & 1) for y in range(1_201) for x in range(1_201)])
    written = BytesIO()
    checkered.save(written, "PNG", optimize=True)
    message = says(as_dict(b64encode(written.getvalue()).decode(), "png"))
    found = shrink_images([message], max_side=900)
    assert (found.changed, seen(found.messages[0]).size) == (1, (600, 600))
    assert len(str(found.messages[0])) > len(str(message))
    (named,) = kept(message, max_side=900, max_bytes=100)
    assert "no smaller form is within the limits" in named


@pytest.mark.parametrize(
    ("size", "max_side", "smaller"),
    [
        ((9_000, 20), 8_000, (8_000, 18)),
        ((20, 9_000), 8_000, (18, 8_000)),
        ((1_001, 1), 1_000, (1_000, 1)),
        ((1_200, 64), 1_000, (1_000, 53)),
        ((4_000, 100), 1_500, (1_500, 38)),
        ((1_000, 10), 500, (500, 5)),
        ((1_001, 10), 500, None),
        ((3_000, 65), 1_000, None),
    ],
)
def test_a_picture_too_thin_to_be_halved_gets_the_side_that_is_allowed(
    size: tuple[int, int], max_side: int, smaller: tuple[int, int] | None
) -> None:
    found = shrink_images([says(as_dict(drawn(*size), "png"))], max_side=max_side)
    assert (found.changed, seen(found.messages[0]).size) == (smaller is not None, smaller or size)


def test_what_is_transparent_stays_so() -> None:
    for form, mode in [("PNG", "RGBA"), ("PNG", "LA"), ("WEBP", "RGBA"), ("GIF", "P")]:
        options = {"transparency": 200} if mode == "P" else {}
        found = shrink_images([says(as_dict(drawn(900, 90, form, mode, **options), form.lower()))], max_side=800)
        assert (form, seen(found.messages[0]).has_transparency_data, seen(found.messages[0]).format) == (form, True, "PNG")


@pytest.mark.parametrize(("mode", "form"), [("CMYK", "JPEG"), ("L", "JPEG"), ("I;16", "PNG"), ("1", "PNG"), ("P", "PNG")])
def test_odd_colours_are_taken(mode: str, form: str) -> None:
    found = shrink_images([says(as_dict(drawn(1_000, 300, form, mode), "png"))], max_side=600)
    assert (found.changed, seen(found.messages[0]).size) == (1, (500, 150))


def test_a_photo_stays_upright() -> None:
    turned = Image.Exif()
    turned[0x0112] = 6  # orientation: a quarter turn
    found = shrink_images([says(as_dict(drawn(1_000, 400, "JPEG", exif=turned), "jpeg"))], max_side=600)
    assert seen(found.messages[0]).size == (200, 500)


def test_messages_without_a_large_picture_stay_the_same_objects() -> None:
    small, large = says(as_dict(drawn(10, 10), "png")), says(as_dict(drawn(900, 400), "png"))
    messages = [small, {"role": "assistant", "content": "seen"}, large, {"role": "user", "content": None}, small]
    found = shrink_images(cast(list[Message], messages), max_side=500)
    assert [new is old for new, old in zip(found.messages, messages, strict=True)] == [True, True, False, True, True]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "https://e.org/x.png"}},
        {"type": "image", "source": {"type": "url", "url": "https://e.org/x.png"}},
        {"type": "image_url", "image_url": None},
        {"type": "image_url", "image_url": {"url": 5}},
        {"type": "image", "source": {"type": "base64", "data": None}},
        {"type": "image_url", "image_url": {"url": "data:image/svg+xml;utf8,<svg/>"}},
        {"type": "text", "text": "data:image/png;base64,AAAA"},
    ],
)
def test_what_is_no_base64_picture_is_left_and_not_named(part: Part) -> None:
    assert kept(says(part), max_side=1, max_bytes=1) == ()


def animated() -> str:
    written = BytesIO()
    frames = [Image.new("RGB", (900, 400), colour) for colour in ("red", "blue")]
    frames[0].save(written, "GIF", save_all=True, append_images=frames[1:])
    return b64encode(written.getvalue()).decode()


def bomb() -> str:
    """The head of a PNG that says it has 20,000 x 20,000 pixels."""
    whole = bytearray(b64decode(drawn(1, 1)))
    whole[16:24] = (20_000).to_bytes(4, "big") * 2
    whole[29:33] = zlib.crc32(bytes(whole[12:29])).to_bytes(4, "big")
    return b64encode(whole).decode()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (animated(), "an animated GIF"),
        (bomb(), "too many pixels"),
        (drawn(900, 900)[:200], "cannot be read"),
        (b64encode(b"not a picture").decode(), "cannot be read"),
        (b64encode(b"\0\0\0\x1cftypheic").decode(), "cannot be read"),
        ("\ud800\x00", "cannot be read"),
        ("", "cannot be read"),
        (drawn(9_000, 10), "no smaller form"),
    ],
)
def test_what_cannot_be_made_smaller_is_left_alone_and_named(data: str, why: str) -> None:
    (named,) = kept(says(as_dict(data, "png")), max_side=512)
    assert named.startswith("part 2 of message 1: ")
    assert why in named


def test_an_animation_within_the_limits_is_nobodys_business() -> None:
    assert kept(says(as_dict(animated(), "gif"))) == ()


def test_others_are_made_smaller_beside_one_that_cannot_be() -> None:
    found = shrink_images([says(as_dict(animated(), "gif"), as_dict(drawn(900, 400), "png"))], max_side=800)
    assert (found.changed, len(found.left_over)) == (1, 1)


def test_without_pillow_the_extra_is_named_and_the_bytes_are_still_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert kept(says(as_dict("A" * 40, "png"))) == (WITHOUT_PILLOW,)
    extra, large = kept(says(as_dict("A" * 400, "png")), max_bytes=300)
    assert "ctxhost[images]" in extra
    assert large == "part 2 of message 1: 400 bytes, limit 300"
    assert kept({"role": "user", "content": "no picture"}) == ()


def test_a_second_pass_changes_nothing() -> None:
    once = shrink_images([says(as_dict(noisy(300, 300, "PNG"), "png"))], max_side=200, max_bytes=40_000)
    twice = shrink_images(once.messages, max_side=200, max_bytes=40_000)
    assert once.changed == 1
    assert (twice.changed, twice.left_over) == (0, ())


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("image dimensions exceed max allowed size: 8000 pixels", 8_000),
        ("At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels", 2_000),
        ("maximum allowed size of 1,024 pixels", 1_024),
        ("max allowed size: 100 pixels", 512),
        ("max allowed size: 20000 pixels", 8_000),
        ("image exceeds 5 MB maximum", 8_000),
        ("", 8_000),
    ],
)
def test_the_side_that_a_refusal_names(text: str, side: int) -> None:
    assert max_side_in(text) == side


def test_the_limit_of_bytes_is_four_mebibytes() -> None:
    assert MAX_BYTES == 4_194_304

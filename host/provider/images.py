"""Pictures that a provider refuses as too large, made smaller (hermes.md 15.3). Needs Pillow, the extra ``[images]``."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any, cast
from warnings import catch_warnings, simplefilter

from host.messages.reading import is_image
from host.messages.types import Message, Part

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SIDE, LEAST_MAX_SIDE = 8_000, 512  # pixels of the longer side
MAX_BYTES = 4 * 1024 * 1024  # of the text that a picture is sent as
LEAST_SIDE = 64  # pixels; below this nothing can be made out
ATTEMPTS = 5
QUALITIES = (85, 70, 50)  # of JPEG, tried in this order
READABLE = ("PNG", "JPEG", "WEBP", "GIF")
WITHOUT_PILLOW = "no image could be looked into or made smaller: install Pillow with `pip install ctxhost[images]`"

ALLOWED_SIDE = re.compile(r"max(?:imum)? allowed size\D{0,60}?(\d[\d,]*)\s*pixels", re.IGNORECASE)


@dataclass(frozen=True)
class Shrunk:
    """The messages with smaller pictures; unchanged ones are the same objects.

    ``changed`` counts pictures. ``left_over`` names each one that is still over a limit, or that nobody could look into.
    """

    messages: list[Message]
    changed: int = 0
    left_over: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limits:
    """What a picture may measure: its longer side in pixels, and its text in bytes."""

    side: int = MAX_SIDE
    size: int = MAX_BYTES


@dataclass(frozen=True)
class Picture:
    """A picture as it is sent: its media type and its base64 text."""

    media_type: str
    data: str

    @property
    def url(self) -> str:
        """The picture as an address."""
        return f"data:{self.media_type};base64,{self.data}"


class LeftAlone(Exception):
    """A picture that stays as it is although it is too large; the text says why."""


class NoPillow(LeftAlone):
    """Nobody can look into pictures here."""


def shrink_images(messages: Sequence[Message], *, max_side: int = MAX_SIDE, max_bytes: int = MAX_BYTES) -> Shrunk:
    """Encode anew each picture whose longer side or whose base64 text is over a limit.

    Pictures are the base64 ones of all three wire formats; addresses on the web stay. What is animated, broken, of an unknown
    kind, or too large to be unpacked safely is left alone and named.
    """
    limits = Limits(max_side, max_bytes)
    shrunk: list[Message] = []
    changed, left_over = 0, []
    for number, message in enumerate(messages, 1):
        parts, count, named = _smaller_parts(message, number, limits)
        shrunk.append(cast(Message, {**message, "content": parts}) if count else message)
        changed += count
        left_over += named
    return Shrunk(shrunk, changed, tuple(dict.fromkeys(left_over)))


def max_side_in(error_text: str) -> int:
    """The longest side in pixels that a provider names in its refusal, held between 512 and 8,000; 8,000 where it names none."""
    found = ALLOWED_SIDE.search(error_text)
    return min(max(int(found[1].replace(",", "")), LEAST_MAX_SIDE), MAX_SIDE) if found else MAX_SIDE


def _smaller_parts(message: Message, number: int, limits: Limits) -> tuple[list[Any], int, list[str]]:
    """The content with smaller pictures, how many those are, and the names of those that stay too large."""
    content: object = message.get("content")
    parts = list(content) if isinstance(content, list) else []
    changed, named = 0, []
    for place, part in enumerate(parts):
        picture = picture_in(part) if isinstance(part, dict) and is_image(part) else None
        if picture is None:
            continue
        try:
            smaller = smaller_picture(picture, limits)
        except NoPillow as reason:
            named.append(str(reason))
            if len(picture.data) > limits.size:
                named.append(f"part {place + 1} of message {number}: {len(picture.data):,} bytes, limit {limits.size:,}")
            continue
        except LeftAlone as reason:
            named.append(f"part {place + 1} of message {number}: {reason}")
            continue
        if smaller is not picture:
            parts[place] = _with_picture(part, smaller)
            changed += 1
    return parts, changed, named


def picture_in(part: Part) -> Picture | None:
    """The base64 picture of a part; None for an address on the web, and for what is no picture at all."""
    source: Any = part.get("source")
    if isinstance(source, dict):
        data = source.get("data")
        return Picture(str(source.get("media_type") or ""), data) if source.get("type") == "base64" and isinstance(data, str) else None
    url: Any = part.get("image_url")
    url = url.get("url") if isinstance(url, dict) else url
    if not isinstance(url, str) or url[:5].lower() != "data:":
        return None
    head, _, data = url[5:].partition(",")
    return Picture(head.partition(";")[0], data) if head.lower().endswith(";base64") else None


def _with_picture(part: Part, picture: Picture) -> Part:
    if isinstance(part.get("source"), dict):
        return {**part, "source": {**part["source"], "media_type": picture.media_type, "data": picture.data}}
    url = part["image_url"]
    return {**part, "image_url": {**url, "url": picture.url} if isinstance(url, dict) else picture.url}


def smaller_picture(picture: Picture, limits: Limits) -> Picture:
    """The picture within both limits; the same object where it is so already. LeftAlone where it cannot be brought there.

    Fewer pixels may take more bytes, in PNG above all, so every attempt is measured for itself: one over the side alone may
    grow, as long as it stays within the limit of bytes.
    """
    try:
        from PIL import Image
    except ImportError:
        raise NoPillow(WITHOUT_PILLOW) from None
    try:
        return _within(picture, limits)
    except LeftAlone:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise LeftAlone("too many pixels to be unpacked safely") from None
    except Exception as error:  # noqa: BLE001 - the door to Pillow: whatever a broken file makes it raise leaves the picture as it is
        raise LeftAlone(f"it cannot be read ({type(error).__name__})") from None


def _within(picture: Picture, limits: Limits) -> Picture:
    from PIL import Image

    with catch_warnings():
        simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(BytesIO(b64decode(picture.data)), formats=READABLE) as opened:
            if max(opened.size) <= limits.side and len(picture.data) <= limits.size:
                return picture
            measures = f"{opened.width:,} x {opened.height:,} pixels, {len(picture.data):,} bytes"
            if getattr(opened, "is_animated", False) and opened.format != "MPO":
                raise LeftAlone(f"an animated {opened.format} of {measures}")
            found = _first_within(opened, limits)
    if found is None:
        raise LeftAlone(f"{measures}: no smaller form is within the limits")
    return found


def _first_within(opened: Image, limits: Limits) -> Picture | None:
    """The largest form that is within both limits, of a few."""
    picture = _upright(opened)
    as_png = opened.format == "PNG" or picture.has_transparency_data
    for size in islice(_sizes(picture.width, picture.height, limits.side), ATTEMPTS):
        for form in _forms(picture.resize(size, reducing_gap=3.0) if size != picture.size else picture, as_png=as_png):
            if len(form.data) <= limits.size:
                return form
    return None


def _upright(opened: Image) -> Image:
    """The pixels as they are meant to be seen: turned as the camera says, a palette as colours."""
    from PIL import ImageOps

    picture = ImageOps.exif_transpose(opened)
    if picture.mode == "1":
        return picture.convert("L")
    if picture.mode in ("P", "PA", "La", "RGBa") or (picture.mode in ("L", "RGB") and picture.has_transparency_data):
        return picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    return picture


def _sizes(width: int, height: int, max_side: int) -> Iterator[tuple[int, int]]:
    """Each half of the one before, from the first whose longer side is allowed; the shorter one never falls below 64 pixels.

    A picture too thin for that gets the longest side that is allowed, as long as it loses no more than half of it.
    """
    while True:
        if max(width, height) <= max_side:
            yield width, height
        least = max(0.5, LEAST_SIDE / min(width, height))
        if least >= 1:
            if max_side < max(width, height) <= 2 * max_side:
                yield _fitted(width, height, max_side)
            return
        width, height = max(1, round(width * least)), max(1, round(height * least))


def _fitted(width: int, height: int, max_side: int) -> tuple[int, int]:
    share = max_side / max(width, height)
    return max(1, round(width * share)), max(1, round(height * share))


def _forms(picture: Image, *, as_png: bool) -> Iterator[Picture]:
    """The picture as PNG, or as JPEG in falling quality."""
    if as_png:
        yield _encoded(picture, "PNG", optimize=True)
        return
    plain = picture if picture.mode in ("L", "RGB") else picture.convert("RGB")
    for quality in QUALITIES:
        yield _encoded(plain, "JPEG", quality=quality)


def _encoded(picture: Image, form: str, **options: Any) -> Picture:
    written = BytesIO()
    picture.save(written, form, **options)
    return Picture(f"image/{form.lower()}", b64encode(written.getvalue()).decode())

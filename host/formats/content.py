"""Content of other providers' formats as OpenAI parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from host.formats.loose import objects_in, text_under
from host.messages.types import JSON, Content, Part


def json_text(value: object) -> str:
    """A value as JSON text, other scripts unescaped."""
    return json.dumps(value, ensure_ascii=False)


def text_part(text: str) -> Part:
    """A text as a part."""
    return {"type": "text", "text": text}


def image_part(url: str) -> Part:
    """A picture as a part; the url may be a data URL."""
    return {"type": "image_url", "image_url": {"url": url}}


def content_from(recorded: object) -> Content:
    """A recorded content as OpenAI content: a text stays one, a list becomes parts, one text part becomes its text."""
    if isinstance(recorded, str):
        return recorded
    if recorded is None:
        return ""
    if not isinstance(recorded, list):
        return json_text(recorded)
    return joined([part_from(block) for block in recorded])


def joined(parts: list[Part]) -> Content:
    """Parts as content: none are an empty text, a single text part is its text, else the list."""
    if not parts:
        return ""
    if len(parts) == 1 and parts[0].get("type") == "text":
        return str(parts[0]["text"])
    return parts


def part_from(block: object) -> Part:
    """One block of Anthropic's or the Responses format as an OpenAI part; an unknown block is kept as its JSON text."""
    if isinstance(block, str):
        return text_part(block)
    if not isinstance(block, dict):
        return text_part(json_text(block))
    made = PARTS.get(str(block.get("type")), _no_part)(block)
    return text_part(json_text(block)) if made is None else made


def readable(blocks: object, key: str = "text") -> Iterable[str]:
    """The texts under ``key`` in a list of blocks, empty ones left out."""
    return filter(None, (text_under(block, key) for block in objects_in(blocks)))


def _no_part(block: JSON) -> Part | None:
    return None


def _text(block: JSON) -> Part | None:
    text = block.get("text")
    return text_part(text) if isinstance(text, str) else None


def _anthropic_image(block: JSON) -> Part | None:
    url = _source_url(block.get("source"))
    return image_part(url) if url else None


def _anthropic_document(block: JSON) -> Part | None:
    source = block.get("source")
    if isinstance(source, dict) and source.get("type") == "text":
        return text_part(str(source.get("data") or ""))
    url = _source_url(source)
    return {"type": "file", "file": {"filename": str(block.get("title") or "document"), "file_data": url}} if url else None


def _responses_image(block: JSON) -> Part | None:
    image: Any = block.get("image_url")
    if isinstance(image, dict):
        image = image.get("url")
    return image_part(image) if isinstance(image, str) else None


def _source_url(source: object) -> str:
    if not isinstance(source, dict):
        return ""
    if source.get("type") == "base64":
        return f"data:{source.get('media_type') or 'application/octet-stream'};base64,{source.get('data') or ''}"
    return str(source.get("url") or "")


PARTS: dict[str, Callable[[JSON], Part | None]] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "image": _anthropic_image,
    "document": _anthropic_document,
    "image_url": _responses_image,
    "input_image": _responses_image,
}
"""Block type -> part; None where the block is not what its type promises."""

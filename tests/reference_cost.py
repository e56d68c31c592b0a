"""The reference's costs, four characters a token (hermes.md 4.7): golden cases are counted with them, the product never is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

ROUGH_IMAGE_TOKENS = 1_500  # in estimates of requests
TAIL_IMAGE_CHARS = 6_400  # in tail walks: 1,600 tokens
TAIL_MESSAGE_TOKENS = 10
REPLAYED_KEYS = ("reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items", "codex_message_items")
IMAGE_TYPES = frozenset({"image", "image_url", "input_image"})
PRIVATE_BLOCKS = "anthropic_content_blocks"


def rough_text(text: str) -> int:
    """Length by four, rounded up."""
    return -(-len(text) // 4)


def rough_messages(messages: Iterable[Mapping[str, Any]]) -> int:
    """Characters of each message as Python writes it, by four, and 1,500 an image."""
    chars = images = 0
    for message in messages:
        shown, pictures = _without_images(message)
        chars += len(str(shown))
        images += pictures
    return (chars + 3) // 4 + images * ROUGH_IMAGE_TOKENS


def rough_tools(tools: Sequence[Mapping[str, Any]]) -> int:
    """Names, descriptions and compact parameters of the tools, by four, rounded up."""
    chars = 0
    for tool in tools:
        function = tool.get("function", tool)
        parameters = json.dumps(function.get("parameters", {}), ensure_ascii=False, separators=(",", ":"))
        chars += len(function.get("name", "")) + len(function.get("description", "")) + len(parameters)
    return -(-chars // 4)


def rough_request(messages: Iterable[Mapping[str, Any]], system: str = "", tools: Sequence[Mapping[str, Any]] = ()) -> int:
    """System prompt, messages and tools."""
    return rough_text(system) + rough_messages(messages) + rough_tools(tools)


def tail_cost(message: Mapping[str, Any]) -> int:
    """What one message costs in a walk from the end of the list."""
    calls = message.get("tool_calls") or []
    replayed = [message[key] for key in REPLAYED_KEYS if message.get(key)]
    return (
        _content_chars(message.get("content")) // 4
        + TAIL_MESSAGE_TOKENS
        + sum(len(str(call)) // 4 for call in calls if isinstance(call, dict))
        + sum(len(_serialised(value)) // 4 for value in replayed)
    )


def _content_chars(content: object) -> int:
    if content is None:
        return 0
    if isinstance(content, list):
        return sum(map(_part_chars, content))
    return len(content if isinstance(content, str) else str(content))


def _part_chars(part: object) -> int:
    if isinstance(part, str):
        return len(part)
    if not isinstance(part, dict):
        return len(str(part))
    return TAIL_IMAGE_CHARS if part.get("type") in IMAGE_TYPES else len(part.get("text") or "")


def _serialised(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _without_images(message: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    shown = {key: value for key, value in message.items() if key != PRIVATE_BLOCKS}
    images = _count_images(message.get(PRIVATE_BLOCKS))
    content = message.get("content")
    if isinstance(content, dict) and content.get("_multimodal"):
        images += _count_images(content.get("content"))
        shown["content"] = content.get("text_summary", "")
    elif isinstance(content, list):
        images += _count_images(content)
        shown["content"] = [{"type": part["type"], "image": "[stripped]"} if _is_image(part) else part for part in content]
    return shown, images


def _count_images(parts: object) -> int:
    return sum(map(_is_image, parts)) if isinstance(parts, list) else 0


def _is_image(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") in IMAGE_TYPES

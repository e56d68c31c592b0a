"""How the pieces of a streamed answer go together: texts, blocks of reasoning, calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from host.messages.reading import whole
from host.messages.types import JSON
from host.provider.answers import arguments_text

REASONING = ("reasoning", "reasoning_content", "reasoning_text", "thinking")  # one and the same, where there are several
TEXTS = frozenset({"content", "refusal", *REASONING})  # what comes in pieces; of other keys the last value counts
DETAIL_TEXTS = ("text", "summary")  # of a block of reasoning


class Calls:
    """The calls of an answer so far, told apart by index, id and name, whichever of them a service sends."""

    def __init__(self) -> None:
        self.slots: list[JSON] = []
        self._by_index: dict[int, JSON] = {}

    def take(self, entries: Any) -> Iterator[str]:
        """Add pieces of calls; gives the name of each call that begins."""
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                slot, function = self._slot_of(entry), entry.get("function")
                before = slot["function"]["name"]
                _add_piece(slot, entry, function if isinstance(function, dict) else {})
                if slot["function"]["name"] and not before:
                    yield slot["function"]["name"]

    def _slot_of(self, entry: JSON) -> JSON:
        index, key = entry.get("index"), entry.get("id")
        known = (
            self._by_index.get(index) if isinstance(index, int) else next((slot for slot in self.slots if key and slot["id"] == key), None)
        )
        if known is None and not isinstance(index, int) and not key and self.slots:
            known = self.slots[-1]
        if known is None or _begins_another(known, entry):
            known = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            self.slots.append(known)
        if isinstance(index, int):
            self._by_index[index] = known
        return known


def _begins_another(slot: JSON, entry: JSON) -> bool:
    """Whether a piece that would belong to a call begins the next one: it has a name, and another id or arguments of its own."""
    function = entry.get("function")
    if not isinstance(function, dict) or not function.get("name"):
        return False
    if entry.get("id") and slot["id"]:
        return bool(entry["id"] != slot["id"])
    if entry.get("index") is None and slot["function"]["name"] not in ("", function["name"]):
        return True
    arguments = arguments_text(function.get("arguments")).strip()
    return arguments.startswith("{") and object_in(slot["function"]["arguments"]) is not None


def _add_piece(slot: JSON, entry: JSON, function: JSON) -> None:
    for key, value in entry.items():
        if key not in ("index", "function") and value not in (None, "") and not (key == "id" and slot["id"]):
            slot[key] = value
    into = slot["function"]
    for key, value in function.items():
        if key == "arguments":
            into[key] += arguments_text(value)
        elif key == "name":
            into[key] = _longer_name(into[key], value)
        elif value is not None:
            into[key] = value


def _longer_name(name: str, piece: object) -> str:
    """A name of which some services send pieces, and others the whole again and again."""
    if not isinstance(piece, str):
        return name
    return piece if piece.startswith(name) else name + piece


def with_details(details: Any, more: Any) -> Any:
    """Blocks of reasoning: a piece belongs to the last block of its index and type."""
    if not isinstance(more, list):
        return details if more is None else more
    merged: list[JSON] = list(details) if isinstance(details, list) else []
    for piece in filter(_is_object, more):
        at = next((at for at in reversed(range(len(merged))) if _goes_on(merged[at], piece)), None)
        if at is None:
            merged.append(piece)
        else:
            merged[at] = {**merged[at], **{key: _longer_detail(merged[at].get(key), key, value) for key, value in piece.items()}}
    return merged


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _goes_on(block: JSON, piece: JSON) -> bool:
    same = all(block.get(key) == piece.get(key) for key in ("index", "type"))
    ids = {str(each["id"]) for each in (block, piece) if each.get("id")}
    return same and len(ids) <= 1 and any(key in piece for key in (*DETAIL_TEXTS, "signature"))


def _longer_detail(text: Any, key: str, value: Any) -> Any:
    if key in DETAIL_TEXTS and isinstance(text, str) and isinstance(value, str):
        return text + value
    return text if value is None else value


def longer(text: Any, piece: Any) -> Any:
    """A text, or a list of parts, with the next piece at its end."""
    if piece is None or text is None:
        return text if piece is None else piece
    if isinstance(text, str) and isinstance(piece, str):
        return text + piece
    if not isinstance(text, str | list) or not isinstance(piece, str | list):
        return piece
    parts: list[Any] = []
    for part in (*_as_parts(text), *_as_parts(piece)):
        if parts and _is_text(parts[-1]) and _is_text(part):
            parts[-1] = {**parts[-1], "text": parts[-1]["text"] + part["text"]}
        else:
            parts.append(part)
    return parts


def _as_parts(content: str | list[Any]) -> list[Any]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)


def text_in(content: Any) -> str:
    """The text of a content or of a piece of one; empty where it is something else."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if _is_text(part))
    return content if isinstance(content, str) else ""


def reasoning_in(delta: JSON) -> str:
    """The reasoning in a message or a piece of one, once, however many keys hold it."""
    told = [text for text in map(delta.get, REASONING) if isinstance(text, str) and text]
    if told:
        return told[0]
    details, content = delta.get("reasoning_details"), delta.get("content")
    blocks = [part for part in details if isinstance(part, dict)] if isinstance(details, list) else []
    thinking = [part.get("thinking") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [block.get(key) for block in blocks for key in DETAIL_TEXTS]
    return "".join(text for text in (*texts, *map(text_in, thinking)) if isinstance(text, str))


def joined(value: Any) -> Any:
    """The value with characters that were cut in two between pieces whole again."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {joined(key): joined(entry) for key, entry in value.items()}
    return [joined(entry) for entry in value] if isinstance(value, list) else value


def object_in(text: str) -> JSON | None:
    """The JSON object that a text is; None where it is none, or not yet."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

"""A message as its fields, in order, each with its place: nothing is left out, and together they are the message again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from host.messages.searchable import BASE64_SOURCE
from host.messages.types import JSON, Message
from host.recall.answers import LONE_SURROGATE

LONGEST_PATH = 200
"""Characters of a field's name. What lies deeper, or under a longer key, is given as the JSON of what holds it."""

LEAST_PAYLOAD = 200  # characters from which encoded data is left out
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
PAIR = re.compile("[\ud800-\udbff](?=[\udc00-\udfff])")
"""Two halves of a character that stand as two: written side by side they would be read as one."""

DATA_URL = re.compile(r"data:([^,;\s]{0,100})[^,\s]{0,100};base64,")


@dataclass(frozen=True)
class Field:
    """A string of a message, or the JSON of another value in it. ``name`` is its place: ``tool_calls[0].function.arguments``."""

    name: str
    text: str
    is_json: bool = False
    left_out: str = ""  # what stands here in place of encoded data

    def whole(self) -> JSON:
        """All of it."""
        if self.left_out:
            return {"field": self.name, "left_out": self.left_out}
        return {"field": self.name, self._key: self.text}

    def piece(self, start: int, stop: int) -> JSON:
        """The characters from start to stop; the whole where that is all."""
        if self.left_out or (start == 0 and stop == len(self.text)):
            return self.whole()
        return {"field": self.name, self._key: self.text[start:stop], "characters": [start, stop], "of": len(self.text)}

    def longest_stop(self, start: int) -> int:
        """Where a piece that begins here has to end at the latest."""
        pair = PAIR.search(self.text, start)
        return pair.end() if pair else len(self.text)

    @property
    def _key(self) -> str:
        return "json" if self.is_json else "text"


def fields_of(message: Message, role: str, *, raw: bool = False) -> list[Field]:
    """Every value of a message in its order.

    The role is left out where it is the first key and equals ``role``, with which the message is headed. Without ``raw``
    base64 data is described instead of given.
    """
    found = list(_fields(message, "", raw=raw))
    return found[1:] if found and found[0] == Field("role", role) else found


def _fields(value: object, name: str, *, raw: bool, is_data: bool = False) -> Iterator[Field]:
    if isinstance(value, str):
        yield Field(name, value, left_out="" if raw else _payload(value, is_data=is_data))
        return
    inner = list(_named(value, name))
    if not inner or any(len(longer) > LONGEST_PATH or LONE_SURROGATE.search(longer) for longer, _, _ in inner):
        yield Field(name, json.dumps(value, ensure_ascii=False, separators=(",", ":")), is_json=True)
        return
    for longer, each, is_its_data in inner:
        yield from _fields(each, longer, raw=raw, is_data=is_its_data)


def _named(value: object, name: str) -> Iterator[tuple[str, object, bool]]:
    """What is in an object or list: its name, itself, and whether it is encoded data."""
    if isinstance(value, dict):
        for key, each in value.items():
            plain = f"{name}.{key}" if name else key
            longer = plain if PLAIN_KEY.fullmatch(key) else f"{name}[{json.dumps(key, ensure_ascii=False)}]"
            yield longer, each, (key, value.get("type")) == BASE64_SOURCE
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield f"{name}[{index}]", each, False


def _payload(text: str, *, is_data: bool) -> str:
    """What to say in place of encoded data; empty where a text is none, or short."""
    url = DATA_URL.match(text)
    if len(text) < LEAST_PAYLOAD or not (url or is_data):
        return ""
    kind = (url[1] if url else "") or "data"
    size = (len(text) - (url.end() if url else 0)) * 3 // 4
    return f"{kind}, base64, about {size:,} bytes ({len(text):,} characters)"

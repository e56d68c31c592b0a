"""What a case gives in words where it means a thing of some size: "estimated 60000 tokens", "50 schemas, 80,000 chars of JSON"."""

from __future__ import annotations

import json
import re
from itertools import cycle
from typing import Any

from host.testing.messages import PROSE
from tests.cases.facts import NoDriver

NUMBER = r"(\d[\d.,_]*)\s*([kKmM]?)"
SCALE = {"": 1, "k": 1_000, "m": 1_000_000}


def amount_of(text: str, unit: str) -> int | None:
    """The number before a unit: "80,000 chars", "60K tokens"; None where the text has none."""
    found = re.search(rf"{NUMBER}\s*(?:\w+\s+)?{unit}", text)
    if found is None:
        return None
    digits = found[1].rstrip(".,_")
    whole = digits.replace("_", "") if re.fullmatch(r"\d+\.\d{1,2}", digits) else re.sub(r"[.,_]", "", digits)
    return round(float(whole) * SCALE[found[2].lower()])


def needed_amount(text: object, unit: str) -> int:
    """The number before a unit; NoDriver where there is none."""
    amount = amount_of(text, unit) if isinstance(text, str) else None
    if amount is None:
        raise NoDriver(f"no driver reads {text!r}")
    return amount


def prose(chars: int) -> str:
    """Ordinary words, exactly so many characters."""
    words, text = cycle(PROSE.split()), ""
    pieces: list[str] = []
    size = 0
    while size < chars:
        text = next(words)
        pieces.append(text)
        size += len(text) + 1
    return " ".join(pieces)[:chars]


def text_of_size(given: object) -> str:
    """A text as it stands, or of the size that is described ("20,000 chars")."""
    if isinstance(given, str):
        described = re.fullmatch(rf"{NUMBER}\s*(?:chars|characters)\b.*", given)
        return prose(needed_amount(given, "(?:chars|characters)")) if described else given
    raise NoDriver(f"no driver reads {given!r}")


def schemas(given: object) -> list[dict[str, Any]]:
    """Tool schemas as they stand, or as many as described and together of that size in JSON."""
    if isinstance(given, list):
        return given
    count, chars = needed_amount(given, "(?:schemas?|tools?)"), needed_amount(given, "(?:chars|characters)")
    bare = [_schema(number, "") for number in range(count)]
    left = max(0, chars - len(json.dumps(bare)))
    return [_schema(number, prose(left // count)) for number in range(count)]


def _schema(number: int, description: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    return {"type": "function", "function": {"name": f"tool_{number}", "description": description, "parameters": parameters}}

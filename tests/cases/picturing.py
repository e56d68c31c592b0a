"""Kind ``images``: pictures in a conversation that is compacted, and what of them a summary model is sent."""

from __future__ import annotations

import base64
import json
import re
from itertools import takewhile
from pathlib import Path
from typing import Any

from host.messages.reading import is_image, is_system, parts_of
from host.messages.types import Message
from tests.cases.case import Case
from tests.cases.described import needed_amount
from tests.cases.facts import Facts, NoDriver
from tests.cases.house import messages_of
from tests.cases.scribe import ANSWER, Scribe, always, reply_of
from tests.cases.sitting import PRICE, merged, narrow_window, outlook, sitting, text_in, turns

DESCRIBED = re.compile(r"(?P<count>\d+) user images? of (?P<size>[\d.,]+) ?(?P<unit>[KM])B in the middle section")
BYTES = {"K": 1_000, "M": 1_000_000}
BASE64 = re.compile(r"base64,|[A-Za-z0-9+/]{200,}")
LEAST = 7  # messages beside the prompt: with no more a window that has room is left alone
ROOMY = 8  # times the messages


def compacted(case: Case, folder: Path) -> Facts:
    """The history compacted by hand: over the threshold, and with room in the window, where its head stays."""
    messages = pictured(case.input["messages"])
    system = len(list(takewhile(is_system, messages)))
    ways = {"over the threshold": (1, 0)}
    if len(messages) - system > LEAST:
        ways["with room"] = (ROOMY, 3)
    return merged({way: _compacted(case, messages, room, head) for way, (room, head) in ways.items()})


def pictured(given: object) -> list[Message]:
    """The messages of a case; where they are described, so many pictures of that size and turns behind them."""
    if not isinstance(given, str):
        return messages_of(given)
    described = DESCRIBED.search(given)
    if described is None:
        raise NoDriver(f"no driver reads {given!r}")
    size = needed_amount(f"{described['size']} pieces", "pieces") * BYTES[described["unit"]]
    data = base64.b64encode(bytes(range(256)) * (size // 256 + 1)).decode()[: size * 4 // 3]
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    shown: list[Message] = [
        message
        for number in range(int(described["count"]))
        for message in (
            Message(role="user", content=[{"type": "text", "text": f"picture {number}"}, picture]),
            Message(role="assistant", content=f"I see picture {number}."),
        )
    ]
    return [{"role": "system", "content": "You are an agent."}, *shown, *turns(6)]


def _compacted(case: Case, messages: list[Message], room: int, head: int) -> dict[str, Any]:
    answer = case.input.get("summarizer_returns", ANSWER)
    at = sitting(Scribe(always(reply_of(answer))), window=room * narrow_window(messages), protect_first_n=head)
    at.hear(messages, PRICE)
    at.compact()
    sent = json.dumps(at.window, ensure_ascii=False)
    seen = "\n".join(at.prompts)
    return {
        **outlook(at, str(answer)),
        "image_parts_after_compress": sum(is_image(part) for message in at.window for part in parts_of(message)),
        "kept_text": f"{text_in(at.window)}\n{seen}",
        "contains_*": lambda word: word in sent,
        "summarizer_input_contains_base64": bool(BASE64.search(seen)) if at.prompts else "no model was asked",
        "archived_unchanged": [row.message for row in at.talk.archive.rows()] == messages,
    }

"""Messages that are handed over one by one or as a list: what of them is kept, found again, and sent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from host.conversation.conversation import Conversation
from host.messages.types import Message
from host.provider.openai_client import OpenAIProvider
from host.testing.loopback import LoopbackServer
from tests.cases.case import Case
from tests.cases.facts import Each, Facts, NoDriver
from tests.cases.house import House, index_bytes, messages_of
from tests.cases.searching import hits_of

ORDINALS = ("first", "second", "third", "fourth", "fifth")
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def one_message(case: Case, folder: Path) -> Facts:
    """A message archived, indexed, read again after a restart, found and sent to a model."""
    [message] = messages_of([case.input["message"]])
    with House(folder / "home", window=10_000_000) as house:
        empty = _index_size(house)
        position = house.talk().add(message)
        house.index()
        grown = _index_size(house) - empty
        house.close()
        kept = [row.message for row in house.talk().archive.rows()]
        return {
            "rows": len(kept),
            "row_stored": kept == [message] and position == 1,
            "stored_text_not_cut_at_first_NUL": [str(each.get("content")) for each in kept if each] == [str(message.get("content"))],
            "original_recoverable_or_marked": kept == [message],
            "fts_index_growth_bytes": grown,
            "request_body_is_valid_utf8": is_sendable(house.talk()),
            **_searched(case, house),
        }


def _searched(case: Case, house: House) -> dict[str, Any]:
    """The answer of the search that is expected, while the archive is open."""
    wanted = case.expected.get("search")
    if not isinstance(wanted, dict):
        return {}
    found = {"query": wanted.get("query"), "hits": len(hits_of(house, str(wanted.get("query"))))}
    return {"searched": found}


def _index_size(house: House) -> int:
    """After making the index where there is none yet."""
    made = house.talk("another")
    if not made.archive.range()[1]:
        made.add({"role": "user", "content": "so that there is an index"})
        house.index()
    return index_bytes(house)


def is_sendable(talk: Conversation) -> bool:
    """Whether the window goes to a model as JSON in UTF-8, without half a character in it."""
    with LoopbackServer(["Yes."]) as server:
        OpenAIProvider("a-model", base_url=server.base_url).ask([{"role": "user", "content": "Well?"}, *talk.window()])
        sent = server.requests[0].raw
    try:
        return not LONE_SURROGATE.search(json.dumps(json.loads(sent.decode()), ensure_ascii=False))
    except UnicodeDecodeError:
        return False


def many_messages(case: Case, folder: Path) -> Facts:
    """Messages one by one, and the same as one list; each then handed over again after a restart."""
    messages = messages_of(case.input["messages"])
    ways: dict[str, Callable[[Conversation], object]] = {
        "one by one": lambda talk: [talk.add(message) for message in messages],
        "as a list": lambda talk: talk.receive(messages),
    }
    as_a_list = ways["as a list"]
    return _kept({way: _rows(folder / way.replace(" ", "-"), (hand_over, as_a_list)) for way, hand_over in ways.items()})


def _rows(home: Path, verbs: Sequence[Callable[[Conversation], object]]) -> list[Message | None]:
    """What is archived after these verbs, with a restart before each."""
    with House(home, window=10_000_000) as house:
        for verb in verbs:
            verb(house.talk())
            house.close()
        return [row.message for row in house.talk().archive.rows()]


def _kept(found: dict[str, list[Message | None]]) -> Facts:
    counts = Each({way: len(kept) for way, kept in found.items()})
    return {
        "rows": counts,
        "archived": counts,
        "messages": counts,
        "contents": Each({way: [message and message.get("content") for message in kept] for way, kept in found.items()}),
    }


def delivered_twice(case: Case, folder: Path) -> Facts:
    """Rows of which some are copies for delivery (``second_has: delivery marker``) of the equal row before them."""
    rows = messages_of(case.input["rows"])
    copies = {_index(key, len(rows)) for key, mark in case.input.items() if key.endswith("_has") and _is_delivery(mark)}

    def hand_over(talk: Conversation) -> None:
        positions: list[int] = []
        for index, message in enumerate(rows):
            original = next((positions[at] for at in range(index - 1, -1, -1) if rows[at] == message), None)
            positions.append(talk.add(message, delivery_of=original if index in copies else None))

    return _kept({"with its marker": _rows(folder / "home", (hand_over,))})


def _index(key: str, count: int) -> int:
    name = key.removesuffix("_has")
    if name == "last":
        return count - 1
    if name not in ORDINALS[:count]:
        raise NoDriver(f"no driver reads {key!r} for {count} rows")
    return ORDINALS.index(name)


def _is_delivery(mark: object) -> bool:
    if "deliver" not in str(mark).lower():
        raise NoDriver(f"no driver reads the marker {mark!r}")
    return True


def tool_results(messages: list[Message], folder: Path) -> Facts:
    """The results that are archived of a history, and how many of them a model is sent."""
    with House(folder / "kept", window=10_000_000) as house:
        talk = house.talk()
        for message in messages:
            talk.add(message)
        house.close()
        archived = [row.message for row in house.talk().archive.rows() if row.message is not None]
        sent = house.talk().window()
    results = [message.get("content") for message in archived if message.get("role") == "tool"]
    return {"archived_tool_results": results, "sent_tool_results": sum(message.get("role") == "tool" for message in sent)}

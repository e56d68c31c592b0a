"""``lcm_expand``: pages that together hold every byte, and the many ways to name a message."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.messages.canonical import canonical
from host.messages.types import JSON, Message
from host.recall.answers import as_text
from host.recall.boundary import Boundary
from host.recall.fields import fields_of
from host.recall.paging import Beginning, Opening
from host.recall.recall import Recall
from host.store.memory import MemoryStore
from host.testing.messages import assistant, call, result, user
from host.tokens.estimate import estimate_text

STEP = re.compile(r"\.?([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]|\[(?=\")")
PNG = "data:image/png;base64," + "iVBORw0KGgo" * 100


class Desk:
    """A store with one conversation and its tools."""

    def __init__(self, *messages: Message, boundary: Boundary | None = None) -> None:
        self.store = MemoryStore()
        self.id = self.store.sessions.create(title="desk").conversation
        self.archive = self.store.archive(self.id)
        self.archive.extend(messages)
        self.recall = Recall(self.store, boundary or Boundary(conversation=self.id), count=estimate_text)

    def page(self, **arguments: object) -> JSON:
        """An answer that is no error, within its bound."""
        answer = self.recall.call("lcm_expand", arguments)
        assert not answer.is_error, answer.text
        assert answer.text.encode("utf-8")
        bound = arguments.get("max_tokens", 2_000)
        assert isinstance(bound, int)
        assert estimate_text(answer.text) <= max(bound, 300)
        told: JSON = json.loads(answer.text)
        return told

    def pages(self, **arguments: object) -> list[JSON]:
        """All pages, each asked for with what the one before says."""
        found = [self.page(**arguments)]
        while not found[-1]["complete"]:
            found.append(self.page(**found[-1]["next"]))
        return found

    def refused(self, arguments: object) -> JSON:
        """The error for arguments that have no meaning."""
        answer = self.recall.call("lcm_expand", arguments)
        assert answer.is_error
        error: JSON = json.loads(answer.text)["error"]
        return error


def joined(pages: list[JSON]) -> list[Message]:
    """The messages that the pages hold, put together again as an agent could."""
    found: dict[str, JSON] = {}
    for told in (told for page in pages for told in page["messages"]):
        message = found.setdefault(told["message"], {"role": told["role"], "pieces": {}})
        for piece in told["fields"]:
            key = "text" if "text" in piece else "json"
            before = message["pieces"].get(piece["field"], ("", key))[0]
            assert piece.get("characters", [0, 0])[0] == len(before)
            message["pieces"][piece["field"]] = (before + piece[key], key)
    return [rebuilt(each["role"], each["pieces"]) for each in found.values()]


def rebuilt(role: str, pieces: dict[str, tuple[str, str]]) -> Message:
    """A message from its fields by their names."""
    message: Any = {} if any(name in ("role", "") for name in pieces) else {"role": role}
    for name, (text, key) in pieces.items():
        value = text if key == "text" else json.loads(text)
        message = placed(message, steps(name), value)
    return message  # type: ignore[no-any-return]


def steps(name: str) -> list[str | int]:
    """The keys and indices in the name of a field."""
    found: list[str | int] = []
    at = 0
    while at < len(name):
        match = STEP.match(name, at)
        assert match, name[at:]
        at = match.end()
        if match[0] == "[":
            key, end = json.JSONDecoder().raw_decode(name, at)
            found.append(key)
            at = end + 1
        else:
            found.append(int(match[2]) if match[2] else match[1])
    return found


def placed(holder: Any, path: list[str | int], value: object) -> Any:
    """The holder with a value at a path."""
    if not path:
        return value
    first, *rest = path
    holder = ([] if isinstance(first, int) else {}) if holder is None else holder
    if isinstance(holder, list):
        assert isinstance(first, int)
        inner = holder[first] if first < len(holder) else None
        return [*holder[:first], placed(inner, rest, value), *holder[first + 1 :]]
    return {**holder, first: placed(holder.get(first), rest, value)}


odd_text = st.text(st.characters(exclude_categories=()), max_size=40) | st.sampled_from(
    ["\ud800", "\udc00\ud800", "a\x00b", "👩‍👩‍👧", '"\\"', "\ud83d\ude00 as two halves", " " * 3_000, "日本語" * 900, "x" * 20_000, PNG]
)
keys = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(["a.b", 'q"]', "text", "k" * 300, "\ud800"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | odd_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
messages = st.builds(
    lambda role, content, rest: {"role": role, "content": content, **rest},
    st.sampled_from(["user", "assistant", "tool"]),
    values,
    st.dictionaries(keys, values, max_size=3),
)


@given(st.lists(messages, min_size=1, max_size=3), st.sampled_from([300, 700, 8_000]))
@settings(max_examples=60)
def test_the_pages_put_together_are_the_messages_to_the_byte(said: list[Message], budget: int) -> None:
    desk = Desk(*said)
    pages = desk.pages(message=f"{desk.id}:1", until=len(said), max_tokens=budget, raw=True)
    assert [canonical(message) for message in joined(pages)] == [canonical(message) for message in said]


@given(messages, st.integers(min_value=-5, max_value=60))
@settings(max_examples=60)
def test_every_page_gets_further_whatever_the_budget(message: Message, budget: int) -> None:
    small = {key: value[:50] if isinstance(value, str) else value for key, value in message.items()}
    desk = Desk(small)  # type: ignore[arg-type]
    place: Beginning | None = Beginning(1)
    seen: list[Beginning] = []
    while place is not None and len(seen) < 200:
        seen.append(place)
        following = Opening(budget, estimate_text, raw=True).fill(desk.archive.rows(place.position), place)
        assert following is None or (following.position, following.field, following.character) > (
            place.position,
            place.field,
            place.character,
        )
        place = following


def test_a_message_of_megabytes_is_opened_to_its_last_character() -> None:
    text = "".join(f"line {number} of the log\n" for number in range(100_000)) + "the end\x00"
    desk = Desk(result("call_1", text))
    first = desk.page(message=f"{desk.id}:1", max_tokens=8_000)
    piece = first["messages"][0]["fields"][-1]
    assert text.startswith(piece["text"])
    assert piece["of"] == len(text)
    near_the_end = f"{desk.id}:1-1@1.1.{len(text) - 20}"
    last = desk.page(cursor=near_the_end)
    assert last["complete"]
    assert last["messages"][0]["fields"][0]["text"] == text[-20:]


def test_a_call_is_shown_by_its_fields_in_order() -> None:
    desk = Desk(user("go"), assistant(None, [call("c1", "read_file", '{"path": "a.py"}')]))
    (told,) = desk.page(message=f"{desk.id}:2")["messages"]
    assert [field["field"] for field in told["fields"]] == [
        "content",
        "tool_calls[0].id",
        "tool_calls[0].type",
        "tool_calls[0].function.name",
        "tool_calls[0].function.arguments",
    ]
    assert told["fields"][0] == {"field": "content", "json": "null"}
    assert told["fields"][4]["text"] == '{"path": "a.py"}'


def test_neighbours_lead_through_a_conversation() -> None:
    desk = Desk(*map(user, "abc"))
    assert desk.page(message=f"{desk.id}:2") | {"messages": []} == {
        "messages": [],
        "complete": True,
        "before": f"{desk.id}:1",
        "after": f"{desk.id}:3",
    }
    assert "before" not in desk.page(message=f"{desk.id}:1", until=3)


def test_encoded_data_is_described_unless_it_is_asked_for() -> None:
    image: Message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PNG}}]}
    source: Message = {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": "A" * 4_000}}]}
    desk = Desk(image, source)
    told = desk.page(message=f"{desk.id}:1", until=2)
    described = [field["left_out"] for message in told["messages"] for field in message["fields"] if "left_out" in field]
    assert described == ["image/png, base64, about 825 bytes (1,122 characters)", "data, base64, about 3,000 bytes (4,000 characters)"]
    assert any("raw" in notice for notice in told["notices"])
    assert joined(desk.pages(message=f"{desk.id}:1", until=2, raw="true")) == [image, source]


def test_erased_and_older_messages_are_named_as_such() -> None:
    desk = Desk(user("the password is kumquat"), user("port 80"))
    desk.archive.append(user("port 8080"), replaces=2)
    desk.archive.forget(1)
    told = desk.page(message=f"{desk.id}:1-3")["messages"]
    assert "erased" in told[0]
    assert "fields" not in told[0]
    assert (told[1]["newest"], told[1]["fields"][0]["text"]) == (f"{desk.id}:3", "port 80")
    assert "superseded" not in told[2]


@pytest.mark.parametrize(
    "written",
    [
        "{id}:2",
        "`{id}:2`",
        '"{id}:2".',
        "message: {id}:2",
        "[LCM message: {id}:2 | user | 40KB]",
        "{id}:2-2",
        "{id}:2 ",
        '{{"message": "{id}:2", "time": "2026-11-30T16:00:00Z"}}',
        "2",
        "#2",
        "desk",
    ],
)
def test_a_reference_is_read_in_any_decoration(written: str) -> None:
    desk = Desk(*map(user, "abc"))
    if written == "desk":
        assert "1 to 3" in desk.refused({"message": written})["expected"]
        return
    told = desk.page(message=written.format(id=desk.id))
    assert [message["message"] for message in told["messages"]] == [f"{desk.id}:2"]


@pytest.mark.parametrize("wrapped", [lambda hit: hit["open"], lambda hit: {"message": hit}, lambda hit: hit])
def test_a_whole_hit_can_be_handed_over(wrapped: Any) -> None:
    desk = Desk(user("alpha"), user("beta"))
    answer = desk.recall.call("lcm_grep", {"query": "beta"})
    told = json.loads(desk.recall.call("lcm_expand", wrapped(json.loads(answer.text)["hits"][0])).text)
    assert told["messages"][0]["fields"] == [{"field": "content", "text": "beta"}]


@pytest.mark.parametrize(
    ("arguments", "where", "says"),
    [
        ({"message": "ID:9"}, "message", "1 to 3"),
        ({"message": "ID:0"}, "message", "1 to 3"),
        ({"message": "ID:" + "9" * 60}, "message", "1 to 3"),
        ({"message": "elsewhere:1"}, "message", "session"),
        ({"cursor": "ID:1-2"}, "cursor", "unchanged"),
        ({"cursor": "elsewhere:1-2@1.0.0"}, "cursor", "session"),
        ({"msg": "ID:1"}, "msg", "'message'"),
        ({"message": "ID:1", "max_tokens": "lots"}, "max_tokens", "whole number"),
        ({"message": "ID:1", "raw": "perhaps"}, "raw", "true or false"),
        ({"message": "ID:1", "until": "later"}, "until", "position"),
        ({}, "message", "SESSION:POSITION"),
    ],
)
def test_what_cannot_be_opened_is_refused_with_what_would_do(arguments: dict[str, str], where: str, says: str) -> None:
    desk = Desk(*map(user, "abc"))
    error = desk.refused({key: value.replace("ID", desk.id) for key, value in arguments.items()})
    assert error["where"] == where
    assert says in error["expected"]


def test_fields_under_long_keys_and_in_deep_nests_keep_short_names() -> None:
    deep: Any = "bottom"
    for _ in range(300):
        deep = {"down": deep}
    message: Any = {"role": "user", "content": deep, "k" * 500: 1}
    assert all(len(field.name) <= 200 for field in fields_of(message, "user"))
    assert len(as_text([field.whole() for field in fields_of(message, "user")])) < 20_000


@pytest.mark.parametrize(
    ("named", "opened", "said"),
    [
        ("{}:3-1", [1, 2, 3], ["3 to 1 was read as 1 to 3"]),
        ("{}:1-2,3", [1, 2], ["',3' behind the position"]),
        ("{0}:1 and {0}:3", [1], ["'and "]),
        ("{}:2-", [2], ["'-' behind the position"]),
        ("{}:1.5", [1], ["'.5' behind the position"]),
        ("{}:2-9", [2, 3], ["the last position is 3"]),
        ("{}#2", [2], []),
        ("{}%3A2", [2], []),
        ("{}: 2", [2], []),
    ],
)
def test_what_was_not_opened_as_it_was_written_is_said(named: str, opened: list[int], said: list[str]) -> None:
    desk = Desk(*(user(text) for text in ("one", "two", "three")))
    page = desk.page(message=named.format(desk.id))
    assert [told["message"] for told in page["messages"]] == [f"{desk.id}:{position}" for position in opened]
    assert len(page.get("notices", [])) == len(said)
    assert all(begins in notice for begins, notice in zip(said, page.get("notices", []), strict=True))


def test_an_id_in_capitals_is_the_id() -> None:
    desk = Desk(user("one"))
    assert desk.page(message=f"{desk.id.upper()}:1")["messages"][0]["message"] == f"{desk.id}:1"


@pytest.mark.parametrize(
    "cursor", ["1-2@3.0.0", "1-3@1.0.0", "0-1@0.0.0", "2-1@2.0.0", "1-1@2.0.0", "2-2@1.0.0", "1-2@1.1.0", "1-2@1.0.4", "1-2@2.9.9"]
)
def test_a_cursor_that_points_to_where_nothing_is_is_refused(cursor: str) -> None:
    desk = Desk(user("one"), user("two"))
    assert desk.refused({"cursor": f"{desk.id}:{cursor}"})["where"] == "cursor"


def test_a_page_on_which_much_is_to_be_noted_keeps_its_bound() -> None:
    blocks: list[JSON] = [{"type": "text", "text": "猫 " * 3_000}, {"type": "image_url", "image_url": {"url": PNG}}]
    desk = Desk(user("one"), {"role": "user", "content": blocks})
    for _ in range(2):
        page = desk.page(message=f"{desk.id}:2-1, {'7' * 38}", until=10**30, max_tokens=300)
        assert len(page["notices"]) >= 2

"""A window refused for its pictures goes out with smaller ones, and stays so; the archive keeps what came in."""

from __future__ import annotations

import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from typing import cast

import pytest
from PIL import Image

from host.conversation.conversation import Conversation
from host.messages.ledger import Kind
from host.messages.types import Message, Part
from host.messages.violations import violations
from host.provider.errors import BadRequest, Service
from host.provider.images import picture_in
from host.store.memory import MemoryStore
from host.store.protocols import Store
from host.store.sqlite.store import SqliteStore
from host.testing.messages import assistant, call, system, user
from tests.desk import Desk, fed, long_session

SERVICE = Service("m", "")
TOO_MANY_PIXELS = BadRequest(SERVICE, "image dimensions exceed max allowed size: 600 pixels", status=400)
STILL_TOO_MANY = BadRequest(SERVICE, "image dimensions exceed max allowed size: 512 pixels", status=400)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    opened = SqliteStore(tmp_path / "archive.db", durability="normal")
    yield opened
    opened.close()


def screen(width: int = 1_000, height: int = 400) -> Part:
    written = BytesIO()
    Image.new("RGB", (width, height), "teal").save(written, "PNG")
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(written.getvalue()).decode()}"}}


def shown(*parts: Part, role: str = "user", **more: str) -> Message:
    return cast(Message, {"role": role, **more, "content": [{"type": "text", "text": "look"}, *parts]})


def talk_of(*pictures: Part) -> list[Message]:
    """A picture of a tool, then those in the newest request."""
    return [
        system("Be an agent."),
        user("take a screenshot"),
        assistant(None, [call("s1", "browser_vision")]),
        shown(screen(), role="tool", tool_call_id="s1"),
        assistant("Here it is."),
        shown(*pictures),
    ]


def sizes(messages: list[Message]) -> list[tuple[int, int]]:
    """Width and height of every picture."""
    parts = [part for message in messages if isinstance(message["content"], list) for part in message["content"]]
    pictures = [picture for part in parts if (picture := picture_in(part))]
    return [Image.open(BytesIO(b64decode(picture.data))).size for picture in pictures]


def archived(talk: Conversation) -> list[Message]:
    return talk.archive.read(*talk.archive.range())


def test_the_window_goes_out_with_smaller_pictures_and_the_archive_keeps_the_large_ones(store: Store) -> None:
    desk, messages = Desk(store), talk_of(screen())
    before = deepcopy(messages)
    talk = fed(desk.open(), messages)
    first = talk.window()
    answer = talk.refused(TOO_MANY_PIXELS)
    assert answer and "2 images were made smaller" in answer.why
    second = talk.window()
    assert sizes(second) == [(500, 200), (500, 200)]
    assert [new is old for new, old in zip(second, first, strict=True)] == [True, True, True, False, True, False]
    assert violations(second) == []
    assert archived(talk) == before == messages
    kinds = [entry.kind for entry in talk.view.ledger]
    assert [index for index, kind in enumerate(kinds) if kind is Kind.DIGEST] == [3, 5]
    assert [entry.row for entry in talk.view.ledger] == [1, 2, 3, 4, 5, 6]


def test_they_stay_small_after_a_restart_and_the_conversation_goes_on(store: Store) -> None:
    desk = Desk(store)
    talk = fed(desk.open(), talk_of(screen()))
    talk.window()
    assert talk.refused(TOO_MANY_PIXELS)
    small = talk.window()
    again = desk.open()
    assert again.window() == small
    assert again.add(assistant("Seen.")) == 7
    assert again.view.messages[-1] == assistant("Seen.")
    assert desk.warnings == []


def test_a_second_refusal_is_followed_only_if_it_asks_for_less(store: Store) -> None:
    talk = fed(Desk(store).open(), talk_of(screen(2_200, 880)))
    talk.window()
    assert talk.refused(TOO_MANY_PIXELS)
    again = talk.refused(TOO_MANY_PIXELS)
    assert not again and "all are within the limits" in again.why
    assert talk.refused(STILL_TOO_MANY)
    assert sizes(talk.window()) == [(500, 200), (275, 110)]
    assert not talk.refused(STILL_TOO_MANY)


def test_one_that_cannot_be_made_smaller_is_named_and_nothing_changes(store: Store) -> None:
    talk = fed(Desk(store).open(), talk_of(screen(), screen(9_000, 10)))
    before = talk.window()
    answer = talk.refused(TOO_MANY_PIXELS)
    assert not answer
    assert "part 3 of message 6: 9,000 x 10 pixels" in answer.why
    assert all(new is old for new, old in zip(talk.window(), before, strict=True))
    assert talk.view.version == 0


def test_without_pillow_the_extra_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = fed(Desk(store).open(), talk_of(screen()))
    talk.window()
    monkeypatch.setitem(sys.modules, "PIL", None)
    answer = talk.refused(TOO_MANY_PIXELS)
    assert not answer
    assert "pip install ctxhost[images]" in answer.why


def test_the_newest_request_stays_the_newest_request_over_a_compaction(store: Store) -> None:
    desk = Desk(store)
    messages = [*long_session(), shown(screen(), role="user")]
    talk = fed(desk.open(), messages)
    talk.window()
    assert talk.refused(TOO_MANY_PIXELS)
    small = talk.view.messages[-1]
    talk.add(assistant("It is teal."))
    outcome = talk.compact()
    assert outcome.refused is None
    window = talk.window()
    assert window[-2:] == [small, assistant("It is teal.")]
    assert violations(window) == []


def test_a_caller_who_still_holds_the_large_pictures_adds_nothing(store: Store) -> None:
    messages = talk_of(screen())
    talk = Desk(store).open()
    talk.receive(messages)
    talk.window()
    assert talk.refused(TOO_MANY_PIXELS)
    received = talk.receive([*deepcopy(messages), assistant("Seen.")])
    assert (received.added, received.versions, received.rewound) == (1, 0, 0)
    assert sizes(talk.window()) == [(500, 200), (500, 200)]
    assert len(archived(talk)) == 7


def test_a_caller_who_takes_the_newest_request_back_takes_its_picture_back_too(store: Store) -> None:
    messages = talk_of(screen())
    talk = Desk(store).open()
    talk.receive(messages)
    talk.window()
    assert talk.refused(TOO_MANY_PIXELS)
    talk.receive([*messages[:-1], user("never mind")])
    assert talk.window()[-1] == user("never mind")
    assert sizes(talk.window()) == [(500, 200)]


def test_another_refusal_is_no_matter_of_pictures(store: Store) -> None:
    talk = fed(Desk(store).open(), talk_of(screen()))
    talk.window()
    answer = talk.refused(BadRequest(SERVICE, "unsupported parameter", status=400))
    assert not answer and "not about the length" in answer.why

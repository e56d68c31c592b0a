"""A pinned message whose picture a model refuses as too large: the smaller form is the pin's, and no compaction is lost by it."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest
from PIL import Image

from host.conversation.conversation import Conversation
from host.conversation.picturing import is_same_but_for_images
from host.conversation.retrying import GiveUp, Retry
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.pipeline.settle import Settled, settle
from host.provider.images import picture_in
from host.store.memory import MemoryStore
from host.store.sqlite.store import SqliteStore
from host.store.undoing import would_undo
from host.store.values import IMAGES
from host.testing.messages import assistant, chat, system, user
from host.transforms.handoff import handoff_text
from tests.desk import Desk, fed
from tests.engines_for_tests import CharCount, Scripted

SEEN = assistant("seen")


class TooLarge(Exception):
    """What a provider says of a picture with more than 1,000 pixels on a side."""

    def __init__(self) -> None:
        super().__init__("Error code: 400")
        self.status_code = 400
        self.body = {"error": {"message": "messages.1.content.1.image: image dimensions exceed max allowed size: 1000 pixels"}}


@pytest.fixture(params=["sqlite", "memory"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    store: Any = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "home" / "archive.db", durability="normal")
    yield Desk(store)
    store.close()


def shows(width: int, height: int, words: str = "look") -> Message:
    written = BytesIO()
    Image.new("RGB", (width, height)).save(written, "PNG")
    url = f"data:image/png;base64,{b64encode(written.getvalue()).decode()}"
    return {"role": "user", "content": [{"type": "text", "text": words}, {"type": "image_url", "image_url": {"url": url}}]}


def width_in(message: Message) -> int:
    picture = picture_in(cast(Any, message["content"])[1])
    assert picture is not None
    return Image.open(BytesIO(b64decode(picture.data))).width


def pinned_and_refused(desk: Desk, engine: Scripted | None = None) -> Conversation:
    """A conversation whose pinned picture was refused once."""
    talk = fed(desk.open(engine), [system("S"), shows(1_200, 400), SEEN, *chat(30, chars=900)])
    talk.pin(2)
    assert isinstance(talk.refused(TooLarge()), Retry)
    return talk


def test_the_smaller_form_is_the_pinned_message_in_the_window_and_for_the_engine(desk: Desk) -> None:
    given: list[list[tuple[bool, int]]] = []

    def compacts(messages: list[Message]) -> list[Message]:
        given.append([(any(pin is message for message in messages), width_in(pin)) for pin in talk.services.pins])
        return [messages[0], user(handoff_text("notes")), *messages[-3:]]

    talk = pinned_and_refused(desk, Scripted(compacts))
    (pin,) = talk.pins()
    assert pin.in_window and [(entry.kind, entry.row) for entry in talk.view.ledger[1:2]] == [(Kind.DIGEST, 2)]
    smaller = talk.view.ledger[1].message
    for _ in range(2):
        outcome = talk.compact()
        assert outcome.refused is None, outcome
        assert any(message is smaller for message in talk.view.messages) and width_in(smaller) <= 1_000
        assert talk.pins()[0].in_window
        fed(talk, chat(10, chars=900))
    assert given == [[(True, 600)], [(True, 600)]]


def test_a_pin_that_an_engine_kept_in_its_smaller_form_is_no_repair() -> None:
    said = [system("S"), shows(600, 200), *chat(8, chars=900)]
    before = Ledger(Entry(message, row, Kind.DIGEST if row == 2 else Kind.ORIGINAL) for row, message in enumerate(said, 1))
    for returned in ([*said[:2], *said[-3:]], deepcopy([*said[:2], *said[-3:]])):
        outcome = settle(before, returned, count=CharCount().messages, pins=[before[1]])
        assert isinstance(outcome, Settled) and outcome.receipt.repairs == () and outcome.messages[1] is said[1]


def test_what_was_made_smaller_is_never_refused_again_also_after_a_restart(desk: Desk) -> None:
    talk = pinned_and_refused(desk)
    talk.compact()
    for shown in (talk, desk.open()):
        assert [width_in(entry.message) for entry in shown.view.ledger if entry.row == 2] == [600]
        assert shown.pins()[0].in_window
    again = talk.refused(TooLarge())
    assert isinstance(again, GiveUp) and "all are within the limits" in again.why
    assert talk.archive.read(2, 2) == [shows(1_200, 400)]


def test_an_undo_takes_back_the_compaction_and_not_the_smaller_pictures(desk: Desk) -> None:
    talk = fed(desk.open(), [system("S"), *chat(30, chars=900), shows(1_200, 400), SEEN, user("go on")])
    assert talk.compact().refused is None
    assert isinstance(talk.refused(TooLarge()), Retry)
    views = desk.store.views(desk.kept.conversation)
    assert [version.trigger for version in views.history()] == ["manual", IMAGES]
    assert would_undo(views.history()).undone.version == 1
    assert views.undo(expected=2).undoes == 1 and len(desk.open().view.messages) == 34


@pytest.mark.parametrize(
    ("shown", "is_form"),
    [
        (shows(600, 200), True),
        (shows(1_200, 400), True),
        (shows(600, 200, "look here"), False),
        (user("look"), False),
        ({**shows(600, 200), "role": "assistant"}, False),
        ({**shows(600, 200), "content": [{"type": "text", "text": "look"}, {"type": "text", "text": "[a picture]"}]}, False),
    ],
)
def test_only_pictures_may_differ(shown: Message, is_form: bool) -> None:
    assert is_same_but_for_images(shown, shows(1_200, 400)) is is_form

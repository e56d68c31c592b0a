"""A compaction by hand: the last exchanges stay, and a preview changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from host.conversation.conversation import Conversation
from host.conversation.manual import CompressArguments, parse_compress_arguments, too_few
from host.engine.idle import Reason
from host.errors import UsageError
from host.messages.ledger import Kind
from host.messages.types import Message
from host.messages.violations import violations
from host.store.memory import MemoryStore
from host.store.sqlite.store import SqliteStore
from host.testing.engines import services
from host.testing.messages import assistant, call, chat, result, system, user
from host.transforms.handoff import handoff_text, is_handoff
from tests.desk import WINDOW, Desk, fed
from tests.engines_for_tests import Scripted

SESSION = [system("You are an agent."), *chat(40, chars=900)]


@pytest.fixture(params=["sqlite", "memory"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    store: Any = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "home" / "archive.db", durability="normal")
    yield Desk(store)
    store.close()


def handoffs(talk: Conversation) -> int:
    return sum(map(is_handoff, talk.view.messages))


def last_rows(talk: Conversation, count: int) -> list[tuple[Kind, int | None]]:
    return [(entry.kind, entry.row) for entry in talk.view.ledger[-count:]]


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("keep", [1, 2, 7])
def test_the_last_exchanges_stay_as_they_are_in_both_modes_and_after_a_restart(desk: Desk, in_place: bool, keep: int) -> None:
    talk = fed(desk.open(shelf=desk.shelf(in_place=in_place)), SESSION)
    outcome = talk.compact(keep=keep)
    assert outcome.refused is None and outcome.after < outcome.before
    kept = SESSION[-2 * keep :]
    assert all(now is then for now, then in zip(list(talk.view.messages)[-2 * keep + 1 :], kept[1:], strict=True))
    rows = [(Kind.ORIGINAL, row) for row in range(42 - 2 * keep, 42)]
    assert last_rows(talk, 2 * keep) == rows and last_rows(desk.open(), 2 * keep) == rows
    assert handoffs(talk) == 1 and violations(list(talk.view.messages)) == []


def test_more_goes_when_less_is_kept_and_there_is_one_handoff_after_many_compactions(desk: Desk) -> None:
    talk, sizes = fed(desk.open(), SESSION), []
    for keep in (9, 6, 3, 1):
        talk.compact(keep=keep)
        sizes.append(talk.estimate())
        assert handoffs(talk) == 1 and violations(list(talk.view.messages)) == []
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] < sizes[0]


def test_where_nothing_stands_before_what_is_kept_all_is_compacted(desk: Desk) -> None:
    talk = fed(desk.open(), SESSION[1:])
    assert talk.compact(keep=100).refused is None
    assert len(talk.view.messages) < 40


def test_where_the_kept_exchanges_hold_the_summary_there_will_be_no_second_one(desk: Desk) -> None:
    engine = Scripted(lambda messages: [messages[0], messages[5], assistant(handoff_text("notes")), *messages[6:]])
    work = [assistant(None, [call("z", "look")]), result("z", "seen"), assistant("so far")]
    talk = fed(desk.open(engine), [system("S"), *chat(4, chars=900), user("do it"), *work])
    assert talk.compact().refused is None
    again = talk.compact(keep=1)
    assert (again.reason, handoffs(talk), engine.calls) == (Reason.NOTHING_TO_COMPRESS, 1, 1)


def test_a_part_that_a_summary_would_not_make_shorter_is_left_and_no_engine_is_to_blame(desk: Desk) -> None:
    talk = fed(desk.open(), [system("S"), *chat(20, chars=60)])
    assert talk.compact(keep=5).reason is Reason.NOTHING_TO_COMPRESS
    assert desk.warnings == []


@pytest.mark.parametrize(
    "last",
    [user("made up"), user(handoff_text("notes")), assistant("made up"), assistant(handoff_text("notes"))],
    ids=["user", "user handoff", "assistant", "assistant handoff"],
)
def test_whatever_an_engine_ends_its_part_with_no_message_of_the_user_is_changed(desk: Desk, last: Message) -> None:
    talk = fed(desk.open(Scripted(lambda messages: [messages[0], last])), SESSION)
    assert talk.compact(keep=2).refused is None
    assert last_rows(talk, 4) == [(Kind.ORIGINAL, row) for row in range(38, 42)]
    window = list(talk.view.messages)
    assert violations(window) == [] and window[-3:] == SESSION[-3:]
    assert str(window[-4]["content"]).endswith(str(SESSION[-4]["content"]))


@pytest.mark.parametrize("keep", [0, -1, True, 1.5, "2"])
def test_what_is_no_number_of_exchanges_is_refused(keep: Any) -> None:
    talk = fed(Desk(MemoryStore()).open(), SESSION)
    with pytest.raises(UsageError, match="exchanges"):
        talk.compact(keep=keep)


def state_of(desk: Desk, talk: Conversation) -> list[Any]:
    """All that a preview might change."""
    engine = talk.engine
    stored = desk.store.state(desk.kept.conversation, engine.name).load(), desk.store.views(desk.kept.conversation).version()
    shown = talk.view.ledger.rows(), talk.view.version, talk.idle, talk.estimate(), list(desk.warnings)
    return [dict(vars(engine)), stored, shown, deepcopy(talk.shelf.state.pending), talk.services.pins]


@pytest.mark.parametrize("keep", [None, 3])
def test_a_preview_changes_nothing_and_says_what_the_compaction_then_does(desk: Desk, keep: int | None) -> None:
    talk = fed(desk.open(), SESSION)
    before, window = state_of(desk, talk), talk.view.messages
    preview = talk.preview("trains", keep=keep)
    assert state_of(desk, talk) == before
    assert all(now is then for now, then in zip(talk.view.messages, window, strict=True))
    outcome = talk.compact("trains", keep=keep)
    assert (preview.before, preview.after) == (outcome.before, outcome.after)
    assert (preview.messages_before, preview.messages_after) == (outcome.messages_before, outcome.messages_after)
    assert (preview.given, preview.kept) == ((41, 0) if keep is None else (35, 6))
    assert preview.draft and any(preview.draft in str(message.get("content")) for message in talk.view.messages)
    gone = {entry.row for entry in preview.leaving}
    assert gone and not gone & {entry.row for entry in talk.view.ledger if entry.kind is Kind.ORIGINAL and entry.row != 1}


class Hoarder(Scripted):
    """Keeps what it saw in attributes and in its document, and fails the second time."""

    def __init__(self) -> None:
        super().__init__(self.shorter)
        self.seen: list[int] = []
        self.notes: dict[str, list[int]] = {"sizes": []}
        self.services = services(WINDOW)

    def shorter(self, messages: list[Message]) -> list[Message]:
        self.seen.append(len(messages))
        self.notes["sizes"].append(len(messages))
        self.compression_count += 1
        self.services.state.save({"seen": self.seen})
        if len(self.seen) > 1:
            raise RuntimeError("full")
        return [*messages[:1], *messages[-2:]]


def test_an_engine_that_collects_has_nothing_left_of_a_preview_and_one_that_fails_is_not_told() -> None:
    desk, engine = Desk(MemoryStore()), Hoarder()
    talk = fed(desk.open(engine), SESSION)
    for _ in range(4):
        assert talk.preview().idle is None
    assert (engine.seen, engine.notes, engine.compression_count, engine.calls) == ([], {"sizes": []}, 0, 0)
    assert engine.services.state.load() == {} and desk.warnings == []
    talk.compact()
    for _ in range(4):
        failing = talk.preview()
        assert failing.idle is not None and failing.idle.reason is Reason.NOT_FOLLOWED and failing.leaving == ()
    assert not any("full" in warning for warning in desk.warnings)


def test_a_preview_takes_no_lease(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "archive.db", durability="normal")
    desk = Desk(store)
    talk = fed(desk.open(), SESSION)
    assert store.leases.acquire(desk.kept.conversation, "another", 300)
    assert talk.preview().idle is None
    assert talk.compact().reason is Reason.NOT_NOW
    store.close()


def test_neither_is_done_while_calls_wait() -> None:
    talk = fed(Desk(MemoryStore()).open(), [*SESSION, user("go"), assistant(None, [call("a", "look")])])
    for verb in (talk.compact, talk.preview):
        with pytest.raises(UsageError, match="wait"):
            verb(keep=2)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("  ", CompressArguments()),
        ("here 3 the auth flow", CompressArguments("the auth flow", 3)),
        ("Up To Here", CompressArguments(None, 2)),
        ("--keep=0", CompressArguments(None, 1)),
        ("-k 900 --dry-run", CompressArguments(None, 100, preview=True)),
        ("--keep 4 schema", CompressArguments("schema", 4)),
        ("--keep", CompressArguments(None, 2)),
        ("here is the plan", CompressArguments("here is the plan")),
        ("here2", CompressArguments("here2")),
        ("--keeper", CompressArguments("--keeper")),
        ("--aggressive --preview auth", CompressArguments("auth", None, preview=True, aggressive=True)),
        ("数据库 表", CompressArguments("数据库 表")),
    ],
)
def test_what_is_said_behind_the_command(text: str, wanted: CompressArguments) -> None:
    assert parse_compress_arguments(text) == wanted


def test_three_messages_are_too_few() -> None:
    assert too_few(3) is not None and too_few(4) is None

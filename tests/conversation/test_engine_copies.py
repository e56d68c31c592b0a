"""An engine gets copies unless it promises to leave its input alone; what it gives back of them unchanged is the message itself."""

from __future__ import annotations

from host.messages.ledger import Kind
from host.messages.types import Message
from host.store.memory import MemoryStore
from host.testing.messages import assistant, chat, system, user
from host.transforms.handoff import handoff_text, is_handoff
from tests.desk import Desk, fed
from tests.engines_for_tests import Scripted

SESSION = [system("S"), *chat(20, chars=300), user("go on")]


def mutates(messages: list[Message]) -> list[Message]:
    for message in messages:
        message["content"] = "MUTATED"
    return [messages[0], *messages[-5:]]


def test_an_engine_that_writes_into_what_it_got_changes_neither_prompt_nor_request() -> None:
    talk = fed(Desk(MemoryStore()).open(Scripted(mutates)), SESSION)
    talk.compact()
    window = talk.view.messages
    assert window[0] is SESSION[0] and window[-1]["content"].endswith("go on")  # type: ignore[union-attr]
    assert SESSION[3]["content"] != "MUTATED"


def same_words(messages: list[Message]) -> list[Message]:
    return [messages[0], user(handoff_text("notes")), *messages[-4:]]


def keeps_the_summary(messages: list[Message]) -> list[Message]:
    return [messages[0], *[m for m in messages if is_handoff(m)], *messages[-4:]]


def test_the_same_words_written_anew_cover_what_left_and_a_summary_that_is_kept_does_not() -> None:
    desk = Desk(MemoryStore())
    engine = Scripted(same_words)
    talk = fed(desk.open(engine), SESSION)
    for seed in range(3):
        talk.compact()
        assert talk.view.receipt is not None and talk.view.receipt.lost == ()
        fed(talk, [assistant(f"done {seed}"), *chat(9, chars=300 + seed), assistant("ok"), user("next")])
    assert not [warning for warning in desk.warnings if "without a summary" in warning]
    engine.returns = keeps_the_summary
    talk.compact()
    assert talk.view.receipt is not None and sum(map(len, talk.view.receipt.lost)) > 5


def test_all_of_the_window_back_to_front_loses_nothing() -> None:
    desk = Desk(MemoryStore())
    talk = fed(desk.open(Scripted(lambda messages: [*reversed(messages[:-1]), messages[-1]])), SESSION)
    talk.compact()
    assert talk.view.messages[0] is SESSION[0]
    assert all(entry.kind is Kind.ORIGINAL for entry in talk.view.ledger) and desk.warnings == []


def test_an_edited_message_stays_in_its_place_under_an_engine_that_moves_nothing() -> None:
    talk = fed(Desk(MemoryStore()).open(Scripted(lambda messages: [*messages[:1], *messages[3:]])), SESSION)
    told = [*SESSION[:6], {**SESSION[6], "content": "edited"}, *SESSION[7:]]
    talk.receive(told)  # type: ignore[arg-type]
    talk.compact()
    assert [message["content"] for message in talk.view.messages] == [message["content"] for message in (told[0], *told[3:])]

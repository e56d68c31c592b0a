"""Inbound messages: whose conversation they belong to, one turn at a time, nothing doubled, and what the user is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from host.conversation.conversation import Conversation
from host.conversation.shelf import Shelf
from host.engine.idle import Reason
from host.engine.outcome import Outcome
from host.engine.report import Report
from host.errors import UsageError
from host.gateway.deliveries import expected, named
from host.gateway.gateway import Gateway
from host.gateway.inbound import Inbound, Origin, Outbound
from host.gateway.notices import BUSY, CUT, TAKEN
from host.gateway.residents import Resident, Tell
from host.gateway.turns import Turns
from host.loop.agent import Agent
from host.loop.events import Compacted, Event, Warned
from host.loop.models import AgentModel, Models
from host.loop.toolbox import Toolbox
from host.messages.reading import text_of
from host.messages.types import Message, Reply
from host.provider.errors import ServerFailed, Service
from host.provider.provider import Delta
from host.store.care import Forget
from host.store.memory import MemoryStore
from host.store.sqlite.store import SqliteStore
from host.store.values import Session
from host.testing.engines import services
from host.testing.messages import tool_session
from tests.engines_for_tests import compressor

WINDOW = 8_000
ANNA = Origin("telegram", "42", user="anna")
NOW = datetime.now(UTC)


@dataclass
class Model:
    """Answers with what it was asked last; does to the request what ``before`` does."""

    before: Callable[[list[Message]], object] = lambda messages: None
    asked: list[list[Message]] = field(default_factory=list)

    def ask(self, messages: list[Message], **keywords: Any) -> Reply:
        self.asked.append(messages)
        self.before(messages)
        newest = [text_of(message) for message in messages if message["role"] == "user"][-1]
        return Reply({"role": "assistant", "content": f"you said: {newest}"}, finish_reason="stop")


@dataclass
class Porch:
    """A store, and gateways before it."""

    store: Any
    model: Model = field(default_factory=Model)
    opened: list[str] = field(default_factory=list)

    def gateway(self, **more: Any) -> Gateway:
        return Gateway(self.store, self.open_agent, **more)

    def open_agent(self, session: Session, tell: Tell) -> Agent:
        self.opened.append(session.conversation)
        engine = compressor(WINDOW)
        shelf = Shelf.of(self.store, session.conversation, engine.name, in_place=False)
        conversation = Conversation(engine, engine.services, shelf, warn=lambda text: tell(Warned(text)))
        main = AgentModel("echo", self.model, services(WINDOW).facts)
        return Agent(conversation, Models(main), Toolbox(conversation), tell)

    def messages(self, session: str) -> list[Message]:
        archive = self.store.archive(self.store.sessions.get(session).conversation)
        return list(archive.read(*archive.range()))


@pytest.fixture(params=["memory", "sqlite"])
def porch(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Porch]:
    store: Any = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "archive.db", durability="normal")
    yield Porch(store)
    store.close()


def said(messages: list[Message], role: str = "user") -> list[str]:
    return [text_of(message) for message in messages if message["role"] == role]


def test_a_message_is_answered_in_the_conversation_of_its_origin(porch: Porch) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "hello"))
        again = gateway.receive(Inbound(ANNA, "still there?"))
        other = gateway.receive(Inbound(Origin("telegram", "42", user="ben"), "hello"))
    assert first == Outbound(first.session, "you said: hello", "answered")
    assert again.session == first.session != other.session
    assert said(porch.messages(first.session)) == ["hello", "still there?"]


@pytest.mark.parametrize("other", [Origin("slack", "42", "anna"), Origin("telegram", "43", "anna"), Origin("telegram", "42", "anna", "7")])
def test_platform_chat_user_and_thread_part_conversations(porch: Porch, other: Origin) -> None:
    with porch.gateway() as gateway:
        assert gateway.receive(Inbound(ANNA, "a")).session != gateway.receive(Inbound(other, "b")).session


def test_another_process_finds_the_conversation(porch: Porch) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "hello"))
    with porch.gateway() as gateway:
        assert gateway.receive(Inbound(ANNA, "again")).session == first.session


def test_a_child_session_belongs_to_the_same_origin(porch: Porch) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "hello"))
        conversation = porch.store.sessions.get(first.session).conversation
        porch.store.archive(conversation).extend(tool_session(60, seed=5))
        assert gateway.receive(Inbound(ANNA, "/compress")).session != first.session
        later = gateway.receive(Inbound(ANNA, "go on"))
    child = porch.store.sessions.get(later.session)
    assert later.session != first.session
    assert (child.parent, child.settings["origin"]["user"]) == (first.session, "anna")
    assert child.title is not None
    assert "telegram 42 anna" in child.title
    with porch.gateway() as gateway:
        assert gateway.session(ANNA) == child


def test_a_deleted_conversation_is_begun_anew(porch: Porch) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "hello"))
        porch.store.sessions.delete(porch.store.sessions.get(first.session).conversation)
        assert gateway.receive(Inbound(ANNA, "hello again")).session != first.session


def test_a_delivery_that_comes_twice_is_answered_once(porch: Porch) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "pay the bill", id="m1"))
        assert gateway.receive(Inbound(ANNA, "pay the bill", id="m1")) == first
        assert len(porch.model.asked) == 1
        assert gateway.receive(Inbound(ANNA, "pay the bill", id="m2")).reason == "answered"
    assert said(porch.messages(first.session)) == ["pay the bill", "pay the bill"]


def test_a_message_whose_turn_failed_is_answered_when_it_is_delivered_again(porch: Porch) -> None:
    def fail(messages: list[Message]) -> None:
        raise ServerFailed(Service("echo", ""), "overloaded", status=503)

    porch.model.before = fail
    with porch.gateway() as gateway:
        failed = gateway.receive(Inbound(ANNA, "pay the bill", id="m1"))
        assert (failed.text, failed.reason) == ("", "failed")
        assert "overloaded" in " ".join(failed.warnings)
        porch.model.before = lambda messages: None
        assert gateway.receive(Inbound(ANNA, "pay the bill", id="m1")).text == "you said: pay the bill"
    assert said(porch.messages(failed.session)) == ["pay the bill"]


def test_turns_of_one_session_run_one_after_the_other_in_two_gateways(porch: Porch) -> None:
    running: list[int] = []

    def slow(messages: list[Message]) -> None:
        running.append(1)
        assert len(running) == 1
        time.sleep(0.02)
        running.pop()

    porch.model.before = slow
    gateways = [porch.gateway(), porch.gateway()]
    answers: list[Outbound] = []

    def talk(index: int) -> None:
        answers.append(gateways[index % 2].receive(Inbound(ANNA, f"message {index}", id=f"m{index}")))

    threads = [threading.Thread(target=talk, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.text for answer in answers} == {f"you said: message {index}" for index in range(8)}
    messages = porch.messages(answers[0].session)
    assert [message["role"] for message in messages] == ["user", "assistant"] * 8
    assert [text_of(reply) for reply in messages[1::2]] == [f"you said: {text_of(asked)}" for asked in messages[::2]]


def test_who_does_not_get_a_turn_in_time_is_told_so_and_nothing_is_kept(porch: Porch) -> None:
    with porch.gateway(turns=Turns(porch.store.leases, patience=0.05)) as gateway:
        first = gateway.receive(Inbound(ANNA, "hello"))
        with Turns(porch.store.leases).one(ANNA.key):
            busy = gateway.receive(Inbound(ANNA, "and now?"))
    assert busy.reason == "busy"
    assert said(porch.messages(first.session)) == ["hello"]


def test_a_turn_of_a_process_that_died_ends_with_its_lease(porch: Porch) -> None:
    assert porch.store.leases.acquire(f"turn:{ANNA.key}", "somebody who died", 0.2) is not None
    with porch.gateway() as gateway:
        assert gateway.receive(Inbound(ANNA, "hello")).reason == "answered"


def test_after_hours_of_silence_a_new_session_begins(porch: Porch) -> None:
    clock = [NOW]
    with porch.gateway(expire_hours=12, clock=lambda: clock[0]) as gateway:
        first = gateway.receive(Inbound(ANNA, "hello"))
        clock[0] += timedelta(hours=11)
        assert gateway.receive(Inbound(ANNA, "still here")).session == first.session
        clock[0] += timedelta(hours=13)
        later = gateway.receive(Inbound(ANNA, "good morning"))
    assert later.session != first.session
    assert porch.store.sessions.get(first.session).end_reason == "expired"
    assert said(porch.messages(later.session)) == ["good morning"]
    assert said(porch.messages(first.session)) == ["hello", "still here"]


def test_new_ends_the_session_and_keeps_it(porch: Porch) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "hello"))
        begun = gateway.receive(Inbound(ANNA, "/new"))
        later = gateway.receive(Inbound(ANNA, "hi"))
    assert begun.reason == "command"
    assert later.session == begun.session != first.session
    assert porch.store.sessions.get(first.session).end_reason == "new"


def test_compress_says_what_it_did(porch: Porch) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "hello"))
        assert "Not enough" in gateway.receive(Inbound(ANNA, "/compress")).text
        porch.store.archive(porch.store.sessions.get(first.session).conversation).extend(tool_session(60, seed=5))
        assert "Compressed" in gateway.receive(Inbound(ANNA, "/compress the parser")).text


def test_hygiene_runs_before_the_agent_wakes_and_never_ends_the_session(porch: Porch) -> None:
    events: list[Event] = []
    with porch.gateway(message_limit=50) as gateway:
        first = gateway.receive(Inbound(ANNA, "hello"))
        porch.store.archive(porch.store.sessions.get(first.session).conversation).extend(
            [{"role": role, "content": f"note {number}"} for number in range(40) for role in ("user", "assistant")]
        )
        later = gateway.receive(Inbound(ANNA, "go on"), events.append)
    assert later.session == first.session
    assert len(porch.model.asked[-1]) < 60
    assert said(porch.model.asked[-1])[-1] == "go on"
    assert porch.store.sessions.get(first.session).end_reason is None


def test_warnings_of_a_turn_come_with_its_answer_once(porch: Porch) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "x " * 40_000))
        assert first.warnings
        assert len(set(first.warnings)) == len(first.warnings)


def test_agents_that_were_not_used_for_long_are_closed(porch: Porch) -> None:
    from host.gateway.residents import Residents

    gateway = porch.gateway()
    gateway._residents = Residents(porch.open_agent, most=2)
    with gateway:
        for chat in ("1", "2", "3", "1"):
            assert gateway.receive(Inbound(Origin("irc", chat), "hello")).reason == "answered"
    assert len(porch.opened) == 4


@pytest.mark.parametrize(
    ("origin", "text"),
    [(("", "42"), "hello"), (("irc", " "), "hello"), (("irc", "x" * 300), "hello"), (("irc", "1"), ""), (("irc", "1"), " \n")],
)
def test_odd_messages_are_refused(origin: tuple[str, str], text: str) -> None:
    with pytest.raises(UsageError):
        Inbound(Origin(*origin), text)


@pytest.mark.parametrize("text", ["\ud800 odd", "a\x00b", "/unknown command", "/", "🙂"])
def test_odd_texts_are_messages(porch: Porch, text: str) -> None:
    with porch.gateway() as gateway:
        answer = gateway.receive(Inbound(ANNA, text, id="m1"))
        assert answer.text == f"you said: {text}"
        assert gateway.receive(Inbound(ANNA, text, id="m1")) == answer


@pytest.mark.parametrize("settings", ["nonsense", [1, 2], [["m1"]], [["m1", "x"]], [["m1", 99]]])
def test_settings_written_by_hand_do_no_harm(porch: Porch, settings: object) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "hello"))
        porch.store.sessions.set(first.session, delivered=settings)
        assert gateway.receive(Inbound(ANNA, "hi", id="m1")).text == "you said: hi"


def test_an_edited_message_has_the_same_id_and_is_another_message(porch: Porch) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "pay the bill", id="m1"))
        edited = gateway.receive(Inbound(ANNA, "do not pay the bill", id="m1"))
        assert gateway.receive(Inbound(ANNA, "pay the bill", id="m1")) == first
        assert gateway.receive(Inbound(ANNA, "do not pay the bill", id="m1")) == edited
    assert said(porch.messages(first.session)) == ["pay the bill", "do not pay the bill"]


def test_a_note_without_its_message_does_not_claim_another_of_the_same_words(porch: Porch) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "hello", id="m1"))
        expected(porch.store.sessions, porch.store.sessions.get(first.session), named("m2", "yes"), 3)  # and the process died
        gateway.receive(Inbound(ANNA, "yes", id="m3"))
        gateway.receive(Inbound(ANNA, "yes", id="m2"))
    assert said(porch.messages(first.session)) == ["hello", "yes", "yes"]


def test_an_erased_message_is_not_taken_again(porch: Porch) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "my secret", id="m1"))
    conversation = porch.store.sessions.get(first.session).conversation
    if isinstance(porch.store, MemoryStore):
        porch.store.archive(conversation).forget(1)
    else:
        porch.store.admin.forget(Forget(conversation=conversation, position=1), apply=True)
    with porch.gateway() as gateway:
        again = gateway.receive(Inbound(ANNA, "my secret", id="m1"))
    assert (again.text, again.warnings) == ("", (TAKEN,))
    assert len(porch.model.asked) == 1


def test_what_was_delivered_before_a_new_conversation_is_not_taken_into_it(porch: Porch) -> None:
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "hello", id="m1"))
        begun = gateway.receive(Inbound(ANNA, "/new", id="m2"))
        assert begun.session != first.session
        gateway.receive(Inbound(ANNA, "hi", id="m3"))
        for text, name in (("hello", "m1"), ("/new", "m2")):
            assert gateway.receive(Inbound(ANNA, text, id=name)).warnings == (TAKEN,)
        assert gateway.receive(Inbound(ANNA, "more", id="m4")).session == begun.session
    assert said(porch.messages(begun.session)) == ["hi", "more"]


def test_a_new_conversation_in_which_nothing_was_said_is_not_left_for_another(porch: Porch) -> None:
    with porch.gateway() as gateway:
        begun = gateway.receive(Inbound(ANNA, "/new"))
        assert gateway.receive(Inbound(ANNA, "/new")).session == begun.session


def test_new_in_another_gateway_is_followed(porch: Porch) -> None:
    with porch.gateway() as one, porch.gateway() as other:
        one.receive(Inbound(ANNA, "hello"))
        other.receive(Inbound(ANNA, "hello from here"))
        begun = one.receive(Inbound(ANNA, "/new"))
        assert other.receive(Inbound(ANNA, "again")).session == begun.session


def test_blanks_in_ids_do_not_mix_two_users(porch: Porch) -> None:
    one, other = Origin("irc", "a b", user="c"), Origin("irc", "a", user="b c")
    assert str(one) == str(other)
    assert one.key != other.key
    with porch.gateway(turns=Turns(porch.store.leases, patience=0.05)) as gateway:
        first = gateway.receive(Inbound(one, "mine"))
        with Turns(porch.store.leases).one(one.key):
            second = gateway.receive(Inbound(other, "also mine"))
    assert second.reason == "answered"
    assert first.session != second.session
    with porch.gateway() as gateway:
        sessions = [gateway.session(origin) for origin in (one, other)]
    assert [session.id for session in sessions if session is not None] == [first.session, second.session]


@pytest.mark.parametrize("part", ["\ud800", "a\x00b", "last", '"]', "\x1b[2J", "x" * 200])
def test_hostile_ids_have_conversations_of_their_own(porch: Porch, part: str) -> None:
    origin = Origin("irc", part, user=part)
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(origin, "hello"))
    with porch.gateway() as gateway:
        assert gateway.receive(Inbound(origin, "again")).session == first.session


def test_what_a_store_or_an_agent_that_cannot_be_opened_says_is_told(porch: Porch) -> None:
    def refuse(session: Session, tell: Tell) -> Agent:
        raise UsageError("no engine is called 'nope'", "name another")

    with Gateway(porch.store, refuse) as gateway:
        answer = gateway.receive(Inbound(ANNA, "hello"))
    assert answer.reason == "failed"
    assert "no engine is called" in answer.warnings[0]


OUTCOME = Outcome("hygiene", 9_000, 9_000, 40, 40)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (replace(OUTCOME, refused="aborted", reason=Reason.ABORTED, report=Report(error="HTTP 500")), "None was dropped"),
        (replace(OUTCOME, after=900, report=Report(fallback_used=True)), "Short notes stand for them"),
        (replace(OUTCOME, after=900), ""),
        (replace(OUTCOME, refused="nothing to do", reason=Reason.NOTHING_TO_COMPRESS), ""),
    ],
)
def test_outcomes_are_told_once_as_long_as_they_last(outcome: Outcome, words: str) -> None:
    resident = Resident(Session("s", "c"))
    for _ in range(3):
        resident.hear(Compacted(outcome))
    assert len(resident.warnings) == bool(words)
    assert words in "".join(resident.warnings)
    if words:
        resident.hear(Compacted(replace(OUTCOME, after=900, messages_after=9)))
        resident.hear(Compacted(outcome))
        assert len(resident.warnings) == 2


def test_half_an_answer_is_not_given_out_as_a_whole_one(porch: Porch) -> None:
    def broken_off(messages: list[Message], **keywords: Any) -> Reply:
        keywords["on_delta"](Delta(text="half an"))
        raise KeyboardInterrupt

    porch.model.ask = broken_off  # type: ignore[method-assign]
    with porch.gateway() as gateway:
        first = gateway.receive(Inbound(ANNA, "hello", "m1"))
        again = gateway.receive(Inbound(ANNA, "hello", "m1"))
    assert (first.text, first.reason) == (again.text, again.reason) == ("half an", "interrupted")
    assert said(porch.messages(first.session)) == ["hello"]


def test_who_waits_for_an_agent_elsewhere_is_told_that_it_is_busy(porch: Porch) -> None:
    def impatient(session: Session, tell: Tell) -> Agent:
        agent = porch.open_agent(session, tell)
        return Agent(
            agent.conversation, Models(AgentModel("echo", porch.model, services(WINDOW).facts)), agent.toolbox, tell, patience=0.05
        )

    with Gateway(porch.store, impatient) as gateway:
        first = gateway.receive(Inbound(ANNA, "hello"))
        conversation = porch.store.sessions.get(first.session).conversation
        assert porch.store.leases.acquire(f"turn:{conversation}", "a chat", 60) is not None
        busy = gateway.receive(Inbound(ANNA, "and now?", "m2"))
    assert (busy.reason, busy.warnings) == ("busy", (BUSY,))
    assert said(porch.messages(first.session)) == ["hello"]


def test_a_command_behind_blanks_is_one_and_so_is_its_focus(porch: Porch) -> None:
    def told(focus: str | None, keep: int | None) -> Outcome:
        raise UsageError(f"focus {focus}, keep {keep}", "")

    def opened(session: Session, tell: Tell) -> Agent:
        agent = porch.open_agent(session, tell)
        agent.conversation.compact = told  # type: ignore[method-assign, assignment]
        return agent

    with Gateway(porch.store, opened) as gateway:
        for number in range(3):
            gateway.receive(Inbound(ANNA, f"message {number}"))
        for typed in ("/compress the port", " \n/COMPRESS   the port ", "/compact\tthe port"):
            assert gateway.receive(Inbound(ANNA, typed)) == Outbound(gateway.session(ANNA).id, "focus the port, keep None", "command")  # type: ignore[union-attr]


def test_a_cut_answer_is_told_each_time(porch: Porch) -> None:
    cut = Reply({"role": "assistant", "content": "and then"}, finish_reason="length")
    whole = Reply({"role": "assistant", "content": "done"}, finish_reason="stop")
    replies = iter([cut, cut, whole])
    porch.model.ask = lambda messages, **keywords: next(replies)  # type: ignore[method-assign]
    with porch.gateway() as gateway:
        told = [gateway.receive(Inbound(ANNA, f"message {number}")).warnings for number in range(3)]
    assert told == [(CUT,), (CUT,), ()]

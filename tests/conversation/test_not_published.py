"""A window that is not published leaves the engine as it was, and a preview leaves nothing at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from host.compressor.compressor import Compressor
from host.conversation.conversation import Conversation
from host.conversation.engine_memory import EngineMemory
from host.conversation.retrying import GiveUp, Retry
from host.conversation.shelf import OWN
from host.conversation.triggers import MANUAL
from host.engine.engine import Engine
from host.engine.idle import Idle, Reason
from host.engine.outcome import Outcome
from host.engine.report import Report
from host.engine.services import Services
from host.engine.window import Window
from host.errors import StoreUnavailable
from host.messages.types import Message
from host.provider.scripted import ScriptedSummary
from host.store.memory import MemoryStore
from host.testing.engines import services
from host.testing.messages import assistant, chat, system, user
from host.transforms.handoff import handoff_text
from tests.desk import WINDOW, Desk, fed
from tests.engines_for_tests import Scripted

SESSION = [system("You are an agent."), *chat(40, chars=900)]
SHORT = [system("You are an agent."), *chat(12, chars=900)]
KEY = "sk-proj-" + "Ab3dEf6hIj9kLmN0pQrS"
HUGE = user("word " * 12_000)


class Growing(Engine[None]):
    """Counts a compaction whose window is twice as large."""

    name = "growing"

    def compact(self, window: Window) -> list[Message]:
        return [*window.head, user("notes " * 20_000), *window.tail]


class Forgetful(Engine[None]):
    """Leaves out the newest message."""

    name = "forgetful"

    def compact(self, window: Window) -> list[Message]:
        return [*window.head, user("notes"), *window.tail[:-1]]


class Dropping(Engine[None]):
    """Leaves all but the newest message out."""

    name = "dropping"

    def compact(self, window: Window) -> list[Message]:
        return [*window.head, *window.tail[-1:]]


def desk_with(*models: tuple[Any, ...]) -> tuple[Desk, Compressor, list[ScriptedSummary]]:
    """A desk, and the built-in engine with one summary model for each list of behaviours."""
    scripted = [ScriptedSummary(*behaviours, name=f"m{n}") for n, behaviours in enumerate(models)]
    given = services(WINDOW)
    given.summary_models = tuple(model.as_model() for model in scripted)
    desk = Desk(MemoryStore())
    given.state = desk.shelf().state
    return desk, Compressor(given), scripted


def opened(desk: Desk, engine: Any, messages: Sequence[Message] = SESSION, **more: Any) -> Conversation:
    """A conversation whose engine's document is the store's."""
    shelf = desk.shelf()
    if (given := getattr(engine, "services", None)) is not None:
        given.state = shelf.state
    return fed(desk.open(engine, shelf, **more), list(messages))


def counted(engine: Any) -> tuple[Any, ...]:
    return engine.compression_count, engine.last_prompt_tokens, engine.state.effect, engine.plan().protect_first_n


def stored(desk: Desk, engine: Any) -> dict[str, Any]:
    return desk.store.state(desk.kept.conversation, engine.name).load()


REFUSED: list[tuple[Callable[[Services], Engine[None]], list[Message], dict[str, Any]]] = [
    (Growing, SESSION, {}),
    (Forgetful, SESSION, {}),
    (Dropping, [*SHORT, HUGE], {}),
    (Compressor, [system("S"), *chat(20, chars=60)], {"keep": 5}),
    (Compressor, [system("S"), *chat(6, chars=60)], {}),
]


@pytest.mark.parametrize(("make", "messages", "wish"), REFUSED, ids=["grown", "newest lost", "in vain", "too short", "no gain"])
def test_a_compaction_that_was_not_followed_leaves_the_engine_and_its_document_as_they_were(
    make: Callable[[Services], Engine[None]], messages: list[Message], wish: dict[str, Any]
) -> None:
    desk, engine = Desk(MemoryStore()), make(services(WINDOW))
    talk = opened(desk, engine, messages)
    before, document = counted(engine), stored(desk, engine)
    for _ in range(3):
        assert talk.compact(**wish).refused is not None
        assert counted(engine) == before
        assert stored(desk, engine) == document


def test_a_window_that_could_not_be_kept_leaves_the_counters_and_keeps_what_was_learnt_of_the_models(monkeypatch: Any) -> None:
    desk, engine, _ = desk_with(("server_failed",))
    talk = opened(desk, engine)
    assert talk.shelf.views is not None
    before = counted(engine)

    def full(*given: Any, **more: Any) -> Any:
        raise StoreUnavailable("archive.db", "disk full")

    monkeypatch.setattr(talk.shelf.views, "publish", full)
    assert talk.compact().reason is Reason.NOT_NOW
    assert counted(engine) == before and engine.cooling
    kept = stored(desk, engine)
    assert kept["cooldown_until"] > 0 and kept["compactions"] == 0


def test_automatic_compactions_that_are_refused_pause_and_cost_no_model_each_turn() -> None:
    engine = Forgetful(services(200_000))
    talk = opened(Desk(MemoryStore()), engine, [system("S"), *chat(900, chars=900)])
    assert engine.threshold_tokens < talk.estimate() < engine.limit
    for _ in range(4):
        talk.window()
    assert talk.idle is not None and talk.idle.reason is Reason.INEFFECTIVE
    assert (engine.compression_count, engine.state.effect.waiting) == (0, False)


def test_a_small_conversation_has_nothing_to_gain_and_no_engine_is_to_blame() -> None:
    desk, engine, _ = desk_with(("answers",))
    outcome = opened(desk, engine, [system("S"), *chat(6, chars=60)]).compact()
    assert outcome.reason is Reason.NOTHING_TO_COMPRESS and "nothing" in str(outcome.refused)
    assert not any("not followed" in warning for warning in desk.warnings)


# --- previews ------------------------------------------------------------------------------------------------------


def test_a_preview_whose_models_fail_leaves_no_cooldown_and_nobody_given_up() -> None:
    desk, engine, models = desk_with(("server_failed",), ("rate_limited",))
    talk = opened(desk, engine)
    before = dict(vars(engine))
    assert talk.preview().report.fallback_used and all(model.requests for model in models)
    assert dict(vars(engine)) == before and not engine.cooling and stored(desk, engine) == {}


def test_a_preview_that_answers_ends_no_cooldown() -> None:
    desk, engine, _ = desk_with(("server_failed", "answers"))
    talk = opened(desk, engine)
    talk.compact()
    before, kept = engine.record, stored(desk, engine)
    fed(talk, chat(20, chars=900))
    assert talk.preview().idle is None
    assert engine.record is before and engine.cooling and stored(desk, engine) == kept


class Notes:
    """Something of an engine's own."""

    def __init__(self) -> None:
        self.items: list[int] = []
        self.seen: Counter[str] = Counter()


class Slotted:
    __slots__ = ("first", "second")
    first: int


class Collecting(Scripted):
    """Keeps what it saw in objects of its own, as deep as one likes."""

    def __init__(self) -> None:
        super().__init__(self.shorter)
        self.notes, self.slots = Notes(), Slotted()
        self.deep = {"a": [Notes()]}

    def shorter(self, messages: list[Message]) -> list[Message]:
        for notes in (self.notes, self.deep["a"][0]):
            notes.items.append(1)
            notes.seen["a"] += 1
        self.slots.first = 1
        self.deep["a"].append(Notes())
        return [messages[0], user(handoff_text("n")), *messages[-3:]]


def test_a_preview_leaves_nothing_in_an_engines_own_objects_and_they_stay_the_same_ones() -> None:
    desk, engine = Desk(MemoryStore()), Collecting()
    notes, inner = engine.notes, engine.deep["a"][0]
    assert opened(desk, engine).preview().idle is None
    assert engine.notes is notes and engine.deep["a"] == [inner]
    assert notes.items == inner.items == [] and not notes.seen and not hasattr(engine.slots, "first")
    assert desk.warnings == []


def test_what_a_preview_cannot_put_back_is_named_once() -> None:
    engine = Scripted(lambda messages: [messages[0], *messages[-3:]])
    engine.lines = iter([1, 2])  # type: ignore[attr-defined]
    desk = Desk(MemoryStore())
    talk = opened(desk, engine)
    for _ in range(2):
        talk.preview()
    (warning,) = desk.warnings
    assert "cannot put back (lines)" in warning


def test_collections_that_hold_themselves_are_put_back() -> None:
    @dataclass
    class Kept:
        ring: list[Any]

    kept = Kept([])
    kept.ring.append(kept.ring)
    memory = EngineMemory(kept)
    kept.ring.append(1)
    memory.put_back()
    assert len(kept.ring) == 1 and kept.ring[0] is kept.ring and memory.unknown == ()


# --- secrets in what engines say -----------------------------------------------------------------------------------


class Leaking(Scripted):
    """Quotes a key wherever an engine can say something."""

    def __init__(self, *, fails: bool = False, idle: bool = False, aborts: bool = False) -> None:
        super().__init__(self.raising if fails else lambda messages: messages)
        self.is_idle = idle
        self.last_report = Report(aborted=aborts, error=f"401 {KEY}") if aborts else Report()

    def raising(self, messages: list[Message]) -> list[Message]:
        raise RuntimeError(f"401 Incorrect API key provided: {KEY}")

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return not self.is_idle

    def why_idle(self, tokens: int) -> Idle | None:
        return Idle(Reason.COOLDOWN, f"30 s left; {KEY}") if self.is_idle else None


@pytest.mark.parametrize("how", ["fails", "idle", "aborts"])
def test_no_key_that_an_engine_quotes_is_told_or_kept(how: str) -> None:
    desk = Desk(MemoryStore())
    told: list[Outcome] = []
    talk = opened(desk, Leaking(**{how: True}), watch=told.append)
    talk.window()
    assert talk.idle is not None and talk.idle.detail
    talk.compact()
    kept = desk.store.state(desk.kept.conversation, OWN).load()
    assert KEY not in f"{talk.idle} {told} {desk.warnings} {kept} {talk.preview()}"


# --- interrupts, edits in place, refusals of the model -------------------------------------------------------------


def test_an_interrupt_is_no_failure_of_the_engine_and_leaves_it_as_it_was() -> None:
    def interrupted(asked: Any) -> Any:
        raise KeyboardInterrupt

    desk, engine, _ = desk_with((interrupted,) * 9)
    talk = opened(desk, engine)
    before = counted(engine)
    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            talk.compact()
    assert counted(engine) == before and not engine.cooling
    assert desk.warnings == []
    with pytest.raises(KeyboardInterrupt):
        talk.window()


def test_a_copy_that_was_edited_in_place_is_a_result_and_one_that_was_not_is_idle() -> None:
    def edited(messages: list[Message]) -> list[Message]:
        messages[1:-3] = [user(handoff_text("notes of what was said"))]
        return messages

    talk = opened(Desk(MemoryStore()), Scripted(edited))
    assert talk.compact().refused is None and len(talk.view.messages) <= 5

    def reworded(messages: list[Message]) -> list[Message]:
        messages[2]["content"] = "in short"
        return messages

    talk = opened(Desk(MemoryStore()), Scripted(reworded))
    assert talk.compact().refused is None and talk.view.messages[2]["content"] == "in short"
    assert opened(Desk(MemoryStore()), Scripted(lambda messages: messages)).compact().reason is Reason.NOTHING_TO_COMPRESS


class TooLong(Exception):
    status_code = 400
    body = {"error": {"code": "context_length_exceeded", "message": "maximum context length is exceeded"}}  # noqa: RUF012


REFUSALS: list[tuple[str, type[Any], int]] = [("timed_out", Retry, 0), ("key_refused", GiveUp, 0), ("server_failed", Retry, 0)]


@pytest.mark.parametrize(("behaviour", "answer", "asked"), REFUSALS)
def test_a_window_that_the_model_refused_passes_no_cooldown_and_strands_nobody(behaviour: str, answer: type[Any], asked: int) -> None:
    desk, engine, (model,) = desk_with((behaviour,) * 9)
    talk = opened(desk, engine, SHORT)
    talk.compact()
    assert engine.cooling
    fed(talk, chat(12, chars=900))
    before = len(model.requests)
    assert isinstance(talk.refused(TooLong()), answer)
    assert len(model.requests) - before == asked


def test_only_the_user_forces() -> None:
    assert MANUAL.force and not MANUAL.refused
    forced: list[bool] = []

    class Noting(Scripted):
        def compress(self, messages: list[Message], *given: Any, force: bool = False, **more: Any) -> list[Message]:
            forced.append(force)
            return [messages[0], user(handoff_text("n")), *messages[-2:]]

    talk = opened(Desk(MemoryStore()), Noting(None))
    talk.refused(TooLong())
    fed(talk, [assistant("so"), *chat(3, chars=900)])
    talk.compact()
    assert forced == [False, True]


def test_a_report_of_another_kind_is_none() -> None:
    engine = Leaking()
    engine.last_report = "fine"  # type: ignore[assignment]
    assert opened(Desk(MemoryStore()), engine).compact().report == replace(Report())

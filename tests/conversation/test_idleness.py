"""Why a conversation was not compacted: every reason, where it is kept, and what the user is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from host.conversation.conversation import Conversation
from host.conversation.idleness import as_document, idle_of
from host.conversation.shelf import OWN
from host.conversation.wording import words_of_count, words_of_report
from host.engine.idle import Idle, Reason
from host.engine.report import Report
from host.engine.services import Services
from host.errors import StoreUnavailable
from host.messages.types import Message, Usage
from host.store.memory import MemoryStore
from host.testing.engines import services
from host.testing.messages import assistant, call, chat, result, system, user
from tests.desk import WINDOW, Desk, fed, long_session
from tests.engines_for_tests import Scripted, compressor


class Worded(Scripted):
    """An engine with a word of its own: whether it compacts, why not, whether an estimate waits, what it says afterwards."""

    def __init__(
        self, returns: Any = None, *, idle: Idle | None = None, defers: bool = False, report: Report | None = None, wants: bool = True
    ) -> None:
        super().__init__(returns, WINDOW)
        self.idle, self.defers, self.wants = idle, defers, wants
        self.last_report = report or Report()

    def why_idle(self, tokens: int) -> Idle | None:
        return self.idle

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return self.idle is None and self.wants and super().should_compress(prompt_tokens)

    def should_defer_preflight_to_real_usage(self, rough_tokens: int) -> bool:
        return self.defers


def same(messages: list[Message]) -> list[Message]:
    return messages


def shorter(messages: list[Message]) -> list[Message]:
    return [messages[0], *messages[-4:]]


FULL = [system("S"), *chat(40, chars=900)]
COOLING = Idle(Reason.COOLDOWN, "45 s left (401)")

REASONS: list[tuple[Callable[[], Conversation], Idle | None]] = [
    (lambda: opened(Scripted(same), FULL[:3]), Idle(Reason.BELOW_THRESHOLD, "")),
    (lambda: opened(Scripted(same), FULL), Idle(Reason.NOTHING_TO_COMPRESS, "there was nothing to compact")),
    (lambda: opened(Scripted("text"), FULL), Idle(Reason.NOT_FOLLOWED, "it returned str, not a list of messages")),
    (lambda: opened(Scripted(shorter), FULL), None),
    (lambda: opened(Worded(wants=False), FULL), Idle(Reason.DECLINED, "")),
    (lambda: opened(Worded(idle=COOLING), FULL), COOLING),
    (lambda: opened(Worded(same, defers=True), FULL), Idle(Reason.WAITING_FOR_USAGE, "")),
    (lambda: opened(Worded(same, report=Report(aborted=True, error="401 no key")), FULL), Idle(Reason.ABORTED, "401 no key")),
    (lambda: opened(Worded(shorter, report=Report(aborted=True)), FULL), Idle(Reason.ABORTED, "")),
    (lambda: opened(Scripted(shorter), FULL, automatic=False), Idle(Reason.DISABLED, "compression.enabled is false")),
    (lambda: opened(Scripted(shorter), [*FULL, assistant(None, [call("a", "look")])]), Idle(Reason.CALLS_WAIT)),
]


def opened(engine: Any, messages: Sequence[Message], **more: Any) -> Conversation:
    """A conversation that was asked for its window."""
    given: Services = getattr(engine, "services", None) or services(WINDOW)
    talk = fed(Conversation(engine, given, given.archive, warn=lambda text: None, **more), list(messages))  # type: ignore[arg-type]
    talk.window()
    return talk


@pytest.mark.parametrize(("case", "wanted"), REASONS)
def test_whatever_keeps_the_window_as_it_is_has_a_reason(case: Callable[[], Conversation], wanted: Idle | None) -> None:
    talk = case()
    if wanted is None:
        assert talk.idle is None
        return
    assert talk.idle is not None and talk.idle.reason is wanted.reason
    assert not wanted.detail or talk.idle.detail == wanted.detail
    assert talk.view.messages[:2] == tuple(FULL[:2])


def test_an_estimate_past_the_window_waits_for_nobody() -> None:
    talk = opened(Worded(shorter, defers=True), [system("S"), *chat(60, chars=900)])
    assert talk.idle is None and len(talk.view.messages) == 5


def test_right_after_a_compaction_the_reason_is_that_nobody_has_counted_yet() -> None:
    engine = Scripted(shorter)
    talk = opened(engine, FULL)
    engine.last_prompt_tokens = -1
    fed(talk, [assistant(None, [call("p", "look")]), result("p", "one")])
    assert talk.idle is not None and talk.idle.reason is Reason.WAITING_FOR_USAGE


def test_the_outcome_has_the_reason_and_the_engines_report() -> None:
    report = Report(aborted=True, error="401 no key")
    outcome = opened(Worded(same, report=report), FULL[:3]).compact()
    assert (outcome.reason, outcome.report, outcome.refused) == (Reason.ABORTED, report, "401 no key")
    done = opened(Scripted(shorter), FULL[:9]).compact()
    assert (done.reason, done.refused, done.report) == (None, None, Report())


def test_a_lease_that_another_holds_and_a_busy_archive_are_not_now() -> None:
    desk = Desk(MemoryStore())
    talk = fed(desk.open(), FULL)
    assert desk.store.leases.acquire(desk.kept.conversation, "another", 300)
    assert talk.compact().reason is Reason.NOT_NOW
    assert talk.idle is not None and talk.idle.reason is Reason.NOT_NOW


class Counting:
    """A document that counts how often it is written, and can be made to fail."""

    def __init__(self) -> None:
        self.documents: list[dict[str, Any]] = []
        self.error: Exception | None = None

    def load(self) -> dict[str, Any]:
        return self.documents[-1] if self.documents else {}

    def save(self, document: dict[str, Any]) -> None:
        if self.error is not None:
            raise self.error
        self.documents.append(document)


def test_the_reason_is_written_when_its_kind_changes_and_at_the_end_and_never_ends_a_turn() -> None:
    desk, kept = Desk(MemoryStore()), Counting()
    shelf = replace(desk.shelf(), notes=kept)
    talk = desk.open(Scripted(shorter), shelf)
    for message in FULL[:9]:
        talk.add(message)
        talk.window()
    assert len(kept.documents) == 1
    talk.close()
    assert [document["idle"]["reason"] for document in kept.documents] == ["BELOW_THRESHOLD"] * 2
    assert kept.documents[0]["idle"]["detail"] != kept.documents[1]["idle"]["detail"]
    kept.error = StoreUnavailable("archive.db", "disk full")
    again = fed(desk.open(Scripted(shorter), replace(desk.shelf(), notes=kept)), FULL[9:])
    assert len(again.window()) == 5


def test_another_process_reads_it_and_after_a_compaction_there_is_none() -> None:
    desk = Desk(MemoryStore())
    talk = fed(desk.open(Worded(shorter, idle=COOLING)), FULL)
    talk.window()
    seen = idle_of(desk.store.state(desk.kept.conversation, OWN).load())
    assert seen is not None and seen.idle == COOLING and seen.since is not None
    talk.compact()
    assert idle_of(desk.store.state(desk.kept.conversation, OWN).load()) is None


@pytest.mark.parametrize("document", [{}, {"idle": None}, {"idle": {"reason": "OF_TOMORROW"}}, {"idle": "cooldown"}])
def test_a_document_that_says_nothing_known_is_none(document: dict[str, Any]) -> None:
    assert idle_of(document) is None


def test_a_reason_survives_being_kept() -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    kept = idle_of(as_document(COOLING, now))
    assert kept is not None and (kept.idle, kept.since) == (COOLING, now)


def warned(engine: Any, messages: Sequence[Message] = FULL, turns: int = 1, **more: Any) -> list[str]:
    """What is said in so many turns."""
    warnings: list[str] = []
    given: Services = getattr(engine, "services", None) or services(WINDOW)
    talk = fed(Conversation(engine, given, given.archive, warn=warnings.append, **more), list(messages))  # type: ignore[arg-type]
    for _ in range(turns):
        talk.window()
    return warnings


TOLD: list[tuple[Any, dict[str, Any], list[str]]] = [
    (Worded(same, report=Report(aborted=True, error="401 no key.")), {}, ["Compression aborted: 401 no key. No messages were dropped"]),
    (Worded(same, report=Report(aborted=True, error="bad key sk-abcdefghijklmnopqrstuv")), {}, ["sk-abc...stuv"]),
    (Worded(shorter, report=Report(fallback_used=True, dropped=36, error="boom")), {}, ["summary failed: boom. Notes", "left the window"]),
    (Worded(shorter, report=Report(failed_model="small", error="404")), {}, ["'small' failed (404). Recovered", "left the window"]),
    (Worded(idle=Idle(Reason.INEFFECTIVE)), {}, ["Compression skipped — last 2 compressions saved <10% each"]),
    (Worded(idle=Idle(Reason.SUMMARIES_FAILED, "boom")), {}, ["Compression skipped — the last summaries failed: boom."]),
    (Worded(idle=COOLING), {}, []),
    (Worded(wants=False), {}, []),
]


@pytest.mark.parametrize(("engine", "more", "words"), TOLD)
def test_what_the_user_has_to_know_is_said_once(engine: Any, more: dict[str, Any], words: list[str]) -> None:
    warnings = warned(engine, turns=3, **more)
    assert len(warnings) == len(words)
    assert all(part in warning for part, warning in zip(words, warnings, strict=True)), warnings


def test_a_window_that_overflows_while_nothing_is_compacted_by_itself_is_told_with_the_switch() -> None:
    (warning,) = warned(Scripted(shorter), [system("S"), *chat(60, chars=900)], turns=2, automatic=False)
    assert warning.startswith("Context overflow and auto-compaction is disabled (compression.enabled: false)")


def test_of_many_compactions_the_second_fourth_and_eighth_are_told() -> None:
    assert [times for times in range(20) if words_of_count(times)] == [2, 4, 8, 16]
    engine = Scripted(lambda messages: [*messages[:1], *messages[2:]])
    given = services(WINDOW)
    warnings: list[str] = []
    talk = fed(Conversation(engine, given, given.archive, warn=warnings.append), FULL)  # type: ignore[arg-type]
    for _ in range(5):
        talk.compact()
    assert [text for text in warnings if "Session compressed" in text] == [
        f"Session compressed {times} times — accuracy may degrade. Consider /new to start fresh." for times in (2, 4)
    ]


def test_a_report_that_holds_no_trouble_says_nothing() -> None:
    assert words_of_report(Report(made_progress=True)) == []


class Remembering(Scripted):
    """Keeps what it was given to know."""

    heard = ""

    def compress(self, messages: list[Message], *args: Any, memory_context: str = "", **more: Any) -> list[Message]:
        self.heard = memory_context
        return shorter(messages)


def test_memory_plugins_see_what_goes_and_their_word_reaches_the_engine() -> None:
    seen: list[tuple[int, str]] = []

    def memory(messages: Sequence[Message], session: str) -> str:
        seen.append((len(messages), session))
        return "the user likes tea"

    engine, given = Remembering(None), services(WINDOW)
    talk = fed(Conversation(engine, given, given.archive, warn=lambda text: None, memory=memory), FULL)  # type: ignore[arg-type]
    talk.preview(keep=2)
    assert seen == [(37, "")]
    talk.compact()
    assert engine.heard == "the user likes tea" and seen[-1] == (41, "")


def test_an_engine_that_takes_no_memory_is_told_once() -> None:
    class Older(Scripted):
        def compress(self, messages: list[Message], current_tokens: int | None = None) -> list[Message]:  # type: ignore[override]
            return shorter(messages)

    warnings = warned(Older(None), memory=lambda messages, session: "tea", turns=2)
    assert sum("takes no memory_context" in warning for warning in warnings) == 1


def test_the_built_in_engine_says_how_full_the_window_is() -> None:
    talk = opened(compressor(200_000), long_session(20))
    talk.measured(Usage(900))
    talk.add(user("go on"))
    talk.window()
    assert talk.idle is not None and talk.idle.reason is Reason.BELOW_THRESHOLD and "of 10" in talk.idle.detail

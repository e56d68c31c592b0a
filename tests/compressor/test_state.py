"""What outlives a process: cooldown, streak, counters."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.compressor.compressor import Compressor
from host.compressor.failures import Failure
from host.compressor.policy import POLICY
from host.compressor.state import LONGEST, CompressorState, Trouble
from host.engine.idle import Idle, Reason
from host.engine.services import Services
from host.errors import StoreUnavailable
from host.provider.errors import KeyRefused, Service
from host.testing.engines import services
from host.testing.messages import system, tool_session

LONG = [system("You are an agent."), *tool_session(160, seed=7)]
WINDOW = 64_000  # threshold 54,400


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Line:
    """A summary model that can be cut off. ``asked`` counts."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked = 0

    def __call__(self, prompt: str, *, max_tokens: int | None = None, timeout: float | None = None) -> str:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return "## Goal\nsummarised"


class Locked:
    """A document that can be neither read nor written."""

    def load(self) -> dict[str, Any]:
        raise StoreUnavailable("the archive", "it is locked")

    def save(self, document: dict[str, Any]) -> None:
        raise StoreUnavailable("the archive", "it is locked")


def house(line: Line) -> tuple[Services, Clock]:
    clock, given = Clock(), services(WINDOW, ask=line)
    given.clock = clock
    return given, clock


def kind(idle: Idle | None) -> Reason | None:
    return idle.reason if idle else None


def test_a_cooldown_survives_a_restart_and_runs_out() -> None:
    line = Line(ConnectionError("refused"))
    given, clock = house(line)
    assert Compressor(given).compress(LONG) is LONG
    again = Compressor(given)
    idle = again.why_idle(60_000)
    assert idle == Idle(Reason.COOLDOWN, "30 s left; refused")
    assert again.compress(LONG) is LONG and again.last_report.aborted and line.asked == 1
    clock.pass_by(31)
    assert again.should_compress(60_000)


def test_where_the_window_stays_for_good_a_cooldown_is_waited_for_however_large_it_is() -> None:
    line = Line(KeyRefused(Service("m", ""), status=401))
    given, clock = house(line)
    assert Compressor(given).compress(LONG) is LONG
    assert kind(Compressor(given).why_idle(10 * WINDOW)) is Reason.COOLDOWN
    clock.pass_by(61)
    assert Compressor(given).why_idle(10 * WINDOW) is None
    line.error = RuntimeError("odd")
    Compressor(given).compress(LONG)
    assert Compressor(given).why_idle(10 * WINDOW) is None


def test_a_streak_survives_a_restart_and_ends_with_a_summary_by_force() -> None:
    line = Line(RuntimeError("odd"))
    given, clock = house(line)
    for _ in range(2):
        Compressor(given).compress(LONG)
        clock.pass_by(120)
    engine = Compressor(given)
    assert engine.why_idle(60_000) == Idle(Reason.SUMMARIES_FAILED, "2 in a row; odd")
    assert engine.compression_count == 2
    line.error = None
    engine.compress(LONG, force=True)
    assert kind(Compressor(given).why_idle(60_000)) is None


def test_another_process_that_cleared_it_is_believed_before_saying_no() -> None:
    line = Line(ConnectionError("refused"))
    given, clock = house(line)
    first, second = Compressor(given), Compressor(given)
    first.compress(LONG)
    line.error = None
    clock.pass_by(1)
    second.compress(LONG, force=True)
    assert first.should_compress(60_000)


def test_a_process_that_has_nothing_to_do_does_not_clear_the_cooldown_of_another() -> None:
    given, _ = house(Line(ConnectionError("refused")))
    first, second = Compressor(given), Compressor(given)
    first.compress(LONG)
    second.compress(LONG[:3])
    assert kind(Compressor(given).why_idle(60_000)) is Reason.COOLDOWN


def test_what_could_not_be_kept_holds_in_this_process() -> None:
    given, _ = house(Line(ConnectionError("refused")))
    given.state = Locked()
    engine = Compressor(given)
    engine.compress(LONG)
    assert kind(engine.why_idle(60_000)) is Reason.COOLDOWN


def test_an_older_document_clears_nothing() -> None:
    given, _ = house(Line(ConnectionError("refused")))
    engine = Compressor(given)
    engine.compress(LONG)
    given.state.save(CompressorState(trouble=Trouble(changed=engine.now - 5)).as_json())
    assert kind(engine.why_idle(60_000)) is Reason.COOLDOWN


def test_another_model_and_a_reset_end_it_a_learnt_window_does_not() -> None:
    given, _ = house(Line(ConnectionError("refused")))
    for clear in (lambda e: e.update_model("another", WINDOW), Compressor.on_session_reset):
        engine = Compressor(given)
        engine.compress(LONG, force=True)
        engine.update_model("test-model", WINDOW - 1)
        assert kind(engine.why_idle(60_000)) is Reason.COOLDOWN
        clear(engine)
        assert engine.should_compress(60_000) and Compressor(given).should_compress(60_000)


def test_without_any_model_old_failures_stop_nothing() -> None:
    given, _ = house(Line(ConnectionError("refused")))
    Compressor(given).compress(LONG)
    given.ask = None
    assert Compressor(given).should_compress(60_000)


def test_a_document_that_says_nothing_new_is_not_written_again() -> None:
    given, _ = house(Line())
    saved: list[dict[str, Any]] = []
    given.state = type("Counting", (), {"load": lambda self: saved[-1] if saved else {}, "save": lambda self, new: saved.append(new)})()
    engine = Compressor(given)
    engine.compress(LONG)
    for _ in range(2):
        engine.compress([system("s")], force=True)
    assert len(saved) == 1


def test_what_ends_a_pause_outlives_a_restart_as_the_pause_does() -> None:
    given, _ = house(Line())
    engine = Compressor(given)
    few, before = LONG[:3], int(engine.threshold_tokens * 1.01)
    for _ in range(2):
        engine.compress(few, current_tokens=before)
    again = Compressor(given)
    for tokens in (before, int(before * 1.24), int(before * 1.26), again.limit + 1):
        assert kind(again.why_idle(tokens)) is kind(engine.why_idle(tokens))
    larger = int(before * 1.26)
    again.context_length = 200_000
    assert kind(again.why_idle(before)) is Reason.INEFFECTIVE and again.why_idle(larger) is None


def test_what_had_to_stay_at_the_last_compaction_is_known_after_a_restart() -> None:
    given, _ = house(Line())
    engine = Compressor(given)
    engine.state = replace(engine.state, effect=replace(engine.state.effect, ineffective=2, left=54_500, stays=50_000))
    engine.keep()
    assert Compressor(given).state.effect.stays == 50_000


def test_a_pause_of_which_nobody_knows_what_was_left_is_none() -> None:
    given, _ = house(Line())
    given.state.save({**CompressorState(ineffective=2).as_json(), "left": 0})
    assert Compressor(given).should_compress(54_500)


def test_a_count_in_one_process_does_not_clear_the_cooldown_of_another() -> None:
    given, _ = house(Line(ConnectionError("refused")))
    first, second = Compressor(given), Compressor(given)
    second.compress(LONG)
    first.state = replace(first.state, effect=replace(first.state.effect, saved=0.01))
    first.update_from_response({"prompt_tokens": 54_000, "completion_tokens": 1, "total_tokens": 54_001})
    assert first.state.ineffective == 1 and given.state.load()["ineffective"] == 1
    assert kind(Compressor(given).why_idle(60_000)) is Reason.COOLDOWN


def test_whoever_forces_an_attempt_begins_the_ladder_anew() -> None:
    given, clock = house(Line(TimeoutError("slow")))
    engine = Compressor(given)
    for wanted in (60, 300):
        engine.compress(LONG)
        assert round(engine.cooling) == wanted
        clock.pass_by(wanted + 1)
    engine.compress(LONG, force=True)
    assert round(engine.cooling) == 60 and engine.record.trouble.attempts == 3


counts = st.integers(0, 10**9)
seconds = st.floats(0, 4e9, allow_nan=False)
troubles = st.builds(Trouble, st.none() | st.sampled_from(Failure), st.text(max_size=20), counts, counts, seconds, seconds)
states = st.builds(CompressorState, counts, counts, counts, st.text(max_size=20), troubles, st.just({"later": [1]}), counts, counts)


@given(states)
def test_a_document_reads_back_as_it_was_written_with_the_keys_of_others(state: CompressorState) -> None:
    assert CompressorState.from_json(state.as_json()) == state


@given(st.dictionaries(st.sampled_from(sorted(CompressorState().as_json())), st.none() | st.booleans() | st.text() | st.lists(st.none())))
def test_a_damaged_document_is_a_fresh_state_or_a_sound_one(document: dict[str, Any]) -> None:
    state = CompressorState.from_json(document)
    assert CompressorState.from_json(state.as_json()) == state


@pytest.mark.parametrize(
    "document",
    [None, [], "x", {"compactions": -1}, {"cooldown_until": float("nan")}, {"repeats": True}, {"failure": "NONE"}, {"changed": 10**400}],
)
def test_damage_is_a_fresh_state(document: object) -> None:
    assert CompressorState.from_json(document) == CompressorState()


def test_a_cooldown_that_no_policy_gives_is_none() -> None:
    assert Trouble(cooldown_until=1_000.0 + LONGEST).cooling(1_000.0) == LONGEST
    assert Trouble(cooldown_until=1_001.0 + LONGEST).cooling(1_000.0) == 0


def test_the_ladder_is_climbed_by_one_kind_and_begins_anew_when_the_user_passes_it() -> None:
    decision, trouble = POLICY[Failure.TIMEOUT], Trouble()
    for wanted in (60, 300, 900, 900):
        trouble = trouble.after(Failure.TIMEOUT, "slow", decision, 0)
        assert trouble.cooling(0) == wanted
    trouble = trouble.passed(1)
    assert trouble.cooling(1) == 0 and trouble.attempts == 4
    assert trouble.after(Failure.TIMEOUT, "slow", decision, 1).cooling(1) == 60
    other = replace(trouble, kind=Failure.SERVER, repeats=3).after(Failure.TIMEOUT, "slow", decision, 1)
    assert other.cooling(1) == 60

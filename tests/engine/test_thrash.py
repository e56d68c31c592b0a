"""Whether compactions help, and what waits for the provider's count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from host.compressor.compressor import Compressor
from host.engine.idle import Idle, Reason
from host.engine.thrash import Effect, tolerance_of
from host.messages.types import Message
from host.testing.messages import assistant, system, tool_session, user
from tests.engines_for_tests import compressor

FEW = [system("s"), user("a"), assistant("b")]
THRESHOLD = 6_800  # of a window of 8,000


def session(n: int = 160) -> list[Message]:
    return [system("You are an agent."), *tool_session(n, seed=7)]


def kind(idle: Idle | None) -> Reason | None:
    return idle.reason if idle else None


def test_two_idle_compactions_pause_the_automatic_ones_until_the_window_is_full() -> None:
    engine = compressor(8_000)
    for _ in range(2):
        assert engine.compress(FEW, current_tokens=6_900) is FEW
    assert engine.state.ineffective == 2
    assert kind(engine.why_idle(7_000)) is Reason.INEFFECTIVE
    assert engine.should_compress(8_001)
    engine.update_model("other", 8_000)
    assert engine.should_compress(7_000)


def test_what_the_user_asked_for_in_vain_pauses_nothing() -> None:
    engine = compressor(8_000)
    for _ in range(3):
        engine.compress(FEW, current_tokens=6_900, force=True)
    assert engine.should_compress(7_000)


def test_a_saving_is_judged_when_the_next_usage_comes() -> None:
    engine = compressor(16_000)
    engine.compress(session())
    assert engine.state.effect.saved is not None and engine.last_prompt_tokens == -1
    engine.update_from_response({"prompt_tokens": engine.threshold_tokens, "completion_tokens": 5})
    assert engine.state.ineffective == 1 and engine.last_prompt_tokens == engine.threshold_tokens
    engine.compress(session())
    engine.update_from_response({"prompt_tokens": 4_000})
    assert engine.state.ineffective == 0


PAUSED = Effect(ineffective=2, left=100_000)


@pytest.mark.parametrize(
    ("prompt", "ineffective"),
    [(1_000, 0), (89_999, 0), (90_000, 2), (99_999, 2), (100_000, 2), (None, 2)],
)
def test_a_pause_ends_with_a_count_that_leaves_a_tenth_of_the_threshold(prompt: int | None, ineffective: int) -> None:
    assert PAUSED.after_count(prompt, 100_000).ineffective == ineffective


@pytest.mark.parametrize(
    ("saved", "prompt", "ineffective"),
    [(0.5, 60_000, 0), (0.5, 100_000, 2), (0.09, 60_000, 2), (0.10, 60_000, 0), (0.09, None, 2), (0.5, None, 0)],
)
def test_a_compaction_has_to_save_a_tenth_and_to_get_under_the_threshold(saved: float, prompt: int | None, ineffective: int) -> None:
    before = Effect(ineffective=1).after_compaction(saved=saved, left=70_000, without_model=False)
    assert before.after_count(prompt, 100_000).ineffective == ineffective


def test_one_judgement_counts_once() -> None:
    judged = Effect().after_compaction(saved=0.01, left=70_000, without_model=False).after_count(95_000, 100_000)
    assert judged.ineffective == 1
    assert judged.after_count(95_000, 100_000).ineffective == 1


@pytest.mark.parametrize(("tokens", "outgrown"), [(124_999, False), (125_000, True)])
def test_a_window_grown_by_a_quarter_is_tried_again(tokens: int, outgrown: bool) -> None:
    assert PAUSED.has_outgrown(tokens) is outgrown


def test_a_streak_counts_summaries_without_a_model_and_ends_with_one_of_a_model() -> None:
    effect = Effect()
    for without_model, streak in [(True, 1), (True, 2), (False, 0), (True, 1)]:
        effect = effect.after_compaction(saved=0.5, left=1, without_model=without_model)
        assert effect.after_count(1, 100).streak == effect.streak == streak


def test_an_estimate_waits_for_the_count_after_a_compaction_but_not_for_ever() -> None:
    engine = compressor(8_000)
    engine.compress(session(80), current_tokens=60_000)
    left, tolerance = engine.state.effect.left, tolerance_of(THRESHOLD, 8_000)
    assert tolerance == 600
    engine.threshold_tokens = left  # the host's estimate is still at the threshold
    assert kind(engine.why_idle(left)) is Reason.WAITING_FOR_USAGE
    assert engine.should_defer_preflight_to_real_usage(left)
    assert engine.should_compress(8_001), "never past the window"
    assert not engine.should_defer_preflight_to_real_usage(8_001)
    engine.update_from_response({})
    assert engine.should_compress(left), "an answer without a count ends the wait as well"


@pytest.mark.parametrize(("rough", "waits"), [(64_096, True), (64_097, False)])
def test_what_came_since_a_compaction_is_compacted_though_nobody_counts(rough: int, waits: bool) -> None:
    effect = Effect().after_compaction(saved=0.5, left=60_000, without_model=False)
    assert effect.waits(rough, tolerance_of(64_000, 128_000)) is waits


def test_what_was_left_is_told_on_the_hosts_scale() -> None:
    ours, theirs = compressor(16_000), compressor(16_000)
    messages = session(60)
    size = ours.services.count.messages(messages)
    ours.compress(messages)
    assert ours.state.effect.left * 4 > size * 1.5, "else the host's figure is taken for ours"
    theirs.compress(messages, current_tokens=round(1.5 * size))
    assert theirs.state.effect.left == pytest.approx(1.5 * ours.state.effect.left, abs=2)


@pytest.mark.parametrize(
    ("rough", "deferred", "baseline"),
    [(149_999, False, 0), (155_000, True, 155_000), (162_000, True, 162_000), (169_000, True, 169_000), (180_000, False, 169_000)],
)
def test_an_estimate_is_deferred_while_it_grows_little_beside_a_count_that_fitted(rough: int, deferred: bool, baseline: int) -> None:
    engine = compressor(200_000, small_window_floor=0.75)
    for tokens in (t for t in (155_000, 162_000, 169_000) if t < rough and rough > 150_000):
        ratchet(engine, tokens)
    assert ratchet(engine, rough) is deferred
    assert engine.state.effect.fitting == baseline


def ratchet(engine: Compressor, rough: int) -> bool:
    """What the engine says of an estimate, with 90,000 counted and 155,000 left by the last compaction."""
    effect = replace(engine.state.effect, real=90_000, left=155_000)
    engine.state = replace(engine.state, effect=effect)
    return engine.should_defer_preflight_to_real_usage(rough)


def test_every_no_has_its_reason_in_figures() -> None:
    assert compressor(8_000).why_idle(10) == Idle(Reason.BELOW_THRESHOLD, "10 of 6,800 tokens")
    assert compressor(8_000).why_idle(6_800) is None

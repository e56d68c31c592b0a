"""The compaction-conformance-kit: what a summary without a model keeps of the statements that the kit plants, over five rounds.

The product never sees what the kit looks for, and no code of it knows how the kit words its plants (the last test). The figures
asserted are those reached: a change that loses some of it fails here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from compaction_kit import Canary, CanaryType, SeededSession, build_generated_session, build_random_session, build_seeded_session
from compaction_kit.canaries import seeded_canaries
from compaction_kit.runner import ConformanceRun, run_conformance

import host
from tests.kit_adapter import UnderTest

SEEDS = range(1, 13)
Corpus = Callable[[int], tuple[SeededSession, list[Canary]]]


@dataclass(frozen=True)
class Outcome:
    """Five rounds on one session."""

    canaries: list[Canary]
    run: ConformanceRun

    @property
    def ratio(self) -> float:
        """Characters of the window after the first round, of those before."""
        return float(self.run.rounds[0].compression_ratio)

    def alive(self, after: int) -> int:
        """Canaries that the window still holds after so many rounds."""
        return sum(self.run.rounds[after - 1].survived.values())

    def stale(self) -> Iterator[Canary]:
        """Canaries that stand in the last window beside the value that they replaced."""
        text, survived = self.run.rounds[-1].context.text.lower(), self.run.rounds[-1].survived
        for canary in self.canaries:
            if survived[canary.id] and any(old.lower() in text for old in canary.superseded_tokens):
                yield canary


@cache
def outcome_of(corpus: Corpus, seed: int) -> Outcome:
    session, canaries = corpus(seed)
    return Outcome(canaries, run_conformance(session, UnderTest(), rounds=5, canaries=canaries))


@pytest.mark.parametrize("seed", SEEDS)
def test_nine_of_ten_canaries_are_alive_after_five_rounds_in_three_tenths_of_the_text(seed: int) -> None:
    outcome = outcome_of(build_random_session, seed)
    assert outcome.ratio <= 0.30
    assert outcome.alive(after=5) >= 0.90 * len(outcome.canaries)
    assert not list(outcome.stale())


def test_what_the_first_round_kept_the_others_keep() -> None:
    for corpus in (build_random_session, build_generated_session):
        assert all(outcome_of(corpus, seed).alive(5) >= outcome_of(corpus, seed).alive(1) for seed in SEEDS)


def test_short_sessions_with_rotating_subjects() -> None:
    """Of 4,300 characters three tenths hold 12 statements; the kit states 17, and what holds of a user is not lost for want of a share."""
    outcomes = [outcome_of(build_generated_session, seed) for seed in SEEDS]
    assert sum(outcome.ratio for outcome in outcomes) <= 0.36 * len(outcomes) and max(outcome.ratio for outcome in outcomes) < 0.40
    assert sum(outcome.alive(5) for outcome in outcomes) >= 0.95 * sum(len(outcome.canaries) for outcome in outcomes)


def test_a_session_of_nothing_but_facts() -> None:
    """The scripted session: what the kit counts for filler is of the project too ("the flag is called parse_v2") and kept as well."""
    outcome = outcome_of(lambda seed: (build_seeded_session(), seeded_canaries()), 1)
    assert outcome.ratio <= 0.33 and outcome.alive(5) >= 18


def test_the_words_around_every_handoff_are_all_that_comes_on_top() -> None:
    session, canaries = build_random_session(1)
    framed = run_conformance(session, UnderTest(framed=True), rounds=1, canaries=canaries).rounds[0]
    bare = outcome_of(build_random_session, 1).run.rounds[0]
    assert framed.survived == bare.survived
    assert bare.output_chars < framed.output_chars < bare.output_chars + 1_200


def test_no_code_of_the_product_knows_how_the_kit_words_its_plants() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in Path(host.__file__).parent.rglob("*.py")).casefold()
    planted = [kind.value.replace("_", " ") for kind in CanaryType if kind is not CanaryType.FACT]
    assert not [words for words in planted if f"{words}:" in code or f'"{words}' in code]

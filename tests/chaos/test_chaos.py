"""A short run of the chaos in every test run; ``make chaos`` runs it long."""

from __future__ import annotations

from pathlib import Path

from tests.chaos.killing import killer_loop
from tests.chaos.soak import soak
from tests.chaos.wal import cuts, faults_of, written

RUNS = 20


def test_killed_at_any_moment_no_acknowledged_message_is_lost_and_the_view_is_a_published_one(tmp_path: Path) -> None:
    known, faults = killer_loop(tmp_path / "home", RUNS)
    assert faults == []
    assert known.deaths == RUNS
    assert known.digests
    assert known.version > 0


def test_a_log_cut_at_any_frame_leaves_a_beginning_of_what_was_written(tmp_path: Path) -> None:
    digests = written(tmp_path / "home", 12)
    left = [faults_of(cut, digests) for _, cut in cuts(tmp_path / "copied", step=7)]
    assert [faults for _, faults in left if faults] == []
    counts = [rows for rows, _ in left]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_processes_on_one_conversation_neither_lose_nor_double_a_message(tmp_path: Path) -> None:
    done = soak(tmp_path / "home", processes=4, sessions=1, seconds=4)
    assert done.faults == ()
    assert done.versions > 0
    assert done.searches > 0

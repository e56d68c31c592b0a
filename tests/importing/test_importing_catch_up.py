"""A short look before a search: bounded, of one working directory, and never an error."""

from __future__ import annotations

import os
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from host.importing.lines import lines_from
from host.importing.values import CaughtUp
from host.store.sqlite.store import FILE, SqliteStore
from host.store.values import FIRST_ID
from tests.importing.conftest import NOON, PROJECT, Desk, append, encoded, line, rollout, session_id, turns
from tests.stores_for_tests import change

AMPLE = 60.0  # seconds: nothing here takes as long
OTHER = "/home/ann/other"


def test_new_sessions_and_growth_are_caught_up_with(desk: Desk) -> None:
    path = desk.claude("talk", turns("talk", 2))
    desk.codex("rolled", rollout("rolled", 1))
    assert desk.importer.catch_up((), AMPLE) == CaughtUp(0, 6, ())
    append(path, encoded(turns("talk", 1, first=3)))
    assert desk.importer.catch_up((), AMPLE) == CaughtUp(0, 2, ())
    assert desk.importer.catch_up((), AMPLE) == CaughtUp()
    assert len(desk.texts("talk")) == 6


def test_only_the_sessions_of_the_directories_are_read(desk: Desk) -> None:
    desk.claude("ours", turns("ours", 1))
    desk.claude("theirs", turns("theirs", 1, cwd=OTHER), folder="-home-ann-other")
    desk.codex("ours too", rollout("ours too", 1))
    desk.codex("theirs too", rollout("theirs too", 1, cwd=OTHER))
    desk.codex("begun", b"")
    assert desk.importer.catch_up((PROJECT,), AMPLE) == CaughtUp(0, 4, ())
    assert {session.id for session in desk.store.sessions.listed()} == {session_id("ours"), session_id("ours too")}
    desk.codex("begun", rollout("begun", 1))
    assert desk.importer.catch_up((PROJECT,), AMPLE).messages == 2
    assert desk.importer.catch_up((OTHER,), AMPLE).messages == 4


def test_a_session_recorded_here_is_followed_wherever_its_file_lies(desk: Desk) -> None:
    path = desk.claude("talk", turns("talk", 1), folder="-elsewhere")
    theirs = desk.codex("theirs", rollout("theirs", 1, cwd=OTHER))
    desk.run()
    append(path, encoded(turns("talk", 1, first=2)))
    append(theirs, encoded(rollout("theirs", 2)[-2:]))
    assert desk.importer.catch_up((PROJECT,), AMPLE) == CaughtUp(0, 2, ())
    assert desk.importer.catch_up((OTHER,), AMPLE) == CaughtUp(0, 2, ())


def test_what_another_process_imported_is_followed_too(desk: Desk) -> None:
    desk.claude("talk", turns("talk", 1))
    assert desk.importer.catch_up((PROJECT,), AMPLE).messages == 2
    path = desk.claude("other", turns("other", 1), folder="-elsewhere")
    desk.run()
    append(path, encoded(turns("other", 1, first=2)))
    assert desk.importer.catch_up((PROJECT,), AMPLE).messages == 2


def test_a_link_to_the_working_directory_leads_to_its_sessions(desk: Desk, tmp_path: Path) -> None:
    real, link = tmp_path / "real shop", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    folder = "".join(char if char.isascii() and char.isalnum() else "-" for char in os.path.realpath(real))
    desk.claude("talk", turns("talk", 1, cwd=os.path.realpath(real)), folder=folder)
    assert desk.importer.catch_up((str(link),), AMPLE).messages == 2


def test_without_time_what_is_left_is_counted_in_lines(desk: Desk) -> None:
    desk.claude("talk", turns("talk", 3))
    desk.claude("cut", encoded(turns("cut", 2))[:-9])
    assert desk.importer.catch_up((), 0.0) == CaughtUp(10, 0, ())
    desk.claude("gone", b"").unlink()
    assert desk.importer.catch_up((), AMPLE).lines_left == 0


def test_a_long_session_is_read_slice_by_slice_until_nothing_is_left(desk: Desk) -> None:
    desk.claude("long", turns("long", 3_000))
    left = [desk.importer.catch_up((PROJECT,), 0.03).lines_left for _ in range(3)]
    assert 6_000 > left[0] > left[1] > left[2] > 0
    assert desk.importer.catch_up((PROJECT,), AMPLE).lines_left == 0
    assert desk.texts("long") == [f"{role} {number} of long" for number in range(1, 3_001) for role in ("user", "assistant")]


def test_every_look_comes_further_however_short_it_is(desk: Desk) -> None:
    desk.claude("talk", turns("talk", 3))
    looks = [desk.importer.catch_up((PROJECT,), 1e-9) for _ in range(50)]
    assert looks[-1].lines_left == 0 and sum(look.messages for look in looks) == 6


def test_the_newest_file_is_read_first(desk: Desk) -> None:
    desk.claude("older", turns("older", 3_000), age=60)
    desk.claude("newer", turns("newer", 3), age=1)
    assert desk.importer.catch_up((), 0.03).lines_left > 0
    assert len(desk.texts("newer")) == 6


def test_a_session_older_than_the_archive_goes_before_it(desk: Desk) -> None:
    desk.claude("new", turns("new", 1, begin=NOON + timedelta(days=1)))
    desk.importer.catch_up((), AMPLE)
    desk.claude("old", turns("old", 1))
    desk.importer.catch_up((), AMPLE)
    assert desk.current("old")[-1].id < desk.current("new")[0].id <= FIRST_ID + 1


def test_damage_is_a_notice_once_and_an_unfinished_line_none(desk: Desk) -> None:
    path = desk.claude("talk", encoded(turns("talk", 1)) + b"oops\nand more\n" + encoded(turns("talk", 1, first=2))[:-5])
    caught = desk.importer.catch_up((), AMPLE)
    assert (caught.lines_left, caught.messages) == (0, 3)
    assert [notice.partition(", the first: ")[::2] for notice in caught.notices] == [
        ("2 damaged lines were passed over", f"{path}:3: not JSON: Expecting value at column 1")
    ]
    assert desk.importer.catch_up((), AMPLE) == CaughtUp()


def test_a_deleted_session_stays_away(desk: Desk) -> None:
    path = desk.claude("talk", turns("talk", 1))
    desk.importer.catch_up((), AMPLE)
    desk.store.sessions.delete(session_id("talk"))
    append(path, encoded(turns("talk", 1, first=2)))
    assert desk.importer.catch_up((), AMPLE) == CaughtUp()
    assert desk.rows() == 0


def test_an_archive_that_cannot_be_used_is_a_notice(desk: Desk) -> None:
    desk.claude("talk", turns("talk", 1))
    change(desk.home / FILE, "DROP TABLE readings")
    caught = desk.importer.catch_up((), AMPLE)
    assert caught.messages == 0 and caught.notices[0].startswith("the session files were not read: ")


def test_a_folder_in_place_of_a_file_and_one_without_anything_are_no_trouble(desk: Desk) -> None:
    assert desk.importer.catch_up((), AMPLE) == CaughtUp()
    assert desk.importer.catch_up((PROJECT,), AMPLE) == CaughtUp()
    desk.claude("talk", b"").unlink()
    (desk.user_home / ".claude" / "projects" / "-home-ann-shop" / "talk.jsonl").mkdir()
    assert desk.importer.catch_up((PROJECT,), AMPLE) == CaughtUp()


def test_two_at_once_keep_everything_once_while_the_file_grows(desk: Desk) -> None:
    path = desk.claude("talk", turns("talk", 1))
    others = [SqliteStore(desk.home / FILE, durability="normal") for _ in range(2)]
    raised: list[BaseException] = []

    def look(store: SqliteStore) -> None:
        from host.importing.importer import Importer

        importer = Importer(store, user_home=desk.user_home, environ={})
        try:
            for _ in range(40):
                importer.catch_up((PROJECT,), AMPLE)
        except BaseException as error:  # noqa: BLE001  told by the test
            raised.append(error)

    threads = [threading.Thread(target=look, args=(store,)) for store in others]
    for thread in threads:
        thread.start()
    for number in range(2, 40):
        whole = encoded(turns("talk", 1, first=number))
        append(path, whole[:100])
        append(path, whole[100:])
    for thread in threads:
        thread.join()
    desk.importer.catch_up((PROJECT,), AMPLE)
    assert not raised
    assert desk.texts("talk") == [f"{role} {number} of talk" for number in range(1, 40) for role in ("user", "assistant")]
    for store in others:
        store.close()


def test_two_threads_of_one_importer_do_not_meet(desk: Desk) -> None:
    desk.claude("long", turns("long", 3_000))
    caught: list[CaughtUp] = []
    threads = [threading.Thread(target=lambda: caught.append(desk.importer.catch_up((), 0.05))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(caught) == 4
    assert desk.importer.catch_up((), AMPLE).lines_left == 0 and desk.rows() == 6_000


@pytest.mark.parametrize(
    ("content", "offset", "most", "lines"),
    [
        (b"", 0, 99, 0),
        (b"a\nb\n", 0, 99, 2),
        (b"a\nb", 0, 99, 2),
        (b"a\nb\n", 2, 99, 1),
        (b"a\n" * 1000, 0, 100, 1000),
        (b"a" * 1000, 0, 10, 1),
    ],
    ids=["empty", "two", "open end", "from an offset", "estimated", "no end in sight"],
)
def test_unread_lines_are_counted_and_many_estimated(tmp_path: Path, content: bytes, offset: int, most: int, lines: int) -> None:
    path = tmp_path / "lines"
    path.write_bytes(content)
    with path.open("rb") as opened:
        assert lines_from(opened, offset, most)[0] == lines


def test_a_side_chain_beside_its_session_belongs_to_its_directory(desk: Desk) -> None:
    path = desk.claude("talk", turns("talk", 1))
    chain = [line("talk", "user", "the agent", 2, isSidechain=True, agentId="a1b2c3d")]
    desk.write(path.with_suffix("") / "subagents" / "agent-a1b2c3d.jsonl", chain)
    assert desk.importer.catch_up((PROJECT,), AMPLE).messages == 3

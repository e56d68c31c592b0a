"""Which comes first, what is there when a run is cut short, and two at once."""

from __future__ import annotations

import threading
from datetime import timedelta
from itertools import count, pairwise

import pytest

from host.importing.importer import Importer
from host.store.query import Query
from host.store.sqlite.store import FILE, SqliteStore
from host.store.values import FIRST_ID
from tests.importing.conftest import NOON, Desk, append, encoded, session_id, turns

DAYS = ("monday", "tuesday", "wednesday", "thursday")


def newest_first(desk: Desk) -> list[str]:
    """The sessions in the order in which a search meets them."""
    names = {session_id(day): day for day in DAYS}
    return [names[hit.conversation] for hit in desk.store.search.find(Query('"user 1 of"', limit=50)).hits]


def a_week(desk: Desk, days: tuple[str, ...] = DAYS) -> None:
    """A session a day; the files are all of one age, as copies are."""
    for day in days:
        desk.claude(day, turns(day, 2, begin=NOON + timedelta(days=DAYS.index(day))))


def test_the_past_gets_ids_below_all_others_the_newest_session_highest(desk: Desk) -> None:
    a_week(desk)
    desk.run()
    ids = {day: [row.id for row in desk.current(day)] for day in DAYS}
    assert all(max(ids[before]) < min(ids[after]) for before, after in pairwise(DAYS))
    assert max(map(max, ids.values())) <= FIRST_ID + 1
    assert newest_first(desk) == list(reversed(DAYS))


def test_an_older_session_that_turns_up_later_goes_before_the_others(desk: Desk) -> None:
    a_week(desk, DAYS[1:])
    desk.run()
    a_week(desk, DAYS[:1])
    desk.run()
    assert newest_first(desk) == list(reversed(DAYS))


def test_what_is_newer_than_the_archive_comes_behind_it_oldest_first(desk: Desk) -> None:
    a_week(desk, DAYS[:1])
    desk.run()
    a_week(desk)
    desk.run()
    assert newest_first(desk) == list(reversed(DAYS))
    assert min(row.id for day in DAYS[1:] for row in desk.current(day)) > FIRST_ID


def test_growth_comes_behind_all_others(desk: Desk) -> None:
    a_week(desk)
    desk.run()
    desk.claude("monday", [*turns("monday", 2), *turns("monday", 1, first=3, begin=NOON + timedelta(days=9))])
    desk.run()
    assert desk.current("monday")[-1].id > FIRST_ID
    assert desk.current("monday")[0].id < min(row.id for row in desk.current("tuesday"))


class Cut(Exception):
    """The run was cut short."""


def test_a_run_that_is_cut_short_leaves_what_it_kept_and_the_next_goes_on(desk: Desk) -> None:
    a_week(desk)
    calls = count(1)

    def cut(done: int, total: int, text: str) -> None:
        if next(calls) == 2:
            raise Cut

    with pytest.raises(Cut):
        desk.importer.run(progress=cut)
    assert newest_first(desk) == ["thursday", "wednesday"]
    done = desk.run()
    assert (done.unchanged, done.read, done.messages) == (2, 2, 8)
    assert newest_first(desk) == list(reversed(DAYS))


def test_what_was_read_is_found_while_the_run_goes_on(desk: Desk) -> None:
    a_week(desk)
    seen: list[list[str]] = []
    desk.importer.run(progress=lambda done, total, text: seen.append(newest_first(desk)))
    assert seen[0] == ["thursday"] and seen[-1] == list(reversed(DAYS))


def test_a_run_tells_how_far_it_is(desk: Desk) -> None:
    desk.claude("large", turns("large", 4_000))
    shown: list[tuple[int, int, str]] = []
    desk.importer.run(progress=lambda *told: shown.append(told))
    assert all(done <= total for done, total, _ in shown) and shown[-1][0] >= shown[-1][1] - 1 > 1
    assert {text for _, _, text in shown} == {"reading sessions, MB", "indexing, MB"}


def test_growth_is_kept_in_pieces(desk: Desk) -> None:
    path = desk.claude("long", turns("long", 1))
    desk.run()
    append(path, encoded(turns("long", 2_200, first=2)))
    shown: list[str] = []
    done = desk.importer.run(progress=lambda done, total, text: shown.append(text))
    assert done.messages == 4_400 and len([text for text in shown if text.startswith("reading")]) == 2


def test_two_importers_at_once_keep_everything_once(desk: Desk) -> None:
    for number in range(12):
        desk.claude(f"talk{number}", turns(f"talk{number}", 6, begin=NOON + timedelta(hours=number)))
    start, done = threading.Barrier(2), []

    def work() -> None:
        store = SqliteStore(desk.home / FILE, durability="normal")
        importer = Importer(store, user_home=desk.user_home, environ={})
        start.wait()
        done.append(importer.run())
        store.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(each.messages for each in done) == desk.rows() == 144
    assert not desk.store.admin.verify().findings

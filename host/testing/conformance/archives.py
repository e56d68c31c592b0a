"""Checks of archives: every message, at its position, byte for byte, for good."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import partial

from host.errors import NoSuchSession, NotStorable, Outrun
from host.messages.canonical import canonical
from host.messages.ledger import Entry, Ledger
from host.messages.types import Message
from host.store.protocols import Archive, Store
from host.store.values import Publication, Pulse
from host.testing.conformance.expecting import raises, same, true
from host.testing.conformance.odd import NO_JSON, ODD, UNSTORABLE, assistant, call, user

MANY = 1_203  # rows: more than a store reads at a time
BEYOND = 10**30  # a position that no store reaches and no column holds


def begun(store: Store) -> Archive:
    """The archive of a new conversation."""
    return store.archive(store.sessions.create().conversation)


def texts(count: int) -> list[Message]:
    """Messages m1, m2 and so on."""
    return [user(f"m{number}") for number in range(1, count + 1)]


def a_message_comes_back_byte_for_byte(store: Store) -> None:
    one, many = begun(store), begun(store)
    for position, (name, make) in enumerate(ODD.items(), 1):
        message = make()
        given = canonical(message)
        same(f"position of {name}", one.append(message), position)
        same(f"the message given, {name}", canonical(message), given)
        true(f"comes back byte for byte: {name}", list(map(canonical, one.read(position, position))) == [given])
        same(f"as a row: {name}", [row.message for row in one.rows(position, position)], [message])
    same("positions of all at once", many.extend([make() for make in ODD.values()]), list(range(1, len(ODD) + 1)))
    given_all = [canonical(make()) for make in ODD.values()]
    true("all at once come back byte for byte", list(map(canonical, many.read(1, len(ODD)))) == given_all)


def what_is_not_quite_json_comes_back_or_is_refused(store: Store) -> None:
    archive = begun(store)
    for name, make in NO_JSON.items():
        try:
            position = archive.append(make())
        except NotStorable:
            continue
        same(f"{name} comes back", [canonical(m) for m in archive.read(position, position)], [canonical(make())])


def what_json_cannot_hold_is_refused_and_the_rest_goes_on(store: Store) -> None:
    archive = begun(store)
    for position, (name, make) in enumerate(UNSTORABLE.items(), 1):
        raises(name, NotStorable, partial(archive.append, make()))
        same(f"the position after {name}", archive.append(user(name)), position)
    same("what is kept", [message["content"] for message in archive.read(1, 100)], list(UNSTORABLE))


def nobody_shares_a_message_with_the_archive(store: Store) -> None:
    archive, message = begun(store), user([{"type": "text", "text": "as said"}])
    archive.append(message)
    message["content"] = "changed after it was given"
    archive.read(1, 1)[0]["content"] = "changed after it was read"
    archive.current()[0].message["role"] = "changed in a row"  # type: ignore[index]
    same("the message", archive.read(1, 1), [user([{"type": "text", "text": "as said"}])])


def the_same_words_twice_are_two_messages(store: Store) -> None:
    archive, yes = begun(store), user("yes")
    same("positions", [archive.append(yes), archive.append(yes), *archive.extend([yes, user("yes")])], [1, 2, 3, 4])
    same("messages", archive.read(1, 4), [yes] * 4)
    same("places", [row.place for row in archive.current()], [1, 2, 3, 4])


def positions_are_dense(store: Store) -> None:
    archive = begun(store)
    found = [archive.append(user("a")), *archive.extend(texts(3)), *archive.extend([]), archive.append(user("b"), replaces=1)]
    same("positions of append and extend", found, [1, 2, 3, 4, 5])
    raises("a message that JSON cannot hold", NotStorable, lambda: archive.append(user({"a"})))
    same("the next position", archive.append(user("c")), 6)
    same("the range", archive.range(), (1, 6))
    same("positions of the rows", [row.position for row in archive.rows()], [1, 2, 3, 4, 5, 6])


def many_at_once_are_kept_all_or_not_at_all(store: Store) -> None:
    archive = begun(store)
    archive.extend(texts(2))
    raises("one of them cannot be kept", NotStorable, lambda: archive.extend([user("a"), user(int), user("b")]))
    raises("a time is missing", ValueError, lambda: archive.extend(texts(2), times=[None]))
    same("what is kept", archive.read(1, 9), texts(2))
    same("the next position", archive.append(user("m3")), 3)


def many_messages_are_read_in_order(store: Store) -> None:
    archive, messages = begun(store), texts(MANY)
    same("positions", archive.extend(messages), list(range(1, MANY + 1)))
    true("read gives all in order", archive.read(1, MANY) == messages)
    true("rows give all in order", [row.position for row in archive.rows()] == list(range(1, MANY + 1)))
    true("current gives all in order", [row.message for row in archive.current()] == messages)
    same("rows across a boundary", [row.position for row in archive.rows(499, 502)], [499, 500, 501, 502])


def a_new_version_takes_the_place_of_its_message(store: Store) -> None:
    archive = begun(store)
    archive.extend([user("a"), user("b")])
    same("position of the second version", archive.append(user("a2"), replaces=1), 3)
    same("position of the third, said of the second", archive.append(user("a3"), replaces=3), 4)
    same("position of the fourth, said of the first", archive.append(user("a4"), replaces=1), 5)
    archive.append(user("c"))
    rows = list(archive.rows())
    same("places", [row.place for row in rows], [1, 2, 1, 1, 1, 6])
    same("superseded", [row.superseded for row in rows], [True, False, True, True, False, False])
    current = [(row.position, row.message) for row in archive.current()]
    same("the newest version of each, in the order of the conversation", current, [(5, user("a4")), (2, user("b")), (6, user("c"))])
    same("all versions can be read", archive.read(1, 4), [user("a"), user("b"), user("a2"), user("a3")])


def a_version_of_nothing_is_a_message_of_its_own(store: Store) -> None:
    archive = begun(store)
    for position, replaced in enumerate((99, 0, -1, 4, BEYOND), 1):
        archive.append(user(f"of {replaced}"), replaces=replaced)
        same(f"place of a version of {replaced}", [row.place for row in archive.rows(position, position)], [position])
    archive.append(user("next"))
    same("superseded", [row.position for row in archive.rows() if row.superseded], [])


def places_are_those_of_new_versions(store: Store) -> None:
    archive, other = begun(store), begun(store)
    archive.extend(texts(3))
    same("while there is no new version", archive.places(), {})
    archive.append(user("a2"), replaces=1)
    archive.append(user("c2"), replaces=3)
    archive.append(user("a3"), replaces=4)
    archive.append(user("of nothing"), replaces=99)
    same("places", archive.places(), {4: 1, 5: 3, 6: 1})
    same("as the rows have them", archive.places(), {row.position: row.place for row in archive.rows() if row.place != row.position})
    same("another conversation's", other.places(), {})


def who_has_been_outrun_keeps_nothing(store: Store) -> None:
    archive = begun(store)
    same("after nothing", archive.append(user("a"), after=0), 1)
    same("after the first", archive.extend(texts(2), after=1), [2, 3])
    for after in (0, 2, 4, -1, BEYOND):
        raises(f"a message after {after}", Outrun, partial(archive.append, user("x"), after=after))
        raises(f"a version after {after}", Outrun, partial(archive.append, user("x"), replaces=1, after=after))
        raises(f"many after {after}", Outrun, partial(archive.extend, texts(2), after=after))
        raises(f"none at all after {after}", Outrun, partial(archive.extend, [], after=after))
    same("what is kept", (archive.range(), archive.places()), ((1, 3), {}))
    same("whoever has seen all", archive.append(user("b"), replaces=1, after=3), 4)
    same("whoever does not ask", archive.append(user("c")), 5)


def a_pulse_tells_of_every_change(store: Store) -> None:
    session, doomed = store.sessions.create(), store.sessions.create()
    archive, views, going = store.archive(session.conversation), store.views(session.conversation), store.archive(doomed.conversation)
    going.append(user("x"))
    seen = archive.pulse()
    same("at first", (seen.last, seen.version), (0, 0))
    archive.extend(texts(3))
    archive.append(user("m1, mended"), replaces=1)
    same("after messages", archive.pulse(), replace(seen, last=4))
    views.publish(Publication(Ledger([Entry(user("m2"), 2)]), 2), expected=0)
    same("after a view", archive.pulse(), replace(seen, last=4, version=1))
    views.undo(expected=1)
    same("after an undo", archive.pulse(), replace(seen, last=4, version=2))
    store.sessions.delete(doomed.conversation)
    after = archive.pulse()
    true("an erasure anywhere is told", after.erasures > seen.erasures)
    same("and nothing else changed", after, Pulse(4, 2, after.erasures))
    same("of what was deleted", going.pulse(), Pulse(0, 0, after.erasures))


def reading_beyond_the_ends_finds_what_is_there(store: Store) -> None:
    archive = begun(store)
    same("an empty archive", (archive.range(), archive.read(1, 9), list(archive.rows()), archive.current()), ((0, 0), [], [], []))
    archive.extend(texts(5))
    for position, until, wanted in READINGS:
        same(f"read({position}, {until})", [m["content"] for m in archive.read(position, until)], [f"m{number}" for number in wanted])
        same(f"rows({position}, {until})", [row.position for row in archive.rows(position, until)], wanted)
    same("rows from 4 on", [row.position for row in archive.rows(4)], [4, 5])
    same("rows from beyond the end on", list(archive.rows(BEYOND)), [])


READINGS: tuple[tuple[int, int, list[int]], ...] = (
    (1, 5, [1, 2, 3, 4, 5]),
    (0, 2, [1, 2]),
    (-7, 1, [1]),
    (4, 99, [4, 5]),
    (3, 3, [3]),
    (3, 2, []),
    (6, 9, []),
    (0, 0, []),
    (-5, -1, []),
    (2, -1, []),
    (5, BEYOND, [5]),
    (BEYOND, BEYOND + 1, []),
)
"""From, until, and the positions that are found."""


def times_are_kept_to_the_microsecond(store: Store) -> None:
    archive = begun(store)
    said = datetime(2024, 2, 29, 23, 59, 59, 123_457, tzinfo=timezone(timedelta(hours=5, minutes=45)))
    naive = datetime(1969, 7, 20, 20, 17, 40, 1)
    archive.append(user("with a zone"), time=said)
    archive.append(user("without, meaning UTC"), time=naive)
    archive.extend(texts(3), times=[said, None, naive])
    before = datetime.now(UTC) - timedelta(seconds=60)
    times = [row.time for row in archive.rows()]
    same("times given", [times[0], times[1], times[2], times[4]], [said, naive.replace(tzinfo=UTC), said, naive.replace(tzinfo=UTC)])
    true("a time that is not given is now", before < times[3] <= datetime.now(UTC))
    true("times are in UTC", all(time.utcoffset() == timedelta(0) for time in times))


def times_at_the_ends_of_the_calendar_can_be_read(store: Store) -> None:
    archive, ahead, behind = begun(store), timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))
    for time in (datetime.min, datetime.max, datetime.min.replace(tzinfo=ahead), datetime.max.replace(tzinfo=behind)):
        archive.append(user("x"), time=time)
    same("years", [row.time.year for row in archive.rows()], [1, 9999, 1, 9999])


def a_row_names_its_tools(store: Store) -> None:
    archive = begun(store)
    calls = [call("c1", "terminal"), call("c2", "read_file"), call("c3", "terminal"), {"function": {"name": "nameless"}}]
    archive.append(assistant(None, tool_calls=calls))
    for answer in (
        {"role": "tool", "tool_call_id": "c2", "content": "x"},
        {"role": "tool", "tool_call_id": "c1", "name": "shell", "content": "x"},
        {"role": "tool", "tool_call_id": "c9", "content": "x"},
        {"role": "tool", "content": "x"},
        {"role": "user", "name": "terminal", "content": "x"},
        {"role": "tool", "tool_name": "bad\udc81", "content": "x"},
    ):
        archive.append(answer)  # type: ignore[arg-type]
    wanted = ["terminal\nread_file\nnameless", "read_file", "shell", "", "nameless", "", "bad?"]
    same("tools of the rows", [row.tool for row in archive.rows()], wanted)


def a_tool_is_known_after_a_restart(store: Store) -> None:
    conversation = store.sessions.create().conversation
    store.archive(conversation).append(assistant(None, tool_calls=[call("c1", "terminal", json.dumps({"text": "x" * 100_000}))]))
    another = store.archive(conversation)
    another.append(assistant(None, tool_calls=[call("c2", "read_file")]))
    another.extend([{"role": "tool", "tool_call_id": id, "content": "x"} for id in ("c1", "c2")])
    same("tools of the rows", [row.tool for row in another.rows()], ["terminal", "read_file", "terminal", "read_file"])


def a_row_says_where_it_is(store: Store) -> None:
    session = store.sessions.create()
    archive = store.archive(session.conversation)
    archive.extend([user("x"), {"role": "critic", "content": "y"}, {"role": "u\udc81", "content": "z"}])
    rows = list(archive.rows())
    same("conversation and session", {(row.conversation, row.session) for row in rows}, {(session.conversation, session.id)})
    same("roles", [row.role for row in rows], ["user", "critic", "u?"])


def ids_rise_in_the_order_of_archiving(store: Store) -> None:
    one, two = begun(store), begun(store)
    for archive in (one, two, two, one):
        archive.append(user("x"))
    ids = [row.id for archive in (one, two) for row in archive.rows()]
    true(f"ids rise across conversations: {ids}", ids[0] < ids[2] < ids[3] < ids[1])
    true("there is room for older history below them", min(ids) > 1 << 20)


def an_id_is_given_once(store: Store) -> None:
    begun(store).extend(texts(2))
    for deleted in ("the newest", "and the newest again"):
        doomed = store.sessions.create().conversation
        store.archive(doomed).extend(texts(3))
        given = [row.id for row in store.archive(doomed).rows()]
        store.sessions.delete(doomed)
        archive = begun(store)
        archive.append(user("x"))
        true(f"an id after {deleted} was deleted is higher than those", next(archive.rows()).id > max(given))


def conversations_do_not_see_each_other(store: Store) -> None:
    one, two = begun(store), begun(store)
    one.extend(texts(3))
    two.append(user("other"))
    two.append(user("other again"), replaces=1)
    same("the first one's", (one.range(), one.read(1, 9), len(one.current())), ((1, 3), texts(3), 3))
    same("the second one's", (two.range(), two.read(1, 9)), ((1, 2), [user("other"), user("other again")]))


def an_archive_of_nothing_is_refused(store: Store) -> None:
    for name in ("nothing", "", "\udc81"):
        raises(f"archive({name!r})", NoSuchSession, partial(store.archive, name))
        raises(f"views({name!r})", NoSuchSession, partial(store.views, name))
        raises(f"state({name!r})", NoSuchSession, partial(store.state, name, "engine"))


CHECKS = (
    a_message_comes_back_byte_for_byte,
    what_is_not_quite_json_comes_back_or_is_refused,
    what_json_cannot_hold_is_refused_and_the_rest_goes_on,
    nobody_shares_a_message_with_the_archive,
    the_same_words_twice_are_two_messages,
    positions_are_dense,
    many_at_once_are_kept_all_or_not_at_all,
    many_messages_are_read_in_order,
    a_new_version_takes_the_place_of_its_message,
    a_version_of_nothing_is_a_message_of_its_own,
    places_are_those_of_new_versions,
    who_has_been_outrun_keeps_nothing,
    a_pulse_tells_of_every_change,
    reading_beyond_the_ends_finds_what_is_there,
    times_are_kept_to_the_microsecond,
    times_at_the_ends_of_the_calendar_can_be_read,
    a_row_names_its_tools,
    a_tool_is_known_after_a_restart,
    a_row_says_where_it_is,
    ids_rise_in_the_order_of_archiving,
    an_id_is_given_once,
    conversations_do_not_see_each_other,
    an_archive_of_nothing_is_refused,
)

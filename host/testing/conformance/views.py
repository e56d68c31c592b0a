"""Checks of views: published whole or not at all, compared and swapped, never changed."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

from host.errors import NotStorable, Outrun, UsageError
from host.messages.canonical import canonical
from host.messages.ledger import Entry, Kind, Ledger
from host.store.protocols import Store
from host.store.values import GOAL, Publication, Session
from host.testing.conformance.expecting import raises, same, there, true
from host.testing.conformance.odd import assistant, call, user

LONG, OVER = 300.0, -1.0  # seconds of a lease


def begun(store: Store, *, title: str | None = None, goal: str | None = None, rows: int = 6) -> Session:
    """A new conversation with some messages m1, m2 and so on."""
    session = store.sessions.create(
        title=title, source="cli", about={"model": "m", "chat_id": "42"}, settings={GOAL: goal, "n": 1} if goal else {"n": 1}
    )
    store.archive(session.conversation).extend([user(f"m{number}") for number in range(1, rows + 1)])
    return session


def view(summary: str, *rows: int, upto: int | None = None, rotate: bool = False, engine: str = "e", state: object = None) -> Publication:
    """A view that shows a summary, then rows."""
    covers = (range(1, min(rows, default=2)),)
    entries = [Entry(user(summary), None, Kind.SUMMARY, covers), *(Entry(user(f"m{row}"), row) for row in rows)]
    document = state if isinstance(state, dict) else None
    last = max(rows, default=1) if upto is None else upto
    return Publication(Ledger(entries), last, engine, "manual", {"summary": summary}, document, rotate)


def a_conversation_has_no_view_at_first(store: Store) -> None:
    views = store.views(begun(store).conversation)
    same("current, version and history", (views.current(), views.version(), views.history()), (None, 0, []))


def every_kind_of_entry_comes_back(store: Store) -> None:
    session = begun(store)
    views = store.views(session.conversation)
    tool_call = assistant(None, tool_calls=[call("c1", "terminal")])
    entries = [
        Entry(user("m1"), 1),
        Entry(user("summary \udc81\x00", _note={"深": [1, 1.0, None]}), None, Kind.SUMMARY, (range(2, 4), range(5, 6))),
        Entry(user([{"type": "text", "text": "summary and request"}]), 4, Kind.MERGED, (range(4, 5),)),
        Entry(tool_call, None, Kind.FOREIGN),
        Entry({"role": "tool", "tool_call_id": "c1", "content": "[missing]"}, None, Kind.STUB),
        Entry(user("m6 in short"), 6, Kind.DIGEST, (range(6, 7),)),
        Entry(user("m6 in short"), 6, Kind.DIGEST, (range(6, 7),)),
        Entry(user("not archived"), None, Kind.ORIGINAL),
        Entry(user("m5"), 5),
        Entry(user("m6"), 6),
    ]
    entries += [Entry(user(f"one more {kind}"), None, kind, (range(1, 2),)) for kind in Kind]
    given = [canonical(entry.message) for entry in entries]
    publication = Publication(Ledger(entries), 6, "e", "preflight", {"深": {"a": [1.5, None, "\udc81"]}})
    found = views.publish(publication, expected=0)
    same("the entries", list(found.ledger), entries)
    true("the messages, byte for byte", [canonical(entry.message) for entry in found.ledger] == given)
    same("the rest", (found.version, found.upto, found.engine, found.trigger), (1, 6, "e", "preflight"))
    same("receipt", found.receipt, {"深": {"a": [1.5, None, "\udc81"]}})
    same("session and what it undoes", (found.session, found.undoes), (session.id, None))
    true("it was published now", abs((datetime.now(UTC) - found.time).total_seconds()) < 60)
    same("current", views.current(), found)
    same("history", views.history(), [found])
    same("version", views.version(), 1)


def nobody_shares_a_view_with_the_store(store: Store) -> None:
    views = store.views(begun(store).conversation)
    publication = view("as published", 5, 6)
    views.publish(publication, expected=0)
    publication.ledger[0].message["content"] = "changed after it was given"
    publication.receipt["summary"] = "changed"
    read = there("the view", views.current())
    for entry in read.ledger:
        entry.message["content"] = "changed after it was read"
    read.receipt.clear()
    again = there("the view", views.current())
    same("messages", [m["content"] for m in again.ledger.messages()], ["as published", "m5", "m6"])
    same("receipt", again.receipt, {"summary": "as published"})


def views_of_conversations_are_apart(store: Store) -> None:
    one, two = begun(store), begun(store)
    store.views(one.conversation).publish(view("one", 5), expected=0)
    store.views(one.conversation).publish(view("one again", 6), expected=1)
    store.views(two.conversation).publish(view("two", 5), expected=0)
    same("versions", [store.views(session.conversation).version() for session in (one, two)], [2, 1])
    same("the second one's", there("a view", store.views(two.conversation).current()).ledger[0].message, user("two"))


def old_views_stay(store: Store) -> None:
    session = begun(store)
    views = store.views(session.conversation)
    published = [views.publish(view(f"s{number}", 5, 6), expected=number) for number in range(4)]
    store.archive(session.conversation).append(user("new version"), replaces=5)
    same("versions", [version.version for version in views.history()], [1, 2, 3, 4])
    same("all as published, the archived versions too", views.history(), published)


def a_stale_version_is_refused(store: Store) -> None:
    session = begun(store, title="work", goal="ship")
    views = store.views(session.conversation)
    first = views.publish(view("first", 5, state={"n": 1}), expected=0)
    for expected in (0, 2, -1):
        attempt = partial(views.publish, view("late", 6, state={"n": 2}, rotate=True), expected=expected)
        raises(f"publish on version {expected}", Outrun, attempt)
        raises(f"undo on version {expected}", Outrun, partial(views.undo, expected=expected))
    same("views", views.history(), [first])
    same("state", store.state(session.conversation, "e").load(), {"n": 1})
    same("sessions", store.sessions.listed(), [store.sessions.get(session.id)])
    same("the session is open and has its goal", (store.sessions.get(session.id).ended, session.settings[GOAL]), (None, "ship"))


def a_lease_that_is_not_held_is_refused(store: Store) -> None:
    session = begun(store)
    views, leases = store.views(session.conversation), store.leases
    a = there("A's lease", leases.acquire(session.id, "A", LONG))
    same("published under a lease", views.publish(view("a", 5), expected=0, lease=a).version, 1)
    leases.release(a)
    raises("given back", Outrun, lambda: views.publish(view("b", 5), expected=1, lease=a))
    b = there("B's lease", leases.acquire(session.id, "B", LONG))
    raises("passed to another", Outrun, lambda: views.publish(view("b", 5), expected=1, lease=a))
    leases.release(b)
    newer = there("A's second lease", leases.acquire(session.id, "A", LONG))
    raises("passed on and taken back: the fence is another", Outrun, lambda: views.publish(view("b", 5), expected=1, lease=a))
    same("published under the second lease", views.publish(view("c", 5), expected=1, lease=newer).version, 2)
    leases.release(newer)
    over = there("a lease that is over", leases.acquire(session.id, "C", OVER))
    raises("ran out", Outrun, lambda: views.publish(view("d", 5), expected=2, lease=over))
    same("version", views.version(), 2)


def a_view_that_cannot_be_kept_changes_nothing(store: Store) -> None:
    session = begun(store, rows=3)
    views = store.views(session.conversation)
    bad_state = Publication(Ledger(), 3, "e", state={"n": {1}}, rotate=True)
    bad_receipt = Publication(Ledger(), 3, "e", receipt={"n": {1}}, state={"n": 1}, rotate=True)
    made = Publication(Ledger([Entry(user({1}), None, Kind.SUMMARY)]), 3, "e", state={"n": 1}, rotate=True)
    raises("a made message that JSON cannot hold", NotStorable, lambda: views.publish(made, expected=0))
    for what, publication in (("a state", bad_state), ("a receipt", bad_receipt)):
        raises(f"{what} that JSON cannot hold", TypeError, partial(views.publish, publication, expected=0))
    for rows in ([4], [0], [1, -1]):
        unknown = Publication(Ledger(Entry(user("x"), row) for row in rows), 3)
        raises(f"rows {rows} of three", UsageError, partial(views.publish, unknown, expected=0))
    for upto in (4, -1):
        raises(f"up to row {upto} of three", UsageError, partial(views.publish, Publication(Ledger(), upto), expected=0))
    same("views, sessions, state", (views.history(), store.state(session.conversation, "e").load()), ([], {}))
    same("the session", store.sessions.listed(), [store.sessions.get(session.id)])
    same("it can publish", views.publish(view("s", 2, 3), expected=0).version, 1)


def in_place_the_session_goes_on(store: Store) -> None:
    session = begun(store, title="work", goal="ship")
    published = store.views(session.conversation).publish(view("s", 5, 6), expected=0)
    same("session of the view", published.session, session.id)
    store.archive(session.conversation).append(user("m7"))
    after = store.sessions.get(session.id)
    same("sessions", store.sessions.listed(conversation=session.conversation), [after])
    same("title, goal, end", (after.title, after.settings, after.ended), ("work", {GOAL: "ship", "n": 1}, None))
    same("rows", after.rows, (range(1, 8),))


def rotation_ends_the_session_and_begins_a_child(store: Store) -> None:
    parent = begun(store, title="work", goal="ship")
    conversation = parent.conversation
    published = store.views(conversation).publish(view("s", 5, 6, rotate=True), expected=0)
    store.archive(conversation).append(user("m7"))
    child, parent = store.sessions.tip(conversation), store.sessions.get(parent.id)
    same("session of the view", published.session, child.id)
    same("end of the parent", (parent.end_reason, parent.ended is not None), ("compression", True))
    same("parent and conversation of the child", (child.parent, child.conversation), (parent.id, conversation))
    same("origin of the child", (child.source, child.about, child.ended), (parent.source, parent.about, None))
    same("titles", (parent.title, child.title), ("work", "work #2"))
    same("settings: the goal moves, the rest is carried over", (parent.settings, child.settings), ({"n": 1}, {GOAL: "ship", "n": 1}))
    same("rows", (parent.rows, child.rows), ((range(1, 7),), (range(7, 8),)))
    same("session of a row", [row.session for row in store.archive(conversation).rows(6)], [parent.id, child.id])
    same("a title finds its newest continuation", store.sessions.find("work").id, child.id)


def titles_are_numbered_on(store: Store) -> None:
    session = begun(store, title="work")
    store.sessions.create(title="work #3")
    views = store.views(session.conversation)
    for version in range(3):
        views.publish(view("s", 5, 6, rotate=True), expected=version)
    titles = [session.title for session in store.sessions.listed(conversation=session.conversation)]
    same("titles, of which another conversation has #3", titles, ["work", "work #4", "work #5", "work #6"])
    untitled = begun(store)
    store.views(untitled.conversation).publish(view("s", 5, rotate=True), expected=0)
    same("without a title", [s.title for s in store.sessions.listed(conversation=untitled.conversation)], [None, None])


def long_titles_are_numbered_too(store: Store) -> None:
    for end in "ab":
        session = begun(store, title="w" * 99 + end)
        for version in range(2):
            store.views(session.conversation).publish(view("s", 5, rotate=True), expected=version)
    titles = [session.title for session in store.sessions.listed() if session.title]
    same("titles that differ", len(set(titles)), 6)
    true("none is too long", max(map(len, titles)) <= 100)


def rotation_keeps_the_first_end(store: Store) -> None:
    session = begun(store)
    store.sessions.end(session.id, "closed by the user")
    store.views(session.conversation).publish(view("s", 5, rotate=True), expected=0)
    same("the reason", store.sessions.get(session.id).end_reason, "closed by the user")
    store.views(session.conversation).undo(expected=1)
    same("the reason after an undo", store.sessions.get(session.id).end_reason, "closed by the user")


def state_is_written_with_the_view(store: Store) -> None:
    session = begun(store)
    views, state = store.views(session.conversation), store.state(session.conversation, "e")
    same("at first", state.load(), {})
    views.publish(view("s", 5, state={"深": [1, None, "\udc81"]}), expected=0)
    same("with the view", state.load(), {"深": [1, None, "\udc81"]})
    views.publish(view("t", 5), expected=1)
    same("left alone by a view without one", state.load(), {"深": [1, None, "\udc81"]})
    state.save({"own": 1})
    raises("what is no JSON", TypeError, lambda: state.save({"n": {1}}))
    same("saved by itself", store.state(session.conversation, "e").load(), {"own": 1})
    same("of another engine", store.state(session.conversation, "f").load(), {})
    same("of another conversation", store.state(begun(store).conversation, "e").load(), {})
    state.load()["own"] = 2
    same("nobody shares it", state.load(), {"own": 1})


CHECKS = (
    a_conversation_has_no_view_at_first,
    every_kind_of_entry_comes_back,
    nobody_shares_a_view_with_the_store,
    views_of_conversations_are_apart,
    old_views_stay,
    a_stale_version_is_refused,
    a_lease_that_is_not_held_is_refused,
    a_view_that_cannot_be_kept_changes_nothing,
    in_place_the_session_goes_on,
    rotation_ends_the_session_and_begins_a_child,
    titles_are_numbered_on,
    long_titles_are_numbered_too,
    rotation_keeps_the_first_end,
    state_is_written_with_the_view,
)

"""Checks of undo: the window before a compaction, by a new version; a rotation is taken back with it."""

from __future__ import annotations

from host.errors import UsageError
from host.messages.ledger import Ledger
from host.store.protocols import Store
from host.store.values import GOAL, Publication, Published
from host.testing.conformance.expecting import raises, same
from host.testing.conformance.odd import user
from host.testing.conformance.views import begun, view


def shown(published: Published) -> list[object]:
    """The texts that a version shows."""
    return [message["content"] for message in published.ledger.messages()]


def there_must_be_something_to_undo(store: Store) -> None:
    views = store.views(begun(store).conversation)
    raises("no view at all", UsageError, lambda: views.undo(expected=0))
    views.publish(view("s", 5), expected=0)
    views.undo(expected=1)
    raises("all undone", UsageError, lambda: views.undo(expected=2))
    same("versions", views.version(), 2)


def undo_shows_the_version_before(store: Store) -> None:
    views = store.views(begun(store).conversation)
    first = views.publish(view("s1", 3, 4, upto=4), expected=0)
    views.publish(view("s2", 5, 6, engine="other"), expected=1)
    undone = views.undo(expected=2)
    same("entries and upto", (undone.ledger, undone.upto), (first.ledger, first.upto))
    same("version, what it undoes, trigger", (undone.version, undone.undoes, undone.trigger), (3, 2, "undo"))
    same("engine and receipt", (undone.engine, undone.receipt), ("other", {}))
    same("current", views.current(), undone)
    same("all versions stay", [(version.version, version.undoes) for version in views.history()], [(1, None), (2, None), (3, 2)])


def undo_goes_on_to_older_versions(store: Store) -> None:
    views = store.views(begun(store).conversation)
    for number in range(3):
        views.publish(view(f"s{number}", 5, 6), expected=number)
    found = [views.undo(expected=3 + number) for number in range(3)]
    same("what is shown", [shown(version) for version in found], [["s1", "m5", "m6"], ["s0", "m5", "m6"], []])
    same("what is undone", [version.undoes for version in found], [3, 2, 1])
    same("before the first compaction the archive is the window", (found[-1].ledger, found[-1].upto), (Ledger(), 0))


def after_an_undo_it_goes_on(store: Store) -> None:
    views = store.views(begun(store).conversation)
    views.publish(view("s1", 5), expected=0)
    views.publish(view("s2", 5), expected=1)
    views.undo(expected=2)
    same("version of the next", views.publish(view("s4", 5), expected=3).version, 4)
    found = [views.undo(expected=4), views.undo(expected=5)]
    same("what is undone", [version.undoes for version in found], [4, 1])
    same("what is shown", list(map(shown, found)), [["s1", "m5"], []])


def undo_across_a_rotation_reopens_the_parent(store: Store) -> None:
    parent = begun(store, title="work", goal="ship")
    conversation, archive = parent.conversation, store.archive(parent.conversation)
    views, sessions = store.views(conversation), store.sessions
    views.publish(view("s", 5, 6, rotate=True), expected=0)
    child = sessions.tip(conversation)
    sessions.set(child.id, goal="ship twice")
    archive.append(user("m7"))
    undone = views.undo(expected=1)
    archive.extend([user("m8"), user("m9")])
    parent, child = sessions.get(parent.id), sessions.get(child.id)
    same("session of the view", undone.session, parent.id)
    same("it goes on in the parent", sessions.tip(conversation).id, parent.id)
    same("the parent is open", (parent.ended, parent.end_reason), (None, None))
    same("the child ended", (child.ended is not None, child.end_reason), (True, "undone"))
    same("title and settings of the parent", (parent.title, parent.settings), ("work", {GOAL: "ship twice", "n": 1}))
    same("the child has no goal any more", child.settings, {"n": 1})
    same("rows of the parent", parent.rows, (range(1, 7), range(8, 10)))
    same("rows of the child", child.rows, (range(7, 8),))
    same("sessions of the rows", [row.session for row in archive.rows(6)], [parent.id, child.id, parent.id, parent.id])
    same("found by its title", sessions.find("work").id, parent.id)


def undo_gives_back_a_title_that_moved(store: Store) -> None:
    parent = begun(store, title="work")
    views, sessions = store.views(parent.conversation), store.sessions
    views.publish(view("s", 5, rotate=True), expected=0)
    child = sessions.tip(parent.conversation)
    sessions.rename(child.id, "work")
    views.undo(expected=1)
    same("titles", (sessions.get(parent.id).title, sessions.get(child.id).title), ("work", None))


def undo_of_rotations_goes_up_the_line(store: Store) -> None:
    first = begun(store, title="work")
    conversation, views, sessions = first.conversation, store.views(first.conversation), store.sessions
    views.publish(view("s1", 5, 6), expected=0)
    views.publish(view("s2", 5, 6, rotate=True), expected=1)
    second = sessions.tip(conversation)
    views.publish(view("s3", 5, 6, rotate=True), expected=2)
    views.publish(view("s4", 6), expected=3)
    third = sessions.tip(conversation)
    found = [views.undo(expected=4 + number).session for number in range(4)]
    same("sessions of the versions", found, [third.id, second.id, first.id, first.id])
    same("it goes on in the first", sessions.tip(conversation).id, first.id)
    ends = [session.end_reason for session in sessions.listed(conversation=conversation)]
    same("ends", ends, [None, "undone", "undone"])
    views.publish(view("s9", 5, 6, rotate=True), expected=8)
    fourth = sessions.tip(conversation)
    same("rotated again", (fourth.parent, fourth.title), (first.id, "work #4"))
    same("undone again", views.undo(expected=9).session, first.id)


def undo_restores_the_state_of_its_engine(store: Store) -> None:
    session = begun(store)
    views, e, f = store.views(session.conversation), store.state(session.conversation, "e"), store.state(session.conversation, "f")
    for number, publication in enumerate(
        (
            view("s1", 5, engine="e", state={"e": 1}),
            view("s2", 5, engine="f", state={"f": 1}),
            view("s3", 5, engine="e"),
            view("s4", 5, engine="e", state={"e": 4}),
        )
    ):
        views.publish(publication, expected=number)
    states = []
    for version in range(4, 8):
        views.undo(expected=version)
        states.append((e.load(), f.load()))
    wanted = [({"e": 1}, {"f": 1}), ({"e": 1}, {"f": 1}), ({"e": 1}, {}), ({}, {})]
    same("states of e and f after each undo", states, wanted)


def rows_after_an_undone_view_stay(store: Store) -> None:
    session = begun(store)
    views, archive = store.views(session.conversation), store.archive(session.conversation)
    views.publish(Publication(Ledger(), 6), expected=0)
    archive.extend([user("m7"), user("m7, mended")])
    archive.append(user("m2, mended"), replaces=2)
    same("upto", views.undo(expected=1).upto, 0)
    same("the archive", [row.position for row in archive.current()], [1, 9, 3, 4, 5, 6, 7, 8])


CHECKS = (
    there_must_be_something_to_undo,
    undo_shows_the_version_before,
    undo_goes_on_to_older_versions,
    after_an_undo_it_goes_on,
    undo_across_a_rotation_reopens_the_parent,
    undo_gives_back_a_title_that_moved,
    undo_of_rotations_goes_up_the_line,
    undo_restores_the_state_of_its_engine,
    rows_after_an_undone_view_stay,
)

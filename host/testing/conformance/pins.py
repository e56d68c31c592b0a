"""Checks of pins: which messages stay, by their place, in the order in which they were pinned."""

from __future__ import annotations

from functools import partial

from host.errors import NoSuchSession, UsageError
from host.store.protocols import Store
from host.testing.conformance.expecting import raises, same
from host.testing.conformance.odd import user
from host.testing.conformance.views import begun, view


def places(store: Store, conversation: str) -> list[int]:
    """The pinned places."""
    return [pin.position for pin in store.pins(conversation).all()]


def pins_come_in_the_order_in_which_they_were_made(store: Store) -> None:
    conversation, other = begun(store).conversation, begun(store).conversation
    pins = store.pins(conversation)
    same("none at first", pins.all(), [])
    made = [pins.add(position, by=by) for position, by in ((4, "user"), (1, "tool"), (6, "user"))]
    same("what was made", [(pin.position, pin.by) for pin in made], [(4, "user"), (1, "tool"), (6, "user")])
    same("all", pins.all(), made)
    same("of another conversation", store.pins(other).all(), [])
    same("by another handle", store.pins(conversation).all(), made)


def pinning_again_changes_nothing(store: Store) -> None:
    pins = store.pins(begun(store).conversation)
    first, second = pins.add(2, by="user"), pins.add(3, by="user")
    same("the second time", pins.add(2, by="tool"), first)
    same("all", pins.all(), [first, second])


def unpinned_is_unpinned(store: Store) -> None:
    pins = store.pins(begun(store).conversation)
    pins.add(2, by="user")
    pins.add(3, by="user")
    same("what was pinned", pins.remove(2), True)
    same("again", pins.remove(2), False)
    same("what never was", [pins.remove(position) for position in (5, 0, -1, 99, 1 << 70)], [False] * 5)
    pins.add(2, by="user")
    same("pinned anew it is the newest", [pin.position for pin in pins.all()], [3, 2])


def only_what_is_there_can_be_pinned(store: Store) -> None:
    session = begun(store)
    pins = store.pins(session.conversation)
    for position in (0, -1, 7, 1 << 70, -(1 << 70)):
        raises(f"position {position}", UsageError, partial(pins.add, position, by="user"))
    same("nothing was pinned", pins.all(), [])
    raises("no conversation", NoSuchSession, lambda: store.pins("nobody").all())


def a_version_is_pinned_by_its_place(store: Store) -> None:
    conversation = begun(store).conversation
    archive, pins = store.archive(conversation), store.pins(conversation)
    version = archive.append(user("m2, mended"), replaces=2)
    again = archive.append(user("m2, mended twice"), replaces=version)
    same("pinned by the newest version", pins.add(again, by="user").position, 2)
    same("pinned by another one", pins.add(version, by="user"), pins.all()[0])
    archive.append(user("m2, mended thrice"), replaces=again)
    same("after another version", places(store, conversation), [2])
    same("unpinned by a version", pins.remove(version), True)
    same("none left", pins.all(), [])


def odd_names_are_kept_as_they_can_be_printed(store: Store) -> None:
    pins = store.pins(begun(store).conversation)
    same("a lone surrogate, a NUL", pins.add(1, by="a\udc80\x00b").by, "a?\x00b")
    same("nothing", pins.add(2, by="").by, "")
    same("read again", [pin.by for pin in pins.all()], ["a?\x00b", ""])


def undo_and_rotation_keep_pins(store: Store) -> None:
    conversation = begun(store, title="work").conversation
    views = store.views(conversation)
    store.pins(conversation).add(3, by="user")
    views.publish(view("s", 5, 6, rotate=True), expected=0)
    same("after a rotation", places(store, conversation), [3])
    store.pins(conversation).add(6, by="user")
    views.undo(expected=1)
    same("after an undo", places(store, conversation), [3, 6])


def a_deleted_conversation_has_no_pins(store: Store) -> None:
    gone, stays = begun(store).conversation, begun(store).conversation
    pins = store.pins(gone)
    pins.add(3, by="user")
    store.pins(stays).add(3, by="user")
    store.sessions.delete(gone)
    same("a handle from before", (pins.all(), pins.remove(3)), ([], False))
    raises("pinning in it", NoSuchSession, lambda: pins.add(3, by="user"))
    raises("a new handle", NoSuchSession, lambda: store.pins(gone))
    same("another conversation", places(store, stays), [3])


CHECKS = (
    pins_come_in_the_order_in_which_they_were_made,
    pinning_again_changes_nothing,
    unpinned_is_unpinned,
    only_what_is_there_can_be_pinned,
    a_version_is_pinned_by_its_place,
    odd_names_are_kept_as_they_can_be_printed,
    undo_and_rotation_keep_pins,
    a_deleted_conversation_has_no_pins,
)

"""Checks of a store that two have open at once: two processes on a file, two threads on a store in memory."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain

from host.errors import NotStorable, Outrun
from host.store.protocols import Archive, Store
from host.testing.conformance.expecting import raises, same, there
from host.testing.conformance.odd import UNSTORABLE, user
from host.testing.conformance.views import LONG, begun, view

WRITERS = 8  # threads
EACH = 25  # messages of each


def what_one_writes_the_other_reads(store: Store, other: Store) -> None:
    session = begun(store, title="work")
    conversation = session.conversation
    same("session", other.sessions.get(session.id), store.sessions.get(session.id))
    theirs, ours = other.archive(conversation), store.archive(conversation)
    same("positions in turn", [theirs.append(user("a")), ours.append(user("b")), theirs.append(user("c"))], [7, 8, 9])
    same("rows", list(theirs.rows()), list(ours.rows()))
    published = other.views(conversation).publish(view("s", 5, state={"n": 1}, rotate=True), expected=0)
    same("view", store.views(conversation).current(), published)
    same("tip", store.sessions.tip(conversation).id, published.session)
    same("state", store.state(conversation, "e").load(), {"n": 1})
    ours.append(user("d"))
    same("session of the next row", [row.session for row in theirs.rows(10)], [published.session])


def after_a_refused_message_another_writes_at_once(store: Store, other: Store) -> None:
    conversation = begun(store, rows=0).conversation
    ours, theirs = store.archive(conversation), other.archive(conversation)
    for number, (name, make) in enumerate(UNSTORABLE.items()):
        raises(name, NotStorable, partial(ours.append, make()))
        raises(f"among others: {name}", NotStorable, partial(ours.extend, [user("x"), make()]))
        same(f"another writes after {name}", theirs.append(user(name)), number + 1)


def of_two_who_publish_one_is_outrun(store: Store, other: Store) -> None:
    conversation = begun(store).conversation
    ours, theirs = store.views(conversation), other.views(conversation)
    ours.publish(view("ours", 5), expected=0)
    raises("the other one, who has not seen it", Outrun, lambda: theirs.publish(view("theirs", 5), expected=0))
    same("the other one, once it has", theirs.publish(view("theirs", 5), expected=theirs.version()).version, 2)
    raises("undo of what was not seen", Outrun, lambda: ours.undo(expected=1))
    same("undo", ours.undo(expected=2).undoes, 2)


def a_lease_holds_for_all(store: Store, other: Store) -> None:
    session = begun(store)
    lease = there("A takes it", store.leases.acquire(session.id, "A", LONG))
    same("another takes it", other.leases.acquire(session.id, "B", LONG), None)
    same("another sees who holds it", other.leases.holder(session.id), "A")
    store.leases.release(lease)
    there("another takes what was given back", other.leases.acquire(session.id, "B", LONG))
    raises("the first one publishes late", Outrun, lambda: store.views(session.conversation).publish(view("s", 5), expected=0, lease=lease))


def many_writers_lose_nothing(store: Store, other: Store) -> None:
    conversation = begun(store, rows=0).conversation
    archives = [(store, other)[writer % 2].archive(conversation) for writer in range(WRITERS)]
    with ThreadPoolExecutor(WRITERS) as pool:
        positions = list(pool.map(written, archives, range(WRITERS)))
    said = defaultdict(list)
    for message in store.archive(conversation).read(1, WRITERS * EACH + 1):
        writer, number = str(message["content"]).split()
        said[writer].append(int(number))
    same("messages of each, in order", dict(said), {str(writer): list(range(EACH)) for writer in range(WRITERS)})
    same("positions, each given once", sorted(chain.from_iterable(positions)), list(range(1, WRITERS * EACH + 1)))


def written(archive: Archive, writer: int) -> list[int]:
    """Positions of the messages of one writer."""
    return [archive.append(user(f"{writer} {number}")) for number in range(EACH)]


def of_many_who_publish_one_wins(store: Store, other: Store) -> None:
    conversation = begun(store, title="work").conversation

    def published(writer: int) -> bool:
        try:
            (store, other)[writer % 2].views(conversation).publish(view(f"of {writer}", 5, rotate=True), expected=0)
        except Outrun:
            return False
        return True

    with ThreadPoolExecutor(WRITERS) as pool:
        won = list(pool.map(published, range(WRITERS)))
    same("how many won", sum(won), 1)
    same("sessions", len(store.sessions.listed()), 2)
    current = there("a view", store.views(conversation).current())
    same("the view is the winner's", current.ledger[0].message, user(f"of {won.index(True)}"))


CHECKS = (
    what_one_writes_the_other_reads,
    after_a_refused_message_another_writes_at_once,
    of_two_who_publish_one_is_outrun,
    a_lease_holds_for_all,
    many_writers_lose_nothing,
    of_many_who_publish_one_wins,
)

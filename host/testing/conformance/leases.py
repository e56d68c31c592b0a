"""Checks of leases: one holder at a time, and fences that rise (hermes.md 9)."""

from __future__ import annotations

from host.store.protocols import Store
from host.testing.conformance.expecting import same, there, true

LONG = 300.0  # seconds
OVER = -1.0  # a lease of that many seconds has run out when it is given


def one_holder_at_a_time(store: Store) -> None:
    """The sequence of hermes.md 9."""
    leases = store.leases
    a = there("A takes a free lease", leases.acquire("work", "A", LONG))
    same("B takes what A holds", leases.acquire("work", "B", LONG), None)
    again = there("A takes what it holds", leases.acquire("work", "A", LONG))
    same("the fence when A takes it again", again.fence, a.fence)
    same("the holder", leases.holder("work"), "A")
    same("B prolongs what A holds", leases.refresh(type(a)("work", "B", a.fence, a.expires), LONG), None)
    there("A prolongs its own", leases.refresh(a, LONG))
    leases.release(type(a)("work", "B", a.fence, a.expires))
    same("the holder after B gave back what it had not", leases.holder("work"), "A")
    leases.release(a)
    same("the holder after A gave it back", leases.holder("work"), None)


def a_lease_that_ran_out_is_free(store: Store) -> None:
    leases = store.leases
    c = there("C takes a lease for no time", leases.acquire("work", "C", OVER))
    same("the holder of a lease that ran out", leases.holder("work"), None)
    same("C prolongs what ran out", leases.refresh(c, LONG), None)
    d = there("D takes what ran out", leases.acquire("work", "D", LONG))
    true("the fence of a later holder is higher", d.fence > c.fence)
    same("the holder", leases.holder("work"), "D")
    leases.release(c)
    same("the holder after the one before gave it back", leases.holder("work"), "D")


def fences_rise_with_every_new_right(store: Store) -> None:
    leases, fences = store.leases, list[int]()
    for holder, seconds in (("A", LONG), ("A", OVER), ("A", LONG), ("A", LONG), ("B", LONG)):
        lease = there(f"{holder} takes it", leases.acquire("work", holder, seconds))
        fences.append(lease.fence)
        if len(fences) in (1, 4):
            leases.release(lease)
    true(f"fences rise after a release and after the end, {fences}", fences == sorted(fences) and len(set(fences)) == 4)
    same("the fence of a lease that is prolonged by its holder", fences[3], fences[2])


def an_empty_name_is_no_lease(store: Store) -> None:
    same("a lease without a name", store.leases.acquire("", "A", LONG), None)
    same("its holder", store.leases.holder(""), None)


def leases_have_names_of_their_own(store: Store) -> None:
    there("A takes one", store.leases.acquire("one", "A", LONG))
    there("B takes another", store.leases.acquire("two", "B", LONG))
    same("the holders", (store.leases.holder("one"), store.leases.holder("two"), store.leases.holder("three")), ("A", "B", None))


def a_lease_says_when_it_ends(store: Store) -> None:
    lease = there("A takes it", store.leases.acquire("work", "A", 10.0))
    longer = there("A prolongs it", store.leases.refresh(lease, LONG))
    same("name, holder and fence of the prolonged", (longer.name, longer.holder, longer.fence), (lease.name, lease.holder, lease.fence))
    true("it ends later", (longer.expires - lease.expires).total_seconds() > LONG - 11.0)


CHECKS = (
    one_holder_at_a_time,
    a_lease_that_ran_out_is_free,
    fences_rise_with_every_new_right,
    an_empty_name_is_no_lease,
    leases_have_names_of_their_own,
    a_lease_says_when_it_ends,
)

"""The check of the messages: bytes against digests, positions, places, large strings, and what is gone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from host.store.care import Finding
from host.store.kept import message_of, role_of
from host.store.sqlite.bodies import BLOB_DIGEST, chained, whole
from host.store.sqlite.care.holes import changed_seal, resumed_seal
from host.store.sqlite.care.look import Look
from host.store.sqlite.receipts import as_pairs
from host.store.sqlite.removal import digests_in_use, digests_of
from host.store.sqlite.schema import FIRST_ID

ROWS = "SELECT id, position, role, body, cuts, digest FROM messages WHERE conversation = ? ORDER BY position"
PLACES = """
SELECT m.conversation, m.position, m.place
FROM messages m
LEFT JOIN messages p ON p.conversation = m.conversation AND p.position = m.place
WHERE m.place IS NOT NULL AND (m.place >= m.position OR p.id IS NULL OR p.place IS NOT NULL)
"""
GAPS = """
SELECT before + 1, id
FROM (SELECT id, lag(id, 1, :first) OVER (ORDER BY id) AS before FROM messages WHERE id > :first)
WHERE id > before + 1
"""
HEAD = "SELECT value FROM store WHERE key = 'head'"


@dataclass(frozen=True)
class Link:
    """A row as the table holds it, a link of its conversation's chain. ``id`` is conversation:position."""

    id: str
    position: int
    role: str
    body: object
    cuts: str | None
    digest: object


def check_rows(look: Look) -> Iterator[Finding]:
    """Every row's bytes belong to its digest, every digest to the one before; no position is missing."""
    for number, name in look.conversations():
        yield from _check_chain(look, number, name)
        look.counts["conversations"] += 1
    strays = "SELECT conversation, count(*) FROM messages WHERE conversation NOT IN (SELECT id FROM conversations) GROUP BY conversation"
    for number, count in look.connection.execute(strays).fetchall():
        yield Finding(f"conversation number {number}", f"{count} messages belong to a conversation that is not there")
    walked = look.counts["messages"] + sum(count for _, count in look.connection.execute(strays))
    if walked != look.total:
        yield Finding("index messages_at", f"it leads to {walked} messages, the table holds {look.total}")


def check_places(look: Look) -> Iterator[Finding]:
    """A new version stands for the first version of a message before it."""
    for conversation, position, place in look.connection.execute(PLACES).fetchall():
        yield Finding(
            f"{look.name_of(conversation)}:{position}", f"it is a version of position {place}, which is no first version before it"
        )


def check_removed(look: Look) -> Iterator[Finding]:
    """The table's ids have no gap that nothing explains, up to the highest that any check has seen.

    A chain cannot show that its last row is gone. Ids are given without gaps over all conversations, so that any later
    message of the store betrays it; for the newest rows of all the head does, which each check leaves behind.
    """
    gaps = [range(first, after) for first, after in look.connection.execute(GAPS, {"first": FIRST_ID}).fetchall()]
    highest, head = max(highest_id(look.connection), FIRST_ID), look.connection.execute(HEAD).fetchone()
    if head is not None and head[0] > highest:
        gaps.append(range(highest + 1, head[0] + 1))
    left = [part for gap in gaps for part in look.holes.ids_left(gap)]
    if sum(map(len, left)) > look.counts["missing"]:
        for first, last in as_pairs(left):
            yield Finding(
                f"message ids {first} to {last}",
                "these rows are gone and no receipt says why; the last of a conversation may be among them",
            )


def check_blobs(look: Look) -> Iterator[Finding]:
    """Each large string is what its digest says; those that no message uses are counted."""
    used = digests_in_use(look.connection)
    for digest, body in look.connection.execute("SELECT digest, body FROM blobs"):
        look.counts["blobs"] += 1
        look.counts["unused blobs"] += digest not in used
        if not isinstance(digest, bytes) or not isinstance(body, bytes):
            yield Finding("blobs", "a digest or a content is no bytes")
        elif blake2b(body, digest_size=BLOB_DIGEST).digest() != digest:
            if digest.hex() in look.holes.blobs:
                look.counts["holes"] += 1
            else:
                yield Finding(f"blob {digest.hex()}", "its content does not match its digest")


def highest_id(connection: sqlite3.Connection) -> int:
    """The id of the newest row, 0 while there is none."""
    highest: int = connection.execute("SELECT coalesce(max(id), 0) FROM messages").fetchone()[0]
    return highest


def keep_head(connection: sqlite3.Connection) -> None:
    """Remember how far the table reaches, so that a later check sees when its end is gone."""
    connection.execute("INSERT OR REPLACE INTO store (key, value) VALUES ('head', ?)", (highest_id(connection),))


def _check_chain(look: Look, number: int, name: str) -> Iterator[Finding]:
    previous: bytes | None = b""
    expected = 1
    for row, position, role, body, cuts, digest in look.connection.execute(ROWS, (number,)):
        if position != expected:
            look.counts["missing"] += position - expected if row > FIRST_ID else 0
            previous = None
            yield Finding(f"{name}:{expected}", _gone(expected, position - 1))
        link = Link(f"{name}:{position}", position, role, body, cuts, digest)
        fault = _fault(look, link, previous)
        if fault:
            yield Finding(link.id, fault)
        look.read_one()
        previous, expected = (digest or None) if isinstance(digest, bytes) else None, position + 1


def _gone(first: int, last: int) -> str:
    return (
        "the row is gone and no receipt says why" if first == last else f"the rows up to position {last} are gone and no receipt says why"
    )


def _fault(look: Look, link: Link, previous: bytes | None) -> str:
    """What is wrong with a row, nothing for a sound one. ``previous`` is None where the row before is gone."""
    if link.body is None:
        return _fault_of_hole(look, link)
    if not isinstance(link.body, bytes) or not isinstance(link.digest, bytes):
        return "its body or digest are no bytes"
    try:
        canonical = whole(look.connection, link.body, link.cuts)
    except KeyError as error:
        return f"blob {error.args[0]} is missing"
    except (ValueError, TypeError):
        return "its cuts cannot be read"
    if previous is None:
        return _fault_after_gap(look, link, canonical) or _fault_of_role(link, canonical)
    if chained(look.key, previous, canonical) != link.digest and not _is_explained(look, link, canonical):
        return "its bytes do not match its digest"
    return _fault_of_role(link, canonical)


def _fault_of_hole(look: Look, link: Link) -> str:
    if link.id in look.holes.lost:
        look.counts["holes"] += 1
        return ""
    conversation, _, position = link.id.rpartition(":")
    found = look.connection.execute(
        "SELECT t.receipt FROM tombstones t JOIN conversations c ON c.id = t.conversation WHERE c.name = ? AND t.position = ?",
        (conversation, position),
    ).fetchone()
    if found is None:
        return "its content is gone and no tombstone says why"
    if found[0] not in look.holes.erased.get(link.id, ()):
        return f"its tombstone names receipt {found[0]}, which does not name it"
    look.counts["forgotten"] += 1
    return "" if link.cuts is None else "it was forgotten, but its cuts are still there"


def _fault_after_gap(look: Look, link: Link, canonical: bytes) -> str:
    seal = look.holes.resumed.get(link.id)
    if seal is None:
        look.counts["unchained"] += 1  # the finding for the gap says why
        return ""
    return "" if resumed_seal(look.key, canonical) == seal else "its bytes do not match what the repair found"


def _is_explained(look: Look, link: Link, canonical: bytes) -> bool:
    """Whether a repair found the row as it is."""
    if changed_seal(look.key, canonical) in look.holes.changed.get(link.id, ()):
        look.counts["changed"] += 1
        return True
    return any(digest.hex() in look.holes.blobs for digest in digests_of(link.cuts))


def _fault_of_role(link: Link, canonical: bytes) -> str:
    try:
        role = role_of(message_of(canonical))
    except (ValueError, AttributeError):
        return "its bytes are no message"
    return "" if role == link.role else f"its role is {role!r}, the table says {link.role!r}"

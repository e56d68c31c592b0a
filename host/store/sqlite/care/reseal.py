"""Making digests hold again after a repair: what is proven stays proven, what is not is named and sealed as it was found."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from secrets import token_bytes

from host.store.sqlite.bodies import ROW_DIGEST, chained, whole
from host.store.sqlite.care.holes import Holes, changed_seal, resumed_seal

KEY_BYTES = 32
FEW = 3  # rows none of which matches: more likely the key is another than all of them changed
LINKS = "SELECT id, position, body, cuts, digest FROM messages WHERE conversation = ? ORDER BY position"


@dataclass
class Resealed:
    """Messages by their ids, each with the seal over what they are."""

    changed: dict[str, str] = field(default_factory=dict)  # not as they were archived
    resumed: dict[str, str] = field(default_factory=dict)  # after one that is lost, so that the chain cannot speak for them


@dataclass(frozen=True)
class _Link:
    row: int
    id: str
    canonical: bytes | None
    digest: bytes


def key_in(target: sqlite3.Connection) -> bytes | None:
    """The key of the digests, None where it is lost or another one."""
    found = target.execute("SELECT value FROM store WHERE key = 'digest_key'").fetchone()
    if found is None or not isinstance(found[0], bytes) or len(found[0]) != KEY_BYTES:
        return None
    tried = 0
    for number, name in _conversations(target):
        previous = b""
        for link in _links(target, number, name):
            if link.canonical is not None and (previous or link.id.endswith(":1")):
                if chained(found[0], previous, link.canonical) == link.digest:
                    return found[0]
                tried += 1
            previous = link.digest
    return found[0] if tried < FEW else None


def make_key(target: sqlite3.Connection) -> bytes:
    """Another key, and all digests anew over what is there."""
    key = token_bytes(KEY_BYTES)
    target.execute("INSERT OR REPLACE INTO store (key, value) VALUES ('digest_key', ?)", (key,))
    for number, name in _conversations(target):
        previous = b""
        for link in _links(target, number, name):
            previous = chained(key, previous, link.canonical or b"")
            target.execute("UPDATE messages SET digest = ? WHERE id = ?", (previous, link.row))
    return key


def reseal(target: sqlite3.Connection, key: bytes, holes: Holes) -> Resealed:
    """Go along each chain. A digest is put right where its message is proven by the next one."""
    resealed = Resealed()
    for number, name in _conversations(target):
        links = list(_links(target, number, name))
        previous = b""
        for at, link in enumerate(links):
            following = links[at + 1] if at + 1 < len(links) else None
            previous = _resealed(target, key, holes, resealed, previous if at else None, link, following)
    return resealed


def canonical_in(target: sqlite3.Connection, body: object, cuts: str | None) -> bytes | None:
    """The canonical bytes of a row, None where there are none."""
    try:
        return whole(target, body, cuts) if isinstance(body, bytes) else None
    except (KeyError, ValueError, TypeError):
        return None


def _resealed(
    target: sqlite3.Connection,
    key: bytes,
    holes: Holes,
    resealed: Resealed,
    previous: bytes | None,
    link: _Link,
    following: _Link | None,
) -> bytes:
    """Look at one link; returns the digest to which the next is chained. ``previous`` is None for the first of all."""
    digest = link.digest if len(link.digest) == ROW_DIGEST else b""
    if link.canonical is not None and previous == b"":
        resealed.resumed[link.id] = resumed_seal(key, link.canonical).hex()
    elif link.canonical is not None and (due := chained(key, previous or b"", link.canonical)) != digest:
        if following is not None and following.canonical and chained(key, due, following.canonical) == following.digest:
            digest = due
        elif changed_seal(key, link.canonical) not in holes.changed.get(link.id, ()):
            resealed.changed[link.id] = changed_seal(key, link.canonical).hex()
    if digest != link.digest:
        target.execute("UPDATE messages SET digest = ? WHERE id = ?", (digest, link.row))
    return digest


def _conversations(target: sqlite3.Connection) -> list[tuple[int, str]]:
    return target.execute("SELECT id, name FROM conversations ORDER BY id").fetchall()


def _links(target: sqlite3.Connection, number: int, name: str) -> Iterator[_Link]:
    for row, position, body, cuts, digest in target.execute(LINKS, (number,)).fetchall():
        yield _Link(row, f"{name}:{position}", canonical_in(target, body, cuts), digest)

"""Making a salvaged store whole again: what refers to lost rows gets something to refer to, and what is not as it was is named."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from host.store.kept import message_of, role_of
from host.store.sqlite.bodies import BLOB_DIGEST, whole
from host.store.sqlite.care.chapters import mend_chapters, mend_keys
from host.store.sqlite.care.documents import mend_documents
from host.store.sqlite.care.filling import fill_positions
from host.store.sqlite.care.holes import Holes, holes_of
from host.store.sqlite.care.look import FAR
from host.store.sqlite.care.pinned import mend_pins
from host.store.sqlite.care.placing import mend_ids, mend_lowest, mend_places
from host.store.sqlite.care.reseal import key_in, make_key, reseal
from host.store.sqlite.care.rows import GAPS, HEAD, PLACES, highest_id
from host.store.sqlite.care.surroundings import mend_conversations, mend_far, mend_made, mend_sessions, mend_views
from host.store.sqlite.care.values import mend_values
from host.store.sqlite.receipts import as_pairs
from host.store.sqlite.removal import digests_in_use, digests_of
from host.store.sqlite.schema import FIRST_ID, HIGHEST_ID
from host.store.sqlite.unfinished import UNFINISHED

NOTE = b"[lost: the file was damaged and this text could not be salvaged]"
NAMED = 20  # messages in a sentence
NEW_KEY = "the key of the digests was lost and is another one now: the digests are made over the messages as they are"
UNKNOWN = "what was erased before is not recognised when it comes again: {} tombstones were made with the old key"
CUT = """
SELECT c.name || ':' || m.position, m.cuts
FROM messages m
JOIN conversations c ON c.id = m.conversation
WHERE m.cuts IS NOT NULL AND m.body IS NOT NULL
ORDER BY m.id
"""
EMPTY = """
SELECT c.name || ':' || m.position, t.receipt
FROM messages m
JOIN conversations c ON c.id = m.conversation
LEFT JOIN tombstones t ON t.conversation = m.conversation AND t.position = m.position
WHERE m.body IS NULL
ORDER BY m.conversation, m.position
"""
SILENT = """
SELECT c.name
FROM conversations c
WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.conversation = c.id AND m.body IS NOT NULL)
  AND (:any OR EXISTS (SELECT 1 FROM messages m WHERE m.conversation = c.id))
ORDER BY c.id
"""


@dataclass
class Mended:
    """What a repair's receipt says: what holds nothing any more and what else is not as it was. Messages are named by their ids."""

    lost: list[str] = field(default_factory=list)
    erased: list[str] = field(default_factory=list)  # with a tombstone whose receipt is lost
    sealed: dict[str, str] = field(default_factory=dict)  # with a note for a large string; with their seals
    changed: dict[str, str] = field(default_factory=dict)  # kept, though they are not as they were archived; with their seals
    blobs: list[str] = field(default_factory=list)  # digests of large strings that are lost, or changed
    strings: list[str] = field(default_factory=list)  # messages that had a large string which is lost
    lost_strings: int = 0
    silent: list[str] = field(default_factory=list)  # conversations of which no message is left
    views: list[str] = field(default_factory=list)
    ids: list[list[int]] = field(default_factory=list)
    resumed: dict[str, str] = field(default_factory=dict)
    harm: list[str] = field(default_factory=list)  # what else is not as it was, in sentences
    notes: list[str] = field(default_factory=list)  # what was done, in sentences
    is_rekeyed: bool = False  # the key was lost: digests were made anew over what is there


def mend(target: sqlite3.Connection, indexed: Collection[tuple[int, int, int]], *, is_cut: bool = False) -> Mended:
    """Fill the holes. ``indexed`` are the messages that the damaged file's index knew; ``is_cut``: nobody knows where they ended."""
    most = FAR + target.execute("SELECT count(*) FROM messages").fetchone()[0] + len(indexed)
    mended = Mended(harm=[*_mend_settings(target, most), *mend_values(target), *mend_documents(target)])
    key, holes = key_in(target), holes_of(target)
    mend_ids(target, holes, most)
    mended.harm += mend_places(target, key, most)
    mended.harm += mend_conversations(target)
    mended.harm += mend_chapters(target)
    mended.harm += mend_far(target, most)
    mend_sessions(target)
    mended.views = [*mend_views(target, most, mended.harm)]
    fill_positions(target, indexed, most)
    mend_lowest(target, holes, most)
    mended.harm += mend_keys(target)
    mended.harm += mend_made(target)
    mended.harm += _mend_versions(target)
    _mend_blobs(target, mended)
    _mend_bodies(target)
    mended.harm += mend_pins(target)
    mended.is_rekeyed = key is None
    if key is None:
        key = make_key(target)
        mended.notes.append(NEW_KEY)
        mended.harm += _unknown_now(target)
    resealed = reseal(target, key, holes)
    mended.changed = {message: seal for message, seal in resealed.changed.items() if message not in mended.strings}
    mended.sealed = {message: seal for message, seal in resealed.changed.items() if message in mended.strings}
    mended.resumed = resealed.resumed
    mended.notes += _unproven(resealed.resumed)
    _name_holes(target, holes, mended)
    mended.silent = [name for (name,) in target.execute(SILENT, {"any": is_cut})]
    return mended


def _mend_settings(target: sqlite3.Connection, most: int) -> Iterator[str]:
    """The table ``store`` says nothing that cannot be; index and erasures begin anew with the new file."""
    target.execute("DELETE FROM store WHERE key IN ('search_index', ?)", (UNFINISHED,))
    target.execute("UPDATE messages SET facts = NULL")
    target.execute("UPDATE leases SET holder = NULL, expires = 0")  # nobody else has the file open
    highest = max(highest_id(target), FIRST_ID)
    for key in (HIGHEST_ID, "head"):
        wrong = "DELETE FROM store WHERE key = ? AND (typeof(value) <> 'integer' OR value > ?)"
        if target.execute(wrong, (key, highest + most)).rowcount:
            yield f"how far the archive reached was damaged ({key}): whether messages are gone from its end cannot be told"


def _unknown_now(target: sqlite3.Connection) -> Iterator[str]:
    """What cannot be told any more with another key."""
    tombstones = target.execute("SELECT count(*) FROM tombstones").fetchone()[0]
    if tombstones:
        yield UNKNOWN.format(tombstones)


def _unproven(resumed: Collection[str]) -> Iterator[str]:
    """Of a message after a lost one nobody can tell whether it is as it was: its digest is made over what is lost."""
    if resumed:
        more = f" and {len(resumed) - NAMED:,} more" if len(resumed) > NAMED else ""
        yield f"kept, and nothing proves that it is as it was, for the message before it is lost: {', '.join(list(resumed)[:NAMED])}{more}"


def _mend_versions(target: sqlite3.Connection) -> Iterator[str]:
    """A version of something that is none stands for itself."""
    for conversation, position, _ in target.execute(PLACES).fetchall():
        target.execute("UPDATE messages SET place = NULL WHERE conversation = ? AND position = ?", (conversation, position))
        name = target.execute("SELECT name FROM conversations WHERE id = ?", (conversation,)).fetchone()[0]
        yield f"{name}:{position} stands for itself now: of which message it was a version cannot be read"


def _mend_blobs(target: sqlite3.Connection, mended: Mended) -> None:
    """A note in the place of each large string that is lost: the rest of its message can be read. What is only changed stays."""
    held = dict(target.execute("SELECT digest, body FROM blobs WHERE typeof(digest) = 'blob'").fetchall())
    target.execute("DELETE FROM blobs WHERE typeof(digest) <> 'blob'")
    used = digests_in_use(target)
    lost = {digest for digest in used if not is_text(held.get(digest))}
    changed = {digest for digest, body in held.items() if is_text(body) and blake2b(body, digest_size=BLOB_DIGEST).digest() != digest}
    target.executemany("DELETE FROM blobs WHERE digest = ?", [(digest,) for digest in held.keys() - used if digest in changed])
    target.executemany("INSERT OR REPLACE INTO blobs (digest, body) VALUES (?, ?)", [(digest, NOTE) for digest in lost])
    target.executemany("DELETE FROM blobs WHERE digest = ?", [(digest,) for digest in held.keys() - used if not is_text(held[digest])])
    mended.blobs = sorted(digest.hex() for digest in lost | (changed & used))
    mended.lost_strings = len(lost)
    mended.strings = [message for message, cuts in target.execute(CUT) if digests_of(cuts) & lost]


def is_text(body: object) -> bool:
    """Whether a large string's bytes are still what stands between two quotes in JSON."""
    try:
        return isinstance(body, bytes) and isinstance(json.loads(f'"{body.decode("utf-8", "surrogatepass")}"'), str)
    except ValueError:
        return False


def is_message(connection: sqlite3.Connection, body: object, cuts: object) -> bool:
    """Whether a row's bytes can be read, changed or not."""
    return _role(connection, body, cuts) is not None


def _role(connection: sqlite3.Connection, body: object, cuts: object) -> str | None:
    """The role of a message that can be read."""
    try:
        return role_of(message_of(whole(connection, body, str(cuts) if cuts else None))) if isinstance(body, bytes) else None
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def _mend_bodies(target: sqlite3.Connection) -> None:
    """Bytes that are no message any more keep nobody from reading the others; their digest stays for the chain."""
    for row, body, cuts, role in target.execute("SELECT id, body, cuts, role FROM messages WHERE body IS NOT NULL").fetchall():
        if (read := _role(target, body, cuts)) is None:
            target.execute("UPDATE messages SET body = NULL, cuts = NULL WHERE id = ?", (row,))
        elif read != role:
            target.execute("UPDATE messages SET role = ? WHERE id = ?", (read, row))
    erased = "EXISTS (SELECT 1 FROM tombstones t WHERE t.conversation = messages.conversation AND t.position = messages.position)"
    target.execute(f"UPDATE messages SET body = NULL, cuts = NULL WHERE {erased}")  # a page that nobody used any more had it


def _name_holes(target: sqlite3.Connection, holes: Holes, mended: Mended) -> None:
    """The messages without content, and the ids without rows, that no receipt explains."""
    for message, receipt in target.execute(EMPTY):
        if message not in holes.lost and (receipt is None or receipt not in holes.erased.get(message, ())):
            (mended.lost if receipt is None else mended.erased).append(message)
    mended.ids = as_pairs([left for gap in _lost_ids(target) for left in holes.ids_left(gap)])


def _lost_ids(target: sqlite3.Connection) -> Iterator[range]:
    for first, after in target.execute(GAPS, {"first": FIRST_ID}).fetchall():
        yield range(first, after)
    highest, head = max(highest_id(target), FIRST_ID), target.execute(HEAD).fetchone()
    if head is not None and head[0] > highest:
        yield range(highest + 1, head[0] + 1)

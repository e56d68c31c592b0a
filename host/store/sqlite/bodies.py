"""The bytes of a message in the file: canonical JSON with its large strings cut out and kept once, by content."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b, sha256
from hmac import digest as hmac_digest

from host.messages.types import Message
from host.store.kept import message_of

LARGE = 32 * 1024  # bytes of a string from which it is kept apart: 64 times the average message
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
BLOB_DIGEST = 20
ROW_DIGEST = 16  # bytes: half of an HMAC-SHA256 cannot be forged either (RFC 2104), and the other half would be 3 % of the file


@dataclass(frozen=True)
class Body:
    """``rest`` is what is left of the canonical bytes; ``cuts`` are the places in it where a blob is put back."""

    rest: bytes
    cuts: tuple[tuple[int, bytes], ...] = ()  # offset in rest, digest of the blob
    blobs: tuple[tuple[bytes, bytes], ...] = ()  # digest, content

    def cuts_text(self) -> str | None:
        """The cuts as the table holds them."""
        return json.dumps([[offset, digest.hex()] for offset, digest in self.cuts]) if self.cuts else None


def cut(canonical: bytes) -> Body:
    """Take the large strings out of a message's bytes."""
    if len(canonical) < LARGE:
        return Body(canonical)
    rest, cuts, blobs, end = bytearray(), [], [], 0
    for start, stop in _large_strings(canonical):
        rest += canonical[end:start]
        content = canonical[start:stop]
        digest = blake2b(content, digest_size=BLOB_DIGEST).digest()
        cuts.append((len(rest), digest))
        blobs.append((digest, content))
        end = stop
    rest += canonical[end:]
    return Body(bytes(rest), tuple(cuts), tuple(blobs))


def whole(connection: sqlite3.Connection, rest: bytes, cuts: str | None) -> bytes:
    """The canonical bytes again. KeyError where a blob is missing."""
    if not cuts:
        return rest
    out, end = bytearray(), 0
    for offset, name in json.loads(cuts):
        found = connection.execute("SELECT body FROM blobs WHERE digest = ?", (bytes.fromhex(name),)).fetchone()
        if found is None:
            raise KeyError(name)
        out += rest[end:offset] + found[0]
        end = offset
    return bytes(out + rest[end:])


class Unreadable(Exception):
    """The bytes of a row are no message any more; ``ctxhost archive verify`` names the row."""


def bytes_in(connection: sqlite3.Connection, rest: object, cuts: str | None) -> bytes:
    """The canonical bytes of a row that has a body; Unreadable where they are none or a blob of it is missing."""
    if not isinstance(rest, bytes):
        raise Unreadable("it is no bytes")
    try:
        return whole(connection, rest, cuts)
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        raise Unreadable(str(error)) from error


def message_in(connection: sqlite3.Connection, rest: object, cuts: str | None) -> Message:
    """The message of a row that has a body; Unreadable where its bytes are none or a blob of it is missing."""
    try:
        message = message_of(bytes_in(connection, rest, cuts))
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error)) from error
    if not isinstance(message, dict):
        raise Unreadable("it is no object")
    return message


def keep_blob(connection: sqlite3.Connection, digest: bytes, content: bytes) -> bool:
    """Keep a large string, once; returns whether another one was there in its place, which was damage and is put right."""
    known = connection.execute("SELECT body FROM blobs WHERE digest = ?", (digest,)).fetchone()
    if known is not None and known[0] == content:
        return False
    connection.execute("INSERT OR REPLACE INTO blobs (digest, body) VALUES (?, ?)", (digest, content))
    return known is not None


def chained(key: bytes, previous: bytes, canonical: bytes) -> bytes:
    """The digest of a row: over its bytes, chained to the row before it in the conversation (empty before the first)."""
    return hmac_digest(key, previous + sha256(canonical).digest(), "sha256")[:ROW_DIGEST]


def _large_strings(canonical: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of the contents of large strings, without their quotes."""
    return ((found.start() + 1, found.end() - 1) for found in STRING.finditer(canonical) if found.end() - found.start() > LARGE)

"""How far each file was read, as the table holds it. What is not as it was written is read anew: nothing is lost by that."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

from host.errors import Outrun
from host.store.kept import object_in
from host.store.readings import Reading
from host.store.spelling import spelled

SEAL_BYTES = 8
CHANGED = -1  # the size of no file: what is remembered so has something new
READING = """
SELECT id, CAST(client AS BLOB), offset, line, CAST(mark AS BLOB), CAST(state AS BLOB), CAST(seal AS BLOB), size, mtime
FROM readings
"""
"""Texts as bytes: damaged ones could not be fetched otherwise."""
KEEP = """
INSERT INTO readings (client, size, mtime, offset, line, mark, state, seal, file)
VALUES (:client, :size, :mtime, :offset, :line, :mark, :state, :seal, :file)
ON CONFLICT (file) DO UPDATE SET
  client = :client, size = :size, mtime = :mtime, offset = :offset, line = :line, mark = :mark, state = :state, seal = :seal
"""


class Remembered(NamedTuple):
    """A row of the table; what is ``sealed`` is as it was written."""

    number: int
    client: bytes
    offset: int
    line: int
    mark: bytes
    state: bytes
    seal: bytes
    size: object
    mtime: object

    @property
    def is_sealed(self) -> bool:
        """Whether nothing in it was damaged."""
        return self.seal == _seal(self.client, self.offset, self.line, self.mark, self.state)


def reading_of(connection: sqlite3.Connection, file: str) -> Reading | None:
    """How far a file was read; from its beginning, with no check that its bytes could have, where that cannot be told any more."""
    found = connection.execute(f"{READING} WHERE file = ?", (spelled(file),)).fetchone()
    if found is None:
        return None
    row = Remembered(*found)
    state = object_in(row.state) if row.is_sealed else None
    if state is None or not _has_keys(connection, row.number):
        return Reading(file, row.client.decode("utf-8", "replace"), size=CHANGED)
    size, mtime = _stamp(row.size, row.mtime)
    return Reading(file, row.client.decode(), size, mtime, row.offset, row.line, row.mark.decode(), state)


def stamps(connection: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Size and time of every file whose name can be read."""
    found = connection.execute("SELECT CAST(file AS BLOB), size, mtime FROM readings").fetchall()
    return {file.decode("utf-8", "replace"): _stamp(size, mtime) for file, size, mtime in found}


def remember(connection: sqlite3.Connection, reading: Reading, expected: int) -> int:
    """Remember how far a file was read; returns the row's number. Outrun where another reader was there first."""
    before = reading_of(connection, reading.file)
    offset = before.offset if before is not None else 0
    if offset != expected:
        raise Outrun(f"{reading.file} was read from byte {offset} on, byte {expected} was expected", what="nothing was kept")
    state = json.dumps(reading.state)
    seal = _seal(spelled(reading.client).encode(), reading.offset, reading.line, reading.check.encode(), state.encode())
    values = {
        "file": spelled(reading.file),
        "client": spelled(reading.client),
        "size": reading.size,
        "mtime": reading.mtime,
        "offset": reading.offset,
        "line": reading.line,
        "mark": reading.check,
        "state": state,
        "seal": seal.decode(),
    }
    connection.execute(KEEP, values)
    number: int = connection.execute("SELECT id FROM readings WHERE file = ?", (values["file"],)).fetchone()[0]
    return number


def empty_states(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Take what readers know of what they read: they go on from where they were, without it."""
    for number in numbers:
        row = Remembered(*connection.execute(f"{READING} WHERE id = ?", (number,)).fetchone())
        seal = _seal(row.client, row.offset, row.line, row.mark, b"{}") if row.is_sealed else b""
        connection.execute("UPDATE readings SET state = '{}', seal = ? WHERE id = ?", (seal.decode(), number))


def keys_in(text: object) -> dict[str, int] | None:
    """Positions by the recording's own ids; None where they cannot be read."""
    keys = object_in(text)
    return keys if keys is not None and all(map(is_position, keys.values())) else None


def is_position(value: object) -> bool:
    """Whether a value may stand for a position, or for none (0)."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _has_keys(connection: sqlite3.Connection, reading: int) -> bool:
    """Whether the keys of all chapters of a file can be read."""
    found = connection.execute("SELECT CAST(keys AS BLOB) FROM chapters WHERE reading = ?", (reading,))
    return all(keys_in(text) is not None for (text,) in found)


def _stamp(size: object, mtime: object) -> tuple[int, int]:
    return (size, mtime) if isinstance(size, int) and isinstance(mtime, int) else (CHANGED, 0)


def _seal(client: bytes, offset: object, line: object, mark: bytes, state: bytes) -> bytes:
    return blake2b(repr((client, offset, line, mark, state)).encode(), digest_size=SEAL_BYTES).hexdigest().encode()

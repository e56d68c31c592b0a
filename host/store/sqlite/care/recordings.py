"""The recordings from which erased messages were imported: they are another client's, and hold them still."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from host.store.spelling import unspelled
from host.store.sqlite.care.traces import holds
from host.store.sqlite.care.wanted import Wanted
from host.store.sqlite.refusing import has_one_owner
from host.store.sqlite.remembered import keys_in

FILES = """
SELECT DISTINCT r.id, r.file, r.client
FROM readings r
JOIN chapters h ON h.reading = r.id
WHERE h.conversation IN (SELECT value FROM json_each(?))
ORDER BY r.id
"""
KEYS = """
SELECT DISTINCT r.client, h.conversation, CAST(h.keys AS BLOB)
FROM readings r
JOIN chapters h ON h.reading = r.id
WHERE h.conversation IN (SELECT value FROM json_each(?))
"""
READ = """
SELECT DISTINCT r.id
FROM readings r
JOIN chapters h ON h.reading = r.id
WHERE r.state <> '{}' AND h.conversation IN (SELECT value FROM json_each(?))
"""


def recordings_of(connection: sqlite3.Connection, conversations: Collection[int], telling: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The files, as far as they are there, that brought these conversations: each with whether it holds one of the texts."""
    for _, file, client in connection.execute(FILES, (json.dumps(sorted(conversations)),)).fetchall():
        if (path := _path_of(file)) is not None:
            yield file, f"{client}'s own recording, from which it was imported, {_holding(path, telling)}"


def recorded_keys(connection: sqlite3.Connection, places: Collection[tuple[int, int]]) -> Iterator[tuple[str, str]]:
    """Client and key under which messages, by conversation and place, were recorded: as far as it is remembered, and theirs alone."""
    conversations = json.dumps(sorted({conversation for conversation, _ in places}))
    for client, conversation, text in connection.execute(KEYS, (conversations,)).fetchall():
        for key, position in (keys_in(text) or {}).items():
            if (conversation, position) in places and has_one_owner(key):
                yield client, key


def readings_with(connection: sqlite3.Connection, conversations: Collection[int], wanted: Wanted) -> Iterator[int]:
    """The files whose reader may know something of what was said in these conversations, or does know what is erased.

    It remembers digests of words; who has the file could try words until one fits.
    """
    read = {number for (number,) in connection.execute(READ, (json.dumps(sorted(conversations)),))}
    states = connection.execute("SELECT id, CAST(state AS BLOB) FROM readings").fetchall() if wanted.concerns(None) else ()
    yield from sorted(read | {number for number, state in states if wanted.is_in(state.decode("utf-8", "replace"))})


def _path_of(file: str) -> Path | None:
    return next((path for path in (Path(file), Path(unspelled(file))) if path.is_file()), None)


def _holding(path: Path, telling: Sequence[str]) -> str:
    try:
        return "holds it" if telling and holds(path, telling) else "may hold it"  # in a spelling of its own, or in pieces
    except OSError as error:
        return f"may hold it, and could not be read: {error.strerror or error}"

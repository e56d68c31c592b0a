"""The recordings from which erased messages were imported: they are another client's, and hold them still."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from host.store.sqlite.care.traces import holds

FILES = """
SELECT DISTINCT r.id, r.file, r.client
FROM readings r
JOIN chapters h ON h.reading = r.id
WHERE h.conversation IN (SELECT value FROM json_each(?))
ORDER BY r.id
"""
SPELLED_OUT = re.compile(r"\\udc([89a-f][0-9a-f])")  # a byte of a name that is no UTF-8


def recordings_of(connection: sqlite3.Connection, conversations: Collection[int], telling: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The files, as far as they are there, that brought these conversations: each with whether it holds one of the texts."""
    for _, file, client in connection.execute(FILES, (json.dumps(sorted(conversations)),)).fetchall():
        if (path := _path_of(file)) is not None:
            yield file, f"{client}'s own recording, from which it was imported, {_holding(path, telling)}"


def _path_of(file: str) -> Path | None:
    spellings = (Path(file), Path(SPELLED_OUT.sub(lambda found: chr(0xDC00 + int(found[1], 16)), file)))
    return next((path for path in spellings if path.is_file()), None)


def _holding(path: Path, telling: Sequence[str]) -> str:
    try:
        return "holds it" if telling and holds(path, telling) else "may hold it"  # in a spelling of its own, or in pieces
    except OSError as error:
        return f"may hold it, and could not be read: {error.strerror or error}"

"""Which files hold copies of what was erased. They are read, never changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

from host.engine.services import Progress
from host.store.searching.folding import fold
from host.store.searching.indexed import INDEXES
from host.store.times import microseconds
from host.store.values import FILE

CHUNK = 1 << 20  # bytes read at a time
MAGIC = b"SQLite format 3\0"
FILES = ("", "-wal", "-shm", ".lock")  # of a store, after its name
LONGEST_DIGEST = 64  # bytes


def copies_of(stores: Collection[Path], folders: Sequence[Path], telling: Sequence[str], progress: Progress) -> list[str]:
    """The files below the folders that hold one of the texts, but for stores that are looked after anyway."""
    own = {store.with_name(store.name + suffix).absolute() for store in stores for suffix in FILES}
    files = sorted({path for folder in folders for path in files_under(folder.absolute())} - own)
    if not telling:
        return [f"{path}: may hold a copy: the message says nothing by which one could be told" for path in files if path.suffix == ".db"]
    return [f"{path}: {how}" for path, how in _holding(files, telling, progress)]


def remains_in(connection: sqlite3.Connection, telling: Sequence[str]) -> list[str]:
    """The tables of a store in which a value still holds one of the texts."""
    return [
        table for table in _tables(connection) if any(mark in text for text in map(fold, _values(connection, table)) for mark in telling)
    ]


def running(connection: sqlite3.Connection) -> list[str]:
    """Processes at work on a conversation: their memory may hold it."""
    held = "SELECT name, holder FROM leases WHERE holder IS NOT NULL AND expires >= ?"
    return [f"the memory of {holder}, at work on {name}" for name, holder in connection.execute(held, (microseconds(),))]


def holds(path: Path, telling: Sequence[str]) -> bool:
    """Whether a file holds one of the texts: by its bytes, and for a SQLite file by its values too."""
    if path.name.startswith(FILE):  # somebody may have it open, and closing a handle of ours would drop SQLite's locks on it
        return path.name == FILE and _values_hold(path, telling, "mode=ro")
    with path.open("rb") as file:
        is_database = file.read(len(MAGIC)) == MAGIC
    return _bytes_hold(path, telling) or (is_database and _values_hold(path, telling, "mode=ro&immutable=1"))


def _holding(files: Sequence[Path], telling: Sequence[str], progress: Progress) -> Iterator[tuple[Path, str]]:
    for number, path in enumerate(files):
        progress(number, len(files), f"looking for copies: {path.name}")
        try:
            if holds(path, telling):
                yield path, "holds a copy"
        except OSError as error:
            yield path, f"could not be read: {error.strerror or error}"


def files_under(folder: Path) -> Iterator[Path]:
    """All plain files below a folder; links are not followed."""
    return (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _bytes_hold(path: Path, telling: Sequence[str]) -> bool:
    overlap = 4 * max(map(len, telling))
    before = b""
    with path.open("rb") as file:
        while piece := file.read(CHUNK):
            text = fold((before + piece).decode("utf-8", "replace"))
            if any(mark in text for mark in telling):
                return True
            before = (before + piece)[-overlap:]
    return False


def _values_hold(path: Path, telling: Sequence[str], access: str) -> bool:
    """Whether a value in some table does: a long one is spread over pages, where no search of the bytes finds it."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{access}", uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            return bool(remains_in(connection, telling))
    except sqlite3.Error:
        return False


def _tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    return [name for (name,) in found if not name.startswith(("sqlite_", *INDEXES))]  # indexes hold pieces of words, which prove nothing


def _values(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    for value in chain.from_iterable(connection.execute(f'SELECT * FROM "{table}"')):
        if isinstance(value, str):
            yield value
        elif isinstance(value, bytes) and not _is_digest(value):
            yield value.decode("utf-8", "replace")


def _is_digest(value: bytes) -> bool:
    """Short and no text: in random bytes a short word is found by chance."""
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return len(value) <= LONGEST_DIGEST
    return False

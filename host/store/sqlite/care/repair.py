"""Mending a damaged file: a copy first, then the index in place or everything that can be read into a new file."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlite_utils import Database

from host.engine.services import Progress
from host.errors import DamagedStore, NewerSchema, StoreError, StoreUnavailable
from host.messages.types import JSON
from host.store.care import Repaired
from host.store.protocols import quiet
from host.store.sqlite.care.mend import Mended, is_message, mend
from host.store.sqlite.care.salvage import COPIED, Count, Salvage, indexed_messages, opened_tolerantly
from host.store.sqlite.care.verify import verified
from host.store.sqlite.connection import Connection, file_lock, prepare_folder
from host.store.sqlite.entries import TABLES
from host.store.sqlite.index import KEY, Facts, SearchIndex, State
from host.store.sqlite.receipts import REPAIR, as_pairs, keep_receipt
from host.store.sqlite.schema import SCHEMA, migrate

SQLITE_LOCKS = (512, 0x40000000)  # how many bytes from where on SQLite locks; whoever has a WAL file open holds one of them
PARTS = ("data", "idx", "docsize", "config", "content")  # the tables that FTS5 keeps for one


def repair(path: Path, *, facts: Facts | None = None, progress: Progress = quiet) -> Repaired:
    """Mend an archive that nobody has open; no store of this process may be open on it either.

    ``facts`` is what the store's search index is made with.

    StoreUnavailable while another process has it open, DamagedStore where nothing can be read: file and copy stay then.
    """
    if not path.exists():
        raise StoreUnavailable(path, "there is no such file")
    with file_lock(path.with_name(path.name + ".lock")), _alone_with(path):
        copy = _kept_copy(path, progress)
        with opened_tolerantly(copy) as source:
            _refuse_newer(path, source)
            is_kept = not any(_faulty_tables(source)) and _is_readable(source) and (_is_sound(source) or _index_dropped(path))
            salvaged = None if is_kept else _salvaged(path, copy, source, progress)
        copy.with_name(copy.name + "-shm").unlink(missing_ok=True)  # left by reading the log
        if salvaged is not None:
            _swap(path)
    return _finished(path, copy, salvaged, facts, progress)


@dataclass(frozen=True)
class _Salvaged:
    """What was salvaged, by table, and how the new file was made whole."""

    counts: dict[str, Count]
    mended: Mended
    receipt: int

    def lost(self) -> dict[str, int]:
        """Rows that are known to be lost."""
        known = {table: sum(map(len, count.lost)) for table, count in self.counts.items()}
        return {table: lost for table, lost in {**known, "messages": len(self.mended.lost)}.items() if lost}


@contextmanager
def _alone_with(path: Path) -> Iterator[None]:
    """Hold SQLite's own locks on the file, which needs no file that SQLite can read."""
    length, start = SQLITE_LOCKS
    handle = os.open(path, os.O_RDWR)
    try:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
        except OSError as error:
            raise StoreUnavailable(path, "locked: another process has it open") from error
        yield
    finally:
        os.close(handle)


def _kept_copy(path: Path, progress: Progress) -> Path:
    """The file with its log as they are, beside the backups."""
    folder = path.parent / "backups"
    prepare_folder(folder)
    copy = _free_name(folder / f"damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}.db")
    progress(0, 1, f"keeping a copy in {copy}")
    for suffix in ("", "-wal"):
        if (part := path.with_name(path.name + suffix)).exists():
            shutil.copy(part, to := copy.with_name(copy.name + suffix))
            to.chmod(0o600)
    return copy


def _free_name(path: Path) -> Path:
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_stem(f"{path.stem}-{number}")
    return free


def _refuse_newer(path: Path, source: sqlite3.Connection) -> None:
    try:
        version = source.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.DatabaseError:
        return
    if version > SCHEMA:
        raise NewerSchema(path, version, SCHEMA)


def _faulty_tables(source: sqlite3.Connection) -> Iterator[str]:
    """The tables, but for the search index, that cannot be read whole or do not agree with their own indexes."""
    try:
        names = [name for (name,) in source.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    except sqlite3.DatabaseError:
        names = []
    for table, _ in COPIED:
        try:
            if names.count(table) != 1 or source.execute(f"PRAGMA quick_check({table})").fetchone() != ("ok",):
                yield table
        except sqlite3.DatabaseError:
            yield table


def _is_readable(source: sqlite3.Connection) -> bool:
    """Whether all bodies are messages; one that is not would keep its whole conversation from being read."""
    rows = source.execute("SELECT body, cuts FROM messages WHERE body IS NOT NULL")
    return all(is_message(source, body, cuts) for body, cuts in rows)


def _is_sound(source: sqlite3.Connection) -> bool:
    try:
        return bool(source.execute("PRAGMA quick_check").fetchone() == ("ok",))
    except sqlite3.DatabaseError:
        return False


def _salvaged(path: Path, copy: Path, source: sqlite3.Connection, progress: Progress) -> _Salvaged:
    """Build the new file beside the old one."""
    new = _new_name(path)
    for suffix in ("", "-wal", "-shm", "-journal"):
        new.with_name(new.name + suffix).unlink(missing_ok=True)
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with closing(sqlite3.connect(new, isolation_level=None)) as target:
        target.execute("PRAGMA journal_mode = WAL").fetchone()
        migrate(Database(target, execute_plugins=False))
        target.execute("BEGIN")
        counts: dict[str, Count] = {}
        for done, (table, key) in enumerate(COPIED):
            progress(done, len(COPIED), f"salvaging {table}")
            counts[table] = Salvage(source, target).copied(table, key)
        if not any(count.salvaged for count in counts.values()):
            target.execute("ROLLBACK")
            raise DamagedStore(path, f"nothing in it can be read; a copy is kept in {copy}")
        mended = mend(target, indexed_messages(source))
        receipt = keep_receipt(target, REPAIR, _receipt(copy, counts, mended))
        target.execute("COMMIT")
        if (problem := target.execute("PRAGMA quick_check").fetchone()[0]) != "ok":
            raise DamagedStore(path, f"what was salvaged is not sound either ({problem}); a copy is kept in {copy}")
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return _Salvaged(counts, mended, receipt)


def _receipt(copy: Path, counts: dict[str, Count], mended: Mended) -> JSON:
    tables = {table: {"salvaged": count.salvaged, "lost": as_pairs(count.lost), "cut": count.is_cut} for table, count in counts.items()}
    return {**asdict(mended), "copy": copy.name, "tables": tables}


def _new_name(path: Path) -> Path:
    return path.with_name(path.name + ".repaired")


def _swap(path: Path) -> None:
    """The new file takes the old one's place. The old log goes first: SQLite would lay it over any file of this name."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    _new_name(path).replace(path)


def _index_dropped(path: Path) -> bool:
    """Whether the search index was all that is damaged, and is out of the file now."""
    try:
        _drop_index(path)
    except sqlite3.DatabaseError:
        return False
    return True


def _drop_index(path: Path) -> None:
    """Take the index out of the schema and write the file anew without its pages: they may be too damaged to be deleted."""
    names = [name for table in TABLES for name in (table, *(f"{table}_{part}" for part in PARTS))]
    marks = ", ".join("?" * len(names))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"DELETE FROM sqlite_master WHERE name IN ({marks}) OR tbl_name IN ({marks})", (*names, *names))
        connection.execute("DELETE FROM store WHERE key = ?", (KEY,))
        connection.execute("COMMIT")
        connection.execute("PRAGMA writable_schema = RESET")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _finished(path: Path, copy: Path, salvaged: _Salvaged | None, facts: Facts | None, progress: Progress) -> Repaired:
    """Index the mended file where that is needed, and check it. A copy of a file that was sound goes again."""
    with closing(Connection(path)) as connection:
        index = SearchIndex(connection, facts)
        was_broken = index.state() is not State.READY or _has_faults(index)
    if was_broken:
        _drop_index(path)
    with closing(Connection(path)) as connection:
        index = SearchIndex(connection, facts)
        if was_broken:
            index.rebuild(progress)
        key: bytes = connection.value("SELECT value FROM store WHERE key = 'digest_key'")
        findings = verified(connection, key, index, progress=progress).findings
    if salvaged is None and not was_broken:
        _take_away(copy)
        return Repaired(None, findings=findings)
    if salvaged is None:
        return Repaired(copy, findings=findings)
    counts = {table: count.salvaged for table, count in salvaged.counts.items()}
    cut = tuple(table for table, count in salvaged.counts.items() if count.is_cut)
    return Repaired(copy, counts, salvaged.lost(), cut, tuple(salvaged.mended.lost), findings, salvaged.receipt)


def _has_faults(index: SearchIndex) -> bool:
    try:
        return bool(index.check())
    except (StoreError, ValueError):  # damage may be in the very text of an error
        return True


def _take_away(copy: Path) -> None:
    for suffix in ("", "-wal"):
        copy.with_name(copy.name + suffix).unlink(missing_ok=True)

"""Mending a damaged file: a copy first, then a new one beside it, and its content into the old one's place at the end."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from sqlite_utils import Database

from host.engine.services import Progress
from host.errors import DamagedStore, NewerSchema, StoreError, StoreUnavailable
from host.messages.types import JSON
from host.store.care import Finding, Repair
from host.store.protocols import quiet
from host.store.sqlite.care.held import HeldFile, alone_with
from host.store.sqlite.care.mend import Mended, is_message, mend
from host.store.sqlite.care.salvage import COPIED, Count, Salvage, indexed_messages, opened_tolerantly
from host.store.sqlite.care.verify import verified
from host.store.sqlite.connection import Connection, file_lock, prepare_folder
from host.store.sqlite.entries import TABLES
from host.store.sqlite.index import KEY, Facts, SearchIndex, State
from host.store.sqlite.receipts import REPAIR, as_pairs, keep_receipt
from host.store.sqlite.schema import SCHEMA, migrate

PARTS = ("data", "idx", "docsize", "config", "content")  # the tables that FTS5 keeps for one
COPIES = "damaged-{}.db"  # in the folder of the backups


def repair(path: Path, *, facts: Facts | None = None, progress: Progress = quiet) -> Repair:
    """Mend an archive that nobody has open; no store of this process may be open on it either.

    ``facts`` is what the store's search index is made with.

    Nobody can write to the file until it is whole again. A repair that is cut short while the new content is laid into the file
    is finished by the next one. StoreUnavailable while another process has it open, DamagedStore where nothing can be read: file
    and copy stay then.
    """
    if not path.exists():
        raise StoreUnavailable(path, "there is no such file")
    new = path.with_name(path.name + ".repaired")
    with file_lock(path.with_name(path.name + ".lock")), alone_with(path) as held:
        try:
            if held.is_half_written and new.exists():
                return _laid_in(held, new, _newest_copy(path), _findings(new, facts, progress))
            return _repaired(held, new, facts, progress)
        finally:
            if not held.is_half_written:
                _take_away(new)


def _repaired(held: HeldFile, new: Path, facts: Facts | None, progress: Progress) -> Repair:
    """Keep a copy, make the new file, and lay it in where it is better than the old one. The copy of a sound file goes again."""
    _take_away(new)
    copy = _kept_copy(held, progress)
    with opened_tolerantly(copy) as source:
        _refuse_newer(held.path, source)
        is_salvaged = not _is_kept(held, new, source)
        if is_salvaged:
            _take_away(new)
            _salvage(held.path, new, copy, source, progress)
    copy.with_name(copy.name + "-shm").unlink(missing_ok=True)  # left by reading the log
    is_indexed = _indexed_anew(new, facts, progress)
    findings = _findings(new, facts, progress)
    if is_salvaged or is_indexed:
        return _laid_in(held, new, copy, findings)
    _take_away(copy)
    return Repair(None, findings=findings)


def _is_kept(held: HeldFile, new: Path, source: sqlite3.Connection) -> bool:
    """Whether the file is sound but for its search index, and is now in the new place, without the index where that is damaged."""
    if any(_faulty_tables(source)) or not _is_readable(source):
        return False
    held.copy_to(new)
    return _is_sound(source) or _index_dropped(new)


def _kept_copy(held: HeldFile, progress: Progress) -> Path:
    """The file with its log as they are, beside the backups."""
    folder = held.path.parent / "backups"
    prepare_folder(folder)
    copy = _free_name(folder / COPIES.format(f"{datetime.now(UTC):%Y%m%d-%H%M%S}"))
    progress(0, 1, f"keeping a copy in {copy}")
    held.copy_to(copy)
    return copy


def _newest_copy(path: Path) -> Path | None:
    """The copy that a repair made which was cut short."""
    return max(path.parent.joinpath("backups").glob(COPIES.format("*")), default=None, key=lambda copy: copy.stat().st_mtime)


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


def _salvage(path: Path, new: Path, copy: Path, source: sqlite3.Connection, progress: Progress) -> None:
    """Build the new file beside the old one; what was salvaged is in its receipt."""
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
        keep_receipt(target, REPAIR, _receipt(copy, counts, mended))
        target.execute("COMMIT")
        if (problem := target.execute("PRAGMA quick_check").fetchone()[0]) != "ok":
            raise DamagedStore(path, f"what was salvaged is not sound either ({problem}); a copy is kept in {copy}")


def _receipt(copy: Path, counts: dict[str, Count], mended: Mended) -> JSON:
    tables = {table: {"salvaged": count.salvaged, "lost": as_pairs(count.lost), "cut": count.is_cut} for table, count in counts.items()}
    return {**asdict(mended), "copy": copy.name, "tables": tables}


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


def _indexed_anew(new: Path, facts: Facts | None, progress: Progress) -> bool:
    """Make the search index of the mended file where that is needed; whether it was."""
    with closing(Connection(new)) as connection:
        index = SearchIndex(connection, facts)
        if index.state() is State.READY and not _has_faults(index):
            return False
    _drop_index(new)
    with closing(Connection(new)) as connection:
        SearchIndex(connection, facts).rebuild(progress)
    return True


def _findings(new: Path, facts: Facts | None, progress: Progress) -> tuple[Finding, ...]:
    """What a check of the mended file still finds."""
    with closing(Connection(new)) as connection:
        key: bytes = connection.value("SELECT value FROM store WHERE key = 'digest_key'")
        return verified(connection, key, SearchIndex(connection, facts), progress=progress).findings


def _laid_in(held: HeldFile, new: Path, copy: Path | None, findings: tuple[Finding, ...]) -> Repair:
    """The new file's content takes the old one's place; what was done is read off the receipt, where messages were touched."""
    asked = "SELECT id, receipt FROM receipts WHERE kind = ? ORDER BY id DESC LIMIT 1"
    with closing(sqlite3.connect(new)) as connection:
        number, text = connection.execute(asked, (REPAIR,)).fetchone() or (None, "{}")
    held.replace_with(new)
    receipt: JSON = json.loads(text)
    if copy is None or receipt.get("copy") != copy.name:
        return Repair(copy, findings=findings)
    tables: dict[str, JSON] = receipt["tables"]
    known = {table: sum(last - first + 1 for first, last in count["lost"]) for table, count in tables.items()}
    return Repair(
        copy,
        {table: count["salvaged"] for table, count in tables.items()},
        {table: lost for table, lost in {**known, "messages": len(receipt["lost"])}.items() if lost},
        tuple(table for table, count in tables.items() if count["cut"]),
        tuple(receipt["lost"]),
        findings,
        number,
    )


def _has_faults(index: SearchIndex) -> bool:
    try:
        return bool(index.check())
    except (StoreError, ValueError):  # damage may be in the very text of an error
        return True


def _take_away(copy: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal", ".lock"):
        copy.with_name(copy.name + suffix).unlink(missing_ok=True)

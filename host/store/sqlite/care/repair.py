"""Mending a damaged file: a copy first, then a new one beside it, and its content into the old one's place at the end."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from host.engine.services import Progress
from host.errors import DamagedStore, NewerSchema, StoreUnavailable
from host.messages.types import JSON
from host.store.care import Finding, Repair
from host.store.protocols import quiet
from host.store.searching.indexed import TABLES
from host.store.sqlite.care.copies import keep_copy, newest_copy, take_away, take_away_copy, tidy_beside
from host.store.sqlite.care.held import HeldFile, alone_with
from host.store.sqlite.care.mend import is_message
from host.store.sqlite.care.rebuild import BeyondRepair, faulty_tables, rebuild
from host.store.sqlite.care.salvage import UNREADABLE, opened_tolerantly
from host.store.sqlite.care.verify import ERASURE, INDEX, verified
from host.store.sqlite.connection import Connection
from host.store.sqlite.index import KEY, Facts, SearchIndex
from host.store.sqlite.opening import file_lock
from host.store.sqlite.receipts import REPAIR
from host.store.sqlite.schema import APPLICATION_ID, SCHEMA
from host.store.sqlite.unfinished import UNFINISHED, unfinished_in

PARTS = ("data", "idx", "docsize", "config", "content")  # the tables that FTS5 keeps for one


class _Fault(StrEnum):
    """What a file suffers from."""

    NONE = "none"
    INDEX = "index"  # the search index alone, which is made anew from the messages
    MESSAGES = "messages"


@dataclass(frozen=True)
class _Order:
    """A repair under way. ``new`` is built beside the file; ``whole`` is its name from when on it only has to be laid in."""

    held: HeldFile
    facts: Facts | None
    progress: Progress

    @property
    def path(self) -> Path:
        return self.held.path

    @property
    def new(self) -> Path:
        return self.path.with_name(self.path.name + ".repaired")

    @property
    def whole(self) -> Path:
        return self.path.with_name(self.path.name + ".whole")


@dataclass(frozen=True)
class _Made:
    """The new file: what it was made for, what a check of it still finds, and what there is to say."""

    fault: _Fault
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def repair(path: Path, *, facts: Facts | None = None, progress: Progress = quiet) -> Repair:
    """Mend an archive that nobody has open; no store of this process may be open on it either.

    ``facts`` is what the store's search index is made with.

    Nobody can write to the file until it is whole again. A repair that is cut short while the new content is laid into the file
    is finished by the next one. StoreUnavailable while another process has it open or where the disk has no room, DamagedStore
    where nothing can be read: the file stays as it is then, and no other is left.
    """
    if not path.exists():
        raise StoreUnavailable(path, "there is no such file")
    with file_lock(path.with_name(path.name + ".lock")), alone_with(path) as held:
        if not any(file.exists() and file.stat().st_size for file in (path, path.with_name(path.name + "-wal"))):
            raise BeyondRepair(path, "it is empty")
        order = _Order(held, facts, progress)
        try:
            if held.is_half_written and order.whole.exists():
                return _laid_in(order, newest_copy(path), _findings(order.whole, order))
            take_away(order.whole)
            return _repaired(order)
        finally:
            take_away(order.new)
            if not held.is_half_written:
                take_away(order.whole)


def _repaired(order: _Order) -> Repair:
    """Keep a copy and make the new file; where that goes wrong, or the file has no fault, the copy goes again."""
    copy = keep_copy(order.held, order.progress)
    try:
        made = _made_anew(order, copy)
    except BaseException:
        take_away_copy(copy)
        raise
    if made is None:
        take_away_copy(copy)
        return Repair(None)
    order.new.rename(order.whole)
    repaired = _laid_in(order, copy, made.findings)
    if made.fault is _Fault.NONE:  # an erasure was finished: the copy would bring it to nothing
        take_away_copy(copy)
        return replace(repaired, copy=None, notes=made.notes)
    return replace(repaired, notes=(*repaired.notes, *made.notes))


def _made_anew(order: _Order, copy: Path) -> _Made | None:
    """Build the new file; None where the old one needs none."""
    with opened_tolerantly(copy) as source:
        _refuse_newer(order.path, source)
        unfinished = _unfinished_in(source)
        fault = _fault_of(order, source)
        if fault is _Fault.MESSAGES:
            take_away(order.new)
            rebuild(order.path, order.new, copy, source, order.progress)
    tidy_beside(copy)
    if fault is _Fault.NONE and unfinished is None:
        return None
    _drop_index(order.new)
    _index_anew(order)
    notes = [] if unfinished is None else [f"the erasure with receipt {unfinished} is finished: no bytes of it are in the file any more"]
    if unfinished is not None and fault is not _Fault.NONE:
        notes.append(f"{copy} may hold what was erased: delete it")
    return _Made(fault, _findings(order.new, order), tuple(notes))


def _fault_of(order: _Order, source: sqlite3.Connection) -> _Fault:
    """What is wrong with the file. But for faults in the messages it is in the new place then, without an index that is damaged."""
    if any(faulty_tables(source)) or not _is_readable(source):
        return _Fault.MESSAGES
    order.held.copy_to(order.new)
    is_sound = _is_sound(source)
    if not is_sound and not _index_dropped(order.new):
        return _Fault.MESSAGES
    try:
        wrong = {finding.where for finding in _findings(order.new, order)} - {ERASURE}
    except DamagedStore:
        return _Fault.MESSAGES
    if wrong - {INDEX}:
        return _Fault.MESSAGES
    return _Fault.INDEX if wrong or not is_sound else _Fault.NONE


def _refuse_newer(path: Path, source: sqlite3.Connection) -> None:
    try:
        version = source.execute("PRAGMA user_version").fetchone()[0]
        mark = source.execute("PRAGMA application_id").fetchone()[0]
    except UNREADABLE:
        return
    if version > SCHEMA and mark == APPLICATION_ID:
        raise NewerSchema(path, version, SCHEMA)


def _unfinished_in(source: sqlite3.Connection) -> int | None:
    try:
        return unfinished_in(source)
    except UNREADABLE:
        return None


def _is_readable(source: sqlite3.Connection) -> bool:
    """Whether all bodies are messages; one that is not would keep its whole conversation from being read."""
    rows = source.execute("SELECT body, cuts FROM messages WHERE body IS NOT NULL")
    return all(is_message(source, body, cuts) for body, cuts in rows)


def _is_sound(source: sqlite3.Connection) -> bool:
    try:
        return bool(source.execute("PRAGMA quick_check").fetchone() == ("ok",))
    except UNREADABLE:
        return False


def _index_dropped(path: Path) -> bool:
    """Whether the search index was all that is damaged, and is out of the file now."""
    try:
        _drop_index(path)
    except UNREADABLE:
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
        connection.execute("DELETE FROM store WHERE key IN (?, ?)", (KEY, UNFINISHED))
        connection.execute("COMMIT")
        connection.execute("PRAGMA writable_schema = RESET")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _index_anew(order: _Order) -> None:
    with closing(Connection(order.new)) as connection:
        SearchIndex(connection, order.facts).rebuild(order.progress)


def _findings(new: Path, order: _Order) -> tuple[Finding, ...]:
    """What a check of the new file finds."""
    with closing(Connection(new)) as connection:
        key = connection.value("SELECT value FROM store WHERE key = 'digest_key'")
        if not isinstance(key, bytes) and connection.value("SELECT 1 FROM messages LIMIT 1"):
            return (Finding("store", "the key of its digests is gone"),)
        return verified(connection, key or b"", SearchIndex(connection, order.facts), progress=order.progress).findings


def _laid_in(order: _Order, copy: Path | None, findings: tuple[Finding, ...]) -> Repair:
    """The new file's content takes the old one's place; what was done is read off the receipt, where messages were touched."""
    asked = "SELECT id, receipt FROM receipts WHERE kind = ? ORDER BY id DESC LIMIT 1"
    with closing(sqlite3.connect(order.whole)) as connection:
        number, text = connection.execute(asked, (REPAIR,)).fetchone() or (None, "{}")
    order.held.replace_with(order.whole)
    receipt: JSON = json.loads(text)
    if copy is None or receipt.get("copy") != copy.name:
        return Repair(copy, findings=findings)
    tables: dict[str, JSON] = receipt["tables"]
    known = {table: sum(last - first + 1 for first, last in count["lost"]) for table, count in tables.items()}
    messages = len(receipt["lost"]) + sum(last - first + 1 for first, last in receipt["ids"])
    return Repair(
        copy,
        {table: count["salvaged"] for table, count in tables.items()},
        {kind: lost for kind, lost in {**known, "messages": messages, "strings": receipt["lost_strings"]}.items() if lost},
        tuple(table for table, count in tables.items() if count["cut"]),
        tuple(receipt["lost"]),
        findings,
        number,
        tuple(receipt["changed"]),
        tuple(receipt["strings"]),
        tuple(receipt["silent"]),
        tuple(receipt["harm"]),
        tuple(receipt["notes"]),
    )

"""A new file from what can be read of a damaged one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from sqlite_utils import Database

from host.engine.services import Progress
from host.errors import DamagedStore, StoreError
from host.messages.types import JSON
from host.store.sqlite.care.mend import Mended, mend
from host.store.sqlite.care.pages import Pages, recovered, shape_of
from host.store.sqlite.care.salvage import COPIED, UNREADABLE, Count, Salvage, has_schema, indexed_messages, is_younger
from host.store.sqlite.receipts import REPAIR, as_pairs, keep_receipt
from host.store.sqlite.schema import migrate


class BeyondRepair(DamagedStore):
    """Nothing in the file can be read."""

    def __init__(self, path: Path, why: str) -> None:
        StoreError.__init__(
            self,
            f"the archive {path} is damaged: {why}; it was left as it is",
            "only a backup helps (`ctxhost archive backup` makes them): put it in its place, or move the file away to begin anew",
        )


def rebuild(path: Path, new: Path, copy: Path, source: sqlite3.Connection, progress: Progress) -> None:
    """Build the new file from what can be read of the copy; its receipt says what was salvaged. BeyondRepair where that is nothing."""
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with closing(sqlite3.connect(new, isolation_level=None)) as target:
        target.execute("PRAGMA journal_mode = OFF").fetchone()  # whatever goes wrong, the file goes: no second copy of it is needed
        migrate(Database(target, execute_plugins=False))
        target.execute("BEGIN")
        counts = dict(_copied(copy, source, target, progress))
        if not any(count.salvaged for count in counts.values()):
            raise BeyondRepair(path, "nothing in it can be read")
        mended = mend(target, list(indexed_messages(source)), is_cut=counts["messages"].is_cut)
        mended.harm += [line for table, count in counts.items() for line in count.harm(table)]
        keep_receipt(target, REPAIR, _receipt(copy, counts, mended))
        target.execute("COMMIT")
        if (problem := target.execute("PRAGMA quick_check").fetchone()[0]) != "ok":
            raise BeyondRepair(path, f"what was salvaged is not sound either ({problem})")
        target.execute("PRAGMA journal_mode = WAL").fetchone()


def _copied(copy: Path, source: sqlite3.Connection, target: sqlite3.Connection, progress: Progress) -> Iterator[tuple[str, Count]]:
    """Copy all tables, then look at the pages themselves for what is still missing of those that are damaged."""
    faulty = set(faulty_tables(source))
    counts: dict[str, Count] = {}
    for done, (table, key) in enumerate(COPIED):
        progress(done, len(COPIED), f"salvaging {table}")
        counts[table] = Salvage(source, target).copied(table, key)
    if faulty and copy.stat().st_size:
        pages = Pages(copy)
        found = recovered(pages, target, [shape_of(target, table, has_rowids=not key) for table, key in COPIED if table in faulty])
        is_whole = not has_schema(source) and pages.is_whole()
        counts = {table: count.with_found(target, table, found.get(table, 0), is_whole=is_whole) for table, count in counts.items()}
    yield from counts.items()


def _receipt(copy: Path, counts: dict[str, Count], mended: Mended) -> JSON:
    tables = {table: {"salvaged": count.salvaged, "lost": as_pairs(count.lost), "cut": count.is_cut} for table, count in counts.items()}
    return {**asdict(mended), "copy": copy.name, "tables": tables}


def faulty_tables(source: sqlite3.Connection) -> Iterator[str]:
    """The tables, but for the search index, that cannot be read whole or do not agree with their own indexes."""
    try:
        names = [name for (name,) in source.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    except UNREADABLE:
        names = []
    for table, _ in COPIED:
        try:
            if table not in names and is_younger(source, table):
                continue
            if names.count(table) != 1 or source.execute(f"PRAGMA quick_check({table})").fetchone() != ("ok",):
                yield table
        except UNREADABLE:
            yield table

"""Erasing conversations that nobody went on with for a long time."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import replace
from datetime import timedelta

from host.engine.services import Progress
from host.store.care import Erasure
from host.store.sqlite.connection import Connection
from host.store.sqlite.index import SearchIndex
from host.store.sqlite.receipts import EXPIRE, as_pairs, keep_receipt, runs
from host.store.sqlite.removal import remove_conversation
from host.store.sqlite.unfinished import begin, finish
from host.store.times import microseconds

MICROSECOND = timedelta(microseconds=1)
OLD = """
SELECT c.id, c.name, (SELECT count(*) FROM messages m WHERE m.conversation = c.id)
FROM conversations c
WHERE coalesce((SELECT max(m.time) FROM messages m WHERE m.conversation = c.id), c.created) < :before
  AND NOT EXISTS (SELECT 1 FROM views v WHERE v.conversation = c.id AND v.time >= :before)
  AND NOT EXISTS (
    SELECT 1
    FROM leases l
    WHERE l.holder IS NOT NULL AND l.expires >= :now
      AND (l.name = c.name OR l.name IN (SELECT s.name FROM sessions s WHERE s.conversation = c.id))
  )
ORDER BY c.id
"""
"""Nothing was said or compacted since, and nobody is at work on it."""


def would_expire(connection: Connection, older_than: timedelta) -> Erasure:
    """Which conversations would go; nothing is written."""
    with connection.snapshot() as reader:
        return _outcome(_old(reader, older_than))


def expire(connection: Connection, index: SearchIndex, older_than: timedelta, progress: Progress) -> Erasure:
    """Erase them, all in one transaction with the receipt."""
    with connection.writing() as writer:
        old = _old(writer, older_than)
        if not old:
            return replace(_outcome(old), applied=True)
        outcome, blobs = _outcome(old), 0
        ids: list[int] = []
        for done, (number, name, _) in enumerate(old):
            progress(done, len(old), name)
            removed = remove_conversation(writer, index, number)
            blobs += removed.blobs
            ids += removed.ids
        counts = Counter({**outcome.counts, "blobs": blobs})
        document = {"conversations": list(outcome.conversations), "counts": counts, "ids": as_pairs(runs(sorted(ids)))}
        receipt = keep_receipt(writer, EXPIRE, document)
        begin(writer, receipt)
    progress(len(old), len(old), "compacting the file")
    held = tuple(f"{connection.path}: {why}" for why in finish(connection, index))
    return replace(outcome, applied=True, counts=dict(counts), receipt=receipt, may_hold_copies=held, is_finished=not held)


def _old(connection: sqlite3.Connection, older_than: timedelta) -> list[tuple[int, str, int]]:
    now = microseconds()
    return connection.execute(OLD, {"before": now - older_than // MICROSECOND, "now": now}).fetchall()


def _outcome(old: list[tuple[int, str, int]]) -> Erasure:
    counts = {"conversations": len(old), "messages": sum(rows for _, _, rows in old)}
    return Erasure(applied=False, conversations=tuple(name for _, name, _ in old), counts=counts)

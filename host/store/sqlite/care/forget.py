"""Erasing for good: messages, and everything that was made from them. Chains, positions and views stay whole."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_bytes

from host.engine.services import Progress
from host.errors import StoreUnavailable
from host.messages.types import JSON
from host.store.care import Erasure, Forget
from host.store.kept import ERASED
from host.store.protocols import quiet
from host.store.searching.folding import fold
from host.store.sqlite.archive import tombstone_content
from host.store.sqlite.bodies import ROW_DIGEST, chained
from host.store.sqlite.care.plan import Doomed, Plan, looked_up, planned
from host.store.sqlite.care.recordings import recordings_of
from host.store.sqlite.care.traces import copies_of, remains_in, running
from host.store.sqlite.care.wanted import Wanted
from host.store.sqlite.clean import overwrite_deleted
from host.store.sqlite.connection import Connection
from host.store.sqlite.index import SearchIndex
from host.store.sqlite.receipts import FORGET, keep_receipt
from host.store.sqlite.refusing import A_TEXT, ASKED, ONE_MESSAGE, RECORDED_AS, recorded_as
from host.store.sqlite.remembered import empty_states
from host.store.sqlite.removal import remove_unused, unindex
from host.store.sqlite.unfinished import begin, finish


@dataclass(frozen=True)
class Order:
    """An erasure as it was ordered. ``folders`` (the home, those of engines) are searched for copies, but for the ``stores``."""

    what: Forget
    folders: tuple[Path, ...]
    stores: tuple[Path, ...]  # that are cleaned by the same order
    progress: Progress = quiet


def would_forget(connection: Connection, order: Order) -> Erasure:
    """What would go; nothing is written."""
    with connection.snapshot() as reader:
        plan = planned(reader, order.what, looked_up(reader, order.what, order.progress))
        return _outcome(reader, order, plan)


def forget(connection: Connection, key: bytes, index: SearchIndex, order: Order) -> Erasure:
    """Erase in one transaction, then take the bytes out of the file and look for copies elsewhere."""
    with connection.snapshot() as reader:
        found = looked_up(reader, order.what, order.progress)
    with connection.writing() as writer:
        overwrite_deleted(writer)
        plan = planned(writer, order.what, found)
        receipt = keep_receipt(writer, FORGET, _named(key, order.what, plan))
        unindex(writer, index, [doomed.row for doomed in plan.messages])
        _erase(writer, key, plan, receipt)
        begin(writer, receipt)
    order.progress(0, 1, "compacting the file")
    left = finish(connection, index)
    with connection.snapshot() as reader:
        own = [f"table {table} still holds it" for table in remains_in(reader, plan.wanted.telling)]
        outcome = _outcome(reader, order, plan)
    held = (*(f"{connection.path}: {why}" for why in (*left, *own)), *outcome.may_hold_copies)
    with suppress(StoreUnavailable), connection.writing() as writer:  # a full disk: what was erased stands in the receipt already
        document = {**_named(key, order.what, plan), "may_hold_copies": [_unsaid(line, plan.wanted) for line in held]}
        writer.execute("UPDATE receipts SET receipt = ? WHERE id = ?", (json.dumps(document), receipt))
    return replace(outcome, applied=True, receipt=receipt, may_hold_copies=held, is_finished=not left)


def _outcome(reader: sqlite3.Connection, order: Order, plan: Plan) -> Erasure:
    brought = {doomed.conversation for doomed in plan.messages}
    recordings = dict(recordings_of(reader, brought, plan.wanted.telling))
    copies = copies_of(order.stores, order.folders, plan.wanted.telling, order.progress)
    return Erasure(
        applied=False,
        messages=tuple(doomed.id for doomed in plan.messages),
        counts=plan.counts(),
        may_hold_copies=(
            *running(reader),
            *(f"{file}: {how}" for file, how in recordings.items()),
            *(line for line in copies if not line.startswith(tuple(f"{file}: " for file in recordings))),
        ),
        repeatable=tuple(doomed.id for doomed in plan.messages if doomed.is_repeatable),
        also_in=plan.also_in,
    )


def _erase(writer: sqlite3.Connection, key: bytes, plan: Plan, receipt: int) -> None:
    for doomed in plan.messages:
        _bury(writer, key, doomed, plan.wanted, receipt)
    remove_unused(writer, plan.blobs)
    for number in plan.made:  # the digest of its content goes with it: a short text could be guessed from it
        writer.execute("UPDATE made SET body = NULL, content = ? WHERE id = ?", (token_bytes(32), number))
    for document, where, text in plan.documents:
        document.replace(writer, where, text)
    empty_states(writer, plan.readings)
    writer.executemany("UPDATE messages SET tool = NULL WHERE id = ?", [(row,) for row in plan.tools])
    writer.executemany("UPDATE sessions SET title = NULL WHERE id = ?", [(session,) for session in plan.titles])
    writer.executemany("DELETE FROM quarantine WHERE id = ?", [(number,) for number in plan.quarantine])
    writer.executemany("DELETE FROM pins WHERE id = ?", [(number,) for number in plan.pins])


def _bury(writer: sqlite3.Connection, key: bytes, doomed: Doomed, wanted: Wanted, receipt: int) -> None:
    """Take a message's content away and leave its tombstone. The digest stays: the chain goes on over it.

    The tombstone of what may be said again recognises nothing.
    """
    content = token_bytes(ROW_DIGEST) if doomed.is_repeatable else tombstone_content(key, doomed.message)
    writer.execute(
        "INSERT OR REPLACE INTO tombstones (conversation, position, content, receipt) VALUES (?, ?, ?, ?)",
        (doomed.conversation, doomed.position, content, receipt),
    )
    tool = writer.execute("SELECT tool FROM messages WHERE id = ?", (doomed.row,)).fetchone()[0]
    writer.execute(
        "UPDATE messages SET body = NULL, cuts = NULL, facts = NULL, tool = ? WHERE id = ?",
        (None if tool and wanted.is_in(tool) else tool, doomed.row),
    )


def _named(key: bytes, what: Forget, plan: Plan) -> JSON:
    """The receipt: what was asked for by an HMAC where it is a text, for the text must not be kept."""
    asked = (
        f"{what.conversation}:{what.position}"
        if what.text is None
        else chained(key, b"pattern", fold(what.text).encode("utf-8", "surrogatepass")).hex()
    )
    return {
        ASKED: ONE_MESSAGE if what.text is None else A_TEXT,
        "what": asked,
        "messages": [doomed.id for doomed in plan.messages],
        "may_be_said_again": sum(doomed.is_repeatable for doomed in plan.messages),
        "counts": plan.counts(),
        RECORDED_AS: [recorded_as(key, client, recorded) for client, recorded in plan.recorded],
    }


def _unsaid(line: str, wanted: Wanted) -> str:
    return ERASED if wanted.is_in(line) else line

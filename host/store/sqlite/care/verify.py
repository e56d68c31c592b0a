"""Reading everything and checking it. Each check is a function that yields what it finds; CHECKS is their order."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from host.engine.services import Progress
from host.errors import StoreError, StoreUnavailable
from host.messages.types import JSON
from host.store.care import Finding, Proof, Verified
from host.store.protocols import quiet
from host.store.sqlite.care.chapters import check_chapters
from host.store.sqlite.care.documents import check_documents
from host.store.sqlite.care.frames import check_sessions, check_views
from host.store.sqlite.care.holes import Holes, holes_of
from host.store.sqlite.care.look import Look
from host.store.sqlite.care.pinned import check_pins
from host.store.sqlite.care.prove import proofs_of
from host.store.sqlite.care.rows import check_blobs, check_places, check_removed, check_rows, keep_head
from host.store.sqlite.care.values import check_values
from host.store.sqlite.connection import Connection
from host.store.sqlite.index import SearchIndex
from host.store.sqlite.receipts import runs
from host.store.sqlite.unfinished import unfinished_in

NOTHING = Holes()
ERASURE, INDEX = "erasure", "index"  # where a finding is that is not in the messages


def verified(connection: Connection, key: bytes, index: SearchIndex, *, prove: bool = False, progress: Progress = quiet) -> Verified:
    """Check a whole store in one snapshot, then its index. Where it is sound, remember how far it reaches for the next time."""
    with connection.snapshot() as reader, ExitStack() as stack:
        stack.enter_context(_tolerant(reader))
        look, findings = _begun(reader, key, progress)
        for check in CHECKS:
            findings += _findings_of(check, look)
        proofs = _proofs(reader) if prove else ()
        explained = tuple(repaired_lines(look))
    findings += _faults_of_index(index)
    if not findings:
        _remember_head(connection)
    progress(look.counts["messages"], look.counts["messages"], "messages")
    return Verified(tuple(findings), dict(look.counts), proofs, explained)


@contextmanager
def _tolerant(reader: sqlite3.Connection) -> Iterator[None]:
    """Read texts that are no UTF-8 too: they are findings, and hide none."""
    usual = reader.text_factory
    reader.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    try:
        yield
    finally:
        reader.text_factory = usual


def repaired_lines(look: Look) -> Iterator[str]:
    """What repairs could not save, one line a conversation."""
    names = {name for _, name in look.conversations()}
    for number, receipt in look.holes.repairs.items():
        yield from (f"holes from repair {number}: {line}" for line in _lines_of(receipt, names))


def _lines_of(receipt: JSON, names: set[str]) -> Iterator[str]:
    for what, key in (("lost", "lost"), ("changed by damage", "changed"), ("without a large string of theirs", "strings")):
        held: dict[str, list[int]] = {}
        for message in receipt.get(key, ()):
            name, _, position = message.rpartition(":")
            held.setdefault(name, []).append(int(position))
        for name in (name for name in held if name in names):
            spans = ", ".join(f"{span.start}-{span.stop - 1}" if len(span) > 1 else f"{span.start}" for span in runs(sorted(held[name])))
            rest = "; no message of it could be saved" if key == "lost" and name in receipt.get("silent", ()) else ""
            yield f"{name}: {len(held[name]):,} {what} ({spans}){rest}"
    silent = (name for name in receipt.get("silent", ()) if name in names and not _has(receipt, name))
    yield from (f"{name}: no message of it could be saved" for name in silent)
    if unplaced := sum(last - first + 1 for first, last in receipt.get("ids", ())):
        yield f"{unplaced:,} messages more are lost, of which nobody knows where they stood"


def _has(receipt: JSON, name: str) -> bool:
    return any(message.startswith(f"{name}:") for message in receipt.get("lost", ()))


def check_file(look: Look) -> Iterator[Finding]:
    """The pages of the file hang together (PRAGMA quick_check)."""
    for (problem,) in look.connection.execute("PRAGMA quick_check").fetchall():
        if problem != "ok":
            yield from (Finding("file", line) for line in problem.splitlines() if line and not line.startswith("***"))


def check_erasures(look: Look) -> Iterator[Finding]:
    """What was erased is out of the file too."""
    receipt = unfinished_in(look.connection)
    if receipt is not None:
        yield Finding(
            ERASURE,
            f"receipt {receipt} is not finished: its bytes may still be in the file; `ctxhost archive forget` or `repair` finishes it",
        )


CHECKS: tuple[Callable[[Look], Iterator[Finding]], ...] = (
    check_file,
    check_rows,
    check_removed,
    check_places,
    check_blobs,
    check_sessions,
    check_views,
    check_documents,
    check_chapters,
    check_pins,
    check_values,
    check_erasures,
)


def _begun(reader: sqlite3.Connection, key: bytes, progress: Progress) -> tuple[Look, list[Finding]]:
    try:
        return Look(reader, key, holes_of(reader), progress), []
    except sqlite3.DatabaseError as error:
        return Look(reader, key, NOTHING, progress), [Finding("receipts", f"cannot be read: {error}")]


def _findings_of(check: Callable[[Look], Iterator[Finding]], look: Look) -> list[Finding]:
    """What a check finds; that it cannot read on is a finding too."""
    findings: list[Finding] = []
    try:
        for finding in check(look):
            findings.append(finding)  # noqa: PERF402  what was found before the reading broke off counts
    except (sqlite3.DatabaseError, TypeError, ValueError) as error:  # a damaged page may hold numbers where texts belong
        findings.append(Finding(check.__name__.removeprefix("check_"), f"cannot be read on: {error}"))
    return findings


def _faults_of_index(index: SearchIndex) -> list[Finding]:
    """The index against the messages; where one of those cannot be read, the check of the rows names it."""
    try:
        return [Finding(INDEX, problem) for problem in index.check()]
    except StoreError as error:
        return [Finding(INDEX, f"cannot be checked: {error.what}")]
    except (KeyError, ValueError, TypeError, AttributeError):
        return []


def _proofs(reader: sqlite3.Connection) -> tuple[Proof, ...]:
    """None where the views cannot be read; the findings name them."""
    try:
        return proofs_of(reader)
    except (sqlite3.DatabaseError, ValueError, TypeError):
        return ()


def _remember_head(connection: Connection) -> None:
    try:
        with connection.writing() as writer:
            keep_head(writer)
    except StoreUnavailable:
        return  # a store that cannot be written just now is no less sound

"""What a check found and what an erasure takes away, as the commands say it; one erasure over several archives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from host.cli.globals import Globals
from host.cli.store_text import aligned, counted, first_words, fitted, local, plain, spans
from host.engine.services import Progress
from host.errors import StoreError, UsageError
from host.messages.types import JSON
from host.store.care import Erasure, Forget, Proof, Repaired, Verified

if TYPE_CHECKING:
    from host.store.sqlite.store import SqliteStore
    from host.store.values import Row

SHOWN = 20  # messages of an erasure that are shown; --json has all
PLACES = ("shown", "covered", "superseded", "forgotten", "not_represented")  # of a Proof


@dataclass(frozen=True)
class Part:
    """What goes from one archive."""

    store: SqliteStore
    erasure: Erasure

    @property
    def is_empty(self) -> bool:
        """Whether nothing goes."""
        return not any(self.erasure.counts.values())


@contextmanager
def stores_here(settings: Globals, store: SqliteStore, what: Forget) -> Iterator[list[SqliteStore]]:
    """The archives that an erasure goes through: a text is looked for in those of replays too."""
    from host.app import open_archive
    from host.app.stores import replays_in

    with ExitStack() as stack:
        stores = [store]
        for folder in replays_in(settings.home) if what.text is not None else []:
            try:
                stores.append(open_archive(settings.home, replay=folder.name))
                stack.callback(stores[-1].close)
            except (StoreError, UsageError) as error:
                click.echo(f"not looked into, delete it where it may hold the text: {folder}: {plain(error.what)}", err=True)
        yield stores


def would_go(stores: Sequence[SqliteStore], home: Path, what: Forget, progress: Progress) -> list[Part]:
    """What an erasure would take from each archive; the home folder is searched for other copies once."""
    paths = [store.path for store in stores]
    return [
        Part(store, store.admin.forget(what, apply=False, folders=_folders(store, stores, home), stores=paths, progress=progress))
        for store in stores
    ]


def erased(parts: Sequence[Part], home: Path, what: Forget, progress: Progress) -> list[Part]:
    """Take it away, from the archives that hold something."""
    stores = [part.store for part in parts]
    paths = [store.path for store in stores]

    def after(part: Part) -> Erasure:
        folders = _folders(part.store, stores, home)
        return part.store.admin.forget(what, apply=True, folders=folders, stores=paths, progress=progress)

    return [part if part.is_empty else replace(part, erasure=after(part)) for part in parts]


def together(parts: Sequence[Part]) -> Erasure:
    """All archives as one."""
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part.erasure.counts)
    return Erasure(
        applied=any(part.erasure.applied for part in parts),
        messages=tuple(message for part in parts for message in part.erasure.messages),
        counts=dict(counts),
        may_hold_copies=tuple(dict.fromkeys(place for part in parts for place in part.erasure.may_hold_copies)),
        receipt=next((part.erasure.receipt for part in parts if part.erasure.receipt is not None), None),
    )


def plan_lines(parts: Sequence[Part]) -> Iterator[str]:
    """What would go: the first messages by name, the rest by number, and where copies may be left."""
    whole = together(parts)
    if not any(whole.counts.values()):
        yield "nothing in the archive holds it"
    else:
        rows = [row for part in parts for row in doomed_rows(part)][:SHOWN]
        shown = [(f"{row.conversation}:{row.position}", local(row.time), plain(row.role), words_of(row)) for row in rows]
        yield from map(fitted, aligned(shown))
        if len(whole.messages) > len(shown):
            yield f"and {counted(len(whole.messages) - len(shown), 'more message')}"
        yield f"to be erased: {kinds(whole.counts)}"
    for place in whole.may_hold_copies:
        yield f"not erased by this, and may hold it: {plain(place)}"


def doomed_rows(part: Part) -> Iterator[Row]:
    """The first of the messages that go."""
    for message in part.erasure.messages[:SHOWN]:
        conversation, _, position = message.rpartition(":")
        yield from part.store.archive(conversation).rows(int(position), int(position))


def words_of(row: Row) -> str:
    """How an archived message begins."""
    return first_words(row.message) if row.message is not None else "(forgotten)"


def kinds(counts: dict[str, int]) -> str:
    """``3 messages, 1 summaries``: what there is of each kind."""
    return ", ".join(f"{kind}: {count:,}" for kind, count in counts.items() if count) or "nothing"


def expiry_lines(gone: Erasure, store: SqliteStore) -> Iterator[str]:
    """Which conversations went, or would go."""
    if not gone.conversations:
        yield "no conversation is as old as that"
        return
    if gone.applied:
        yield from gone.conversations
    else:
        yield from map(fitted, aligned(_old(conversation, store) for conversation in gone.conversations))
    yield f"{'erased' if gone.applied else 'would be erased'}: {kinds(gone.counts)}"
    if not gone.applied:
        yield "nothing was changed; --yes erases them"
    yield from (f"a copy may be left: {plain(place)}" for place in gone.may_hold_copies)


def verified_lines(found: Verified) -> Iterator[str]:
    """Proofs, findings, then what was read."""
    for proof in found.proofs:
        yield f"{proof.conversation}: {proof_text(proof)}"
    for finding in found.findings:
        yield plain(f"{finding.where}: {finding.what}")
    read = kinds(found.counts)
    yield f"{counted(len(found.findings), 'finding')}; read: {read}" if found.findings else f"nothing is wrong; read: {read}"


def proof_text(proof: Proof) -> str:
    """Where the messages of a conversation are."""
    held = [(place.replace("_", " "), getattr(proof, place)) for place in PLACES]
    return "; ".join(f"{sum(map(len, where)):,} {place} ({spans(where)})" for place, where in held if where) or "no messages"


def verified_json(found: Verified) -> JSON:
    """A check for scripts; positions include both ends."""
    return {
        "clean": found.is_clean,
        "findings": [{"where": finding.where, "what": finding.what} for finding in found.findings],
        "counts": dict(found.counts),
        "proofs": [
            {"conversation": proof.conversation} | {place: _pairs(getattr(proof, place)) for place in PLACES} for proof in found.proofs
        ],
    }


def proof_json(proof: Proof) -> JSON:
    """Where the messages of a conversation are, for scripts."""
    return {"conversation": proof.conversation, **{place: _pairs(getattr(proof, place)) for place in PLACES}}


def repaired_lines(path: Path, done: Repaired) -> Iterator[str]:
    """What a repair did, what it could not save, and where the file is as it was."""
    if done.copy is None:
        yield f"{path}: nothing was damaged, nothing was changed"
    elif not done.salvaged:
        yield f"{path}: the search index is made anew; the messages were not touched"
    else:
        yield f"{path}: salvaged {kinds(done.salvaged)}"
    if done.lost:
        yield f"lost: {kinds(done.lost)}"
    if done.cut:
        yield f"more may be lost at the end of: {', '.join(done.cut)}"
    yield from (f"lost message: {message}" for message in done.messages[:SHOWN])
    if len(done.messages) > SHOWN:
        yield f"and {counted(len(done.messages) - SHOWN, 'more message')}; --json names them all"
    yield from (plain(f"still wrong: {finding.where}: {finding.what}") for finding in done.findings)
    if done.copy is not None:
        yield f"the file as it was: {done.copy}"


def repaired_json(done: Repaired) -> JSON:
    """A repair for scripts."""
    return {
        "copy": None if done.copy is None else str(done.copy),
        "salvaged": dict(done.salvaged),
        "lost": dict(done.lost),
        "cut": list(done.cut),
        "messages": list(done.messages),
        "findings": [{"where": finding.where, "what": finding.what} for finding in done.findings],
        "receipt": done.receipt,
    }


def _pairs(ranges: Iterable[range]) -> list[list[int]]:
    return [[span.start, span.stop - 1] for span in ranges]


def _folders(store: SqliteStore, stores: Sequence[SqliteStore], home: Path) -> tuple[Path, ...]:
    return (home,) if store is stores[0] else ()


def _old(conversation: str, store: SqliteStore) -> tuple[str, str, str]:
    family = store.sessions.listed(conversation=conversation)
    title = next((each.title for each in reversed(family) if each.title), "")
    return conversation, plain(title or "-"), counted(sum(each.messages for each in family), "message")

"""What a check found, what an erasure takes away and what a repair saved, as the commands say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from host.cli.store_text import aligned, counted, first_words, fitted, local, plain, spans
from host.messages.types import JSON
from host.store.care import Erasure, Proof, Repair, Verified

if TYPE_CHECKING:
    from host.store.protocols import Store
    from host.store.sqlite.everywhere import Everywhere
    from host.store.values import Row

NAMED = 3  # conversations that are named
SHOWN = 20  # messages of an erasure that are shown; --json has all
PLACES = ("shown", "covered", "superseded", "forgotten", "not_represented")  # of a Proof


def plan_lines(planned: Everywhere) -> Iterator[str]:
    """What would go: the first messages by name, the rest by number, and where copies may be left."""
    whole = planned.erasure
    if whole.is_empty:
        yield "nothing in the archive holds it"
    else:
        shown = [
            (f"{row.conversation}:{row.position}", local(row.time), plain(row.role), whose + words_of(row))
            for whose, row in rows_by_archive(planned)
        ]
        yield from map(fitted, aligned(shown))
        if len(whole.messages) > len(shown):
            yield f"and {counted(len(whole.messages) - len(shown), 'more message')}"
        yield f"to be erased: {kinds(whole.counts)}"
        if whole.repeatable:
            yield f"may be said again: {len(whole.repeatable):,} (no more than a word, or said elsewhere in the conversation too)"
        yield from also_lines(whole.also_in)
    for place in whole.may_hold_copies:
        yield f"not erased by this, and may hold it: {plain(place)}"


def also_lines(conversations: Sequence[str]) -> Iterator[str]:
    """Where the same message stands too: an order by its id leaves it there."""
    if conversations:
        names = ", ".join(map(plain, conversations[:NAMED])) + (", …" if len(conversations) > NAMED else "")
        others = counted(len(conversations), "other conversation")
        yield f"the same message stands in {others} and stays there ({names}); erase its text to take it from all of them"


def rows_by_archive(planned: Everywhere) -> Iterator[tuple[str, Row]]:
    """The first of the messages that go, each with what to say first where it is a replay's: `ctxhost sessions` alone does not know it."""
    left = SHOWN
    for part in planned.parts:
        name = replay_of(part.store.path)
        rows = replace(planned, parts=(part,)).rows(left) if left else []
        left -= len(rows)
        yield from ((f"(--replay {name}) " if name else "", row) for row in rows)


def in_replays(planned: Everywhere) -> JSON:
    """The ids of messages that go from replays, by the name of the replay."""
    named = ((replay_of(part.store.path), list(part.erasure.messages)) for part in planned.parts)
    return {name: messages for name, messages in named if name and messages}


def replay_of(archive: Path) -> str | None:
    """The name of the replay whose archive it is; None for the home's own."""
    from host.app.stores import REPLAYS

    return archive.parent.name if archive.parent.parent.name == REPLAYS else None


def words_of(row: Row) -> str:
    """How an archived message begins."""
    if row.message is None:
        return "(damaged)" if row.damaged else "(forgotten)"
    return first_words(row.message)


def kinds(counts: dict[str, int]) -> str:
    """``3 messages, 1 summaries``: what there is of each kind."""
    return ", ".join(f"{kind}: {count:,}" for kind, count in counts.items() if count) or "nothing"


def expiry_lines(gone: Erasure, store: Store) -> Iterator[str]:
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
    yield from map(plain, found.explained[:SHOWN])
    if len(found.explained) > SHOWN:
        yield f"and {counted(len(found.explained) - SHOWN, 'more line')} of that kind; --json has them all"
    if found.is_empty:
        yield "nothing is wrong; the archive is empty: no conversation is in it"
    else:
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
        "explained": list(found.explained),
        "empty": found.is_empty,
        "counts": dict(found.counts),
        "proofs": [proof_json(proof) for proof in found.proofs],
    }


def proof_json(proof: Proof) -> JSON:
    """Where the messages of a conversation are, for scripts."""
    return {"conversation": proof.conversation, **{place: _pairs(getattr(proof, place)) for place in PLACES}}


def repaired_lines(path: Path, done: Repair) -> Iterator[str]:
    """What a repair did, what it could not save, and where the file is as it was."""
    if done.copy is None and not done.notes:
        yield f"{path}: nothing was damaged, nothing was changed"
    elif done.copy is None:
        yield f"{path}: nothing was damaged; the file was written anew"
    elif not done.salvaged:
        yield f"{path}: the search index is made anew; the messages were not touched"
    else:
        yield f"{path}: salvaged {kinds(done.salvaged)}"
    if rows := {kind: count for kind, count in done.lost.items() if kind != "strings"}:
        yield f"lost: {kinds(rows)}"
    if done.strings:
        yield from _few(f"lost: {counted(done.lost.get('strings', 0), 'string')} in messages", done.strings)
    if done.cut:
        yield f"more may be lost at the end of: {', '.join(done.cut)}"
    yield from (f"lost message: {message}" for message in done.messages[:SHOWN])
    if len(done.messages) > SHOWN:
        yield f"and {counted(len(done.messages) - SHOWN, 'more message')}; --json names them all"
    if done.silent:
        yield from _few("no message is left of", done.silent)
    if done.changed:
        yield from _few(f"kept as found, but changed since archived: {counted(len(done.changed), 'message')}:", done.changed)
    yield from map(plain, done.harm[:SHOWN])
    if len(done.harm) > SHOWN:
        yield f"and {counted(len(done.harm) - SHOWN, 'more line')} of that kind; --json has them all"
    yield from map(plain, done.notes)
    yield from (plain(f"still wrong: {finding.where}: {finding.what}") for finding in done.findings)
    if done.copy is not None:
        yield f"the file as it was: {done.copy}"


def repaired_json(done: Repair) -> JSON:
    """A repair for scripts."""
    return {
        "copy": None if done.copy is None else str(done.copy),
        "salvaged": dict(done.salvaged),
        "lost": dict(done.lost),
        "cut": list(done.cut),
        "messages": list(done.messages),
        "strings": list(done.strings),
        "changed": list(done.changed),
        "silent": list(done.silent),
        "harm": list(done.harm),
        "notes": list(done.notes),
        "findings": [{"where": finding.where, "what": finding.what} for finding in done.findings],
        "receipt": done.receipt,
    }


def _few(what: str, ids: Sequence[str]) -> Iterator[str]:
    """A line that names some, and how many more there are."""
    more = f" and {len(ids) - SHOWN:,} more; --json names them all" if len(ids) > SHOWN else ""
    yield f"{what} {', '.join(ids[:SHOWN])}{more}"


def _pairs(ranges: Iterable[range]) -> list[list[int]]:
    return [[span.start, span.stop - 1] for span in ranges]


def _old(conversation: str, store: Store) -> tuple[str, str, str]:
    family = store.sessions.listed(conversation=conversation)
    title = next((each.title for each in reversed(family) if each.title), "")
    return conversation, plain(title or "-"), counted(sum(each.messages for each in family), "message")

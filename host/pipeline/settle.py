"""After any engine: what it returned is checked, completed and recognised, or the old window stays (design, settle)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from host.messages.canonical import canonical, identity
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.reading import text_of
from host.messages.types import Message
from host.messages.violations import violations
from host.pipeline.adjoining import adjoined
from host.pipeline.exact import SUMMARIES, Exact, Rooms, loses, with_block, without_block
from host.pipeline.pinned import (
    HANDOFFS,
    Pinned,
    group_of_their_own,
    in_order,
    is_same_window,
    joined,
    ranges,
    restored,
    unbridged,
    uncovered,
    with_bridges,
    with_merges,
)
from host.pipeline.prompt import instructed
from host.pipeline.recognition import recognised
from host.transforms.handoff import merged_in_front
from host.transforms.sanitize import pair_results

Count = Callable[[Sequence[Message]], int]
NONE: Mapping[int, int] = {}
LITTLE = 2_000  # tokens: a short summary and its frame, by which a sound window may be larger without anybody's fault


@dataclass(frozen=True)
class Receipt:
    """What a compaction did to the rows of the archive."""

    before: int  # tokens
    after: int  # tokens
    kept: int  # messages of the new window that are as archived
    covered: tuple[range, ...]  # rows that a summary stands for
    lost: tuple[range, ...]  # rows that nothing in the window stands for
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settled:
    """The new view: its ledger, the messages as they are sent, and the receipt."""

    ledger: Ledger
    messages: list[Message]
    receipt: Receipt


@dataclass(frozen=True)
class Refused:
    """The old view stays; ``rule`` says what the returned list broke. ``is_worthless``: none, but it would do no good."""

    rule: str
    is_worthless: bool = False


IDLE = Refused("there was nothing to compact", is_worthless=True)
NO_GAIN = Refused("there is nothing to gain: a summary would be longer than what it stands for", is_worthless=True)
NOT_WORTH_IT = Refused("it would save less than the user's rules and exact values need that would leave the window", is_worthless=True)


def settle(
    before: Ledger,
    returned: object,
    *,
    count: Count,
    given: Sequence[Message] = (),
    pins: Sequence[Entry] = (),
    places: Mapping[int, int] = NONE,
    limit: int | None = None,
    exact: Exact | None = None,
) -> Settled | Refused:
    """Judge and complete what an engine returned for the window of ``before``, and place the block of exact values.

    ``given`` are the very messages that the engine got: they tell a summary that it kept from one that it wrote anew.
    ``pins`` are in the new window as they are, also those that the old one did not show; where the window would then hold
    more than ``limit`` tokens, those wait. ``places`` are the places of rows that are new versions of older ones.
    """
    if not isinstance(returned, list):
        return Refused(f"it returned {type(returned).__name__}, not a list of messages")
    if oddity := _oddity(returned):
        return Refused(oddity)
    entries = unbridged(recognised(before, returned, given))
    if unkeepable := [entry.message for entry in entries if entry.row is None and not _can_be_kept(entry.message)]:
        return Refused(f"it returned a message of role {unkeepable[0].get('role')!r} that JSON cannot hold")
    pinned = Pinned(pins, places)
    settled = _judged(before, entries, pinned, count, exact)
    if limit is not None and isinstance(settled, Settled) and settled.receipt.after > max(limit, settled.receipt.before):
        return _judged(before, entries, pinned.shown_in(before), count, exact)
    return settled


def _judged(before: Ledger, entries: list[Entry], pinned: Pinned, count: Count, exact: Exact | None) -> Settled | Refused:
    """The entries completed, or why the old window stays."""
    entries, repairs = completed(before, entries, pinned)
    if (newest := _lost_newest(before, entries)) is not None:
        return Refused(f"it left out the newest message ({newest})")
    ledger = Ledger(with_bridges(with_covers(before, with_merges(adjoined(entries), pinned)), pinned))
    messages = render(ledger)
    if is_same_window(ledger, before):
        return IDLE
    if broken := _new_violations(before, messages):
        return Refused(broken[0])
    old, new = count(render(before)), count(messages)
    most = old if new <= old else count(render(joined(before, pinned)))
    if new > most:
        return NO_GAIN if new - most <= LITTLE else Refused(f"the window grew from {old:,} to {new:,} tokens")
    chosen = (ledger, new) if exact is None else _with_exact(before, ledger, exact, count, most, pinned)
    if isinstance(chosen, Refused):
        return chosen
    ledger, new = chosen
    return Settled(ledger, render(ledger), receipt_of(before, ledger, old, new, repairs))


def _oddity(returned: list[object]) -> str:
    """Why a list is none of messages; empty where it is one."""
    if not returned:
        return "it returned an empty list"
    if not all(isinstance(message, dict) and isinstance(message.get("role"), str) for message in returned):
        return "it returned entries that are no messages"
    return ""


def _with_exact(before: Ledger, bare: Ledger, exact: Exact, count: Count, old: int, pinned: Pinned) -> tuple[Ledger, int] | Refused:
    """The window with its block, no larger than before and below the threshold; where that loses what was said, with more of it."""
    plain = Ledger(without_block(unbridged(bare)))
    new, size = count(render(plain)), count(render(bare))

    def blocked(room: int) -> tuple[Ledger, int]:
        ledger = Ledger(with_bridges(with_block(list(plain), exact, room), pinned))
        total = count(messages := render(ledger))
        return (bare, size) if total > min(old, max(exact.threshold, size)) or violations(messages) else (ledger, total)

    rooms = Rooms.of(exact, before, plain, old, new)
    chosen = blocked(rooms.usual)
    if loses(exact, before, chosen[0]):
        chosen = blocked(min(rooms.widest, rooms.saved))
        if rooms.saved < rooms.widest and loses(exact, before, chosen[0]):
            return NOT_WORTH_IT
    return chosen


def render(ledger: Ledger) -> list[Message]:
    """The messages as they are sent: a summary of kind MERGED is written in front of the message after it."""
    sent: list[Message] = []
    waiting: list[str] = []
    for entry, after in pairwise([*ledger, None]):
        if entry is None:
            break
        if entry.kind is Kind.MERGED or (entry.kind is Kind.FACTS and after is not None and after.message.get("role") == "user"):
            waiting.append(text_of(entry.message))
            continue
        sent.append(merged_in_front("\n\n".join(waiting), entry.message) if waiting else entry.message)
        waiting = []
    return sent


def completed(before: Ledger, entries: list[Entry], pinned: Pinned) -> tuple[list[Entry], tuple[str, ...]]:
    """System prompt, newest request and pins are back in archive order, and every call has its result."""
    prompt, entries, repairs = instructed(before, entries, pinned)
    wanted = _wanted(before, pinned)
    for one in wanted:
        kept = next((entry for entry in entries if entry.row == one.row), None)
        if kept is not None and (kept.kind is Kind.ORIGINAL or one.row not in pinned.rows or kept == one):
            continue
        twin = _twin(entries, one, pinned) if one.row not in pinned.rows else None
        if twin is not None:
            entries = [one if i == twin else entry for i, entry in enumerate(entries)]
        else:
            entries = restored(entries, one, pinned)
            repairs.append(f"restored the {one.message.get('role')} message of row {one.row}")
    entries = group_of_their_own(entries, pinned)
    covering = with_covers(before, [*prompt, *entries])[len(prompt) :]
    entries = in_order(entries, covering, {one.row for one in wanted}, pinned)
    entries = [*prompt, *_request_last(before, entries)]
    paired = pair_results([entry.message for entry in entries])
    if paired.is_repaired:
        repairs.append(
            f"tool pairs: {paired.stubbed} stubbed, {paired.dropped_results} results dropped, "
            f"{paired.dropped_calls} calls dropped, {paired.moved_results} moved"
        )
    sources = zip(paired.sources, paired.messages, strict=True)
    return [_repaired(entries[at] if at is not None else None, message) for at, message in sources], tuple(repairs)


def with_covers(before: Ledger, entries: list[Entry]) -> list[Entry]:
    """The first new summary stands for every row of the old window that is nowhere else."""
    entries = uncovered(entries)
    present = {row for entry in entries for row in rows_of(entry)}
    missing = sorted({row for entry in before for row in rows_of(entry)} - present)
    fresh = next((i for i, entry in enumerate(entries) if entry.kind in SUMMARIES and not entry.covers), None)
    if fresh is None or not missing:
        return entries
    return [replace(entry, covers=ranges(missing)) if i == fresh else entry for i, entry in enumerate(entries)]


def receipt_of(before: Ledger, after: Ledger, old: int, new: int, repairs: tuple[str, ...]) -> Receipt:
    """What is kept, covered and lost between two windows; ``old`` and ``new`` are their tokens."""
    covered = {row for entry in after for span in entry.covers for row in span}
    shown = {entry.row for entry in after if entry.row is not None}
    lost = {row for entry in before for row in rows_of(entry)} - covered - shown
    kept = sum(entry.kind is Kind.ORIGINAL for entry in after)
    return Receipt(old, new, kept, ranges(sorted(covered)), ranges(sorted(lost)), repairs)


def rows_of(entry: Entry) -> set[int]:
    """The rows that an entry is or covers."""
    own = set() if entry.row is None else {entry.row}
    return own | {row for span in entry.covers for row in span}


def newest_request_entry(ledger: Sequence[Entry]) -> Entry | None:
    """The newest user message that came from outside, not from an engine or the host."""
    asked = (e for e in reversed(ledger) if e.kind in (Kind.ORIGINAL, Kind.DIGEST) and e.message.get("role") == "user")
    return next((entry for entry in asked if entry.row is not None), None)


def _wanted(before: Ledger, pinned: Pinned) -> list[Entry]:
    """What must be in every window behind the system prompt, in archive order."""
    request = newest_request_entry(before)
    wanted = [*pinned.entries, *([request] if request else [])]
    return sorted({entry.row: entry for entry in wanted if entry.row is not None}.values(), key=pinned.place)


def _new_violations(before: Ledger, messages: list[Message]) -> list[str]:
    """What is wrong now and was not in the old window: an engine is not to blame for a message that came in broken."""
    old = {(violation.rule, violation.detail) for violation in violations(render(before))}
    return [str(violation) for violation in violations(messages) if (violation.rule, violation.detail) not in old]


def _repaired(entry: Entry | None, message: Message) -> Entry:
    """The entry of a message as the repair left it; None: the repair made it."""
    if entry is None:
        return Entry(message, None, Kind.STUB)
    return entry if entry.message is message else Entry(message, entry.row, Kind.DIGEST)


def _request_last(before: Ledger, entries: list[Entry]) -> list[Entry]:
    """The newest request stands behind all that the user said before, and behind whatever an engine wrote in the user's name.

    Where nothing was said since, nothing stands behind it.
    """
    request = newest_request_entry(before)
    place = next((i for i, entry in enumerate(entries) if request is not None and entry.row == request.row), len(entries))
    is_newest = request is not None and before[-1].row == request.row
    late = [i for i, entry in enumerate(entries) if i > place and (is_newest or _is_of_user(entry))]
    if not late:
        return entries
    behind = [entry for i, entry in enumerate(entries) if i > place and i not in late]
    return [*entries[:place], *(entries[i] for i in late), entries[place], *behind]


def _is_of_user(entry: Entry) -> bool:
    return entry.message.get("role") == "user" and entry.kind not in HANDOFFS


def _lost_newest(before: Ledger, entries: list[Entry]) -> str | None:
    """The role of the newest message of the old window, where the new one does not have it."""
    newest = before[-1] if len(before) else None
    if newest is None or newest.row is None or any(entry.row == newest.row for entry in entries):
        return None
    return None if _twin(entries, newest, Pinned()) is not None else newest.message.get("role", "?")


def _can_be_kept(message: Message) -> bool:
    try:
        canonical(message)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _twin(entries: list[Entry], wanted: Entry, pinned: Pinned) -> int | None:
    """Index of an equal message that was taken for an older row: said twice, it is in the window all the same."""
    told, free = identity(wanted.message), range(len(entries) - 1, -1, -1)
    spoken = (i for i in free if entries[i].message.get("role") == wanted.message.get("role") and entries[i].row not in pinned.rows)
    return next((i for i in spoken if entries[i].kind is Kind.ORIGINAL and identity(entries[i].message) == told), None)

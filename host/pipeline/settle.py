"""After any engine: what it returned is checked, completed and recognised, or the old window stays (design, settle)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from host.messages.canonical import canonical, identity, without_private
from host.messages.ledger import Entry, Kind, Ledger, align
from host.messages.reading import call_id, calls_of, is_system, text_of
from host.messages.types import Message
from host.messages.violations import violations
from host.pipeline.exact import Exact, with_block
from host.transforms.boundary import align_forward
from host.transforms.handoff import is_handoff, merged_in_front, split_merged
from host.transforms.sanitize import STUB, pair_results

Count = Callable[[Sequence[Message]], int]


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
    """The old view stays; ``rule`` says what the returned list broke."""

    rule: str


IDLE = Refused("there was nothing to compact")


def settle(
    before: Ledger,
    returned: object,
    *,
    count: Count,
    given: Sequence[Message] = (),
    pins: Sequence[Message] = (),
    exact: Exact | None = None,
) -> Settled | Refused:
    """Judge and complete what an engine returned for the window of ``before``, and place the block of exact values.

    ``given`` are the very messages that the engine got: they tell a summary that it kept from one that it wrote anew.
    """
    if not isinstance(returned, list):
        return Refused(f"it returned {type(returned).__name__}, not a list of messages")
    if oddity := _oddity(returned):
        return Refused(oddity)
    entries = recognised(before, [part for message in returned for part in split_merged(without_private(message))])
    entries = [*map(_written_anew, entries, _parts_anew(returned, given))]
    if unkeepable := [entry.message for entry in entries if entry.row is None and not _can_be_kept(entry.message)]:
        return Refused(f"it returned a message of role {unkeepable[0].get('role')!r} that JSON cannot hold")
    entries, repairs = completed(before, entries, pins)
    if (newest := _lost_newest(before, entries)) is not None:
        return Refused(f"it left out the newest message ({newest})")
    entries = with_covers(before, with_merges(entries))
    ledger = Ledger(entries)
    messages = render(ledger)
    if len(entries) == len(before) and all(map(_is_same, entries, before)):
        return IDLE
    if broken := _new_violations(before, messages):
        return Refused(broken[0])
    old, new = count(render(before)), count(messages)
    if new > old:
        return Refused(f"the window grew from {old:,} to {new:,} tokens")
    if exact is not None:
        ledger, messages, new = _with_exact(ledger, exact, count, old, new)
    return Settled(ledger, messages, receipt_of(before, ledger, old, new, repairs))


def _oddity(returned: list[object]) -> str:
    """Why a list is none of messages; empty where it is one."""
    if not returned:
        return "it returned an empty list"
    if not all(isinstance(message, dict) and isinstance(message.get("role"), str) for message in returned):
        return "it returned entries that are no messages"
    return ""


def _with_exact(ledger: Ledger, exact: Exact, count: Count, old: int, new: int) -> tuple[Ledger, list[Message], int]:
    """The window with its block, as long as it is smaller than before and below the threshold."""
    bare = Ledger(with_block(list(ledger), None, 0))
    bare_size = count(render(bare)) if bare != ledger else new
    blocked = Ledger(with_block(list(bare), exact, min(old, exact.threshold) - bare_size))
    size = count(messages := render(blocked))
    if size > min(old, max(exact.threshold, new)) or violations(messages):
        return (ledger, render(ledger), new)
    return blocked, messages, size


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


def recognised(before: Ledger, messages: Sequence[Message]) -> list[Entry]:
    """An entry per message: the archived one where it is the same, else what it was made from."""
    found = align(before, messages)
    shortened = _by_call(before, {index for index in found if index is not None})
    return [
        _unmerged(before[index]) if index is not None else _made(message, shortened, before)
        for index, message in zip(found, messages, strict=True)
    ]


def _parts_anew(returned: Sequence[Message], given: Sequence[Message]) -> list[bool]:
    """Per part whether it is of a message that the engine made, as far as an engine that copies nothing lets it be told."""
    kept = {id(message) for message in given}
    copies_nothing = any(id(message) in kept for message in returned)
    return [copies_nothing and id(message) not in kept for message in returned for _ in split_merged(without_private(message))]


def _written_anew(entry: Entry, anew: bool) -> Entry:
    """A summary in the same words as the last one stands for more than that did."""
    return replace(entry, covers=()) if anew and entry.kind is Kind.SUMMARY else entry


def completed(before: Ledger, entries: list[Entry], pins: Sequence[Message]) -> tuple[list[Entry], tuple[str, ...]]:
    """System prompt, newest request and pins are back in archive order, and every call has its result."""
    repairs: list[str] = []
    for wanted in _wanted(before, pins):
        if any(entry.row == wanted.row for entry in entries):
            continue
        if (twin := _twin(entries, wanted)) is not None:
            entries = [wanted if i == twin else entry for i, entry in enumerate(entries)]
        else:
            entries = _inserted(entries, wanted)
            repairs.append(f"restored the {wanted.message.get('role')} message of row {wanted.row}")
    entries = _request_last(before, entries)
    paired = pair_results([entry.message for entry in entries])
    if paired.is_repaired:
        repairs.append(
            f"tool pairs: {paired.stubbed} stubbed, {paired.dropped_results} results dropped, "
            f"{paired.dropped_calls} calls dropped, {paired.moved_results} moved"
        )
    sources = zip(paired.sources, paired.messages, strict=True)
    return [_repaired(entries[at] if at is not None else None, message) for at, message in sources], tuple(repairs)


def with_merges(entries: list[Entry]) -> list[Entry]:
    """A summary whose role is that of the message after it is merged in front of it: two equal roles never meet."""
    following: list[Entry | None] = [*entries[1:], None]
    return [
        replace(entry, kind=Kind.MERGED)
        if entry.kind is Kind.SUMMARY and after is not None and after.message.get("role") == entry.message.get("role")
        else entry
        for entry, after in zip(entries, following, strict=True)
    ]


def with_covers(before: Ledger, entries: list[Entry]) -> list[Entry]:
    """The first new summary stands for every row of the old window that is nowhere else."""
    summaries = (Kind.SUMMARY, Kind.MERGED)
    present = {row for entry in entries for row in rows_of(entry)}
    missing = sorted({row for entry in before for row in rows_of(entry)} - present)
    fresh = next((i for i, entry in enumerate(entries) if entry.kind in summaries and not entry.covers), None)
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


def ranges(rows: Sequence[int]) -> tuple[range, ...]:
    """Rising rows as ranges."""
    spans: list[range] = []
    for row in rows:
        if spans and spans[-1].stop == row:
            spans[-1] = range(spans[-1].start, row + 1)
        else:
            spans.append(range(row, row + 1))
    return tuple(spans)


def newest_request_entry(ledger: Sequence[Entry]) -> Entry | None:
    """The newest user message that came from outside, not from an engine or the host."""
    asked = (e for e in reversed(ledger) if e.kind is Kind.ORIGINAL and e.message.get("role") == "user")
    return next((entry for entry in asked if entry.row is not None), None)


def _wanted(before: Ledger, pins: Sequence[Message]) -> list[Entry]:
    """What must be in every window, in archive order."""
    pinned = {id(pin) for pin in pins}
    request = newest_request_entry(before)
    leading = list(takewhile(lambda entry: is_system(entry.message), before))
    wanted = [*leading, *(entry for entry in before if id(entry.message) in pinned), *([request] if request else [])]
    return sorted({entry.row: entry for entry in wanted if entry.row is not None}.values(), key=lambda entry: entry.row or 0)


def _is_same(entry: Entry, known: Entry) -> bool:
    return entry.row == known.row and entry.message is known.message


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
    """The newest request stands behind whatever an engine wrote in the user's name."""
    request = newest_request_entry(before)
    place = next((i for i, entry in enumerate(entries) if request is not None and entry.row == request.row), None)
    invented = [i for i, entry in enumerate(entries) if entry.kind is Kind.FOREIGN and entry.message.get("role") == "user"]
    if place is None or not invented or invented[-1] < place:
        return entries
    behind = align_forward([entry.message for entry in entries], invented[-1] + 1)
    return [*entries[:place], *entries[place + 1 : behind], entries[place], *entries[behind:]]


def _lost_newest(before: Ledger, entries: list[Entry]) -> str | None:
    """The role of the newest message of the old window, where the new one does not have it."""
    newest = before[-1] if len(before) else None
    if newest is None or newest.row is None or any(entry.row == newest.row for entry in entries):
        return None
    return None if _twin(entries, newest) is not None else newest.message.get("role", "?")


def _can_be_kept(message: Message) -> bool:
    try:
        canonical(message)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _twin(entries: list[Entry], wanted: Entry) -> int | None:
    """Index of an equal message that was taken for an older row: said twice, it is in the window all the same."""
    told = identity(wanted.message)
    spoken = (i for i in range(len(entries) - 1, -1, -1) if entries[i].message.get("role") == wanted.message.get("role"))
    return next((i for i in spoken if entries[i].kind is Kind.ORIGINAL and identity(entries[i].message) == told), None)


def _inserted(entries: list[Entry], wanted: Entry) -> list[Entry]:
    """The entries with one more, behind the last older row and behind a summary, never inside a tool group."""
    row = wanted.row or 0
    older = [i for i, entry in enumerate(entries) if entry.row is not None and entry.row < row]
    place = older[-1] + 1 if older else 0
    if not is_system(wanted.message):
        while place < len(entries) and (is_system(entries[place].message) or entries[place].kind in (Kind.SUMMARY, Kind.MERGED)):
            place += 1
    place = align_forward([entry.message for entry in entries], place)
    return [*entries[:place], wanted, *entries[place:]]


def _unmerged(entry: Entry) -> Entry:
    return replace(entry, kind=Kind.SUMMARY) if entry.kind is Kind.MERGED else entry


def _by_call(before: Ledger, used: set[int]) -> dict[tuple[str, str], list[Entry]]:
    """Entries that the returned list does not hold as they were, by role and call ids: what a digest was made from."""
    left: dict[tuple[str, str], list[Entry]] = {}
    for index in range(len(before) - 1, -1, -1):
        if index not in used and (key := _call_key(before[index].message)):
            left.setdefault(key, []).append(before[index])
    return left


def _call_key(message: Message) -> tuple[str, str] | None:
    if message.get("role") == "tool":
        return ("tool", str(message.get("tool_call_id")))
    calls = calls_of(message)
    return ("assistant", " ".join(map(call_id, calls))) if calls else None


def _made(message: Message, shortened: dict[tuple[str, str], list[Entry]], before: Ledger) -> Entry:
    """The entry of a message that no row is equal to."""
    if is_handoff(message):
        return Entry(message, None, Kind.SUMMARY)
    if message.get("role") == "tool" and message.get("content") == STUB:
        return Entry(message, None, Kind.STUB)
    key = _call_key(message)
    if key and (sources := shortened.get(key)):
        return Entry(message, sources.pop().row, Kind.DIGEST)
    if is_system(message) and len(before) and is_system(before[0].message):
        return Entry(message, before[0].row, Kind.DIGEST)  # the prompt with a note
    return Entry(message, None, Kind.FOREIGN)

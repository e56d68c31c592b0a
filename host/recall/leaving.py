"""What an agent has to know to the letter of the part that just left its window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from host.messages import clients
from host.messages.facts import Live, Told, block, decoded, facts_of, kept, rules_in, told
from host.messages.facts.fact import RULES, FactKind
from host.messages.facts.reading import READ
from host.messages.ledger import Kind
from host.messages.searchable import searchable
from host.messages.types import Message
from host.recall.spellings import is_part
from host.recall.worth import Candidate, Mentions, best_first
from host.store.protocols import Archive, Store
from host.store.values import IMPORT, REWIND, Published, Row

ROWS = 20_000  # the newest, of which values are told: a hook is waited for
WHOLE = 500  # of these, the ones that are heard whoever spoke; before them the user alone
RULED = 100_000  # the newest, of which the user's rules are told, since rules hold for long
MADE = frozenset({Kind.SUMMARY, Kind.FACTS})
TAKING_BACK = frozenset({IMPORT, REWIND})
"""What triggered views from which a row is gone because the user went back: what an import or a rewind keeps is shown or covered."""

MISSES = 24  # facts in a row that do not fit before the rest is not tried: each try counts
UNBOUNDED = 1 << 62  # tokens

HEADING = (
    "Archived by ctxhost from the part of this conversation that left the window. "
    'A number in brackets is a row; lcm_expand {{"message": "{conversation}:ROW"}} opens it, lcm_grep searches the rest.'
)
MORE_RULES = "{count:,} more rules of the user hold and found no room, in rows {first} to {last}: look there before you act on what is old."
NOT_READ = "Rows 1 to {last} were not read for this; lcm_grep searches them."


def left_behind(store: Store, session_id: str, *, everything: bool = False, budget: int = 800, count: Callable[[str], int]) -> str | None:
    """The user's rules and the exact values of what the newest compaction took out of the window, in at most ``budget`` tokens.

    With ``everything``, and where nothing was compacted, those of the whole conversation. None where there is nothing to tell.
    Raises NoSuchSession where no session has this id.
    """
    conversation = store.sessions.get(session_id).conversation
    archive = store.archive(conversation)
    window = _window(store.views(conversation).history())
    last = archive.range()[1]
    holding, mentions = _heard(archive, window, last)
    if window.left is not None and not everything:
        holding = [one for one in holding if one.row in window.left]
    heading = HEADING.format(conversation=conversation)
    room = Room(heading if last <= RULED else f"{heading} {NOT_READ.format(last=last - RULED)}", budget, count)
    room.take_rules([(order, one) for order, one in reversed([*enumerate(holding)]) if _is_rule(one)])
    values = [each for each in best_first(holding, mentions) if not window.tells(each)]
    room.take([(each.order, each.told) for each in values])
    text = room.text()
    return text and text.encode("utf-8", "backslashreplace").decode()


class Rows:
    """Positions, as spans: a summary stands for many."""

    def __init__(self, spans: Sequence[range] = ()) -> None:
        self._spans = tuple(spans)

    def __contains__(self, position: int) -> bool:
        return any(position in span for span in self._spans)


@dataclass(frozen=True)
class Window:
    """What the views of a conversation say of its rows: what summaries stand for, what is no message, what was taken back."""

    left: Rows | None  # None where nothing was compacted
    made: frozenset[int]
    taken_back: frozenset[int]
    summaries: str  # their text

    def counts(self, row: Row, last: int) -> bool:
        """Whether the facts of a row are heard."""
        is_gone = {row.position, row.place} <= self.taken_back  # of a newer version one of the two stands in a view
        is_told = row.message is not None and not row.superseded and row.position not in self.made and not is_gone
        return is_told and (row.role == "user" or row.position > last - WHOLE) and not is_of_the_client(row)

    def tells(self, value: Candidate) -> bool:
        """Whether a summary says a value, in a spelling that names it."""
        return any(text in self.summaries for text in value.spellings if "/" in text or "/" not in value.told.fact.text)


def _window(history: Sequence[Published]) -> Window:
    newest = history[-1].ledger if history else ()
    summaries = [entry for entry in newest if entry.kind in (Kind.SUMMARY, Kind.MERGED)]
    return Window(
        left=Rows([span for entry in summaries for span in entry.covers]) if summaries else None,
        made=frozenset(entry.row for view in history for entry in view.ledger if entry.kind in MADE and entry.row is not None),
        taken_back=taken_back(history),
        summaries="\n".join(searchable(entry.message) for entry in summaries),
    )


def taken_back(history: Sequence[Published]) -> frozenset[int]:
    """The rows that a view does not have any more because the user went back, and no later one has again."""
    gone: set[int] = set()
    for view in history:
        shown = {entry.row for entry in view.ledger if entry.row is not None}
        covered = Rows([span for entry in view.ledger for span in entry.covers])
        if view.trigger in TAKING_BACK:
            gone |= {row for row in range(1, view.upto + 1) if row not in shown and row not in covered}
        gone -= shown
    return frozenset(gone)


def _heard(archive: Archive, window: Window, last: int) -> tuple[list[Told], Mentions]:
    """What holds of all that was said and not taken back, and where each value was mentioned; of what is old only rules."""
    live, mentions = Live(), Mentions()
    for row in archive.rows(max(1, last - RULED + 1), last):
        if row.message is None or not window.counts(row, last):
            continue
        if row.position <= last - ROWS:
            live.hear(_rules_told_in(row, row.message))
            continue
        facts = told_in(row, row.message)
        live.hear(facts)
        mentions.hear(row.message, facts)
    return live.holding(), mentions


def is_of_the_client(row: Row) -> bool:
    """Whether a client wrote the row in the user's name."""
    return row.message is not None and clients.is_of_the_client(row.message)


def told_in(row: Row, message: Message) -> list[Told]:
    """The facts of a row: values as they are stored with it, the user's rules read anew."""
    text = searchable(message)
    facts = kept(facts_of(message)) if row.facts is None else decoded(row.facts, text)
    if row.role == "user" and row.facts is not None:
        values = [fact for fact in facts if fact.kind not in RULES]
        facts = sorted(values + rules_in(text[:READ]), key=lambda fact: (fact.start, fact.end))
    return told(facts, text, row=row.position, role=row.role)


def _rules_told_in(row: Row, message: Message) -> list[Told]:
    """Read anew, as the user's rules are everywhere here: what is stored of a row was read when fewer forms were known."""
    text = searchable(message)
    return told(rules_in(text[:READ]), text, row=row.position, role=row.role)


class Room:
    """A text of so many tokens, heading and all, and the facts that were taken into it."""

    def __init__(self, heading: str, budget: int, count: Callable[[str], int]) -> None:
        self._heading = heading
        self._budget = budget
        self._count = count
        self._taken: list[tuple[int, Told]] = []
        self._rules: tuple[Told, ...] = ()
        self._spent = count(heading)
        self._is_measured = True  # facts that are counted one by one come to a little more or less than the whole

    def take_rules(self, rules: Sequence[tuple[int, Told]]) -> None:
        """Take the rules that fit; the text says how many did not."""
        self._rules = tuple(rule for _, rule in rules)
        self.take(rules)

    def take(self, told: Sequence[tuple[int, Told]]) -> None:
        """Take what fits, the first first; of each the place is given at which it is shown.

        A value that is a part of one that is taken is told by that one.
        """
        missed = 0
        for place, one in told:
            if not self._is_told(one):
                missed = 0 if self._take(place, one) else missed + 1
            if missed == MISSES:
                return

    def text(self) -> str | None:
        """The text; None where nothing fits."""
        while self._taken and self._count(self._written()) > self._budget:
            self._taken.pop()
        is_told = bool(self._taken or self._rules) and self._count(self._written()) <= self._budget
        return self._written() if is_told else None

    def _take(self, place: int, one: Told) -> bool:
        cost = self._count(f", {one.fact.text} [{one.row}]")
        if self._spent + cost > self._budget and not self._is_measured:
            self._spent, self._is_measured = self._count(self._written()), True
        if self._spent + cost > self._budget:
            return False
        self._taken = [(at, other) for at, other in self._taken if not _is_told_by(other, one)]
        self._taken.append((place, one))
        self._spent, self._is_measured = self._spent + cost, False
        return True

    def _is_told(self, one: Told) -> bool:
        return any(_is_told_by(one, other) for _, other in self._taken)

    def _written(self) -> str:
        inner = block([one for _, one in sorted(self._taken, key=lambda taken: taken[0])], UNBOUNDED, self._count)
        return "\n".join(part for part in (self._heading, inner, self._left_out()) if part)

    def _left_out(self) -> str:
        taken = {id(one) for _, one in self._taken}
        rows = [rule.row for rule in self._rules if id(rule) not in taken]
        return MORE_RULES.format(count=len(rows), first=min(rows), last=max(rows)) if rows else ""


def _is_told_by(shorter: Told, longer: Told) -> bool:
    """Whether a value needs not be said beside a longer one; what the user said stays as the user said it."""
    is_kept = _is_rule(shorter) or (shorter.role == "user" and longer.role != "user")
    return not is_kept and is_part(shorter.fact.text, longer.fact.text)


def _is_rule(one: Told) -> bool:
    return one.fact.kind is FactKind.constraint

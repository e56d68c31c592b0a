"""Which of a user's sentences a later one says again with another value: also where that is a plain name or a day of the week."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from host.messages.facts.any_case import AnyCase
from host.messages.facts.change_words import OLD_AFTER
from host.messages.facts.crowds import MOST_IN_SENTENCE
from host.messages.facts.fact import FactKind
from host.messages.facts.listing import are_of_a_list, counts, items_in
from host.messages.facts.said_words import BIRTH
from host.messages.facts.subjects import form
from host.messages.facts.topic_words import ADDS, ASKED, CHANGE, IDLE, PERHAPS, POINTS
from host.messages.facts.topics import EMPTY, Topic, are_apart, clause_around, clauses, names_more, shared, topic_of
from host.messages.facts.values import values_in

NEAR = 6
"""Statements back in which one without a subject of its own ("send it on Tuesday") finds the value that it is of."""

LOOKED_AT = 12
"""Newest claims with a shared word that a new one is held against."""

REMEMBERED = 2048
"""Sentences whose claims are kept."""

# fmt: off
DAY = AnyCase(
    r"\b(?:mon|tues?|wednes|thurs?|fri|satur|sun)days?\b|(?:周|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?"
    r"|\b(?:lunes|martes|miércoles|jueves|viernes|montag|dienstag|mittwoch|donnerstag|freitag|samstag|lundi|mardi|mercredi|jeudi"
    r"|vendredi|samedi)s?\b")
PART = re.compile(r"(?i)\b(\d+)\s?(?:of|out of|/)\s?(\d+)\b")
NUMERAL = AnyCase(r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty"
    r"|sixty|ninety|hundred|once|twice)\b")
NAMED = re.compile(
    r"(?:\b(?:is|are|be|was|were|now|to|by|with|use|uses|using|on|in|at|from|via|into|for|ask|tell|contact|call|called|named"
    r"|belongs? to|goes to|instead"
    r"|then|not|run|runs|have|has|take|takes|pick|prefer|me|him|her|us)|[:=]|->|→)\s+(?:the |a |an |our |now |going to be )?[\"'`“]?"
    r"(?P<name>(?!I\b|I['’])[A-Z][\w+#.-]*\w(?:\s(?!I\b)[A-Z][\w+#-]+){0,2})")
LEADS = re.compile(
    r"^(?:no, |sorry, |actually,? |now,? |and |then )?(?P<name>(?!I\b|The\b|This\b|That\b|It\b|We\b|You\b|They\b|There\b|Our\b"
    r"|My\b)[A-Z]\w+(?:\s[A-Z]\w+)?)"
    r"(?=\s(?:is|will be|has|takes|took|owns|leads|runs|handles|covers|does|reviews|approves|signs|hosts|drives|chairs|moderates)\b)")
ROLE = AnyCase(
    r"\b(?:on[- ]call|owner|owns|lead|leads|leader|reviewer|reviews|approver|approves|contact|captain|host|hosts|driver|drives"
    r"|chair|chairs|moderator"
    r"|moderates|responsible|in charge|duty|manager|signs|editor|organi[sz]er|speaker|treasurer|secretary|handles|covers|takes over"
    r"|takes|runs|slot|shift)\b")
STATE = AnyCase(
    r"\b(?P<slot>status|state|mode|theme|colou?r|level|priority|severity|format|language|strategy|layout|plan|tier|edition"
    r"|flavou?r|style|tone|key|tempo"
    r"|material|fabric|size|background|font|approach|method|policy|dish|drink|dessert|topic|subject|venue|title|default|branch"
    r"|database|editor|framework)"
    r"\s?(?:is|will be|should be|to|:|=|->|→|stays|becomes)\s?(?:now |set to "
    r"|going to be )?[\"'`“]?(?P<name>[a-z][\w-]+)(?=[\"'`”.,;!]|\s*$|\s(?:now|instead|please|then|again|from|for|not)\b)")
HAN_NAMED = re.compile(
    r"(?:是|由|归|给|找|让|改成|换成|改为|换到|改到|改在|变成|交给|定在|放在|用|叫)(?P<name>(?!不|没|一|这|那|什么|谁)[\u4e00-\u9fff]{2,4}?)(?=[，。,.！!]|负责|来|吧|了|$)"
    r"|[はがを](?P<other>[\u4e00-\u9fff\u30a0-\u30ff]{2,8}?)(?=さん|氏|様|です|に|で|だ|へ|。|$)")
# fmt: on


@dataclass(frozen=True, eq=False)
class Claim:
    """That something has a value: said by which statement, of what. What few comparisons come to is read when they do."""

    statement: int
    kind: str
    value: str
    start: int
    end: int
    topic: Topic
    is_own: bool  # whether the topic stands in the clause itself
    sentence: Sentence  # the statement
    around: str  # its clause without the value
    instead_of: frozenset[str]  # other values that the statement calls old

    @property
    def before(self) -> str:
        """The statement up to the value."""
        return self.sentence.text[: self.start]

    @cached_property
    def rest(self) -> str:
        """The statement without the value."""
        return f"{self.before} {self.sentence.text[self.end :]}"

    @cached_property
    def changes(self) -> bool:
        """Whether it says that something changed, or only points to what it is of."""
        return self.sentence.changes or POINTS.search(self.around) is not None

    @cached_property
    def items(self) -> dict[str, str]:
        """By what its clause tells one of a kind from another."""
        return items_in(self.around)


@dataclass(frozen=True, slots=True)
class Restatement:
    """A value that a later statement gives again as another: the index of both statements, and the old value."""

    old: int
    new: int
    value: str


class Sentence:
    """One sentence of the user, cut into clauses."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._clauses = clauses(text)

    @cached_property
    def is_asked(self) -> bool:
        """Whether it is a question."""
        return ASKED.search(self.text) is not None

    @cached_property
    def changes(self) -> bool:
        """Whether it says that something changed."""
        return CHANGE.search(self.text) is not None

    def before(self, start: int) -> Topic:
        """What the nearest clause before a place is of that is of anything."""
        earlier = (topic_of(self.text[one:other]) for one, other in reversed(self._clauses) if other <= start)
        return next((topic for topic in earlier if topic.words), EMPTY)


def restated(statements: Sequence[str]) -> list[int]:
    """The indices of those sentences of a user, in the order said, all of whose values a later one gives otherwise; rising.

    "The report goes out on Monday." goes where "Send it on Tuesday." follows; "the staging port is 8080" stays beside "the
    production port is 9090". A sentence that also says what nothing replaced is kept (``restatements`` tells which value of it went).
    Linear in the number of sentences.
    """
    said = _said(statements)
    gone: defaultdict[int, set[str]] = defaultdict(set)
    for one in _restatements(said):
        gone[one.old].add(one.value)
    return sorted(index for index, values in gone.items() if {claim.value for claim in said[index]} <= values)


def restatements(statements: Sequence[str]) -> list[Restatement]:
    """Each value of a user's sentences that a later sentence gives otherwise, in the order in which that is said."""
    return list(_restatements(_said(statements)))


def _said(statements: Sequence[str]) -> list[list[Claim]]:
    return [[replace(claim, statement=index) for claim in _claims(text)] for index, text in enumerate(statements)]


def _restatements(said: Iterable[Iterable[Claim]]) -> Iterator[Restatement]:
    standing = Standing()
    for claims in said:
        for claim in claims:
            whole, old = standing.replaced_by(claim)
            if old is not None:
                yield Restatement(old.statement, claim.statement, old.value)
            standing.add(whole)


class Standing:
    """The claims that stand, by their kinds and the words that they are of."""

    def __init__(self) -> None:
        self._by_word: defaultdict[tuple[str, str], deque[Claim]] = defaultdict(lambda: deque(maxlen=LOOKED_AT))
        self._last: dict[str, Claim] = {}
        self._gone: set[tuple[int, str]] = set()

    def replaced_by(self, new: Claim) -> tuple[Claim, Claim | None]:
        """The claim with the topic that it takes over from what it replaces, and the newest one that it replaces."""
        worded = {old: None for word in new.topic.words for old in reversed(self._by_word.get((new.kind, word), ()))}
        alike = [
            (shared(new.topic, old.topic), old.statement, old.start, old)
            for old in worded
            if self._stands(old, new) and says_again(new, old)
        ]
        if alike:
            old = max(alike, key=lambda each: each[:3])[3]
            return self._take(new, old)
        last = self._last.get(new.kind)
        if last is None or new.topic.words or new.statement - last.statement > NEAR:
            return new, None
        return self._take(new, last) if self._stands(last, new) and new.changes else (new, None)

    def add(self, claim: Claim) -> None:
        """Let a claim stand."""
        self._last[claim.kind] = claim
        for word in claim.topic.words:
            self._by_word[claim.kind, word].append(claim)

    def _stands(self, old: Claim, new: Claim) -> bool:
        if new.instead_of and old.value not in new.instead_of:
            return False
        return old.statement != new.statement and (old.statement, old.value) not in self._gone and old.value != new.value

    def _take(self, new: Claim, old: Claim) -> tuple[Claim, Claim]:
        self._gone.add((old.statement, old.value))
        words = new.topic.words | old.topic.words
        return replace(new, topic=Topic(words, new.topic.qualifying | old.topic.qualifying)), old


def says_again(new: Claim, old: Claim) -> bool:
    """Whether a claim is of what an older one of its kind is of."""
    if are_apart(new.topic, old.topic) or not shared(new.topic, old.topic):
        return False
    if any(old.items.get(word, number) != number for word, number in new.items.items()):  # "mic 1", "mic 2"
        return False
    if are_of_a_list(new.rest, old.rest) or names_more(new.before, old.before, old.topic.words, is_changed=new.changes):
        return False
    if new.changes:
        return True
    return new.is_own and (new.topic.words <= old.topic.words or old.topic.words <= new.topic.words)


@lru_cache(maxsize=REMEMBERED)
def _claims(text: str) -> tuple[Claim, ...]:
    """What a sentence claims, in a place that is still to be told; every compaction asks it again of those that a summary holds."""
    return tuple(_read_claims(Sentence(text)))


def _read_claims(sentence: Sentence) -> Iterator[Claim]:
    if sentence.is_asked:
        return
    text = sentence.text
    values = _values(text)
    old = [(start, end) for _, start, end in values if OLD_AFTER.match(text, end) and len(values) > 1]
    for kind, start, end in values:
        if (start, end) in old:
            continue
        first, last = clause_around(text, start)
        around = f"{text[first:start]} \0 {text[end:last]}"
        if PERHAPS.search(around) or ADDS.search(around) or (kind == "number" and counts(text, start)):
            continue
        own, value = topic_of(around), text[start:end].casefold()
        kind = f"{kind} of birth" if kind.startswith(FactKind.date) and BIRTH.search(around) else kind
        topic = own if own.words else sentence.before(start)
        instead_of = frozenset(text[one:other].casefold() for one, other in old)
        yield Claim(0, kind, value, start, end, topic, bool(own.words), sentence, around, instead_of)


def _values(text: str) -> list[tuple[str, int, int]]:
    """The kinds and places of what a sentence could give otherwise: each place once, the surest reading first.

    A kind of which it lists many it gives nothing of.
    """
    found: list[tuple[str, int, int]] = [("part", *match.span()) for match in PART.finditer(text)]
    found += [("day", *match.span()) for match in DAY.finditer(text)]
    found += [(_kind(fact.kind, fact.text), fact.start, fact.end) for fact in values_in(text)]
    found += [("name", *match.span("name")) for match in NAMED.finditer(text)]
    found += [("number", *match.span()) for match in NUMERAL.finditer(text)]
    found += [("name", *match.span("name")) for match in LEADS.finditer(text) if ROLE.search(text)]
    found += [(f"state {match['slot'].lower()}", *match.span("name")) for match in STATE.finditer(text) if match["name"] not in IDLE]
    found += [("name", *match.span(match.lastgroup or 0)) for match in HAN_NAMED.finditer(text)] if not text.isascii() else []
    many = {kind for kind, count in Counter(kind for kind, _, _ in found).items() if count > MOST_IN_SENTENCE}
    apart: list[tuple[str, int, int]] = []
    for kind, start, end in found:
        if kind not in many and all(end <= first or last <= start for _, first, last in apart):
            apart.append((kind, start, end))
    return sorted(apart, key=lambda each: each[1])


def _kind(kind: FactKind, text: str) -> str:
    if text.isdigit():
        return "number"
    return f"{kind} {form(kind, text)}" if kind in (FactKind.quantity, FactKind.date) else kind

"""A fact with what its words say: its subject, its form, the words of change around it, each read once and when needed."""

from __future__ import annotations

from functools import cached_property

from host.messages.facts.constraints import binds
from host.messages.facts.crowds import Crowd
from host.messages.facts.fact import RULES, FactKind, Told
from host.messages.facts.listing import counts, items_in
from host.messages.facts.rule_shape import Subject, forbids_in, is_bound, names_in, subject_in
from host.messages.facts.said_words import (
    AT_LEAST,
    AT_MOST,
    BIRTH,
    BUT,
    LOOKED_BACK,
    MANY,
    NUMBER,
    OF_SOMETHING,
    OVER,
    PREDICATE,
    REPORTED,
    SAID_BEFORE,
    SUBJECT,
    UNDER,
)
from host.messages.facts.sentences import reads_as_prose
from host.messages.facts.subjects import amount, bound_of, clause_of, counted_in, form, is_kept, is_plain, key_of, noun_of
from host.messages.facts.topic_words import (
    ADDS,
    ASKED,
    CHANGE,
    CLOCK_NOW,
    CORRECTS,
    LESS,
    MORE,
    MOVED,
    NUMERALS,
    PERHAPS,
    POINTS,
    PUTS,
    SPOKEN,
)
from host.messages.facts.topics import EMPTY, Topic, clause_around, topic_of

Key = tuple[bool, str]
"""What makes two facts one: whether it is a rule, and its text."""

PEOPLE = frozenset({"user", "assistant"})

LEADS = 120
"""Characters up to which the sentence before can be what a value is of."""


class Said:
    """One mention of a fact. Equal mentions are read apart: what they say is kept with the mention and goes with it."""

    def __init__(self, told: Told, crowd: Crowd = Crowd.none) -> None:
        self.told = told
        self.crowd = crowd
        self.kind: FactKind = told.fact.kind
        self.text: str = told.fact.text
        self.row: int = told.row
        self.role: str = told.role
        self.around: str = told.around
        self.key: Key = (told.fact.kind in RULES, told.fact.text)
        self.is_plain: bool = is_plain(told.fact.kind, told.fact.text)  # a number without unit: a port, a setting

    @cached_property
    def is_in_words(self) -> bool:
        """Whether a person said it, in prose or as all of an answer."""
        return self.role in PEOPLE and (reads_as_prose(self.around) or self._is_all_of_an_answer)

    @cached_property
    def _is_all_of_an_answer(self) -> bool:
        is_alone = self.role == "user" and not any(map(str.isalnum, self.rest))
        return is_alone and (not self.told.lead or reads_as_prose(self.told.lead))

    @cached_property
    def form(self) -> str:
        """How the value looks (``subjects.form``)."""
        return form(self.kind, self.text)

    @cached_property
    def is_name(self) -> bool:
        """Whether a quoted text is one word of ASCII."""
        return " " not in self.text and self.text.isascii()

    @cached_property
    def label(self) -> str | None:
        """The label that a record puts before it."""
        return key_of(self.told)

    @cached_property
    def noun(self) -> str:
        """The word right before it."""
        return noun_of(self.told)

    @cached_property
    def bound(self) -> str:
        """The word of a bound right before it."""
        return bound_of(self.told)

    @cached_property
    def limit(self) -> str:
        """Whether a rule bounds it from above ("max") or from below ("min"); empty where it does neither."""
        before = self.around[max(0, self.told.at - LOOKED_BACK) : self.told.at]
        is_over, is_under = OVER.search(before) is not None, UNDER.search(before) is not None
        if AT_MOST.search(before) or (is_over and self._forbids) or (is_under and not self._forbids):
            return "max"
        return "min" if AT_LEAST.search(before) or is_over or is_under else ""

    @cached_property
    def _forbids(self) -> bool:
        return forbids_in(self.around)

    @cached_property
    def clause(self) -> str:
        """Its clause without the value."""
        start, end = clause_around(self.around, self.told.at)
        return f"{self.around[start : self.told.at]} \0 {self.around[self.told.at + len(self.text) : end]}"

    @cached_property
    def rest(self) -> str:
        """Its sentence without the value."""
        return f"{self.around[: self.told.at]} {self.around[self.told.at + len(self.text) :]}"

    @cached_property
    def own_topic(self) -> Topic:
        """What its own clause is of, and the noun that it counts."""
        if not self.is_in_words:
            return self.topic_of_record
        return topic_of(self.clause) | self.head

    @cached_property
    def counted(self) -> Topic:
        """The word that is part of the value: "guests" of "80 guests", "menu" of "menu B"."""
        return topic_of(counted_in(self.kind, self.text))

    @cached_property
    def head(self) -> Topic:
        """The word that a name begins with ("menu" of "menu B")."""
        return EMPTY if self.kind is FactKind.quantity else self.counted

    @cached_property
    def items(self) -> dict[str, str]:
        """The numbers by which its clause tells one of a kind from another ("mic 1")."""
        return items_in(self.clause)

    @cached_property
    def numbered(self) -> frozenset[str]:
        """The numbers by which its clause tells one of a kind from another, with their words."""
        return frozenset(f"{word} {number}" for word, number in self.items.items())

    @cached_property
    def handles(self) -> frozenset[str]:
        """What values of the same subject are found by."""
        return self.all_words | self.numbered | self.counted.words

    @cached_property
    def is_bare(self) -> bool:
        """Whether its clause names no subject."""
        before, _, after = self.clause.partition("\0")
        if (not before.strip() and PREDICATE.match(after)) or OF_SOMETHING.match(after):
            return OF_SOMETHING.match(after) is None
        said_after = frozenset(filter(str.isascii, topic_of(after).words))  # Han characters that follow are the verb
        named = topic_of(before)
        return not (named.words - named.speakers or said_after or self.head.words)

    @cached_property
    def wide_topic(self) -> Topic:
        """What its sentence is of, and what it counts; of the sentence before where nothing is named before it."""
        rest = topic_of(f"{self.around[: self.told.at]} \0 {self.around[self.told.at + len(self.text) :]}") | self.counted
        return rest | self._lead_topic if not self.topic_before.words else rest

    @cached_property
    def topic_before(self) -> Topic:
        """What its sentence is of up to it."""
        return topic_of(self.around[: self.told.at])

    @cached_property
    def all_words(self) -> frozenset[str]:
        """All that its clause and its sentence are of."""
        return self.topic.words | self.wide_topic.words

    @cached_property
    def is_loose(self) -> bool:
        """Whether it may be of a value with which it shares no word."""
        return self.is_bare or self.points or self.is_put or bool(self.spoken_before)

    @cached_property
    def said_before(self) -> str:
        """What is said up to it: of its sentence, and of the one before too where its clause names no subject."""
        return (f"{self.told.lead} " if self.is_bare else "") + self.around[: self.told.at]

    @cached_property
    def spoken_before(self) -> frozenset[float]:
        """The numbers that stand in words before it, or beside it where its clause names no subject."""
        after = self.around[self.told.at + len(self.text) :] if self.is_bare else ""
        return frozenset(NUMERALS[word.lower()] for word in SPOKEN.findall(f"{self.said_before} {after}"))

    @cached_property
    def subject_before(self) -> Topic:
        """What an earlier clause of its sentence makes a statement of ("the outro is shorter, 12 s")."""
        start, _ = clause_around(self.around, self.told.at)
        found = SUBJECT.match(self.around[:start])
        return topic_of(found[1]) if found else EMPTY

    @cached_property
    def _lead_topic(self) -> Topic:
        return topic_of(self.told.lead) if len(self.told.lead) <= LEADS else EMPTY

    @cached_property
    def topic(self) -> Topic:
        """What it is said of: what its clause names, else what stands before it, else the sentence before, else what follows."""
        if not self.is_bare:
            return self.own_topic
        named = next((topic for topic in (self.topic_before, self._lead_topic, self.wide_topic) if topic.words), EMPTY)
        return Topic(named.words, frozenset(), named.first)

    @cached_property
    def topic_of_record(self) -> Topic:
        """What a record says that it is of: the label, and the name in a version (``unbound-1.19``)."""
        name = self.form if self.kind is FactKind.version else ""
        before = self.label or self.clause.partition("\0")[0][-SAID_BEFORE:]
        return topic_of(f"{before} {name}".replace("_", " "))

    @cached_property
    def words_before(self) -> frozenset[str]:
        """The subject words of its clause that stand before it."""
        return topic_of(clause_of(self.told)[0]).words

    @cached_property
    def is_changed(self) -> bool:
        """Whether its sentence, or a short one before, says that something changed."""
        if CHANGE.search(self.around):
            return True
        return len(self.told.lead) <= LEADS and CHANGE.search(self.told.lead) is not None

    @cached_property
    def is_correction(self) -> bool:
        """Whether it takes back what was said a moment ago, in the same breath ("150 V. no sorry, 140")."""
        before = self.around[: self.told.at]
        return CORRECTS.search(before) is not None or CORRECTS.search(self.told.lead[-LEADS:]) is not None

    @cached_property
    def is_put(self) -> bool:
        """Whether a verb of change leads right to it ("raise it to 30", "改成 30")."""
        return PUTS.search(self.around[: self.told.at]) is not None

    @cached_property
    def points(self) -> bool:
        """Whether its clause names by a pronoun what it is of."""
        return POINTS.search(self.clause) is not None

    @cached_property
    def is_one_of_many(self) -> bool:
        """Whether its sentence lists numbers."""
        return self.is_plain and len(NUMBER.findall(self.around)) >= MANY

    @cached_property
    def trend(self) -> int:
        """Whether its words ask for less (-1) or more (1) than there was; 0 where they do not say."""
        said = f"{self.around} {self.told.lead if len(self.told.lead) <= LEADS else ''}"
        return (MORE.search(said) is not None) - (LESS.search(said) is not None)

    @cached_property
    def is_kept(self) -> bool:
        """Whether its clause says that it stays, comes beside another, or is of something else."""
        return is_kept(self.told) or ADDS.search(self.clause) is not None

    @cached_property
    def is_counter(self) -> bool:
        """Whether it only says which entry of a list something is ("question 2")."""
        return self.is_plain and counts(self.around, self.told.at)

    @cached_property
    def is_reported(self) -> bool:
        """Whether a log or a page says it, in quotes."""
        return REPORTED.search(self.around[: self.told.at]) is not None

    @cached_property
    def is_of_birth(self) -> bool:
        """Whether it is a day of birth."""
        return self.kind is FactKind.date and BIRTH.search(self.clause) is not None

    @cached_property
    def is_unsure(self) -> bool:
        """Whether it is asked, supposed, reported, remembered or compared, not set."""
        if self.is_counter or self.is_reported or ASKED.search(self.around):
            return True
        if PERHAPS.search(self.clause):
            before = self.clause.partition("\0")[0]
            return not MOVED.search(before) or PERHAPS.search(before) is not None  # "we moved to H2 last week": it is there now
        return self.form == "clock" and CLOCK_NOW.search(self.around[: self.told.at]) is not None

    @cached_property
    def is_forbidden(self) -> bool:
        """Whether a person forbids the value; the figure of a bound ("not before 19:00") is set, not forbidden."""
        if self.role not in PEOPLE or is_bound(self.around, self.told.at, self.told.at + len(self.text)):
            return False
        if BUT.match(self.around, self.told.at + len(self.text)):  # "not X but Y" says what holds instead
            return False
        before, after = clause_of(self.told)
        return forbids_in(f"{before}\0{after}")

    @cached_property
    def is_ruled(self) -> bool:
        """Whether the user said it in a rule."""
        return self.role == "user" and binds(self.around)

    @cached_property
    def beside(self) -> frozenset[str]:
        """The other exact names of its clause."""
        before, after = clause_of(self.told)
        return names_in(f"{before} {after}")

    @cached_property
    def clause_subject(self) -> Subject:
        """What its clause is of, exact names left out."""
        before, after = clause_of(self.told)
        return subject_in(f"{before} {after}")

    @cached_property
    def amount(self) -> float | None:
        """Its number, in the base unit of what it is counted in; None where it has none."""
        return amount(self.kind, self.text)

    @cached_property
    def number(self) -> float | None:
        """Its number as it is written."""
        return amount(self.kind, self.text, is_converted=False)

    @cached_property
    def series(self) -> str:
        """A version without its last part (``2.14`` of ``v2.14.1``)."""
        return self.text.lstrip("v").rpartition(".")[0]

    @cached_property
    def ending(self) -> str:
        """The ending of the file that a path names."""
        name = self.text.rpartition("/")[2]
        return name.rpartition(".")[2] if "." in name else ""

    @cached_property
    def host(self) -> str:
        """The host of a URL or address."""
        return (self.text.partition("://")[2] or self.text).partition("/")[0].partition(":")[0]

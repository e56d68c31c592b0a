"""A fact with what its words say: its subject, its form, the words of change around it, each read once and when needed."""

from __future__ import annotations

from functools import cached_property

from host.messages.facts.constraints import binds
from host.messages.facts.fact import RULES, FactKind, Told
from host.messages.facts.rule_shape import Subject, forbids_in, is_bound, names_in, subject_in
from host.messages.facts.sentences import reads_as_prose
from host.messages.facts.subjects import (
    bound_of,
    clause_of,
    form,
    is_kept,
    is_new,
    key_of,
    noun_of,
    says_new,
    subject_of,
    subject_words,
)

Key = tuple[bool, str]
"""What makes two facts one: whether it is a rule, and its text."""

FEW = 2
"""Subject words below which a sentence is of what the sentence before is of."""

PEOPLE = frozenset({"user", "assistant"})


class Said:
    """One mention of a fact. Equal mentions are read apart: what they say is kept with the mention and goes with it."""

    def __init__(self, told: Told) -> None:
        self.told = told
        self.kind: FactKind = told.fact.kind
        self.text: str = told.fact.text
        self.row: int = told.row
        self.role: str = told.role
        self.around: str = told.around
        self.key: Key = (told.fact.kind in RULES, told.fact.text)
        self.is_plain: bool = told.fact.text.isdigit()  # a number without unit: a port, a setting

    @cached_property
    def is_in_words(self) -> bool:
        """Whether a person said it, in prose."""
        return self.role in PEOPLE and reads_as_prose(self.around)

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
    def subject(self) -> frozenset[str]:
        """The subject words of its own sentence."""
        return subject_of(self.told)

    @cached_property
    def words(self) -> frozenset[str]:
        """The subject in a person's words: of its sentence, or of the one before too where that has hardly any."""
        return self.subject if len(self.subject) >= FEW else self.subject | subject_words(self.told.lead)

    @cached_property
    def words_of_record(self) -> frozenset[str]:
        """What a record says that it is of: the label, and the name in a version (``unbound-1.19``)."""
        name = self.form if self.kind is FactKind.version else ""
        return subject_words(f"{self.label or ''} {name}")

    @cached_property
    def words_before(self) -> frozenset[str]:
        """The subject words of its clause that stand before it."""
        return subject_words(clause_of(self.told)[0])

    @cached_property
    def is_new(self) -> bool:
        """Whether its sentence, or the one before, says that something changed."""
        return is_new(self.told, self.subject)

    @cached_property
    def is_changed(self) -> bool:
        """Whether the user said it as something that changed."""
        return self.role == "user" and self.is_new

    @cached_property
    def is_new_in_itself(self) -> bool:
        """Whether its own sentence says that something changed."""
        return says_new(self.around)

    @cached_property
    def is_kept(self) -> bool:
        """Whether its clause says that it stays, or is of something else."""
        return is_kept(self.told)

    @cached_property
    def is_forbidden(self) -> bool:
        """Whether a person forbids the value; the figure of a bound ("not before 19:00") is set, not forbidden."""
        if self.role not in PEOPLE or is_bound(self.around, self.told.at, self.told.at + len(self.text)):
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
    def series(self) -> str:
        """A version without its last part (``2.14`` of ``v2.14.1``)."""
        return self.text.lstrip("v").rpartition(".")[0]

    @cached_property
    def host(self) -> str:
        """The host of a URL or address."""
        return (self.text.partition("://")[2] or self.text).partition("/")[0].partition(":")[0]

"""What looking after a store gives back: what a check found, what an erasure took away and what may still hold it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from host.messages.types import JSON


@dataclass(frozen=True)
class Finding:
    """One thing wrong, at its place ("20261130_161100_ab12cd:17", "index trigram", "blob 0f3a…")."""

    where: str
    what: str


@dataclass(frozen=True)
class Proof:
    """Every row of a conversation is in exactly one of these (positions)."""

    conversation: str
    shown: tuple[range, ...] = ()  # as archived in the newest view, or after it
    covered: tuple[range, ...] = ()  # a summary or digest stands for it
    superseded: tuple[range, ...] = ()
    forgotten: tuple[range, ...] = ()
    not_represented: tuple[range, ...] = ()


@dataclass(frozen=True)
class Verified:
    """The result of a check. ``counts`` names what was read: messages, blobs, views, holes and others."""

    findings: tuple[Finding, ...]
    counts: dict[str, int] = field(default_factory=dict)
    proofs: tuple[Proof, ...] = ()
    explained: tuple[str, ...] = ()  # what is missing and was named by a repair, in sentences: nothing new is wrong with it

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in the store."""
        return not self.findings and not self.counts.get("conversations") and not self.counts.get("messages")

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong. A hole that a receipt explains is not wrong."""
        return not self.findings


@dataclass(frozen=True)
class Forget:
    """What to erase: every message that holds ``text`` as a literal search finds it, or the message ``conversation:position``."""

    text: str | None = None
    conversation: str | None = None
    position: int | None = None


@dataclass(frozen=True)
class Erasure:
    """What was, or would be, erased, and what may still hold copies; the receipt is kept in the store.

    Content that was erased is refused when it comes again, but for the messages in ``repeatable``: one that was named by its
    position and says no more than a word, or what another message says too, may be said again in earnest.
    """

    applied: bool
    messages: tuple[str, ...] = ()  # ids
    conversations: tuple[str, ...] = ()  # erased whole
    counts: dict[str, int] = field(default_factory=dict)  # messages, blobs, summaries, titles, engine states and others
    may_hold_copies: tuple[str, ...] = ()  # files and folders, each with why
    repeatable: tuple[str, ...] = ()  # ids, of the messages
    also_in: tuple[str, ...] = ()  # other conversations with the same message, which keep it: it was named by its id
    receipt: int | None = None
    is_finished: bool = True  # whether the bytes are out of the file; the store remembers where they are not

    @property
    def is_empty(self) -> bool:
        """Whether nothing goes."""
        return not any(self.counts.values())

    def as_json(self) -> JSON:
        """For scripts."""
        return {
            "applied": self.applied,
            "messages": list(self.messages),
            "conversations": list(self.conversations),
            "counts": dict(self.counts),
            "may_hold_copies": list(self.may_hold_copies),
            "may_be_said_again": list(self.repeatable),
            "also_in": list(self.also_in),
            "receipt": self.receipt,
            "finished": self.is_finished,
        }


@dataclass(frozen=True)
class Repair:
    """What a repair did. ``copy`` is the file as it was, None where nothing was wrong; its log lies beside it."""

    copy: Path | None
    salvaged: dict[str, int] = field(default_factory=dict)  # rows per table; empty where the messages were not touched
    lost: dict[str, int] = field(default_factory=dict)  # rows per table that are known to be lost
    cut: tuple[str, ...] = ()  # tables of which more may be lost: nobody knows where they ended
    messages: tuple[str, ...] = ()  # ids of lost messages; their positions stay, without content
    findings: tuple[Finding, ...] = ()  # what a check of the mended file still finds
    receipt: int | None = None
    changed: tuple[str, ...] = ()  # ids of messages that are kept, though they are not as they were archived
    strings: tuple[str, ...] = ()  # ids of messages that had a large string which is lost; ``lost["strings"]`` is how many
    silent: tuple[str, ...] = ()  # conversations of which no message is left
    harm: tuple[str, ...] = ()  # what else is not as it was, in sentences
    notes: tuple[str, ...] = ()  # what else was done

    @property
    def is_whole(self) -> bool:
        """Whether everything is as it was and nothing is wrong any more."""
        return not (self.lost or self.cut or self.messages or self.findings or self.changed or self.strings or self.silent or self.harm)

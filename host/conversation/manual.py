"""A compaction that the user asks for: what may be said behind /compress, and when there is too little for it (hermes.md 12)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from host.engine.idle import Idle, Reason
from host.errors import UsageError

LEAST_MESSAGES = 4
KEEP = 2  # exchanges, where no number is given
MOST_KEPT = 100
PREVIEW = frozenset({"--preview", "--dry-run", "--dryrun"})
AGGRESSIVE = "--aggressive"
HERE = re.compile(r"(?:up\s+to\s+)?here(?:\s+(?P<number>\S+))?", re.IGNORECASE)
HERE_AND_FOCUS = re.compile(r"(?:up\s+to\s+)?here\s+(?P<number>\d+)\s+(?P<focus>.+)", re.IGNORECASE | re.DOTALL)
OPTION = re.compile(r"(?:--keep|-k)(?:=|\s+|$)(?P<number>\S*)(?:\s+(?P<focus>.+))?", re.IGNORECASE | re.DOTALL)
FORMS = (HERE, HERE_AND_FOCUS, OPTION)


@dataclass(frozen=True)
class Flags:
    """The words without the flags in them."""

    rest: str
    preview: bool = False
    aggressive: bool = False


@dataclass(frozen=True)
class CompressArguments:
    """What the user wants. ``keep`` exchanges stay as they are; None: the whole conversation is compacted."""

    focus: str | None = None
    keep: int | None = None
    preview: bool = False
    aggressive: bool = False


def parse_compress_arguments(text: str) -> CompressArguments:
    """Flags anywhere; then ``here [N]``, ``up to here [N]``, ``--keep N``, ``-k N``, or words that name a topic."""
    flags = without_flags(text)
    found = next(filter(None, (form.fullmatch(flags.rest) for form in FORMS)), None)
    if found is None:
        return CompressArguments(flags.rest or None, None, flags.preview, flags.aggressive)
    parts = found.groupdict()
    return CompressArguments(parts.get("focus"), kept_exchanges(parts["number"]), flags.preview, flags.aggressive)


def without_flags(text: str) -> Flags:
    """Take the flags out, whatever their case."""
    words = text.split()
    said = {word.lower() for word in words}
    rest = [word for word in words if word.lower() not in PREVIEW and word.lower() != AGGRESSIVE]
    return Flags(" ".join(rest), bool(said & PREVIEW), AGGRESSIVE in said)


def kept_exchanges(number: str | None) -> int:
    """How many exchanges: 1 to 100, two where it is no number."""
    try:
        return min(MOST_KEPT, max(1, int(number or "")))
    except ValueError:
        return KEEP


def check_keep(keep: int | None) -> int | None:
    """Give a number of exchanges back, or raise UsageError."""
    if keep is not None and (type(keep) is not int or keep < 1):
        raise UsageError(f"keep={keep!r} is no number of exchanges", "give a whole number from 1, or None to compact all")
    return keep


def too_few(messages: int) -> Idle | None:
    """Why so few messages are not compacted by hand."""
    if messages >= LEAST_MESSAGES:
        return None
    return Idle(Reason.NOTHING_TO_COMPRESS, f"at least {LEAST_MESSAGES} messages are needed, there are {messages}")

"""What the compressor remembers across restarts, as one JSON document (seed 8, hermes.md 11)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from host.compressor.failures import Failure
from host.compressor.policy import POLICY, Decision

LONGEST = max(decision.longest for decision in POLICY.values())
"""Seconds of the longest cooldown. A document that wants a longer one was written under another clock."""


@dataclass(frozen=True)
class Trouble:
    """Failed summaries. Times are seconds since the epoch, the clock on the wall: another process reads them too.

    ``repeats`` are failures of the newest kind in a row, which make its cooldown longer; ``attempts`` all failures in a row.
    """

    kind: Failure | None = None
    error: str = ""
    repeats: int = 0
    attempts: int = 0
    cooldown_until: float = 0.0
    changed: float = 0.0  # when a summary last failed or succeeded

    def cooling(self, now: float) -> float:
        """Seconds during which nobody is asked; 0 where there is no cooldown or it is over."""
        left = self.cooldown_until - now
        return left if 0 < left <= LONGEST else 0.0

    def after(self, kind: Failure, error: str, decision: Decision, now: float) -> Trouble:
        """A summary failed."""
        repeats = self.repeats + 1 if kind is self.kind else 1
        return Trouble(kind, error, repeats, self.attempts + 1, now + decision.seconds(repeats), now)

    def over(self, now: float) -> Trouble:
        """A summary succeeded, or the model is another one."""
        return Trouble(changed=now)

    def passed(self, now: float) -> Trouble:
        """The user wants another attempt: no cooldown, and the next one is the first of its ladder; attempts are still counted."""
        return replace(self, repeats=0, cooldown_until=0.0, changed=now) if self.cooldown_until or self.repeats else self


@dataclass(frozen=True)
class CompressorState:
    """The document. ``ineffective`` and ``streak`` are those of the engine's ``Effect``, ``compactions`` its count.

    ``left`` and ``stays`` are the tokens by which the end of a pause is told, those of the ``Effect`` too.
    ``failed_model`` is a summary model that was given up for another one: a new process asks it again. ``more`` are keys that
    another version wrote; they are kept.
    """

    compactions: int = 0
    ineffective: int = 0
    streak: int = 0
    failed_model: str = ""
    trouble: Trouble = field(default_factory=Trouble)
    more: Mapping[str, Any] = field(default_factory=dict)
    left: int = 0
    stays: int = 0

    def as_json(self) -> dict[str, Any]:
        """The document as it is stored."""
        trouble = self.trouble
        return {
            **self.more,
            "compactions": self.compactions,
            "ineffective": self.ineffective,
            "fallback_streak": self.streak,
            "left": self.left,
            "stays": self.stays,
            "failed_model": self.failed_model,
            "failure": trouble.kind.name if trouble.kind else "",
            "error": trouble.error,
            "repeats": trouble.repeats,
            "attempts": trouble.attempts,
            "cooldown_until": trouble.cooldown_until,
            "changed": trouble.changed,
        }

    @classmethod
    def from_json(cls, document: object) -> CompressorState:
        """Read a document; a damaged one is a fresh state, keys that are missing have their first value."""
        if not isinstance(document, Mapping):
            return cls()
        try:
            return cls._read(document)
        except (TypeError, ValueError, KeyError, OverflowError):
            return cls()

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> CompressorState:
        kind = _text(document, "failure")
        trouble = Trouble(
            kind=Failure[kind] if kind else None,
            error=_text(document, "error"),
            repeats=_count(document, "repeats"),
            attempts=_count(document, "attempts"),
            cooldown_until=_seconds(document, "cooldown_until"),
            changed=_seconds(document, "changed"),
        )
        known = cls().as_json().keys()
        return cls(
            compactions=_count(document, "compactions"),
            ineffective=_count(document, "ineffective"),
            streak=_count(document, "fallback_streak"),
            failed_model=_text(document, "failed_model"),
            trouble=trouble,
            more={key: value for key, value in document.items() if key not in known},
            left=_count(document, "left"),
            stays=_count(document, "stays"),
        )


def _text(document: Mapping[str, Any], key: str) -> str:
    value = document.get(key, "")
    if not isinstance(value, str):
        raise TypeError(key)
    return value


def _count(document: Mapping[str, Any], key: str) -> int:
    value = document.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(key)
    return value


def _seconds(document: Mapping[str, Any], key: str) -> float:
    value = document.get(key, 0.0)
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(key)
    return float(value)

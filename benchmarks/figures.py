"""Samples become figures: medians, spreads, ratios, and whether an aim is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.columns import aligned


@dataclass(frozen=True)
class Aim:
    """What has to hold; None: nothing is asked. Ratios are ctxhost by reference."""

    ratio: float | None = None
    seconds: float | None = None
    growth: float | None = None

    def __str__(self) -> str:
        wanted = [
            f"<= {self.ratio:g} x" if self.ratio is not None else "",
            f"<= {self.seconds * 1000:g} ms" if self.seconds is not None else "",
            f"<= {self.growth:g}" if self.growth is not None else "",
        ]
        return ", ".join(filter(None, wanted)) or "-"


@dataclass(frozen=True)
class Figure:
    """One line of the table: seconds of both sides, taken in turns."""

    name: str
    ours: Sequence[float]
    reference: Sequence[float]
    aim: Aim = Aim()

    @property
    def ratio(self) -> float:
        """Median of ours by the reference's."""
        return median(self.ours) / median(self.reference)

    @property
    def met(self) -> bool | None:
        """Whether the aim is met, None where there is none."""
        asked = [
            (self.ratio, self.aim.ratio),
            (median(self.ours), self.aim.seconds),
        ]
        verdicts = [value <= limit for value, limit in asked if limit is not None]
        return all(verdicts) if verdicts else None

    def cells(self) -> tuple[str, ...]:
        """The line as texts."""
        return (self.name, spread(self.ours), spread(self.reference), f"{self.ratio:.3f}", str(self.aim), verdict(self.met))

    def as_json(self) -> dict[str, Any]:
        """The line with its samples, in seconds."""
        samples = {"ctxhost": list(self.ours), "reference": list(self.reference)}
        return {"name": self.name, "samples": samples, "ratio": self.ratio, "aim": str(self.aim), "met": self.met}


@dataclass(frozen=True)
class Growth:
    """How many times as long the larger size takes: where the work is linear, as many times as there are more bytes."""

    name: str
    small: Figure
    large: Figure
    aim: Aim

    @property
    def ours(self) -> float:
        """Of this project."""
        return median(self.large.ours) / median(self.small.ours)

    @property
    def reference(self) -> float:
        """Of the reference."""
        return median(self.large.reference) / median(self.small.reference)

    @property
    def met(self) -> bool | None:
        """Whether it grows no faster than the aim."""
        return None if self.aim.growth is None else self.ours <= self.aim.growth

    def cells(self) -> tuple[str, ...]:
        """The line as texts."""
        ratio = self.ours / self.reference
        return (self.name, f"{self.ours:.1f}", f"{self.reference:.1f}", f"{ratio:.3f}", str(self.aim), verdict(self.met))

    def as_json(self) -> dict[str, Any]:
        """The line."""
        return {"name": self.name, "growth": {"ctxhost": self.ours, "reference": self.reference}, "aim": str(self.aim), "met": self.met}


Line = Figure | Growth
HEADINGS = ("", "ctxhost, ms", "reference, ms", "ratio", "aim", "met")


def table(lines: Sequence[Line]) -> str:
    """The lines under their headings, columns aligned."""
    texts = aligned(HEADINGS, [line.cells() for line in lines])
    return "\n".join([texts[0], "-" * max(map(len, texts)), *texts[1:]])


def spread(samples: Sequence[float]) -> str:
    """Median, least and most, in milliseconds."""
    return f"{in_ms(median(samples))} ({in_ms(min(samples))} to {in_ms(max(samples))})"


def in_ms(seconds: float) -> str:
    """Milliseconds with as many digits as mean something."""
    ms = seconds * 1000
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.1f}" if ms >= 1 else f"{ms:.3f}"


def verdict(met: bool | None) -> str:
    """One word."""
    return {True: "yes", False: "NO", None: "-"}[met]

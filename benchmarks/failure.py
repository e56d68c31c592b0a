"""What ends a benchmark early."""

from __future__ import annotations


class BenchmarkError(Exception):
    """The benchmark could not measure: what happened, and what to do about it."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(f"{what}\n{advice}")

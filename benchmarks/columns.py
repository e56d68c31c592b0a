"""Figures in columns."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows under their headings, a line each."""
    lines = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]

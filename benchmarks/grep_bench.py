"""Search at size: every class of question, held against what was planted. ``python -m benchmarks.grep_bench --sizes 10000 100000``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import regex

from benchmarks.archive_generator import CLASSES, PER_CONVERSATION, Archive, Needle, build, needles
from benchmarks.columns import aligned
from host.store.query import Hit, Mode, Query
from host.store.sqlite.store import SqliteStore

SIZES = (10_000, 100_000)
REPEATS = 10  # of each needle
LIMIT = 20
SLOWEST = 0.025  # seconds, 95th percentile, in every class of grep at a million rows
SLOWEST_RANKED = 0.1
SLOWEST_BUILD = 5_000  # messages a second
LARGEST = 2.4  # bytes of the file for each byte of text, where the archive is large: a small one has words of its own to hold
LARGE = 1_000_000
QUESTIONS = ("what was the error about the bano of cadela", "error", "how is mano related to rerido and bibaba", "数据 迁移 的")


@dataclass(frozen=True)
class Searched:
    """One class of questions at one size."""

    kind: str
    size: int
    seconds: tuple[float, ...]
    recall: float
    precision: float

    @property
    def p50(self) -> float:
        """Seconds."""
        return median(self.seconds)

    @property
    def p95(self) -> float:
        """Seconds."""
        return quantiles(self.seconds, n=20)[-1]

    @property
    def met(self) -> bool:
        """Whether it is right and quick enough."""
        limit = SLOWEST_RANKED if self.kind == "ranked" else SLOWEST
        return self.recall == self.precision == 1 and self.p95 <= limit

    def cells(self) -> tuple[str, ...]:
        """The line as texts."""
        times = (f"{self.p50 * 1000:.2f}", f"{self.p95 * 1000:.2f}")
        return (self.kind, f"{self.size:,}", *times, f"{self.recall:.2f}", f"{self.precision:.2f}", "yes" if self.met else "NO")


@dataclass(frozen=True)
class Built:
    """An archive and its index at one size."""

    size: int
    written: float  # seconds
    indexed: float
    text_bytes: int
    file_bytes: int

    @property
    def met(self) -> bool:
        """Whether it is quick and small enough."""
        return self.size / self.indexed >= SLOWEST_BUILD and (self.size < LARGE or self.file_bytes / self.text_bytes <= LARGEST)

    def __str__(self) -> str:
        return (
            f"{self.size:,} messages: written {self.size / self.written:,.0f}/s, indexed {self.size / self.indexed:,.0f}/s, "
            f"{self.file_bytes / self.text_bytes:.2f} bytes a byte of text ({'yes' if self.met else 'NO'})"
        )


HEADINGS = ("", "messages", "p50 ms", "p95 ms", "recall", "precision", "met")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grep_bench", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="messages")
    parser.add_argument("--folder", type=Path, help="where the archives are made for the time (about 1.2 GB a million)")
    parser.add_argument("--keep", action="store_true", help="leave them there, and use what is there")
    given = parser.parse_args(arguments)
    met = True
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for size in given.sizes:
            built, lines = measured(given.folder if given.keep and given.folder else Path(folder), size)
            print(f"{table(lines)}\n{built or 'built before'}\n", flush=True)
            met = met and all(line.met for line in lines) and (built is None or built.met)
    return 0 if met else 1


def measured(folder: Path, size: int) -> tuple[Built | None, list[Searched]]:
    """An archive of that size, built and searched."""
    file = folder / f"archive-{size}.db"
    built = None if file.exists() else built_at(file, size)
    store = SqliteStore(file)
    try:
        return built, [*(grep(store, size, kind) for kind in CLASSES), ranked(store, size)]
    finally:
        store.close()


def built_at(file: Path, size: int) -> Built:
    """Write and index an archive, and say what that took."""
    print(f"writing {size:,} messages", file=sys.stderr)
    start = time.perf_counter()
    store = build(file, size)
    written = time.perf_counter()
    store.search.catch_up()
    indexed = time.perf_counter()
    store.connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    text = sum(len(text.encode()) for text in Archive(size).texts())
    return Built(size, written - start, indexed - written, text, file.stat().st_size)


def grep(store: SqliteStore, size: int, kind: str) -> Searched:
    """All needles of a class, each several times."""
    archive, seconds, recalls, precisions = Archive(size), [], [], []
    for number, needle in enumerate(needles()):
        if needle.kind != kind:
            continue
        rows, took = timed(store, needle.query)
        seconds += took
        right = newest(archive, needle, number)
        recalls.append(len(set(rows) & set(right)) / len(right))
        precisions.append(sum(holds(archive.text(row), needle.query) for row in rows) / max(1, len(rows)) if rows == right else 0.0)
    return Searched(kind, size, tuple(seconds), min(recalls), min(precisions))


def ranked(store: SqliteStore, size: int) -> Searched:
    """Questions with common and rare words; what is right is measured elsewhere."""
    seconds = [took for question in QUESTIONS for took in timed(store, Query(question, mode=Mode.RANKED))[1]]
    return Searched("ranked", size, tuple(seconds), 1.0, 1.0)


def timed(store: SqliteStore, query: Query) -> tuple[list[int], list[float]]:
    """The rows found, and the seconds of each time. The first time warms the caches and is not counted."""
    hits = store.search.find(query).hits
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        store.search.find(query)
        seconds.append(time.perf_counter() - start)
    return [row_of(store, hit) for hit in hits], seconds


def row_of(store: SqliteStore, hit: Hit) -> int:
    """The row of a hit, counted from 0."""
    asked = "SELECT id FROM conversations WHERE name = ?"
    return int((store.connection.value(asked, (hit.conversation,)) - 1) * PER_CONVERSATION + hit.position - 1)


def newest(archive: Archive, needle: Needle, number: int) -> list[int]:
    """What has to be found, newest first: the planted rows, or of a word that is everywhere the newest."""
    if needle.planted:
        return archive.planted(number)[::-1]
    return list(_newest_with(archive, needle.query))


def _newest_with(archive: Archive, query: Query) -> Iterator[int]:
    found = 0
    for row in range(archive.size - 1, -1, -1):
        if holds(archive.text(row), query):
            yield row
            found += 1
            if found == LIMIT:
                return


def holds(text: str, query: Query) -> bool:
    """Whether a text really has what was asked for."""
    if query.mode is Mode.REGEX:
        return regex.search(query.text, text) is not None
    words = query.text.split() if query.mode is Mode.WORDS else [query.text.strip('"')]
    return all(word.casefold() in text.casefold() for word in words)


def table(lines: Sequence[Searched]) -> str:
    """The lines under their headings, columns aligned."""
    return "\n".join(aligned(HEADINGS, [line.cells() for line in lines]))


def as_json(line: Searched | Built) -> dict[str, Any]:
    """A line for the results file."""
    return {**asdict(line), "met": line.met}


if __name__ == "__main__":
    raise SystemExit(main())

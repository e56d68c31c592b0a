"""What the archive costs: ``python -m benchmarks.store_bench``. Ratios against bare sqlite3 with one table, taken in turns."""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.archive_generator import Archive
from host import Host
from host.messages.canonical import canonical
from host.messages.searchable import searchable
from host.messages.types import Message
from host.store.sqlite.store import SqliteStore
from host.testing.messages import big_session

SINGLES = 1_500  # messages of a sample, one transaction each
ROUNDS = 5
BATCH, BATCHED = 500, 30_000
HISTORY, TURNS = 5_000, 200
QUESTION = "what does the log of the gateway say about connections that time out? " * 6
WINDOW = 1_000_000_000  # tokens: nothing is compacted

AIM_RATE, AIM_IMPORT, AIM_SIZE, AIM_TURN = 0.5, 10_000, 2.4, 1.0
"""Share of bare sqlite3's rate; messages a second; bytes for one byte of text; milliseconds of a turn besides the fsync."""


def main() -> int:
    """Measure and report; 1 where an aim is missed."""
    lines: list[tuple[str, str, str, bool]] = []
    sample = list(Archive(BATCHED).messages())
    for durability in ("full", "normal"):
        ours, bare = in_turns(partial(singles, durability, sample), partial(bare_singles, durability, sample))
        share = ours / bare
        lines.append(
            (
                f"one message a transaction, {durability}",
                f"{ours:,.0f}/s, bare {bare:,.0f}/s, {share:.2f} x",
                f">= {AIM_RATE} x",
                share >= AIM_RATE,
            )
        )
    with tempfile.TemporaryDirectory() as folder:
        imported, indexed, size = batches(Path(folder), sample)
    lines.append(("batch import, rows", f"{imported:,.0f}/s", f">= {AIM_IMPORT:,}", imported >= AIM_IMPORT))
    lines.append(("batch import, rows and indexes", f"{indexed:,.0f}/s", "-", True))
    lines.append(("bytes of the file for a byte of text", f"{size:.2f}", f"<= {AIM_SIZE}", size <= AIM_SIZE))
    with tempfile.TemporaryDirectory() as folder:
        turn = a_turn(Path(folder))
    lines.append((f"a turn at {HISTORY:,} messages besides the fsync, p50", f"{turn:.3f} ms", f"<= {AIM_TURN} ms", turn <= AIM_TURN))
    width = max(len(name) for name, *_ in lines)
    for name, figure, aim, met in lines:
        print(f"{name:<{width}}  {figure:<44}  {aim:<12}  {'yes' if met else 'NO'}")
    (Path(__file__).parent / "store_results.json").write_text(
        json.dumps([{"name": name, "figure": figure, "aim": aim, "met": met} for name, figure, aim, met in lines], indent=1) + "\n"
    )
    return 0 if all(met for *_, met in lines) else 1


def in_turns(*takes: Callable[[Path], float]) -> list[float]:
    """The median of each, taken A B A B in fresh folders."""
    samples: list[list[float]] = [[] for _ in takes]
    for _ in range(ROUNDS):
        for kept, take in zip(samples, takes, strict=True):
            with tempfile.TemporaryDirectory() as folder:
                kept.append(take(Path(folder)))
    return [median(each) for each in samples]


def singles(durability: str, sample: Sequence[Message], folder: Path) -> float:
    """Messages a second through the archive."""
    store = SqliteStore(folder / "archive.db", durability=durability)
    archive = store.archive(store.sessions.create().conversation)
    started = perf_counter()
    for message in sample[:SINGLES]:
        archive.append(message)
    taken = perf_counter() - started
    store.close()
    return SINGLES / taken


def bare_singles(durability: str, sample: Sequence[Message], folder: Path) -> float:
    """The same messages into one table of bare sqlite3."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {durability}")
    connection.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, body BLOB)")
    started = perf_counter()
    for message in sample[:SINGLES]:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO messages (body) VALUES (?)", (canonical(message),))
        connection.execute("COMMIT")
    taken = perf_counter() - started
    connection.close()
    return SINGLES / taken


def batches(folder: Path, sample: Sequence[Message]) -> tuple[float, float, float]:
    """Messages a second in batches, the same with their indexes, and bytes of the file for a byte of text."""
    store = SqliteStore(folder / "archive.db", durability="normal")
    archive = store.archive(store.sessions.create().conversation)
    started = perf_counter()
    for start in range(0, len(sample), BATCH):
        archive.extend(sample[start : start + BATCH])
    written = perf_counter() - started
    store.search.catch_up()
    indexed = perf_counter() - started
    store.close()
    text = sum(len(searchable(message).encode("utf-8", "surrogatepass")) for message in sample)
    return len(sample) / written, len(sample) / indexed, (folder / "archive.db").stat().st_size / text


def a_turn(home: Path) -> float:
    """Milliseconds of a turn: a question, a window, its usage, an answer; without syncing to the disk."""
    (home / "config.yaml").write_text("context: {engine: compressor}\nstore: {durability: normal}\n")
    with Host(home=home) as host:
        talk = host.conversation("turns", window=WINDOW)
        for message in big_session(HISTORY, bytes_per_message=600):
            talk.add(message)
        talk.window()
        taken: list[float] = []
        for number in range(TURNS):
            started = perf_counter()
            talk.add({"role": "user", "content": f"question {number}: {QUESTION}"})
            talk.window()
            talk.measured({"prompt_tokens": 1_000_000 + number})
            talk.add({"role": "assistant", "content": f"answer {number}"})
            taken.append(perf_counter() - started)
    return median(taken) * 1_000


if __name__ == "__main__":
    sys.exit(main())

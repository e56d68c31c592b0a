"""What exact values, pins and receipts cost a compaction. ``python -m benchmarks.receipt_bench``."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from itertools import cycle, islice, pairwise
from pathlib import Path
from statistics import median
from time import process_time

from benchmarks.columns import aligned
from host.app.stores import open_archive
from host.compressor.compressor import Compressor
from host.conversation.conversation import Conversation
from host.conversation.shelf import Shelf
from host.messages.facts import facts_of
from host.messages.types import Message
from host.store.protocols import Store
from host.testing.engines import services
from host.testing.messages import system, tool_session
from host.tokens import Counter, Remembered

SIZE = 4096  # bytes of a message
REPEATS = 15
MESSAGES = 1_000
NEWS = 40  # messages between two compactions
PINS = (3, 41, 80)  # rows
WINDOW = 64_000  # tokens
KEPT = 800  # tokens of the block, the default
AIM_EXTRACTION, AIM_ADDED = 1.0, 0.20  # milliseconds, share

TEXTS: dict[str, tuple[str, Sequence[str]]] = {
    "user, English": (
        "user",
        (
            "The gateway listens on port 8443 and answers within 250 ms, which is fine. ",
            "Please have a look at src/app/main.py and tell me what you think of the retry loop. ",
            "Never restart the worker between 09:00 and 17:00, people are waiting for their orders. ",
            "I talked to the others about it yesterday and nobody minded much. ",
            "We pinned httpx==0.27.2 because of the proxy bug, keep it like that. ",
        ),
    ),
    "tool, log": (
        "tool",
        (
            "2026-11-03 12:04:11,204 INFO  worker.pool: job 48213 done in 0.35 s (queue=mail)\n",
            "2026-11-03 12:04:12,001 WARN  http.client: GET https://api.parcel.example/v2/items/77 -> 503\n",
            "/srv/app/releases/20261103/bin/run: line 14: exec failed with exit code 127\n",
        ),
    ),
    "user, Chinese": (
        "user",
        (
            "网关现在监听 8443 端口，超时是 250 毫秒，先不要动。",
            "请看一下 src/app/main.py 里的重试逻辑，告诉我你的看法。",
            "上班时间必须保持服务在线，禁止在九点到十七点之间重启。",
            "昨天我和大家聊过这个问题，没有人反对。",
        ),
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report."""
    argparse.ArgumentParser(prog="python -m benchmarks.receipt_bench", description=__doc__).parse_args(arguments)
    print("\n".join(aligned(("facts of a message of 4 KB", "ms", f"aim <= {AIM_EXTRACTION:.0f}"), [extraction(name) for name in TEXTS])))
    print()
    with tempfile.TemporaryDirectory() as folder:
        print("\n".join(aligned(("", "ms", "added"), compactions(Path(folder)))))
    return 0


def extraction(name: str) -> tuple[str, str, str]:
    """Milliseconds for one message, the median of many."""
    role, parts = TEXTS[name]
    message: Message = {"role": role, "content": text_of_size(parts)}
    taken = 1000 * median(seconds(lambda: facts_of(message)) for _ in range(REPEATS))
    return name, f"{taken:.2f}", "met" if taken <= AIM_EXTRACTION else "MISSED"


def text_of_size(parts: Sequence[str]) -> str:
    """So many of the sentences in turn that they are about ``SIZE`` bytes."""
    each = sum(len(part.encode()) for part in parts) / len(parts)
    return "".join(islice(cycle(parts), round(SIZE / each)))


def compactions(folder: Path) -> list[tuple[str, str, str]]:
    """Warm compactions of equal conversations in turns: bare, with the block, with pins as well; and a receipt when asked for."""
    store = open_archive(folder, durability="normal")
    said = [system("You are an agent."), *tool_session(MESSAGES + REPEATS * NEWS, seed=5)]
    ends = [end for end, message in enumerate(said) if message["role"] == "user" and end >= MESSAGES]  # no call waits there
    steps = [ends[i] for i in range(0, len(ends), max(1, len(ends) // REPEATS))][: REPEATS + 1]
    bare, block, pinned = (warm(store, said[: steps[0]], keep_exact=keep, pins=pins) for keep, pins in ((0, ()), (KEPT, ()), (KEPT, PINS)))
    taken: dict[str, list[float]] = {"bare": [], "with the block": [], "and with pins": [], "receipt, when asked for": []}
    for start, end in pairwise(steps):
        news = said[start:end]
        for name, conversation in (("bare", bare), ("with the block", block), ("and with pins", pinned)):
            for message in news:
                conversation.add(message)
            taken[name].append(seconds(conversation.compact))
        taken["receipt, when asked for"].append(seconds(pinned.receipt))
    store.close()
    base = median(taken["bare"])
    rows = [(name, 1000 * median(times), median(times) / base - 1) for name, times in taken.items()]
    return [
        (f"compaction, {name}" if name[0] != "r" else name, f"{ms:.1f}", "" if name in ("bare",) else judged(name, share))
        for name, ms, share in rows
    ]


def judged(name: str, share: float) -> str:
    """The share that comes on top; only what every compaction pays has an aim."""
    return "-" if name.startswith("receipt") else f"{share:+.0%} ({'met' if share <= AIM_ADDED else 'MISSED'}, aim {AIM_ADDED:.0%})"


def warm(store: Store, said: Sequence[Message], *, keep_exact: int, pins: Sequence[int]) -> Conversation:
    """A conversation of ``MESSAGES`` messages, pinned and compacted once."""
    given = services(WINDOW, count=Remembered(Counter(sampled=False)))
    kept = store.sessions.create()
    shelf = Shelf.of(store, kept.conversation, Compressor.name, in_place=True)
    given.state = shelf.state
    conversation = Conversation(Compressor(given), given, shelf, warn=lambda text: None, automatic=False, keep_exact=keep_exact)
    for message in said:
        conversation.add(message)
    for row in pins:
        conversation.pin(row)
    conversation.compact()
    return conversation


def seconds(verb: Callable[[], object]) -> float:
    """What a call takes of the processor: these machines are shared."""
    started = process_time()
    verb()
    return process_time() - started


if __name__ == "__main__":
    raise SystemExit(main())

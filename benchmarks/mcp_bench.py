"""What a search costs an agent over MCP, beside the same search in the process. ``python -m benchmarks.mcp_bench --size 100000``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import TYPE_CHECKING, Any

import anyio

from benchmarks.archive_generator import PER_CONVERSATION, Archive, needles
from benchmarks.columns import aligned
from benchmarks.failure import BenchmarkError
from benchmarks.process import ROOT
from host.app.stores import archive_of, open_archive
from host.store.query import Query
from host.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from mcp import Client, StdioServerParameters

SIZE = 1_000_000  # messages
DIRECTORIES = 20  # working directories, with a twentieth of the conversations each
SEARCHED = 10  # the one that is the server's: two of three places of a needle lie in it
REPEATS = 10  # of each needle
STARTS = 5
LIMIT = 10
KINDS = ("rare word", "common word", "two words", "phrase", "path", "CJK 2", "regex", "nothing found")
NOTHING = ("zyzzyvax", "zyzzyvax qqxxqq", "qqxxqq/zyzzyvax.zzy", "鑫龘鬱黻黼", "qqx-zzyz-xxqq-zyzz")
WIDENED: dict[str, dict[str, Any]] = {"directory": {}, "all": {"scope": "all"}}
"""How far the server may reach -> what a call says to reach as far."""


@dataclass(frozen=True)
class Measured:
    """One kind of call in one scope; seconds of every call over MCP, and of the same search in this process."""

    kind: str
    scope: str
    asked: tuple[float, ...]
    inside: tuple[float, ...] = ()
    hits: int = 0

    def cells(self) -> tuple[str, ...]:
        """The line as texts."""
        inside = f"{milliseconds(median(self.inside))}" if self.inside else "-"
        ratio = f"{median(self.asked) / median(self.inside):.1f}" if self.inside else "-"
        return self.kind, self.scope, milliseconds(median(self.asked)), milliseconds(p95(self.asked)), inside, ratio, str(self.hits)


HEADINGS = ("", "scope", "p50 ms", "p95 ms", "p50 inside", "ratio", "hits")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mcp_bench", description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help="messages")
    parser.add_argument("--folder", type=Path, help="where the archive is made for the time (about 1.2 GB a million)")
    parser.add_argument("--keep", action="store_true", help="leave it there, and use what is there")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        home = (given.folder / f"mcp-{given.size}" if given.keep and given.folder else Path(folder)).resolve()
        build(home, given.size)
        print(table(anyio.run(measured, home)))
    return 0


def build(home: Path, size: int) -> None:
    """An archive of so many messages, indexed, its conversations dealt out to working directories; one that is there stays."""
    home.mkdir(parents=True, exist_ok=True)
    for number in range(DIRECTORIES):
        directory(home, number).mkdir(exist_ok=True)
    if archive_of(home).exists():
        return
    print(f"writing {size:,} messages", file=sys.stderr)
    store = open_archive(home, durability="normal")
    for number, batch in enumerate(_batches(size)):
        about = {"working_directory": str(directory(home, number % DIRECTORIES)), "client": "claude-code"}
        session = store.sessions.create(title=f"conversation {number}", source="claude-code", about=about)
        store.archive(session.conversation).extend(batch)
    store.search.catch_up()
    store.close()


async def measured(home: Path) -> list[Measured]:
    """Everything, against servers of their own for each scope."""
    return [line for scope in WIDENED for line in await in_scope(home, scope)]


async def in_scope(home: Path, scope: str) -> list[Measured]:
    """Starts, searches of all kinds and openings of what they found, in one scope."""
    started = [await started_in(home, scope) for _ in range(STARTS)]
    lines, opened = [Measured("start to the list of tools", scope, tuple(started))], []
    store = open_archive(home)
    try:
        async with connected(home, scope) as client:
            for kind in KINDS:
                line, found = await searched(client, store, scoped(home, kind, scope), kind, scope)
                lines.append(line)
                opened += found
            opening = tuple([await timed(client, "lcm_expand", each) for each in opened])
            lines.append(Measured("lcm_expand", scope, opening, hits=len(opened)))
    finally:
        store.close()
    return lines


async def searched(client: Client, store: SqliteStore, queries: Sequence[Query], kind: str, scope: str) -> tuple[Measured, list[Any]]:
    """The searches of a kind, over MCP and in the process in turns; what opens the hits is handed on."""
    asked: list[float] = []
    inside: list[float] = []
    opened, found = [], 0
    for query in queries:
        arguments = {"query": query.text, "mode": str(query.mode), "limit": query.limit, **WIDENED[scope]}
        told = await answer(client, "lcm_grep", arguments)  # the first time warms the caches and is not counted
        hits = store.search.find(query).hits
        if bool(told["hits"]) != bool(hits) or len(told["hits"]) > len(hits):  # fewer are shown where the page would be too long
            raise BenchmarkError(f"{kind}: {len(told['hits'])} hits over MCP, {len(hits)} inside", f"ask for {query.text!r} by hand")
        if hits and kind == KINDS[-1]:
            raise BenchmarkError(f"{query.text!r} was found", "ask for something that is in no message")
        opened += [hit["open"] for hit in told["hits"][:2]]
        found += len(hits)
        for _ in range(REPEATS):
            asked.append(await timed(client, "lcm_grep", arguments))
            inside.append(timed_inside(partial(store.search.find, query)))
    return Measured(kind, scope, tuple(asked), tuple(inside), found), opened


def scoped(home: Path, kind: str, scope: str) -> list[Query]:
    """The queries of a kind, as the server asks them."""
    directories = (str(directory(home, SEARCHED)),) if scope == "directory" else ()
    if kind == KINDS[-1]:
        return [Query(text, limit=LIMIT, directories=directories) for text in NOTHING]
    return [replace(needle.query, limit=LIMIT, directories=directories) for needle in needles() if needle.kind == kind]


@asynccontextmanager
async def connected(home: Path, scope: str) -> AsyncIterator[Client]:
    """A client and a server process of its own."""
    from mcp import Client

    async with Client(server(home, scope)) as client:
        yield client


async def started_in(home: Path, scope: str) -> float:
    """Seconds from starting the server to its list of tools."""
    start = perf_counter()
    async with connected(home, scope) as client:
        await client.list_tools()
        return perf_counter() - start


async def timed(client: Client, tool: str, arguments: Mapping[str, Any]) -> float:
    """Seconds of one call."""
    start = perf_counter()
    await answer(client, tool, arguments)
    return perf_counter() - start


def timed_inside(search: Callable[[], object]) -> float:
    """Seconds of a search in this process."""
    start = perf_counter()
    search()
    return perf_counter() - start


async def answer(client: Client, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What a tool says; an error ends the run."""
    result = await client.call_tool(tool, dict(arguments))
    text = "".join(part.text for part in result.content if part.type == "text")
    if result.is_error:
        raise BenchmarkError(f"{tool} refused {arguments}: {text[:1_000]}", "the tool's schema has changed")
    told: dict[str, Any] = json.loads(text)
    return told


def server(home: Path, scope: str) -> StdioServerParameters:
    """The server as a client starts it, in a project folder of its own, with no session files of any client about."""
    from mcp import StdioServerParameters

    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CTXHOST_", "CLAUDE_", "CODEX_", "XDG_"))}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "host", "--home", str(home), "mcp", "--scope", scope, "--directory", str(directory(home, SEARCHED))],
        env={**kept, "HOME": str(home), "PYTHONPATH": str(ROOT)},
        cwd=str(directory(home, SEARCHED)),
    )


def directory(home: Path, number: int) -> Path:
    """A working directory."""
    return home / f"project-{number}"


def _batches(size: int) -> Iterator[list[Any]]:
    """The messages of each conversation."""
    batch = []
    for row, message in enumerate(Archive(size).messages(), start=1):
        batch.append(message)
        if len(batch) == PER_CONVERSATION or row == size:
            yield batch
            batch = []


def milliseconds(seconds: float) -> str:
    """For a cell."""
    return f"{seconds * 1000:.2f}"


def p95(seconds: Sequence[float]) -> float:
    """The 95th percentile."""
    return quantiles(seconds, n=20)[-1] if len(seconds) > 1 else seconds[0]


def table(lines: Sequence[Measured]) -> str:
    """The lines under their headings, columns aligned."""
    return "\n".join(aligned(HEADINGS, [line.cells() for line in lines]))


if __name__ == "__main__":
    raise SystemExit(main())

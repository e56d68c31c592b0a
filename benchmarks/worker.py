"""One side of the benchmark, alone in a process: ``python -P benchmarks/worker.py SIDE``, a name of SIDES.

It takes commands as JSON lines on stdin and answers on stdout. It times itself, so that neither imports nor the way
of the messages here count. Nothing of ``benchmarks`` is imported: the reference's environment runs this file too.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol, TypeVar

WINDOW = 200_000  # tokens, on both sides
ROOMY = 1_000_000_000  # tokens; a window in which nothing is ever compacted
SUMMARY = "## Goal\nThe answer of a summary model that takes no time."

Messages = list[dict[str, Any]]
T = TypeVar("T")


class Side(Protocol):
    """What is measured; every method prepares first and then times one call."""

    def cold(self, messages: Messages, tokens: int) -> tuple[float, Messages]:
        """Compress a conversation that was never seen."""

    def warm(self, messages: Messages, tokens: int) -> tuple[float, Messages]:
        """Compress a conversation that was accepted message by message."""

    def accept(self, messages: Messages) -> None:
        """Begin a conversation with these messages."""

    def turn(self, message: dict[str, Any]) -> float:
        """Take the last message before a model call and find that nothing has to be compacted."""

    def take(self, message: dict[str, Any]) -> None:
        """Take a message after which no model is called."""


class Ctxhost:
    """This project, put together as ``host.app`` does it, without a summary model."""

    def __init__(self) -> None:
        from host.tokens import Counter

        Counter().text("the vocabulary is loaded once per process")

    def cold(self, messages: Messages, tokens: int) -> tuple[float, Messages]:
        """A new engine, a new counter, a list fresh from JSON."""
        engine, _ = self._parts(WINDOW)
        return timed(lambda: engine.compress(messages, current_tokens=tokens))

    def warm(self, messages: Messages, tokens: int) -> tuple[float, Messages]:
        """Accepted under a window in which all of it fits; then the model changes to one with the measured window."""
        engine, conversation = self._parts(ROOMY)
        for message in messages:
            conversation.add(message)
        conversation.estimate()
        conversation.services.facts = replace(conversation.services.facts, window=WINDOW)
        engine.update_model("", WINDOW)
        given = list(conversation.view.messages)
        return timed(lambda: engine.compress(given, current_tokens=tokens))

    def accept(self, messages: Messages) -> None:
        """Every message through the conversation, as in a long session."""
        _, self._conversation = self._parts(ROOMY)
        for message in messages:
            self._conversation.add(message)
        self._conversation.window()

    def take(self, message: dict[str, Any]) -> None:
        """Accepted, no more."""
        self._conversation.add(message)

    def turn(self, message: dict[str, Any]) -> float:
        """One message is accepted and the window for the next model call is taken."""

        def accepted() -> None:
            self._conversation.add(message)
            self._conversation.window()

        return timed(accepted)[0]

    def _parts(self, window: int) -> tuple[Any, Any]:
        from host.compressor.compressor import Compressor
        from host.conversation.conversation import Conversation
        from host.engine.services import ModelFacts, Services
        from host.store.memory import MemoryArchive, MemoryState
        from host.tokens import Counter, Remembered

        count, archive = Remembered(Counter()), MemoryArchive()
        services = Services(settings=None, facts=ModelFacts(window=window), count=count, archive=archive, state=MemoryState())
        engine = Compressor(services)
        return engine, Conversation(engine, services, archive, gauge=count.gauge, warn=_complain)


class Reference:
    """hermes-agent's compressor and its estimate of a turn; the one call that would leave the machine is answered here."""

    def __init__(self) -> None:
        from agent import context_compressor, model_metadata  # type: ignore[import-not-found]  # in its own environment

        context_compressor.call_llm = self.answer
        self._compressor: Callable[..., Any] = context_compressor.ContextCompressor
        self._estimate: Callable[[Messages], int] = model_metadata.estimate_request_tokens_rough
        self._messages: Messages = []

    def cold(self, messages: Messages, tokens: int) -> tuple[float, Messages]:
        """A new compressor, a list fresh from JSON."""
        engine = self._compressor(model="benchmark", config_context_length=WINDOW, quiet_mode=True)
        return timed(lambda: engine.compress(messages, current_tokens=tokens))

    warm = cold  # it keeps nothing between messages

    def accept(self, messages: Messages) -> None:
        """It only keeps the list."""
        self._messages = list(messages)

    def take(self, message: dict[str, Any]) -> None:
        """In the list, no more."""
        self._messages.append(message)

    def turn(self, message: dict[str, Any]) -> float:
        """What its loop asks before each model call: an estimate over the whole list."""
        self._messages.append(message)
        return timed(lambda: self._estimate(self._messages))[0]

    def answer(self, **request: object) -> Any:
        """In place of its call to a summary model."""
        message = type("Message", (), {"content": SUMMARY})
        return type("Response", (), {"choices": [type("Choice", (), {"message": message})]})


class ReferenceAlone(Reference):
    """The same where no summary model can be reached: it writes a summary of its own, too."""

    def answer(self, **request: object) -> Any:
        """What it meets where nothing is configured."""
        raise RuntimeError("No LLM provider configured")


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds of a call and what it gave back; the garbage of the preparation is not on its account."""
    gc.collect()
    started = perf_counter()
    given = work()
    return perf_counter() - started, given


class Desk:
    """Where commands arrive: each one reads what it needs, lets the side do it, and answers with seconds."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._turns: Iterator[Messages] = iter(())

    def compress(self, file: str, warm: bool) -> dict[str, Any]:
        """Time one compaction of the conversation in a file."""
        messages, tokens = read(file)
        seconds, after = (self._side.warm if warm else self._side.cold)(messages, tokens)
        return {"seconds": seconds, "before": len(messages), "after": len(after)}

    def accept(self, file: str, held: int) -> dict[str, Any]:
        """Begin with all but the last messages of a file; those are the turns to come."""
        messages, _ = read(file)
        self._turns = turns(messages[-held:])
        self._side.accept(messages[:-held])
        return {}

    def turn(self) -> dict[str, Any]:
        """Time the next turn's last message."""
        *before, last = next(self._turns)
        for message in before:
            self._side.take(message)
        return {"seconds": self._side.turn(last)}


def turns(messages: Messages) -> Iterator[Messages]:
    """What comes in between two model calls: it ends with a request, or with the last result of a group."""
    turn: Messages = []
    for message, following in pairwise(messages):
        turn.append(message)
        if message["role"] == "user" or (message["role"] == "tool" and following["role"] != "tool"):
            yield turn
            turn = []


def read(file: str) -> tuple[Messages, int]:
    """The conversation in a file, new strings and all, and the tokens that both sides are told it has."""
    text = Path(file).read_text(encoding="utf-8")
    return json.loads(text), len(text) // 4


SIDES: dict[str, Callable[[], Side]] = {"ctxhost": Ctxhost, "reference": Reference, "reference alone": ReferenceAlone}


def main() -> None:
    """Answer commands until stdin ends. What a side prints goes to stderr, so that it cannot disturb the answers."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    desk = Desk(SIDES[sys.argv[1]]())
    commands: dict[str, Callable[..., dict[str, Any]]] = {"compress": desk.compress, "accept": desk.accept, "turn": desk.turn}
    for line in sys.stdin:
        name, arguments = json.loads(line)
        print(json.dumps(commands[name](**arguments)), file=answers, flush=True)


def _complain(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    main()

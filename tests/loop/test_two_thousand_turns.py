"""A conversation that goes on and on with a model whose window is a quarter of what the configuration says."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from host.conversation.conversation import Conversation
from host.engine.contract import ContextEngine
from host.engine.outcome import Outcome
from host.engine.services import ModelFacts
from host.loop.agent import Agent
from host.loop.events import Ending, Event, Retrying
from host.loop.models import AgentModel, Models
from host.loop.toolbox import Toolbox
from host.messages.reading import text_of
from host.messages.types import Message, Reply, ToolSchema, Usage
from host.messages.violations import violations
from host.provider.bodies import words_of
from host.provider.errors import Service, ServiceError, of_status
from host.provider.provider import OnDelta
from host.provider.scripted import told
from host.store.memory import MemoryStore
from host.testing.engines import services
from host.testing.loopback import Answer
from host.testing.messages import WORDS, assistant, call, system, user
from host.testing.refusing import REFUSALS, Numbers
from host.tokens import Counter, Remembered
from tests.agents_for_tests import Echo, plugin
from tests.desk import Desk
from tests.engines_for_tests import compressor
from tests.foreign_engines import foreign

TURNS, NAMELESS_TURNS = 2_000, 399
HANDFUL = 3  # refusals that find a window without a number
WINDOW, CONFIGURED = 32_000, 128_000  # tokens
SERVICE = Service("a model with a window", "")
ENGINES: dict[str, Callable[[], ContextEngine]] = {
    "compressor": lambda: compressor(CONFIGURED, count=Remembered(Counter())),
    "foreign": lambda: foreign("rebuilds", CONFIGURED),
}


def prose(dice: random.Random, words: int) -> str:
    return " ".join(dice.choices(WORDS, k=words))


def refusal(wording: str, sent: int) -> ServiceError:
    """As the client raises it."""
    played = REFUSALS[wording].step(Numbers(WINDOW, sent))
    assert isinstance(played, Answer)
    return of_status(played.status)(SERVICE, words_of(played.body), status=played.status, body=played.body)


@dataclass
class Windowed:
    """A model (protocol Provider) that calls tools in some turns, answers, and refuses what is longer than its window.

    ``expected`` is the newest request of the user; ``faults`` is what was wrong with requests, ``sizes`` their tokens.
    """

    dice: random.Random
    wording: str
    count: Remembered = field(default_factory=lambda: Remembered(Counter()))
    expected: Message = field(default_factory=lambda: user(""))
    calls_left: int = 0
    sizes: list[int] = field(default_factory=list)
    refused_at: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        on_delta: OnDelta | None = None,
    ) -> Reply:
        tokens = self.count.messages(messages) + self.count.tools(tools)
        self.look_at(messages, tokens)
        self.sizes.append(tokens)
        if tokens > WINDOW:
            self.refused_at.append(len(self.sizes))
            raise refusal(self.wording, tokens)
        message = self.next()
        return told(Reply(message, Usage(tokens, self.count.message(message)), "stop"), on_delta)

    def look_at(self, messages: list[Message], tokens: int) -> None:
        request = len(self.sizes) + 1
        self.faults += [f"request {request}: {found}" for found in violations(messages)]
        if not any(map(self.is_asked, messages)):
            self.faults.append(f"request {request}: the newest request of the user is not in it")

    def is_asked(self, message: Message) -> bool:
        """Whether it is the newest request word for word, or ends with it: a summary may stand before it in one message."""
        words, text = text_of(self.expected), text_of(message)
        return message["role"] == "user" and (text == words or text.endswith(f"\n\n{words}"))

    def next(self) -> Message:
        if self.calls_left <= 0:
            return assistant(prose(self.dice, self.dice.randint(20, 120)))
        self.calls_left -= 1
        ids = [f"call_{len(self.sizes)}_{n}" for n in range(self.dice.randint(1, 3))]
        return assistant(prose(self.dice, 10), [call(key, "echo", {"words": key}) for key in ids])


class Journey:
    """An agent with such a model under one engine, and what its user is told."""

    def __init__(self, engine: ContextEngine, wording: str) -> None:
        self.dice = random.Random(7)
        self.model = Windowed(random.Random(8), wording)
        self.events: list[Event] = []
        self.outcomes: list[Outcome] = []
        self.desk = Desk(MemoryStore())
        self.conversation = self.open(engine)
        echo = Echo(behave=lambda arguments: f"{arguments['words']}: {prose(self.dice, self.dice.choice((40, 200, 600, 2_500)))}")
        toolbox = Toolbox(self.conversation, [plugin(echo)], warn=self.desk.warnings.append)
        facts = ModelFacts("a model with a window", CONFIGURED)
        self.agent = Agent(self.conversation, Models(AgentModel(facts.model, self.model, facts)), toolbox, self.events.append)

    def open(self, engine: ContextEngine) -> Conversation:
        count, shelf = Remembered(Counter()), self.desk.shelf()
        shelf.state.belong_to(engine.name)
        given = replace(getattr(engine, "services", services(CONFIGURED)), count=count)
        return Conversation(engine, given, shelf, gauge=count.gauge, warn=self.desk.warnings.append, watch=self.outcomes.append)

    def go(self, turns: int) -> set[Ending]:
        """All turns, and how they ended."""
        self.conversation.add(system("You are a careful engineer."))
        return {self.take(turn) for turn in range(1, turns + 1)}

    def take(self, turn: int) -> Ending:
        """One turn; in every fifth the model calls tools."""
        self.model.calls_left = self.dice.randint(1, 3) if turn % 5 == 0 else 0
        self.model.expected = user(f"Request {turn}: {prose(self.dice, self.dice.randint(15, 150))}")
        return self.agent.turn(self.model.expected).reason


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_no_refusal_reaches_the_user_and_after_the_first_none_comes(name: str) -> None:
    begun, journey = time.process_time(), Journey(ENGINES[name](), "openai-context")
    endings = journey.go(TURNS)
    model, compactions = journey.model, [outcome for outcome in journey.outcomes if outcome.progressed]
    report(name, journey, len(compactions), time.process_time() - begun)
    assert endings == {Ending.ANSWERED}
    assert model.faults == []
    assert len(model.refused_at) == 1 and len([event for event in journey.events if isinstance(event, Retrying)]) == 1
    assert max(model.sizes[model.refused_at[0] :]) <= WINDOW
    assert journey.conversation.services.facts.window == WINDOW
    assert len(compactions) > TURNS // 100
    said = [text_of(row.message) for row in journey.conversation.archive.rows() if row.message and row.message["role"] == "user"]
    assert [text.split(":")[0] for text in said] == [f"Request {turn}" for turn in range(1, TURNS + 1)]


@pytest.mark.parametrize("wording", ["bedrock", "empty-413"])
@pytest.mark.parametrize("name", sorted(ENGINES))
def test_a_window_that_no_refusal_names_is_not_felt_by_the_user(name: str, wording: str) -> None:
    journey = Journey(ENGINES[name](), wording)
    assert journey.go(NAMELESS_TURNS) == {Ending.ANSWERED}
    refused, faults = journey.model.refused_at, journey.model.faults
    assert faults == [] and refused
    assert all(later - earlier > 1 for earlier, later in pairwise(refused)), "a request was refused that was sent after a refusal"
    assert len(refused) <= HANDFUL
    assert journey.conversation.services.facts.window == CONFIGURED
    assert journey.conversation.services.facts.ceiling <= WINDOW


def report(name: str, journey: Journey, compactions: int, seconds: float) -> None:
    """What ``pytest -s`` shows of a long run."""
    model = journey.model
    after = max(model.sizes[model.refused_at[0] :], default=0) if model.refused_at else 0
    print(
        f"\n{name}: {TURNS:,} turns, {len(model.sizes):,} requests, {len(model.refused_at)} refused, {compactions} compactions, "
        f"largest {max(model.sizes):,}, after the refusal {after:,} tokens, "
        f"{sum(1 for _ in journey.conversation.archive.rows()):,} rows, {len(journey.desk.warnings)} warnings, {seconds:.0f} s"
    )

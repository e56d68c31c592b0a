"""Every refusal that services send: through the real client to the classifier, and through an agent to its user."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from io import BytesIO
from itertools import pairwise
from typing import Any

import pytest
from PIL import Image

from host.errors import ProviderError
from host.loop.agent import Agent
from host.loop.events import Ending, Event
from host.loop.models import AgentModel, Models
from host.loop.toolbox import Toolbox
from host.messages.types import Message, Part
from host.messages.violations import violations
from host.provider.errors import ServiceError
from host.provider.openai_client import OpenAIProvider
from host.provider.provider import Delta
from host.provider.refusals.classifier import Kind, Refusal, Sent, classify, classify_reply
from host.store.memory import MemoryStore
from host.testing import LoopbackServer
from host.testing.loopback import Step
from host.testing.messages import assistant, call, chat, system, user
from host.testing.refusing import REFUSALS, USUAL, Numbers, by_bytes, by_counter, windowed
from tests.agents_for_tests import Echo, plugin
from tests.desk import Desk
from tests.engines_for_tests import compressor

WAYS = [pytest.param(True, id="streamed"), pytest.param(False, id="plain")]
ALL = sorted(REFUSALS)
ANSWER_TOKENS = 1_000
SMALL, LARGE = 9_200, 300_000  # windows in tokens: the conversation fills the one, and is little in the other

MENDED = {
    Kind.CONTEXT_OVERFLOW,
    Kind.SILENT_OVERFLOW,
    Kind.SILENT_TRUNCATION,
    Kind.PAYLOAD_TOO_LARGE,
    Kind.OUTPUT_CAP,
    Kind.LONG_CONTEXT_TIER,
    Kind.LONG_CONTEXT_BETA,
    Kind.OVER_RATE_BUDGET,
    Kind.IMAGE_TOO_LARGE,
    Kind.TOOL_CONTENT,
}
"""After these the user gets the answer; the others are told."""
RESENT = {Kind.LONG_CONTEXT_TIER, Kind.LONG_CONTEXT_BETA}  # what changes is not in the request
BEYOND_REPAIR = {"image-bytes"}  # no picture of the conversation has as many bytes
IN_LARGE = {Kind.NETWORK, *RESENT}  # kinds that are met in a large window


def client(server: LoopbackServer) -> OpenAIProvider:
    return OpenAIProvider("some-model", base_url=server.base_url, api_key="sk-loopback-0123456789", timeout=20.0, max_retries=0)


def refused(step: Step, sent: Sent, *, streamed: bool) -> Refusal | None:
    """What a refusal is taken for behind the client."""
    heard: list[Delta] = []
    with LoopbackServer([step], repeat=True) as server:
        try:
            reply = client(server).ask([user("hi")], max_tokens=ANSWER_TOKENS, on_delta=heard.append if streamed else None)
        except ServiceError as error:
            return classify(error, sent)
    return classify_reply(reply, sent)


# --- the table ---------------------------------------------------------------------------------------------------


def test_the_table_holds_every_kind_but_the_one_for_what_nobody_knows() -> None:
    assert {refusing.kind for refusing in REFUSALS.values()} == {*Kind} - {Kind.UNKNOWN}


@pytest.mark.parametrize("streamed", WAYS)
@pytest.mark.parametrize("name", ALL)
def test_a_refusal_is_taken_for_what_it_is(name: str, streamed: bool) -> None:
    refusing = REFUSALS[name]
    window = LARGE if refusing.kind in IN_LARGE else SMALL
    found = refused(refusing.step(), Sent(USUAL.sent, window, 62, ANSWER_TOKENS), streamed=streamed)
    assert found is not None and found.kind is refusing.kind


NAMING = [
    ("openai-context", 4_096, 5_000),
    ("anthropic-too-long", 4_096, 5_000),
    ("anthropic-sum", 4_096, 5_000),
    ("vllm", 4_096, 5_000),
    ("vllm-output", 4_096, 5_000),
    ("llama-cpp", 4_096, 5_000),
    ("llama-cpp-500", 4_096, 5_000),
    ("gemini-array", 4_096, 5_000),
    ("gemini-double-encoded", 4_096, 5_000),
    ("openrouter", 4_096, 5_000),
    ("cerebras", 4_096, 5_000),
    ("xai", 4_096, 5_000),
    ("together", 4_096, 5_000),
    ("groq-budget", 4_096, 5_000),
    ("lm-studio-string", 4_096, 5_000),
    ("qwen", 4_096, None),
    ("minimax", None, None),
    ("ollama", None, None),
]


@pytest.mark.parametrize(("name", "limit", "sent"), NAMING)
def test_the_numbers_that_were_filled_in_are_read_again(name: str, limit: int | None, sent: int | None) -> None:
    found = refused(REFUSALS[name].step(Numbers(4_096, 5_000)), Sent(), streamed=False)
    assert found is not None and (found.limit, found.sent) == (limit, sent)


@pytest.mark.parametrize("streamed", WAYS)
@pytest.mark.parametrize("name", ["dropped", "cut-stream"])
def test_a_connection_that_is_cut_under_a_large_request_is_an_overflow_without_numbers(name: str, streamed: bool) -> None:
    found = refused(REFUSALS[name].step(), Sent(7_000, SMALL), streamed=streamed)
    assert found == Refusal(Kind.CONTEXT_OVERFLOW)


# --- through an agent --------------------------------------------------------------------------------------------


@cache
def picture() -> str:
    written = BytesIO()
    Image.new("RGB", (2_400, 10)).save(written, "PNG")
    return f"data:image/png;base64,{b64encode(written.getvalue()).decode()}"


def long_talk() -> list[Message]:
    """Sixty messages, with a picture from the user and another from a tool."""
    shown: Part = {"type": "image_url", "image_url": {"url": picture()}}
    seen: list[Message] = [
        {"role": "user", "content": [{"type": "text", "text": "Look at this."}, shown]},
        assistant(None, [call("call_1", "echo")]),
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "seen"}, shown]},
        assistant("I have seen it."),
    ]
    return [system("Be brief."), *chat(53, chars=370), *seen, user("And now?"), assistant("Go on.")]


class Refused:
    """An agent with sixty messages whose model refuses once; ``told`` holds what was said to the user."""

    def __init__(self, server: LoopbackServer, kind: Kind, *, streamed: bool) -> None:
        self.desk = Desk(MemoryStore())
        self.conversation = self.desk.open(compressor(LARGE if kind in IN_LARGE else SMALL))
        for message in long_talk():
            self.conversation.add(message)
        self.told: list[Event] = []
        model = AgentModel("some-model", client(server), self.conversation.services.facts, ANSWER_TOKENS)
        toolbox = Toolbox(self.conversation, [plugin(Echo())], warn=self.desk.warnings.append)
        self.agent = Agent(self.conversation, Models(model), toolbox, self.told.append, stream=streamed)

    def archived(self) -> list[Message]:
        return [row.message for row in self.conversation.archive.rows() if row.message is not None]

    def ended(self, text: str) -> str | ProviderError:
        """The answer to a message, or the error in its place."""
        try:
            turn = self.agent.turn(text)
        except ProviderError as error:
            return error
        assert turn.reason is Ending.ANSWERED and turn.message is not None
        return str(turn.message["content"])


def asked_for(body: Any) -> str:
    """What makes two requests the same."""
    return json.dumps({key: body.get(key) for key in ("messages", "max_tokens", "max_completion_tokens")}, sort_keys=True)


@pytest.mark.parametrize("streamed", WAYS)
@pytest.mark.parametrize("name", ALL)
def test_after_a_refusal_the_user_gets_the_answer_or_one_clear_error(name: str, streamed: bool) -> None:
    refusing, question = REFUSALS[name], "What is the capital of France?"
    with LoopbackServer([refusing.step(), "Paris."], repeat=True) as server:
        case = Refused(server, refusing.kind, streamed=streamed)
        ending = case.ended(question)
        requests = list(server.requests)
        if isinstance(ending, ProviderError):
            assert case.archived() == [*long_talk(), user(question)]
            resumed = case.agent.resume()
            assert resumed is not None and resumed.message == assistant("Paris.")
    if refusing.kind in MENDED and name not in BEYOND_REPAIR:
        assert ending == ("Hello! How can I help?" if refusing.kind is Kind.SILENT_TRUNCATION else "Paris.")
        assert len(requests) == (1 if refusing.kind is Kind.SILENT_TRUNCATION else 2)
    else:
        assert isinstance(ending, ProviderError) and ending.what and ending.advice
        assert len(requests) == 1
    assert case.archived()[:61] == [*long_talk(), user(question)] and len(case.archived()) == 62
    assert all(before != after for before, after in pairwise(asked_for(request.body) for request in requests)) or refusing.kind in RESENT
    for request in requests:
        sent: Any = request.messages
        assert sent[-1] == user(question) and violations(sent) == []


# --- a model with a window ---------------------------------------------------------------------------------------


WORDINGS = ["openai-context", "anthropic-too-long", "ollama", "gemini-double-encoded", "in-stream-overflow", "silent-overflow-length"]


@pytest.mark.parametrize("streamed", WAYS)
@pytest.mark.parametrize("wording", WORDINGS)
def test_an_agent_finds_its_way_into_a_window_that_nobody_told_it_of(wording: str, streamed: bool) -> None:
    step = windowed(5_000, "Paris.", wording=wording)
    with LoopbackServer([step], repeat=True) as server:
        case = Refused(server, Kind.CONTEXT_OVERFLOW, streamed=streamed)
        assert case.ended("Where is the Louvre?") == "Paris."
        first, *rest = [by_counter(request) + request.max_tokens for request in server.requests]
    assert first > 5_000 and rest and rest[-1] <= 5_000


def test_a_window_is_counted_as_chosen_and_the_answer_takes_room() -> None:
    messages = [user("word " * 1_600)]
    rows: list[tuple[Step, int | None, bool]] = [
        (windowed(2_200, "ok", count=by_bytes), None, True),
        (windowed(1_800, "ok", count=by_bytes), None, False),
        (windowed(1_800, "ok"), None, True),
        (windowed(1_800, "ok"), 400, False),
        (windowed(1_800, "ok", with_answer=False), 400, True),
    ]
    for step, max_tokens, fits in rows:
        with LoopbackServer([step]) as server:
            try:
                client(server).ask(messages, max_tokens=max_tokens)
            except ServiceError as error:
                assert classify(error, Sent()).limit == 1_800 and not fits
            else:
                assert fits


def test_the_schemas_of_tools_take_room_in_the_window() -> None:
    schema: Any = {"type": "function", "function": {"name": "look", "description": "word " * 2_000, "parameters": {"type": "object"}}}
    with LoopbackServer([windowed(1_800, "ok")], repeat=True) as server:
        assert client(server).ask([user("hi")]).message["content"] == "ok"
        with pytest.raises(ServiceError, match="maximum context length is 1800"):
            client(server).ask([user("hi")], tools=[schema])


def test_an_excess_is_named_with_the_answer_in_it() -> None:
    found = refused(REFUSALS["ollama"].step(Numbers(4_096, 5_000, 1_000)), Sent(), streamed=False)
    assert found is not None and found.over == 1_904


def test_an_unknown_wording_is_told_with_those_that_there_are() -> None:
    with pytest.raises(KeyError, match="no refusal is called 'x'; there are: openai-context"):
        windowed(10, "ok", wording="x")

"""Every conversation of ../shared/data, at every model call (issue 1, Must be shown)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from host.conversation.conversation import Conversation
from host.engine.contract import ContextEngine
from host.engine.outcome import Outcome
from host.engine.services import ModelFacts, Services
from host.errors import NotAConversation
from host.formats import Transcript, read
from host.loop.replay import Replayed, holds, replay
from host.messages.violations import violations
from host.store.memory import MemoryArchive, MemoryState
from host.tokens import Counter, Remembered
from tests.engines_for_tests import Scripted

DATA = Path(__file__).parents[2].parent / "shared" / "data"
WINDOWS = (8_000, 32_000, 128_000)
NO_CONVERSATIONS = {"decisions.jsonl", "events.jsonl", "expected-conversation.jsonl", "README.md"}

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the real conversations of ../shared/data are not here")

Make = Callable[[Services], ContextEngine]


def files() -> list[Path]:
    return [path for path in sorted(DATA.rglob("*")) if path.is_file() and path.name not in NO_CONVERSATIONS]


@cache
def transcripts(path: Path) -> list[Transcript]:
    return read(path)


def replayed(transcript: Transcript, window: int, make: Make) -> Replayed:
    count, archive, outcomes = Remembered(Counter(sampled=False)), MemoryArchive(), list[Outcome]()
    services = Services(None, ModelFacts("", window), count, archive, MemoryState())
    conversation = Conversation(make(services), services, archive, gauge=count.gauge, warn=lambda text: None, watch=outcomes.append)
    return replay(conversation, transcript.messages, transcript.tools, count=count.messages, compactions=outcomes)


def compressor(services: Services) -> ContextEngine:
    from host.compressor.compressor import Compressor

    return Compressor(services)


def faults(transcript: Transcript, result: Replayed) -> Iterator[str]:
    """Everything that the issue forbids, judged from the recording and not by the replay's own verdict."""
    users = [i for i, m in enumerate(transcript.messages) if m["role"] == "user"]
    for call in result.calls:
        if call.found:
            yield f"call {call.index}: {call.found[0]}"
        if call.lost:
            yield f"call {call.index}: {call.lost} not in the window"
        if call.tokens > result.window and call.irreducible.total <= result.window:
            yield f"call {call.index}: {call.tokens} tokens in a window of {result.window}"
    for outcome in result.compactions:
        if outcome.after > result.threshold and outcome in result.unfinished:
            yield f"row {outcome.row}: ended at {outcome.after}, threshold {result.threshold}"
    if any(call.recorded_tokens >= result.threshold for call in result.calls) and not result.compactions:
        yield "above the threshold and never compacted"
    if violations(result.final):
        yield f"final window: {violations(result.final)[0]}"
    if users and not any(holds(m, transcript.messages[users[-1]]) for m in result.final):
        yield "the newest user message is not in the final window"


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("path", files() if DATA.is_dir() else [], ids=lambda path: f"{path.parent.name}/{path.name[:32]}")
def test_the_compressor_keeps_the_rules_of_the_window_on_real_conversations(path: Path, window: int) -> None:
    found = [f"{t.title}: {fault}" for t in transcripts(path) for fault in faults(t, replayed(t, window, compressor))]
    assert found == []


@pytest.mark.parametrize(
    ("name", "returns"), [("does nothing", lambda messages: messages), ("keeps only the last message", lambda messages: messages[-1:])]
)
def test_an_engine_that_is_no_good_fails_the_same_test(name: str, returns: Callable[[object], object]) -> None:
    path = next(path for path in files() if path.name.startswith("session-624a4a58"))
    (transcript,) = transcripts(path)
    for window in (8_000, 32_000):
        assert list(faults(transcript, replayed(transcript, window, lambda services: Scripted(returns, services.facts.window)))), name


@pytest.mark.parametrize("name", sorted(NO_CONVERSATIONS - {"README.md"}))
def test_files_that_hold_no_conversation_are_told_what_they_are(name: str) -> None:
    with pytest.raises(NotAConversation):
        read(next(DATA.rglob(name)))

"""A long conversation whose service refuses a request: what is sent instead, what became of the window, and what is remembered of it."""

from __future__ import annotations

import random
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from PIL import Image

from host.compressor.compressor import Compressor
from host.conversation.asked import size_in_bytes
from host.conversation.conversation import Conversation
from host.conversation.retrying import GiveUp, Retry
from host.engine.services import ModelFacts, Services, Thresholds
from host.messages.reading import has_image
from host.messages.types import Message, Reply, Usage
from host.provider.ask import asking
from host.provider.refusals.classifier import Kind, Refusal
from host.store.memory import MemoryStore
from tests.cases.facts import Facts, NoDriver
from tests.cases.scribe import ANSWER, Scribe, always
from tests.cases.sitting import turns
from tests.cases.watched import Priced
from tests.desk import Desk, fed

MESSAGES = 60
ROOMY = 128_000  # tokens of a window that no case names
ROUNDS = 6
UNDER = 0.95  # of the threshold: what is sent by the host's own estimate, however much the service counts
Answer = Retry | GiveUp


@dataclass
class Play:
    """The conversation under the built-in compressor, its summary model, and the limits that it learnt."""

    talk: Conversation
    scribe: Scribe
    learnt: list[int] = field(default_factory=list)
    cap: int | None = None

    @property
    def window(self) -> int:
        """Tokens that the model takes, as the conversation believes."""
        return self.talk.services.facts.window

    def refuse(self, error: BaseException | Reply) -> tuple[Answer, bool]:
        """Send, and be refused, or answered as if; says too whether the next request would be the very same."""
        sent, cap = self.talk.window(), self.cap
        answer = self.talk.answered(error) if isinstance(error, Reply) else self.talk.refused(error, max_tokens=cap)
        if answer is None:
            raise NoDriver("the answer counts")
        if isinstance(answer, Retry):
            self.cap = answer.max_tokens or cap
        return answer, isinstance(answer, Retry) and self.talk.window() == sent and self.cap == cap


def play(window: int, tokens: int, cap: int | None) -> Play:
    """A conversation of so many tokens, or of as many as are sent without a compaction; its answers may have ``cap`` tokens."""
    scribe, count = Scribe(always(Reply({"role": "assistant", "content": ANSWER}, finish_reason="stop"))), Priced()
    learnt: list[int] = []
    desk = Desk(MemoryStore())
    shelf = desk.shelf()
    given = Services(
        settings=None,
        facts=ModelFacts("main-model", window),
        count=count,
        archive=shelf.archive,
        state=shelf.state,
        ask=asking(scribe),
        summary_models=(scribe.as_model(),),
        thresholds=Thresholds(protect_first_n=0, protect_last_n=2),
    )
    engine = Compressor(given)
    talk = desk.open(engine, shelf, learn=learnt.append)
    tokens = min(tokens, int(engine.threshold_tokens * UNDER))
    messages: list[Message] = [{"role": "system", "content": "You are an agent."}, *turns(MESSAGES)]
    fed(talk, [count.price(message, tokens // len(messages)) for message in messages])
    return Play(talk, scribe, learnt, cap)


def played(given: Mapping[str, Any], refusal: Refusal, error: BaseException | Reply) -> Facts:
    """The facts of one refusal, and of the same one again and again."""
    stated = refusal.limit if refusal.kind is Kind.CONTEXT_OVERFLOW else None
    window = given.get("context_length") or stated or ROOMY
    tokens = given.get("estimated_prompt_tokens") or refusal.sent or window * 9 // 10
    once, often = (play(window, tokens, refusal.reserve) for _ in range(2))
    before = once.talk.window()
    answer, _ = once.refuse(error)
    facts = _seen(once, window, before) | {"action": _action(refusal, answer, once, window, before)}
    once.talk.window()
    once.talk.measured(Usage(once.talk.estimate()))
    resends = [often.refuse(error)[1] for _ in range(ROUNDS)]
    facts["persisted"], facts["max_identical_resends"] = bool(once.learnt), sum(resends)
    if refusal.kind is Kind.OVER_RATE_BUDGET:
        facts["action"] = _within_budget(refusal, window, tokens, error)
    return {name: value for name, value in facts.items() if value is not None}


def with_a_large_picture(error: BaseException) -> Facts:
    """A picture that is too large for most services, refused again and again."""
    sides = (1_600, 1_600)
    file = BytesIO()
    Image.frombytes("RGB", sides, random.Random(1).randbytes(sides[0] * sides[1] * 3)).save(file, "PNG")
    url = "data:image/png;base64," + b64encode(file.getvalue()).decode()
    talk = Desk(MemoryStore()).open()
    talk.add({"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": url}}]})
    before = size_in_bytes(talk.window())
    first, after = talk.refused(error), size_in_bytes(talk.window())
    second = talk.refused(error)
    once = isinstance(first, Retry) and has_image(talk.window()[-1]) and after < before and isinstance(second, GiveUp)
    return {"action": "shrink or replace that image, retry once"} if once else {}


def _seen(at: Play, window: int, before: list[Message]) -> dict[str, Any]:
    return {
        "context_length_lowered_to": at.window if at.window < window else None,
        "context_length_unchanged": at.window if at.window == window else None,
        "summarizer_calls": len(at.scribe.prompts),
        "session_unchanged": at.talk.window() == before and at.window == window,
    }


def _action(refusal: Refusal, answer: Answer, at: Play, window: int, before: list[Message]) -> str | None:
    same = at.talk.window() == before and not at.scribe.prompts
    if isinstance(answer, GiveUp):
        return "backoff" if refusal.kind is Kind.RATE_LIMIT and same else None
    if not same:
        return "compress_then_retry" if at.scribe.prompts else None
    if answer.max_tokens is not None and refusal.available is not None and answer.max_tokens <= refusal.available:
        return f"lower max_tokens to at most {refusal.available} and retry; history unchanged"
    return "retry with the standard window" if at.window < window else None


def _within_budget(refusal: Refusal, window: int, tokens: int, error: BaseException | Reply) -> str | None:
    """A shorter answer or one compaction, then the end."""
    at = play(window, tokens, None)
    answers = [at.refuse(error)[0] for _ in range(3)]
    compacted = bool(at.scribe.prompts) and [bool(answer) for answer in answers] == [True, False, False]
    capped = play(window, (refusal.limit or 0) // 2, 2 * (refusal.limit or 0))
    short, _ = capped.refuse(error)
    lowered = isinstance(short, Retry) and short.max_tokens is not None and not capped.scribe.prompts
    if not (compacted and lowered and f"{refusal.limit:,}" in answers[-1].why and at.window == window):
        return None
    return f"lower max_tokens or compress once, then stop with a notice; the model's window setting is not lowered to {refusal.limit}"

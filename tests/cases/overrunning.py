"""Kind ``summarizer``: a middle that is larger than the model's window, and a window that is overrun while the model fails."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from host.conversation.retrying import GiveUp, Retry
from host.messages.reading import text_of
from host.messages.types import Message
from host.messages.violations import violations
from host.provider.scripted import Scripted
from host.tokens.budgets import TRIGGER_RATIO
from host.transforms.handoff import END_MARKER
from tests.cases.case import Case
from tests.cases.facts import Facts, NoDriver
from tests.cases.house import said, word_of
from tests.cases.scribe import ANSWER, ROOMY, Scribe, always, error_of
from tests.cases.sitting import Sitting, handoffs, merged, outlook, sitting, turns
from tests.cases.watched import EXACT

LONG, LONG_WINDOW = 3_000, 6_000  # characters of a message, tokens of a model's window that three such middles overrun
TOO_MUCH = re.compile(r"(?P<what>middle section|one message) of (?P<times>\d+)x the summarizer's window")


def overlong(case: Case) -> Facts:
    """A middle of which the model cannot take the whole: its window known, unknown, and so that it refuses everything."""
    described = TOO_MUCH.search(case.input["messages"])
    if described is None:
        raise NoDriver(f"no driver reads {case.input['messages']!r}")
    ways = {"its window known": (LONG_WINDOW, False), "its window unknown": (ROOMY, False), "whatever it is asked": (LONG_WINDOW, True)}
    return merged({way: _overlong(case, described, window, hopeless) for way, (window, hopeless) in ways.items()})


def _overlong(case: Case, described: re.Match[str], window: int, hopeless: bool) -> dict[str, Any]:
    wanted = int(described["times"]) * LONG_WINDOW
    if described["what"] == "one message":
        middle = [said(2, chars=4 * wanted)]
    else:
        middle = [said(number, chars=LONG) for number in range(2, 2 + wanted * 4 // LONG)]
    messages: list[Message] = [{"role": "system", "content": "You are an agent."}, *middle, *turns(6)]
    refusal = error_of(case.input["summarizer_raises"])

    def answer(prompt: str) -> Scripted:
        return refusal if hopeless or EXACT.text(prompt) > LONG_WINDOW else ANSWER

    scribe = Scribe(answer, window=window, window_is_guessed=window == ROOMY)
    at = sitting(scribe, window=int(sum(map(EXACT.message, messages)) / TRIGGER_RATIO))
    at.talk.receive(messages)
    at.compact()
    answered = [prompt for prompt in at.prompts if not hopeless and EXACT.text(prompt) <= LONG_WINDOW]
    seen = [*answered, *(text_of(message).rpartition(END_MARKER)[2] for message in at.window)]
    told = all(any(word_of(number) in text for text in seen) for number in range(2, 2 + len(middle)))
    at.count.held += messages
    return {
        **outlook(at, ANSWER),
        "chunked": len(answered) > 1 and told and at.outcome.progressed,
        "shorter_input": len(answered) > 0 and told and at.outcome.progressed,
        "session_usable_after": usable(at),
        "calls": len(at.prompts),
    }


def usable(at: Sitting) -> bool:
    """Whether the conversation goes on: another request is the last message of a legal window that fits."""
    at.talk.add({"role": "user", "content": "And now?"})
    window = at.talk.window()
    fits = at.talk.estimate() <= at.talk.services.facts.window
    return fits and not violations(window) and text_of(window[-1]).endswith("And now?")


ATTEMPTS = re.compile(r"after_attempts<=(\d+)")
MOST_CALLS = 4  # of a model in one attempt: with tries again


def stranded(case: Case, folder: Path) -> Facts:
    """A window that is overrun, and a model that fails each time: the provider refuses, the host shortens or gives up."""
    limits = [int(found[1]) for key in case.expected if (found := ATTEMPTS.match(key))]
    return merged({way: _stranded(case, *limits[:1] or [3], aux=aux) for way, aux in (("one model", False), ("two models", True))})


def _stranded(case: Case, attempts: int, *, aux: bool) -> dict[str, Any]:
    limit, size = int(case.input["context_length"]), int(case.input["estimated_tokens"])
    failure = error_of(case.input["summarizer_raises"])
    scribes = [Scribe(always(failure), name="small")] if aux else []
    at = sitting(*scribes, Scribe(always(failure)), window=limit)
    at.hear(turns(20), price=size // 20)
    said_why = ""
    for _ in range(attempts):
        at.talk.window()
        if at.talk.estimate() <= limit:
            break
        answer: Retry | GiveUp = at.talk.refused(_Refusal(limit, at.talk.estimate()))
        said_why = answer.why if isinstance(answer, GiveUp) else ""
        if said_why:
            break
    calls = len(at.log)
    fits = at.talk.estimate() <= limit
    return {
        "raises": False,
        "fallback_fits": fits and bool(handoffs(at.window)),
        "terminal_message": not fits and bool(said_why.strip()),
        "endless_loop": calls > attempts * MOST_CALLS * (2 if aux else 1) or not (fits or said_why.strip()),
        "says": said_why,
        "notices": "\n".join(at.desk.warnings),
        "user_notice": bool(at.desk.warnings),
        "calls": calls,
        "legal": not violations(at.window),
    }


class _Refusal(Exception):
    """A provider's refusal of a window, as its client raises it."""

    def __init__(self, limit: int, sent: int) -> None:
        words = f"This model's maximum context length is {limit} tokens. However, your messages resulted in {sent} tokens."
        super().__init__(words)
        self.code, self.body = "context_length_exceeded", {"message": words, "code": "context_length_exceeded"}

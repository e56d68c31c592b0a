"""Reading what a model gave back for a summary: the notes in it, or why there are none (hermes.md 7.3, 10.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from host.compressor.faults import Fault, Finding, UnusableAnswer
from host.compressor.finish import unfinished
from host.compressor.judging import UNLIKE_A_SUMMARY, Answer
from host.compressor.reasoning import spoken_parts, without_reasoning
from host.compressor.unwrapping import unwrapped
from host.messages.reading import calls_of, part_text
from host.messages.types import Message, Reply


def read_answer(reply: Reply, *, turns: Sequence[Message], previous: str, prompt: str, asked: int = 0) -> str:
    """The body of the summary in a model's reply, without thoughts, greeting and frame; our headings are written as ours.

    ``turns`` and ``previous`` are what ``prompt`` was made of, ``asked`` the tokens that it asks for (0: not told). Raises
    UnusableAnswer for a reply that is blank, only thought, cut off, refused, a tool call, a service's error report, an echo of
    what was asked, the same again and again, orders or words to the user, or something else than a summary.
    """
    for says in SAID_BY_THE_SERVICE:
        if (finding := says(reply)) is not None:
            raise UnusableAnswer(*finding)
    raw = "\n".join(filter(None, map(part_text, spoken_parts(reply.message)))).strip()
    if not raw:
        raise UnusableAnswer(*_without_a_word(reply.message))
    answer = Answer(_notes(raw), turns, previous, prompt, asked)
    if not answer.text:
        raise UnusableAnswer(Fault.REASONING_ONLY, "it thought, or asked for a tool, and said nothing")
    for unlike, kind, detail in UNLIKE_A_SUMMARY:
        if unlike(answer):
            raise UnusableAnswer(kind, detail)
    return answer.text


def _notes(raw: str) -> str:
    """The notes alone; thoughts may stand around a fence and inside it."""
    text = unwrapped(without_reasoning(raw))
    return unwrapped(without_reasoning(text))


# --- by what the service says ------------------------------------------------------------------------------------


def cut_off(reply: Reply) -> Finding | None:
    """Whether the answer ended before its end, for whatever reason the service gives."""
    return unfinished(reply.finish_reason)


def refused_by_service(reply: Reply) -> Finding | None:
    """Whether the model marked the answer as a refusal."""
    refusal: object = reply.message.get("refusal")
    return (Fault.REFUSED, "the model declined") if isinstance(refusal, str) and refusal.strip() else None


def tool_asked_for(reply: Reply) -> Finding | None:
    """Whether the model went on with the conversation by calling a tool."""
    return (Fault.TOOL_CALL, "it asked for a tool, which is not run") if calls_of(reply.message) else None


SAID_BY_THE_SERVICE: tuple[Callable[[Reply], Finding | None], ...] = (cut_off, refused_by_service, tool_asked_for)


def _without_a_word(message: Message) -> Finding:
    if isinstance(message.get("content"), list) and message.get("content"):
        return Fault.REASONING_ONLY, "it holds no text"
    return Fault.EMPTY, "it holds no text"

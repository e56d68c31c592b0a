"""Kind ``summarizer``: what a summary model is asked, and what becomes of whatever it answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from host.engine.services import Thresholds
from host.messages.reading import text_of
from host.messages.types import Message, Reply
from host.provider.scripted import Scripted
from host.transforms.handoff import END_MARKER, TAG, handoff_text, is_handoff
from tests.cases import overrunning
from tests.cases.case import Case
from tests.cases.described import prose
from tests.cases.facts import Facts, NoDriver
from tests.cases.house import messages_of
from tests.cases.scribe import ANSWER, Scribe, Script, always, error_of, one_by_one, reply_of
from tests.cases.sitting import Sitting, handoffs, merged, narrow_window, outlook, sitting, text_in, turns
from tests.cases.watched import EXACT

ONCE, AGAIN, AMID = "the first time", "with an earlier summary", "with turns around"
AUXILIARY = "auxiliary.compression.model"
SKELETON = "## Goal\nNone\n\n## Critical Context\nNo prior history."
BLANKS = 20  # times that a history without words is repeated, so that it has a middle


# --- one answer or one failure ----------------------------------------------------------------------------------------


def summarise(case: Case, folder: Path) -> Facts:
    """The history compacted by hand: as it stands, after an earlier compaction, and in the middle of other turns."""
    if isinstance(case.input["messages"], str):
        return overrunning.overlong(case)
    messages = messages_of(case.input["messages"])
    if not any(text_of(message).strip() or message.get("tool_calls") for message in messages):
        return merged({ONCE: _seen(case, messages * BLANKS)})
    runs = {ONCE: _seen(case, messages), AGAIN: _seen(case, messages, earlier=True)}
    if any(key.startswith(("summarizer_input", "summarizer_prompt", "summary_not")) for key in case.expected):
        runs[AMID] = _seen(case, amid(messages))
    return merged(runs)


def _seen(case: Case, messages: list[Message], *, earlier: bool = False) -> dict[str, Any]:
    """What is true after the compactions of one history; ``earlier``: it had one before, by a faithful model."""
    at = sitting(*models_of(case, always(faithful(messages))), window=narrow_window(messages), in_place=earlier, **thresholds_of(case))
    at.hear(messages)
    if earlier:
        at.compact()
        at.hear(turns(max(6, len(messages) - 2), first=90))
        at.outcomes.clear()
    for scribe, script in zip(at.scribes, scripts_of(case, len(at.scribes)), strict=True):
        scribe.script = script
    for _ in range(int(case.input.get("compactions", 1))):
        at.compact()
    asked = "\n".join(prompt for scribe in at.scribes for prompt in scribe.prompts)
    return {
        **outlook(at, answer_text(answers_of(case)[-1])),
        **_prompt_facts(at, messages),
        **_error_facts(case, at),
        "summarizer_input": asked,
    }


ANSWERS: dict[str, Callable[[object], Scripted]] = {
    "summarizer_raises_first": error_of,
    "summarizer_returns_first": reply_of,
    "summarizer_second": reply_of,
    "summarizer_returns": reply_of,
    "summarizer_raises": error_of,
}
"""The keys under which a case gives answers, in the order in which they come."""


HEADING = re.compile(r"^## .+(?:\n.+)?", re.MULTILINE)
ECHOES: tuple[tuple[str, Script], ...] = (
    (r"echoes? (?:its|the) prompt", lambda prompt: prompt),
    (r"echoes? the template", lambda prompt: "\n".join(found[0] for found in HEADING.finditer(prompt))),
)
"""Models that give back what they are given, as a case calls them."""


def answers_of(case: Case) -> list[Scripted]:
    """What the model answers, in turn; the last of it for good."""
    given = case.input
    return [read(given[key]) for key, read in ANSWERS.items() if key in given] or [reply_of(ANSWER)]


def scripts_of(case: Case, count: int) -> list[Script]:
    """What each model says: of two the first, which is the configured one, only the first answer, and that always."""
    if "summarizer" in case.input:
        told = (script for pattern, script in ECHOES if re.fullmatch(pattern, str(case.input["summarizer"])))
        script = next(told, None)
        if script is None:
            raise NoDriver(f"no driver reads {case.input['summarizer']!r} as a model")
        return [script] * count
    answers = answers_of(case)
    return [one_by_one(*answers)] if count == 1 else [always(answers[0]), one_by_one(*answers[1:] or answers)]


def models_of(case: Case, script: Script) -> list[Scribe]:
    """The configured summary model, if the case has one, then the main model."""
    small = dict(case.input.get("config", {})).get(AUXILIARY)
    return [Scribe(script, name=small), Scribe(script)] if small else [Scribe(script)]


def thresholds_of(case: Case) -> dict[str, Any]:
    """What the case configures of the ``compression`` section."""
    known = {field.name for field in fields(Thresholds)}
    configured = {str(key).removeprefix("compression."): value for key, value in dict(case.input.get("config", {})).items()}
    return {key: value for key, value in configured.items() if key in known}


def faithful(messages: list[Message]) -> str:
    """A summary in which all that the user said stands."""
    said_by_user = "\n".join(f"- {text_of(message)}" for message in messages if message.get("role") == "user" and text_of(message).strip())
    return f"## Goal\nport parser\n\n## Critical Context\n{said_by_user}"


def amid(messages: list[Message]) -> list[Message]:
    """The messages between an opening and some turns after them: they are the middle, or most of it."""
    opening: list[Message] = [] if messages[0].get("role") in ("system", "user") else [{"role": "user", "content": "Please begin."}]
    closing = turns(6, first=80)
    return [*opening, *messages, *(closing[1:] if messages[-1].get("role") == "user" else closing)]


def answer_text(answer: Scripted) -> str:
    """The words of an answer, none of a failure."""
    return text_of(answer.message) if isinstance(answer, Reply) else answer if isinstance(answer, str) else ""


LANGUAGE = re.compile(r"\blanguage\b.{0,80}\b(?:user|conversation|turns)\b|\b(?:user|conversation|turns)\b.{0,80}\blanguage\b", re.DOTALL)
LABEL = re.compile(r"^\[([^\]\n]+)\]:?", re.MULTILINE)


def _prompt_facts(at: Sitting, messages: list[Message]) -> dict[str, Any]:
    results = [text_of(message) for message in messages if message.get("role") == "tool" and text_of(message).strip()]
    return {
        "summarizer_prompt_requests_conversation_language": bool(at.prompts) and all(map(LANGUAGE.search, at.prompts)),
        "tool_output_labelled": all(_labels(prompt, text) for prompt in at.prompts for text in results) if at.prompts else None,
        "prompts": len(at.prompts),
    }


def _labels(prompt: str, text: str) -> bool:
    """Whether every line of a tool's output stands under a tool's label, wherever it is quoted."""
    lines = [line for line in text.splitlines() if line.strip()]
    if lines[0] not in prompt:
        return True  # shortened, or in no chunk of this prompt
    return all(_under_tool(prompt, found.start()) for line in lines for found in re.finditer(re.escape(line), prompt))


def _under_tool(prompt: str, place: int) -> bool:
    labels = list(LABEL.finditer(prompt, 0, place))
    return bool(labels) and "TOOL" in labels[-1][1].upper() and "USER" not in labels[-1][1].upper()


def _error_facts(case: Case, at: Sitting) -> dict[str, Any]:
    texts = [str(case.input[key]) for key in ("summarizer_raises", "summarizer_raises_first") if key in case.input]
    pieces = [piece.strip() for text in texts for piece in (text, *text.split(":")) if len(piece.strip()) > len("HTTP 500")]
    seen = text_in(handoffs(at.window))
    return {"summary_contains_error_text": any(piece in seen for piece in pieces)}


# --- an earlier summary -----------------------------------------------------------------------------------------------


def nothing_new(case: Case, folder: Path) -> Facts:
    """A window that begins with an earlier summary, and nothing to summarise behind it but what the case gives."""
    new = messages_of(case.input.get("messages_to_summarize", []))
    return merged({way: _seen_with(case, new, price) for way, price in (("with room", 10), ("over the threshold", 1_000))})


def _seen_with(case: Case, new: list[Message], price: int) -> dict[str, Any]:
    earlier: Message = {"role": "user", "content": handoff_text(case.input["previous_summary"])}
    messages: list[Message] = [{"role": "system", "content": "You are an agent."}, earlier, *new, *turns(4)[1:]]
    answer = case.input.get("summarizer_returns", SKELETON)
    at = sitting(Scribe(always(reply_of(answer))), window=narrow_window(messages, 1_000))
    for message in messages:
        at.hear([message], EXACT.message(message) if is_handoff(message) else price)
    at.compact()
    return outlook(at, str(answer))


def stale(case: Case, folder: Path) -> Facts:
    """A summary with old business in it, and a newest request about something else."""
    runs = {way: _stale(case, in_place) for way, in_place in (("rotating", False), ("in place", True))}
    return merged(runs)


def _stale(case: Case, in_place: bool) -> dict[str, Any]:
    latest: Message = {"role": "user", "content": case.input["latest_user"]}
    messages: list[Message] = [{"role": "system", "content": "You are an agent."}, *turns(10), latest]
    at = sitting(Scribe(always(reply_of(case.input["summary"]))), window=narrow_window(messages), in_place=in_place)
    at.hear(messages)
    at.compact()
    texts = [text_of(message) for message in at.window]
    summary = next((text for text in texts if text.startswith(TAG)), "")
    marker = "\n".join(texts).rfind(END_MARKER)
    return {
        **outlook(at, case.input["summary"]),
        "summary_has_reference_only_prefix": summary.startswith(TAG) and flat_has(summary, case.input["summary"]),
        "end_marker_before_latest_user": 0 <= marker < "\n".join(texts).rfind(text_of(latest)),
        "last_message": texts[-1].rpartition(END_MARKER)[2].strip() or texts[-1],
        "last_role": at.window[-1].get("role"),
    }


def flat_has(text: str, piece: str) -> bool:
    """Whether a text holds a piece, gaps apart."""
    return " ".join(piece.split()) in " ".join(text.split())


ECHO = re.compile(r"echo previous summary \+ ([\d,]+) chars")


def growing(case: Case, folder: Path) -> Facts:
    """Rounds of new turns and a compaction, with a model that writes down its last answer and more."""
    found = ECHO.search(str(case.input.get("summarizer")))
    if found is None:
        raise NoDriver(f"no driver reads {case.input.get('summarizer')!r} as a model")
    more = int(found[1].replace(",", ""))
    return merged({way: _grown(case, more, in_place) for way, in_place in (("rotating", False), ("in place", True))})


def _grown(case: Case, more: int, in_place: bool) -> dict[str, Any]:
    written = ["## Critical Context"]

    def echo(prompt: str) -> str:
        written.append(f"{written[-1]}\n{prose(more)}")
        return written[-1]

    at = sitting(Scribe(echo), window=narrow_window(range(20)), in_place=in_place)
    sizes, windows = [], []
    for number in range(int(case.input["rounds"])):
        at.hear(turns(20, first=1 + 10 * number))
        at.compact()
        sizes.append(EXACT.text(outlook(at)["stored_summary"]))
        windows.append(at.outcome.after)
    return {
        **outlook(at),
        "stored_summary_tokens": sizes,
        "max_summary_tokens": at.engine.budgets.summary,
        "most_handoffs": len(handoffs(at.window)),
        "window_tokens": windows,
        "threshold": at.engine.budgets.threshold,
    }

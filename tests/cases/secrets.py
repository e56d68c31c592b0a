"""Kind ``secrets``: what a summary model is sent of them, and what of them a summary keeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from host.messages.types import Message
from tests.cases.case import Case
from tests.cases.facts import Each, Facts, NoDriver
from tests.cases.scribe import Scribe, always, error_of, reply_of
from tests.cases.sitting import merged, narrow_window, outlook, sitting, turns


def _called(text: str, result: str) -> list[Message]:
    call: Any = {"id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": json.dumps({"command": text})}}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_1", "content": result}]


PLACES: dict[str, Callable[[str], list[Message]]] = {
    "said by the user": lambda text: [{"role": "user", "content": text}, {"role": "assistant", "content": "noted"}],
    "said by the assistant": lambda text: [{"role": "user", "content": "and now?"}, {"role": "assistant", "content": text}],
    "in a tool's result": lambda text: [{"role": "user", "content": "look"}, *_called("cat", text)],
    "in a call": lambda text: [{"role": "user", "content": "run it"}, *_called(text, "done")],
    "in one part of several": lambda text: [
        {"role": "user", "content": [{"type": "text", "text": "this"}, {"type": "text", "text": text}]},
        {"role": "assistant", "content": "noted"},
    ],
}
"""Where a text can stand in a conversation."""


def passed_on(case: Case, folder: Path) -> Facts:
    """The texts in the middle, at every place; the model writes all it was told and the texts as they were, or there is none."""
    texts = case.input["texts"]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise NoDriver(f"no driver reads {texts!r} as texts")
    leak = "## Critical Context\n" + "\n".join(f"- {text}" for text in texts)
    runs = {place: _passed_on(texts, make, Scribe(always(reply_of(leak)))) for place, make in PLACES.items()}
    bare = {f"{place}, without a model": _passed_on(texts, make) for place, make in PLACES.items()}
    facts = merged({**runs, **bare})
    unchanged = {place: all(_written(text, place) in run["summarizer_input"] for text in texts) for place, run in runs.items()}
    return {**facts, "summary_input_unchanged": Each(unchanged), "texts_in_summary": Each(_shown(texts, runs))}


def _passed_on(texts: list[str], make: Callable[[str], list[Message]], *scribes: Scribe) -> dict[str, Any]:
    middle = [message for text in texts for message in make(text)]
    messages: list[Message] = [{"role": "system", "content": "You are an agent."}, *_numbered(middle), *turns(6)]
    at = sitting(*scribes, window=narrow_window(messages))
    at.hear(messages)
    at.compact()
    return outlook(at)


def _numbered(messages: list[Message]) -> list[Message]:
    """The messages with an id of its own for each call."""
    made: list[Any] = []
    for number, message in enumerate(messages):
        if message.get("tool_calls"):
            made.append({**message, "tool_calls": [{**call, "id": f"call_{number}"} for call in message["tool_calls"] or []]})
        elif message.get("role") == "tool":
            made.append({**message, "tool_call_id": f"call_{number - 1}"})
        else:
            made.append(message)
    return made


def _written(text: str, place: str) -> str:
    """A text as it stands at a place: in a call it is JSON."""
    return json.dumps(text)[1:-1] if place == "in a call" else text


def _shown(texts: list[str], runs: dict[str, dict[str, Any]]) -> dict[str, bool]:
    """Per place whether a summary that quotes the texts is kept as it was written."""
    return {place: all(text in run["stored_summary"] for text in texts) for place, run in runs.items()}


def written_back(case: Case, folder: Path) -> Facts:
    """A model that writes secrets into its summary, though it was sent none: in a first and in a second compaction."""
    answer = case.input["summarizer_returns"]
    messages: list[Message] = [{"role": "system", "content": "You are an agent."}, *turns(10)]
    at = sitting(Scribe(always(reply_of(answer))), window=narrow_window(messages))
    at.hear(messages)
    at.compact()
    first = outlook(at)
    at.hear(turns(10, first=90))
    at.compact()
    return merged({"the first time": first, "with an earlier summary": outlook(at)})


def without_a_model(case: Case, folder: Path) -> Facts:
    """A secret in the middle and a model that fails: the summary is made of the text itself."""
    text, error = case.input["middle_contains"], error_of(case.input["summarizer_raises"])
    runs = {place: _passed_on([text], make, Scribe(always(error), name="small"), Scribe(always(error))) for place, make in PLACES.items()}
    return merged(runs)

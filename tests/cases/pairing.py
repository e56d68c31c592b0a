"""Kind ``pairing``: calls and their results, in lists that are sanitised, pruned, compacted, or cut by a careless engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from host.engine.contract import ContextEngine
from host.engine.services import Ask, Thresholds
from host.errors import UsageError
from host.messages.reading import call_arguments, call_id, calls_of, is_system, parsed_arguments
from host.messages.types import Message
from host.messages.violations import violations
from host.transforms.handoff import handoff_text
from host.transforms.prune import prune
from host.transforms.sanitize import repair_pairs
from tests.cases.case import Case
from tests.cases.facts import Each, Facts
from tests.cases.keeping import tool_results
from tests.cases.watched import EXACT, Priced, Stage, Watched, services, stage

MESSAGE = 1_000  # tokens of each message of a case: what the host adds to a compacted list is small beside them
SUMMARY = 400  # tokens
SANITISED, PRUNED = "sanitised", "pruned"


@dataclass
class Runs:
    """The lists that came out, by the way they went, and what the compactions did."""

    lists: dict[str, list[Message]] = field(default_factory=dict)
    early: int = 0  # calls of compress while tool calls waited for their results
    calls: int = 0  # all calls of compress
    passes: int = 0


def repair(case: Case, folder: Path) -> Facts:
    """All ways of the history through the product, and what is true of the lists that come out."""
    messages, passes = case.input["messages"], int(case.expected.get("after_passes", 1))
    given, runs = deepcopy(messages), Runs(passes=passes)
    runs.lists[SANITISED] = repair_pairs(messages)
    runs.lists[PRUNED] = list(prune(runs.lists[SANITISED], cost=EXACT.message, protect_last=case.input.get("protect_last_n", 20)))
    for way, ask in (("compacted with a model", answer), ("compacted without a model", None)):
        compact(case, way, compacting(case, ask), runs)
    if "cut_index" in case.input:
        compact(case, "cut by an engine", cutting(case), runs)
    return {**facts_of(runs, messages), **tool_results(messages, folder), "messages_unchanged": given == messages}


def answer(prompt: str, *, max_tokens: int | None = None, timeout: float | None = None) -> str:
    """A summary model's answer."""
    return "What was said before."


def compacting(case: Case, ask: Ask | None) -> Stage:
    """The built-in engine; with ``max_tokens`` in a window of that size, else so that the history has a middle."""
    given = case.input
    wanted = Thresholds(protect_first_n=given.get("protect_first_n", 3), protect_last_n=given.get("protect_last_n", 20))
    if "max_tokens" in given:
        return stage(Watched, services(window=given["max_tokens"], ask=ask, thresholds=wanted))
    return stage(Watched, services(window=10_000_000, count=priced(given["messages"]), ask=ask, thresholds=wanted))


def priced(messages: list[Message]) -> Priced:
    """The same cost for every message of the case."""
    count = Priced()
    for message in messages:
        count.price(message, MESSAGE)
    return count


def narrow(on: Stage, case: Case) -> None:
    """Budgets of which the messages overrun the threshold; the tail reaches to ``cut_index``, by tokens alone."""
    engine, given = on.engine, case.input
    if not isinstance(engine, Watched) or "max_tokens" in given:
        return
    count = len(given["messages"])
    kept = count - given.get("cut_index", count - 1)
    threshold = max(3 * MESSAGE * count // 4, 2 * MESSAGE)
    tail = given.get("tail_token_budget", -(-kept * MESSAGE * 2 // 3))
    engine.budgets = replace(engine.budgets, threshold=threshold, tail=tail, summary=SUMMARY)
    engine.threshold_tokens = threshold


class Careless(ContextEngine):
    """Cuts where it is told to, whatever stands there."""

    name = "careless"
    api = 1

    def __init__(self, cut: int) -> None:
        self.cut = cut
        self.called = 0

    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Count nothing."""

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return False

    def compress(self, messages: list[Message], *_: Any, **__: Any) -> list[Message]:
        self.called += 1
        return [*filter(is_system, messages[:1]), {"role": "user", "content": handoff_text("What was said.")}, *messages[self.cut :]]


def cutting(case: Case) -> Stage:
    """A careless engine of somebody else: the host mends what it returns."""
    return stage(lambda given: Careless(case.input["cut_index"]), services(count=priced(case.input["messages"])))


def compact(case: Case, way: str, on: Stage, runs: Runs) -> None:
    """Compact as often as asked; where calls still wait, first see that nothing happens, then give them their results."""
    messages = case.input["messages"]
    for message in with_pending(messages, case.input.get("pending_before_compaction", [])):
        on.conversation.add(message)
    narrow(on, case)
    if open_calls(messages):
        on.conversation.window()
        refused_to_wait(on)
        runs.early += called(on)
        for key in open_calls(messages):
            on.conversation.add({"role": "tool", "tool_call_id": key, "content": "late"})
    for number in range(1, runs.passes + 1):
        on.conversation.compact()
        if on.conversation.view.version or not violations(messages):  # nothing was made of a broken list: there is nothing to judge
            runs.lists[f"{way}, pass {number}"] = list(on.conversation.view.messages)
    runs.calls += called(on)


def with_pending(messages: list[Message], pending: list[str]) -> list[Message]:
    """The history, before it calls whose results never came."""
    leading = next((index for index, message in enumerate(messages) if not is_system(message)), len(messages))
    calls: list[Message] = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": key, "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        }
        for key in pending
    ]
    before: list[Message] = [{"role": "user", "content": "before"}] if pending else []
    return [*messages[:leading], *before, *calls, *messages[leading:]]


def refused_to_wait(on: Stage) -> None:
    """Ask for a compaction by hand in the middle of a tool group; the host says no."""
    try:
        on.conversation.compact()
    except UsageError:
        return


def called(on: Stage) -> int:
    """How often the engine was."""
    return cast("Watched | Careless", on.engine).called


def open_calls(messages: list[Message]) -> list[str]:
    """Ids at the end of the history that still wait for a result."""
    end = len(messages)
    while end and messages[end - 1].get("role") == "tool":
        end -= 1
    answered = {str(message.get("tool_call_id")) for message in messages[end:]}
    return [call_id(call) for call in calls_of(messages[end - 1]) if call_id(call) not in answered] if end else []


# --- what is true of a list --------------------------------------------------------------------------------------


def facts_of(runs: Runs, given: list[Message]) -> dict[str, Any]:
    """The facts by the keys that cases use for them."""
    sanitised, pruned = runs.lists[SANITISED], runs.lists[PRUNED]
    arguments = [call_arguments(call) for message in pruned for call in calls_of(message)]
    return {
        "every_tool_message_follows_its_assistant_tool_calls_block": _each(runs, results_follow_their_calls),
        "every_tool_call_id_has_exactly_one_result": _each(runs, calls_have_one_result),
        "no_orphan_results": _each(runs, results_follow_their_calls),
        "violations": _each(runs, lambda messages: len(violations(messages))),
        "ids": _each(runs, ids_in),
        "kept": sorted(answered_ids(sanitised)),
        "first_role": _each(runs, lambda messages: first_role(messages)),
        "last_role": _each(runs, lambda messages: str(messages[-1].get("role")) if messages else ""),
        "tool_messages": sum(message.get("role") == "tool" for message in sanitised),
        "message_count": len(sanitised),
        "after_passes": runs.passes,
        "synthetic_results_for_ids_not_in_list": _each(runs, lambda messages: invented(messages, given)),
        "compress_called": bool(runs.early if open_calls(given) else runs.calls),
        "deferred": runs.early == 0 < runs.calls,
        "json_loads_ok": _each(runs, lambda messages: all(map(is_json, every_argument(messages)))),
        "arguments": max(map(len, arguments), default=0),
        "assistant_blocks_with_*": lambda key: sum(key in map(call_id, calls_of(message)) for message in sanitised),
        "results_for_*": lambda key: sum(message.get("tool_call_id") == key for message in sanitised),
        "content_of_*": lambda key: next((m.get("content") for m in sanitised if m.get("tool_call_id") == key), None),
        "*_kept": lambda key: next((value for value in argument_values(pruned, key)), None),
    }


def _each(runs: Runs, about: Any) -> Each:
    return Each({way: about(messages) for way, messages in runs.lists.items()})


def blocks(messages: Sequence[Message]) -> Iterator[tuple[list[str], list[str]]]:
    """Per message that is no result: the ids that it calls, and the ids of the results directly after it."""
    called: list[str] = []
    results: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            results.append(str(message.get("tool_call_id")))
            continue
        yield called, results
        called, results = [call_id(call) for call in calls_of(message)], []
    yield called, results


def results_follow_their_calls(messages: Sequence[Message]) -> bool:
    """No result stands anywhere but directly behind the message that calls it."""
    return all(set(results) <= set(called) for called, results in blocks(messages))


def calls_have_one_result(messages: Sequence[Message]) -> bool:
    """Every call has one result behind it, none has two, and no id is called twice at once."""
    return all(sorted(called) == sorted(results) for called, results in blocks(messages) if called)


def answered_ids(messages: Sequence[Message]) -> set[str]:
    """Ids that are called and answered."""
    return {key for called, results in blocks(messages) for key in called if key in results}


def ids_in(messages: Sequence[Message]) -> list[str]:
    """Ids of all calls and results."""
    return sorted({key for called, results in blocks(messages) for key in (*called, *results)})


def first_role(messages: Sequence[Message]) -> str:
    """The role that begins the conversation after the system prompt."""
    return next((str(message.get("role")) for message in messages if not is_system(message)), "")


def invented(messages: Sequence[Message], given: Sequence[Message]) -> int:
    """Results that the history does not have, for calls that the list does not have either."""
    real = {str(message.get("tool_call_id")) for message in given if message.get("role") == "tool"}
    calls = {call_id(call) for message in messages for call in calls_of(message)}
    results = (str(message.get("tool_call_id")) for message in messages if message.get("role") == "tool")
    return sum(key not in real and key not in calls for key in results)


def every_argument(messages: Sequence[Message]) -> list[str]:
    """The argument texts of all calls."""
    return [call_arguments(call) for message in messages for call in calls_of(message)]


def argument_values(messages: Sequence[Message], key: str) -> list[Any]:
    """What all calls have under this key."""
    calls = (parsed_arguments(call) for message in messages for call in calls_of(message))
    return [arguments[key] for arguments in calls if key in arguments]


def is_json(text: str) -> bool:
    """Whether a text can be parsed."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True

"""The first phase, without a model: hermes.md 5.1, 6.5, 15.1, 18.1."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from host.messages.redact import redact
from host.messages.types import Message
from host.messages.violations import violations
from host.transforms.digests import digest
from host.transforms.media import STRIPPED, strip_historical_media
from host.transforms.prune import prune, shrink_json
from host.transforms.sanitize import STUB, repair_pairs
from tests.golden.reading import Driver, Golden
from tests.reference_cost import tail_cost

DEDUPLICATED_CHARS = 40  # how much of each result the case shows


def oneline(case: Golden) -> None:
    assert digest(case.input["tool"], arguments_of(case.input["arguments_json"]), case.input["content"]) == case.output


def arguments_of(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def arguments(case: Golden) -> None:
    assert shrink_json(case.input["arguments"]) == case.output


def pruned(case: Golden) -> None:
    given = deepcopy(case.input["messages"])
    found = prune(
        given,
        cost=tail_cost,
        protect_last=case.input["protect_tail_count"],
        tail_budget=case.input.get("protect_tail_tokens", 0),
    )
    shown: dict[str, Any] = {
        "messages": list(found),
        "contents": [message["content"] for message in found],
        "args": [call["function"]["arguments"] for message in found for call in message.get("tool_calls") or []],
        "pruned": found.shortened,
    }
    assert {key: shown[key] for key in case.output} == case.output
    assert given == case.input["messages"], "the input is not touched"


def deduplicated(case: Golden) -> None:
    for length, expected in zip(case.input["lengths"], case.output, strict=True):
        results: list[Message] = [{"role": "tool", "tool_call_id": key, "content": "q" * length} for key in ("a", "b")]
        found = prune(results, cost=tail_cost, protect_last=20, tail_budget=100_000)
        assert [str(message["content"])[:DEDUPLICATED_CHARS] for message in found] == expected


def sanitized(case: Golden) -> None:
    given = deepcopy(case.input["messages"])
    assert repair_pairs(given) == case.output
    assert given == case.input["messages"]


def stubbed(case: Golden) -> None:
    """The reference takes the call out; the seed leaves it and puts a stub behind the results that there are."""
    given = case.input["messages"]
    call = next(index for index, message in enumerate(given) if message.get("tool_calls"))
    results = call + 1
    while given[results]["role"] == "tool":
        results += 1
    answered = {message["tool_call_id"] for message in given[call + 1 : results]}
    missing = [entry["id"] for entry in given[call]["tool_calls"] if entry["id"] not in answered]
    stubs = [{"role": "tool", "tool_call_id": key, "content": STUB} for key in missing]
    repaired = repair_pairs(given)
    assert missing
    assert repaired == [*given[:results], *stubs, *given[results:]]
    assert violations(repaired) == []


def historical_media(case: Golden) -> None:
    assert strip_historical_media(case.input["messages"]) == case.output


def historical_media_of_tools(case: Golden) -> None:
    before, result, after = strip_historical_media(case.input["messages"])
    assert [before, after] == [case.input["messages"][0], case.input["messages"][2]]
    assert result == {**case.input["messages"][1], "content": [{"type": "text", "text": STRIPPED}]}


def redacted(case: Golden) -> None:
    text = case.input["text"]
    assert [redact(text), redact(text, url_credentials=True)] == case.output


DRIVERS: dict[str, Driver] = {
    "oneline_*": oneline,
    "args_*": arguments,
    "prune_*": pruned,
    "dedup_*": deduplicated,
    "sanitize_orphan_result": sanitized,
    "sanitize_call_id_preferred": sanitized,
    "sanitize_clean": sanitized,
    "sanitize_orphan_call_*": stubbed,
    "sanitize_partial_parallel": stubbed,
    "historical_media_two_image_turns": historical_media,
    "historical_media_only_first": historical_media,
    "historical_media_tool_image_only": historical_media_of_tools,
    "redact_*": redacted,
}

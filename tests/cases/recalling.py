"""Kind ``archive``, the agent's own tools: what they may reach, how they take arguments, what they find in a copied reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from host.recall.boundary import Boundary
from host.recall.grep import MOST_HITS
from host.recall.recall import Recall
from host.recall.references import id_in, reference_in
from host.store.memory import MemoryStore
from host.tokens.estimate import estimate_text
from tests.cases.case import Case
from tests.cases.facts import Facts, NoDriver
from tests.cases.house import messages_of

ENOUGH = MOST_HITS + 10  # messages that hold the text: more than one answer may have
FOUND = "x"  # what the cases with arguments look for


def scoped(case: Case, folder: Path) -> Facts:
    """Sessions with their texts; a search from within the active one."""
    store, names = MemoryStore(), {}
    for name, texts in case.input["sessions"].items():
        names[name] = store.sessions.create(title=name, about={"working_directory": f"/srv/{name}"}).conversation
        store.archive(names[name]).extend(messages_of(texts))
    if case.input.get("active") not in names:
        raise NoDriver(f"no driver knows the active session {case.input.get('active')!r}")
    boundary = Boundary(conversation=names[case.input["active"]], everything=case.input.get("may_reach") == "everything")
    answer = Recall(store, boundary, count=estimate_text).call("lcm_grep", case.input["lcm_grep"])
    hits = [] if answer.is_error else json.loads(answer.text)["hits"]
    return {"hits": len(hits), "says": answer.text, "is_error": answer.is_error, "sessions": sorted({hit["session"] for hit in hits})}


def called(case: Case, folder: Path) -> Facts:
    """Calls with all sorts of arguments, in an archive with more hits than one answer may have."""
    tools = ("lcm_grep", "lcm_expand")
    given = [(tool, arguments) for tool in tools for arguments in case.input.get(f"{tool}_args", ())]
    store = MemoryStore()
    conversation = store.sessions.create(title="work").conversation
    store.archive(conversation).extend(messages_of([FOUND] * ENOUGH))
    recall = Recall(store, Boundary(conversation=conversation), count=estimate_text)
    answers = [(recall.call(tool, arguments), tool) for tool, arguments in given]
    read: list[tuple[Any, bool, str]] = [(json.loads(answer.text), answer.is_error, tool) for answer, tool in answers]
    return {
        "max_results": max(len(told.get("hits", told.get("messages", ()))) for told, _, _ in read),
        "hits": [len(told["hits"]) for told, is_error, tool in read if tool == "lcm_grep" and not is_error],
        "messages": [len(told["messages"]) for told, is_error, tool in read if tool == "lcm_expand" and not is_error],
        "errors": sum(is_error for _, is_error, _ in read),
        "all_are_readable_errors": all(is_error and _is_readable(told) for told, is_error, _ in read),
        "errors_are_readable": all(_is_readable(told) for told, is_error, _ in read if is_error),
        "documented_cap": MOST_HITS,
        "says": " ".join(answer.text for answer, _ in answers),
    }


def resolved(case: Case, folder: Path) -> Facts:
    """What is meant by an id that was copied with all that stood around it."""
    given = case.input["id"]
    found = reference_in(given)
    return {
        "resolved_id": id_in(given) if isinstance(given, str) and (found is None or found.first is None) else found and found.id,
        "resolved_position": found and found.first,
    }


def _is_readable(told: Any) -> bool:
    """Whether an error names the argument, what it should be, and shows a right call."""
    error = told.get("error", {})
    return all(isinstance(error.get(key), str) and error[key] for key in ("what", "where", "expected")) and bool(told.get("right_form"))

"""Claude Code session files: one content block a line, linked by ``uuid`` and ``parentUuid``.

The pieces of one answer share ``message.id`` and become one assistant message. What the client wrote for itself (snapshots,
progress, titles) is passed over; what it added to the conversation (a compaction's summary, notes marked ``isMeta``) was sent
to the model and stays. A prompt that was handed to the model in the middle of a turn stands in the client's queue operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from host.formats.assembly import Assembly, AssistantTurn
from host.formats.branches import Line, branches
from host.formats.content import content_from, part_from, text_part
from host.formats.loose import keyed, listed, objects_in, text_under
from host.formats.queued import QUEUE, PromptQueue
from host.formats.source import Source, kind_of
from host.formats.transcript import Draft
from host.messages.types import JSON, Message

OWN_TYPES = frozenset({"file-history-snapshot", QUEUE, "custom-title", "ai-title", "agent-name", "last-prompt"})
SPEAKERS = frozenset({"user", "assistant"})
THINKING = frozenset({"thinking", "redacted_thinking"})
SYNTHETIC = "<synthetic>"  # stands for the model where the client itself wrote the answer


def recognises(source: Source) -> bool:
    """Lines of type user or assistant around a message, or lines that only this client writes."""
    return any(map(_is_line, source.objects))


def read(source: Source) -> Iterator[Draft]:
    """The conversation that was live at the end, then abandoned branches that got an answer, then side chains of agents."""
    left_out: Counter[str] = Counter()
    threads = _threads(source, left_out)
    for name in sorted(threads, key=bool):  # the main conversation has no name and comes before its side chains
        title = name or _session_id(threads[name]) or source.path.stem
        for draft in _drafts(threads[name], title):
            yield replace(draft, left_out=left_out + Counter(draft.left_out))
            left_out.clear()


def _threads(source: Source, left_out: Counter[str]) -> dict[str, list[Line]]:
    """The lines of the main conversation and of each side chain; lines written twice are counted, not kept."""
    threads: dict[str, list[Line]] = {}
    names: dict[str, str] = {}
    seen: set[str] = set()
    queue = PromptQueue()
    for number, row in source.rows():
        if row.get("type") == QUEUE:
            _hand_over(queue, number, row, threads)
            continue
        line = line_of(number, row)
        if line is None:
            continue
        if line.uuid in seen:
            left_out["repeated lines"] += 1
            continue
        seen.add(line.uuid)
        chain = chain_of(line, row, names)
        is_repeated = not chain and line.message is not None and queue.repeats(number, row, line)
        threads.setdefault(chain, []).append(replace(line, message=None) if is_repeated else line)
    return threads


def _hand_over(queue: PromptQueue, number: int, row: JSON, threads: dict[str, list[Line]]) -> None:
    """Join a prompt that was handed to the model to what the newest line of the main conversation says."""
    queued = queue.operate(number, row)
    if queued is None:
        return
    queue.hand_over(queued, number)
    lines = threads.setdefault("", [])
    place = next((place for place in range(len(lines) - 1, -1, -1) if lines[place].message), None)
    if place is None:
        lines.append(Line(queued.key, "", {"role": "user", "content": queued.content}))
    else:
        lines[place] = replace(lines[place], meanwhile=(*lines[place].meanwhile, queued.content))


def _is_line(row: JSON) -> bool:
    if text_under(row, "type") in SPEAKERS:
        return isinstance(row.get("message"), dict) and not row.keys().isdisjoint({"uuid", "parentUuid", "sessionId", "session_id"})
    return text_under(row, "type") in OWN_TYPES or (row.get("type") == "summary" and "leafUuid" in row)


def fault_of(row: JSON) -> str:
    """What is wrong with a line of the user or the assistant whose message is no object; empty where nothing is."""
    message = row.get("message")
    if text_under(row, "type") not in SPEAKERS or isinstance(message, dict) or row.get("isVisibleInTranscriptOnly"):
        return ""
    return f"its message should be an object, this is {kind_of(message)}" if "message" in row else "it has no message"


def line_of(number: int, row: JSON) -> Line | None:
    """A row as a link of the chain, whatever it holds; None for rows that stand outside of it."""
    message = MESSAGES.get(text_under(row, "type"), _no_message)(row)
    uuid = text_under(row, "uuid")
    if not uuid and message is None:
        return None
    blocks = objects_in(keyed(message).get("content"))
    return Line(
        uuid=uuid or f"line {number}",
        parent=text_under(row, "parentUuid", "logicalParentUuid"),
        message=message,
        answer=text_under(keyed(message), "id"),
        calls=frozenset(text_under(block, "id") for block in blocks if _is_call(block)),
        results=frozenset(text_under(block, "tool_use_id") for block in blocks if _is_result(block)),
        session=text_under(row, "sessionId", "session_id"),
        is_error=bool(row.get("isApiErrorMessage")),
    )


def _no_message(row: JSON) -> JSON | None:
    """A row that put nothing before the model."""
    return None


def _spoken(row: JSON) -> JSON | None:
    """What was said, unless it is for the eye only; a compaction's summary is marked as that too, but was sent."""
    message = row.get("message")
    hidden = row.get("isVisibleInTranscriptOnly") and not row.get("isCompactSummary")
    return {**message, "role": text_under(message, "role") or row["type"]} if isinstance(message, dict) and not hidden else None


def _local_command(row: JSON) -> JSON | None:
    local = row.get("subtype") == "local_command" and text_under(row, "content")
    return {"role": "user", "content": local} if local else None


def _queued_prompt(row: JSON) -> JSON | None:
    attachment = keyed(row.get("attachment"))
    return {"role": "user", "content": attachment.get("prompt")} if attachment.get("type") == "queued_command" else None


def chain_of(line: Line, row: JSON, roots: dict[str, str]) -> str:
    """The chain that a line belongs to: empty for the main conversation, for a side chain the agent's id or its first line.

    ``roots`` remembers the side chains whose lines name no agent.
    """
    if not row.get("isSidechain"):
        return ""
    if agent := text_under(row, "agentId"):
        return agent
    return roots.setdefault(line.uuid, roots.get(line.parent) or line.uuid)


def _session_id(lines: list[Line]) -> str:
    return next((line.session for line in reversed(lines) if line.session), "")


def _drafts(lines: list[Line], title: str) -> Iterator[Draft]:
    live, *left = branches(lines)
    abandoned = {line.uuid for line in lines if line.message}.difference(line.uuid for branch in (live, *left) for line in branch)
    yield _draft(live, title, Counter({"lines of abandoned branches": len(abandoned)}))
    for number, branch in enumerate(left, start=1):
        yield _draft(branch, f"{title} branch {number}", Counter())


def _draft(branch: list[Line], title: str, left_out: Counter[str]) -> Draft:
    left_out["error notices of the client"] = sum(line.is_error for line in branch)
    return Draft(_assembled(branch), title, model=_newest_model(branch), left_out=left_out)


def _newest_model(lines: list[Line]) -> str | None:
    return next(filter(None, (model_of(line.message) for line in reversed(lines) if line.message and not line.is_error)), None)


def model_of(message: JSON) -> str:
    """The model that wrote a message, empty where none did."""
    named = text_under(message, "model") if message.get("role") == "assistant" else ""
    return "" if named == SYNTHETIC else named


def _assembled(lines: list[Line]) -> list[Message]:
    assembly = Assembly()
    for line in lines:
        if line.message and not line.is_error:
            add_message(assembly, line.message)
        for content in line.meanwhile:
            assembly.interject(content_from(content))
    return assembly.messages()


def add_message(assembly: Assembly, message: JSON) -> None:
    """Add what one line says: a piece of an answer, results, a prompt."""
    if message["role"] == "assistant":
        _add_answer(assembly, message)
    else:
        _add_user(assembly, message)


def _add_answer(assembly: Assembly, message: JSON) -> None:
    """Add a piece of an answer to the pieces before it, or begin a new one."""
    key, content = text_under(message, "id"), message.get("content")
    turn = assembly.turn if key and assembly.turn is not None and assembly.turn.key == key else assembly.answer(key)
    blocks = [content] if isinstance(content, str) and content else listed(content)
    for block in blocks:
        _add_block(assembly, turn, keyed(block) or text_part(str(block)))


def _add_block(assembly: Assembly, turn: AssistantTurn, block: JSON) -> None:
    if _is_call(block):
        turn.call(text_under(block, "id"), text_under(block, "name"), block.get("input"))
    elif _is_result(block):  # of a tool that the provider ran itself
        assembly.result(text_under(block, "tool_use_id"), content_from(block.get("content")))
    elif text_under(block, "type") in THINKING:
        turn.reasoning.extend(filter(None, [text_under(block, "thinking")]))
    else:
        turn.parts.append(part_from(block))


def _add_user(assembly: Assembly, message: JSON) -> None:
    """Results come before the text of the same line: a provider wants them right behind their calls."""
    role, content = str(message["role"]), message.get("content")
    results = [block for block in objects_in(content) if _is_result(block)]
    for block in results:
        assembly.result(text_under(block, "tool_use_id"), content_from(block.get("content")))
    spoken = [block for block in listed(content) if block not in results]
    if spoken or not results:
        assembly.say(role, content_from(spoken or content))


def _is_call(block: JSON) -> bool:
    return str(block.get("type")).endswith("tool_use")


def _is_result(block: JSON) -> bool:
    return str(block.get("type")).endswith("tool_result")


MESSAGES: dict[str, Callable[[JSON], JSON | None]] = {
    "user": _spoken,
    "assistant": _spoken,
    "system": _local_command,
    "attachment": _queued_prompt,
}
"""Type of a line -> the message that it put before the model."""

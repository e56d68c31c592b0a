"""Codex rollouts: items of the Responses API a line, wrapped as ``{timestamp, type, payload}`` or, in older files, bare.

Most events repeat what an item holds. Only prompts and answers that no item holds are taken from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from host.formats.assembly import Assembly, AssistantTurn
from host.formats.content import content_from, json_text, part_from, readable
from host.formats.loose import count_under, keyed, listed, objects_in, text_under
from host.formats.source import Source
from host.formats.transcript import Draft
from host.messages.types import JSON, Content, ToolSchema

WRAPPERS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
BARE_ITEMS = frozenset(
    {"function_call", "function_call_output", "local_shell_call", "custom_tool_call", "custom_tool_call_output", "reasoning"}
)


def recognises(source: Source) -> bool:
    """Wrapped lines of the known types, or bare items of the Responses API."""
    return any(wrapped(row) is not None for row in source.objects)


def read(source: Source) -> Iterator[Draft]:
    """The one conversation of a rollout, the client's base instructions as its system message."""
    rollout = _Rollout()
    for _, row in source.rows():
        entry = wrapped(row)
        if entry is not None:
            ROWS.get(entry[0], _pass_over)(rollout, entry[1])
    spoken = _without_repeated_events(rollout.entries)
    assembly = Assembly()
    if rollout.instructions and spoken:
        assembly.say("system", rollout.instructions)
    for item in spoken:
        add_item(assembly, item)
    yield Draft(
        assembly.messages(),
        title=rollout.session or source.path.stem,
        tools=rollout.tools,
        model=rollout.model,
        window=rollout.window,
        left_out=rollout.left_out,
    )


@dataclass
class _Rollout:
    """What the lines said so far; an entry is an item and whether it came as an event."""

    entries: list[tuple[bool, JSON]] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)  # where in the entries each turn begins
    session: str = ""
    instructions: str = ""
    tools: list[ToolSchema] = field(default_factory=list)
    model: str | None = None
    window: int | None = None
    left_out: Counter[str] = field(default_factory=Counter)


def wrapped(row: JSON) -> tuple[str, JSON] | None:
    """A line as (type, payload), whatever the age of the file; None for lines of no rollout."""
    kind, payload = text_under(row, "type"), row.get("payload")
    if kind in WRAPPERS and isinstance(payload, dict):
        return kind, payload
    if kind in BARE_ITEMS or (kind == "message" and isinstance(row.get("content"), list) and "role" in row):
        return "response_item", row
    if "instructions" in row and {"id", "timestamp"} <= row.keys():
        return "session_meta", row
    return None


def _pass_over(rollout: _Rollout, payload: JSON) -> None:
    """A line that holds nothing of the conversation."""


def _take_meta(rollout: _Rollout, payload: JSON) -> None:
    """Facts of the session; in a forked one the first such line is its own, later ones are its parent's."""
    if rollout.session:
        return
    rollout.session = text_under(payload, "id")
    rollout.instructions = instructions_in(payload)
    rollout.model = text_under(payload, "model") or rollout.model
    rollout.tools = [_schema(tool) for tool in objects_in(payload.get("dynamic_tools"))]


def _take_turn(rollout: _Rollout, payload: JSON) -> None:
    rollout.model = text_under(payload, "model") or rollout.model


def _take_item(rollout: _Rollout, payload: JSON) -> None:
    rollout.entries.append((False, payload))


def _take_compaction(rollout: _Rollout, payload: JSON) -> None:
    if (summary := summary_item(payload)) is not None:
        rollout.entries.append((False, summary))


def _take_event(rollout: _Rollout, payload: JSON) -> None:
    rollout.window = count_under(payload, "model_context_window") or rollout.window
    EVENTS.get(text_under(payload, "type"), _pass_over)(rollout, payload)


def _begin_turn(rollout: _Rollout, payload: JSON) -> None:
    rollout.turns.append(len(rollout.entries))


def _take_window(rollout: _Rollout, payload: JSON) -> None:
    rollout.window = count_under(keyed(payload.get("info")), "model_context_window") or rollout.window


def _take_said(rollout: _Rollout, payload: JSON) -> None:
    if (item := SAID[text_under(payload, "type")](payload)) is not None:
        rollout.entries.append((True, item))


def _take_back(rollout: _Rollout, payload: JSON) -> None:
    """The user undid the newest turns: the model was not shown them again."""
    undone = rollout.turns[-count_under(payload, "num_turns") :] if count_under(payload, "num_turns") else []
    if undone:
        del rollout.entries[undone[0] :]
        del rollout.turns[-len(undone) :]
        rollout.left_out["turns taken back"] += len(undone)


def instructions_in(meta: JSON) -> str:
    """The client's base instructions, empty where none are recorded."""
    base = meta.get("base_instructions")
    return base if isinstance(base, str) else text_under(keyed(base), "text")


def summary_item(payload: JSON) -> JSON | None:
    """The client's own summary, which it put before the model as a user's message; None where it holds no text."""
    summary = text_under(payload, "message")
    return {"type": "message", "role": "user", "content": summary} if summary else None


def _prompt_item(payload: JSON) -> JSON | None:
    said = text_under(payload, "message")
    pictures = [{"type": "input_image", "image_url": url} for url in listed(payload.get("images"))]
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": said}, *pictures]} if said else None


def _answer_item(payload: JSON) -> JSON | None:
    said = text_under(payload, "message")
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]} if said else None


def _schema(tool: JSON) -> ToolSchema:
    parameters = tool.get("inputSchema") or tool.get("parameters") or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {"name": _tool_name(tool), "description": text_under(tool, "description"), "parameters": parameters},
    }


def _without_repeated_events(entries: list[tuple[bool, JSON]]) -> list[JSON]:
    """The items, and the events whose text no item near by holds: between the events before and after of the same role."""
    by_role: dict[str, list[int]] = {}
    for place, (_, item) in enumerate(entries):
        if item.get("type") == "message":
            by_role.setdefault(str(item.get("role")), []).append(place)
    repeated = {place for places in by_role.values() for place in _repeated(entries, places)}
    return [item for place, (_, item) in enumerate(entries) if place not in repeated]


def _repeated(entries: list[tuple[bool, JSON]], places: list[int]) -> Iterator[int]:
    events = [rank for rank, place in enumerate(places) if entries[place][0]]
    bounds = [-1, *events, len(places)]
    for before, rank, after in zip(bounds, events, bounds[2:], strict=False):
        said = said_in(entries[places[rank]][1])
        near = places[before + 1 : rank] + places[rank + 1 : after]
        if any(said in said_in(entries[place][1]) for place in near):
            yield places[rank]


def said_in(item: JSON) -> str:
    """The readable text of a message item, by which an event is told from a repetition."""
    content = item.get("content")
    return content.strip() if isinstance(content, str) else "\n".join(readable(content)).strip()


def add_item(assembly: Assembly, item: JSON) -> None:
    """Add what one item says: a message, a piece of an answer, a result."""
    ITEMS.get(str(item.get("type")), _other_item)(assembly, item)


def _add_message(assembly: Assembly, item: JSON) -> None:
    role, content = text_under(item, "role"), item.get("content")
    if role == "assistant":
        parts = [content] if isinstance(content, str) else listed(content)
        _speaking(assembly).parts.extend(map(part_from, parts))
    else:
        assembly.say(role, content_from(content))


def _add_reasoning(assembly: Assembly, item: JSON) -> None:
    """Readable reasoning goes to the answer that follows; the encrypted kind means nothing to another model."""
    _speaking(assembly).reasoning.extend([*readable(item.get("summary")), *readable(item.get("content"))])


def _add_call(assembly: Assembly, item: JSON) -> None:
    arguments = item.get("arguments") if "arguments" in item else item.get("action")
    name = _tool_name(item) or text_under(item, "type").removesuffix("_call")
    _calling(assembly).call(text_under(item, "call_id", "id"), name, arguments)


def _add_custom_call(assembly: Assembly, item: JSON) -> None:
    """A call with free text: on the wire it is the argument ``input``."""
    _calling(assembly).call(text_under(item, "call_id", "id"), _tool_name(item), json_text({"input": item.get("input")}))


def _add_output(assembly: Assembly, item: JSON) -> None:
    assembly.result(text_under(item, "call_id"), _output(item.get("output", item.get("result"))))


def _other_item(assembly: Assembly, item: JSON) -> None:
    """Items of later clients that look like a call or its output; others hold nothing that can be sent."""
    kind = text_under(item, "type")
    if kind.endswith("_output") and text_under(item, "call_id"):
        _add_output(assembly, item)
    elif kind.endswith("_call") and text_under(item, "call_id"):
        _add_call(assembly, item)


def _ignored(assembly: Assembly, item: JSON) -> None:
    """The provider ran it within its own answer, or the client kept it for itself."""


def _speaking(assembly: Assembly) -> AssistantTurn:
    """The answer that words belong to: a new one, unless the newest is still blank or waits for results."""
    turn = assembly.turn
    return turn if turn is not None and (turn.is_blank or turn.unanswered) else assembly.answer()


def _calling(assembly: Assembly) -> AssistantTurn:
    """The answer that a call belongs to: the newest, until results have come for all of its calls."""
    turn = assembly.turn
    return turn if turn is not None and (not turn.calls or turn.unanswered) else assembly.answer()


def _output(output: object) -> Content:
    """A result: text, a list of parts, or an object around them."""
    inner = output.get("content") if isinstance(output, dict) else output
    return content_from(inner if isinstance(inner, str | list) else output)


def _tool_name(item: JSON) -> str:
    """The full name of a tool; a namespace stands before it."""
    namespace, name = text_under(item, "namespace"), text_under(item, "name")
    return f"{namespace}{'' if not namespace or namespace.endswith('__') else '__'}{name}"


ROWS: dict[str, Callable[[_Rollout, JSON], None]] = {
    "session_meta": _take_meta,
    "turn_context": _take_turn,
    "response_item": _take_item,
    "compacted": _take_compaction,
    "event_msg": _take_event,
}
"""Type of a line -> what is taken from it."""

EVENTS: dict[str, Callable[[_Rollout, JSON], None]] = {
    "task_started": _begin_turn,
    "turn_started": _begin_turn,
    "token_count": _take_window,
    "user_message": _take_said,
    "agent_message": _take_said,
    "thread_rolled_back": _take_back,
}
"""Type of an event -> what is taken from it; the others repeat or only report."""

ITEMS: dict[str, Callable[[Assembly, JSON], None]] = {
    "message": _add_message,
    "reasoning": _add_reasoning,
    "function_call": _add_call,
    "local_shell_call": _add_call,
    "custom_tool_call": _add_custom_call,
    "function_call_output": _add_output,
    "custom_tool_call_output": _add_output,
    "web_search_call": _ignored,
    "ghost_snapshot": _ignored,
    "compaction": _ignored,
}
"""Type of an item -> what it adds to the conversation."""

SAID: dict[str, Callable[[JSON], JSON | None]] = {"user_message": _prompt_item, "agent_message": _answer_item}
"""Type of an event that may repeat an item -> that item; None where the event is empty."""

"""What session files say, read a second time with nothing but ``json``: the readers of ``host.formats`` are not used.

``texts_of`` brings an archived message into the same form.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

JSON = dict[str, Any]
Text = tuple[str, str]  # kind and text
PATTERNS = ("*.json", "*.jsonl", "*.traj")
ROLLOUT_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")


@dataclass(frozen=True)
class Spoken:
    """One message that has to be there. ``exact`` is the whole message where it has to be equal as JSON."""

    role: str
    texts: tuple[Text, ...]
    lines: tuple[int, ...]
    times: frozenset[datetime] = frozenset()
    exact: JSON | None = None

    @property
    def key(self) -> str:
        """The same for messages that say the same."""
        return digest([self.role, self.texts, self.exact])


@dataclass(frozen=True)
class Talk:
    """One conversation of a file. Where it is not ``grouped``, how its items fall into messages is the reader's choice."""

    file: Path
    messages: tuple[Spoken, ...]
    agent: str = ""  # of a side chain
    session: str = ""  # the client's id
    directory: str = ""
    grouped: bool = True
    optional: frozenset[str] = frozenset()  # texts of messages that may stand before all others


def digest(value: object) -> str:
    """A digest of a JSON value; lone surrogates are welcome."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def talks_in(*paths: Path) -> list[Talk]:
    """Every conversation of files and folders, in the order of their names."""
    files = [file for path in paths for file in ([path] if path.is_file() else _files_under(path))]
    return [talk for file in files for talk in talks_of(file)]


def talks_of(file: Path) -> list[Talk]:
    """The conversations of one file; none where it holds no conversation."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        rows = [(number, json.loads(line)) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        return next((read(file, rows) for recognises, read in LINES if any(recognises(row) for _, row in rows)), [])
    return _whole(file, json.loads(text))


def _files_under(folder: Path) -> list[Path]:
    return sorted(file for pattern in PATTERNS for file in folder.rglob(pattern))


# Claude Code: a line is a block of a message


def _is_claude_code(row: JSON) -> bool:
    return row.get("type") in ("user", "assistant") and isinstance(row.get("message"), dict)


def _claude_code(file: Path, rows: list[tuple[int, JSON]]) -> list[Talk]:
    chains: dict[str, dict[str, Spoken]] = {}
    first: dict[str, JSON] = {}
    seen: set[str] = set()
    queued = _taken_from_the_queue(rows)
    for number, row in rows:
        if number in queued:
            chains.setdefault("", {})[f"queue {number}"] = queued[number]
        hidden = row.get("isVisibleInTranscriptOnly") and not row.get("isCompactSummary")
        if not _is_claude_code(row) or hidden or row.get("uuid") in seen:
            continue
        seen.add(row["uuid"])
        agent = (row.get("agentId") or "side chain") if row.get("isSidechain") else ""
        first.setdefault(agent, row)
        said = chains.setdefault(agent, {})
        for key, spoken in _claude_code_line(number, row):
            said[key] = _joined(said[key], spoken) if key in said else spoken
    return [
        Talk(file, tuple(map(_settled, said.values())), agent, first[agent].get("sessionId", ""), first[agent].get("cwd", ""))
        for agent, said in chains.items()
    ]


def _taken_from_the_queue(rows: list[tuple[int, JSON]]) -> dict[int, Spoken]:
    """By its line each prompt that the model was told in the middle of a turn and that no other line of the file holds.

    Every prompt that is queued leaves once: sent (its own line follows), taken back by the user, or told without a line.
    """
    lines = [row["message"]["content"] if row.get("type") == "user" else row.get("attachment", {}).get("prompt") for _, row in rows]
    held = {words for words in lines if isinstance(words, str)}
    queue: list[str] = []
    told: dict[int, Spoken] = {}
    for number, row in (entry for entry in rows if entry[1].get("type") == "queue-operation"):
        match row["operation"]:
            case "enqueue":
                queue.append(row["content"])
            case "popAll":
                queue.clear()
            case "dequeue" | "remove" as operation:
                words = queue.pop(queue.index(row["content"]) if row.get("content") in queue else 0)
                if operation == "remove" and words not in held:
                    told[number] = Spoken("user", (("content", words),), (number,), frozenset({datetime.fromisoformat(row["timestamp"])}))
    return told


def _claude_code_line(number: int, row: JSON) -> Iterator[tuple[str, Spoken]]:
    """What a line says, under the key of its message: pieces with one ``message.id`` are one."""
    message, when = row["message"], frozenset({datetime.fromisoformat(row["timestamp"])})
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if row["type"] == "assistant":
        yield message.get("id") or row["uuid"], Spoken("assistant", tuple(map(_block, blocks)), (number,), when)
        return
    for block in blocks:
        if block["type"] == "tool_result":
            texts = (("answers", block["tool_use_id"]), *(("content", text) for text in _result_texts(block.get("content"))))
            yield f"{row['uuid']} {block['tool_use_id']}", Spoken("tool", texts, (number,), when)
    spoken = [_block(block) for block in blocks if block["type"] != "tool_result"]
    if spoken:
        yield row["uuid"], Spoken("user", tuple(spoken), (number,), when)


def _block(block: JSON) -> Text:
    match block["type"]:
        case "text":
            return "content", block["text"]
        case "thinking":
            return "reasoning", block["thinking"]
        case "tool_use":
            return "call", _call(block["id"], block["name"], block["input"])
    return "content", _part(block)


def _result_texts(content: object) -> list[str]:
    """The texts of a result: one, or those of its parts; an object around them is looked into, another is its JSON."""
    inner = content.get("content", content) if isinstance(content, dict) else content
    if isinstance(inner, list):
        return [_part(part) for part in inner]
    return [inner if isinstance(inner, str) else "" if inner is None else json.dumps(inner, ensure_ascii=False)]


def _part(part: JSON) -> str:
    """A part of any client's content as text; a picture is its URL."""
    if "text" in part:
        return str(part["text"])
    url = part.get("image_url")
    if source := part.get("source"):
        return f"data:{source['media_type']};base64,{source['data']}"
    return str(url["url"] if isinstance(url, dict) else url) if url else json.dumps(part)


# Codex: a line is an item


def _is_codex(row: JSON) -> bool:
    return row.get("type") in ROLLOUT_TYPES and isinstance(row.get("payload"), dict)


def _codex(file: Path, rows: list[tuple[int, JSON]]) -> list[Talk]:
    payloads = [row["payload"] for _, row in rows if row["type"] == "response_item"]
    told = {(item.get("role"), part.get("text", "").strip()) for item in payloads for part in item.get("content") or ()}
    times = frozenset(datetime.fromisoformat(row["timestamp"]) for _, row in rows)  # an answer may begin with what cannot be read
    meta: JSON = next((row["payload"] for _, row in rows if row["type"] == "session_meta"), {})
    messages = []
    for number, row in rows:
        texts = _codex_texts(row["type"], row["payload"], told)
        if texts:
            messages.append(_settled(Spoken(_codex_role(row["payload"]), texts, (number,), times)))
    base = meta.get("base_instructions") or {}
    optional = frozenset(filter(None, [base if isinstance(base, str) else base.get("text")]))
    return [Talk(file, tuple(messages), "", meta.get("id", ""), meta.get("cwd", ""), grouped=False, optional=optional)]


def _codex_role(payload: JSON) -> str:
    if payload.get("type", "").endswith("_output"):
        return "tool"
    is_prompt = payload.get("type", "user_message") == "user_message"  # a compaction's summary has no type, and is one
    return str(payload.get("role") or ("user" if is_prompt else "assistant"))


def _full_name(payload: JSON) -> str:
    """A tool's name behind its namespace."""
    space = payload.get("namespace") or ""
    return f"{space}{'' if not space or space.endswith('__') else '__'}{payload['name']}"


def _codex_texts(kind: str, payload: JSON, told: set[tuple[str, str]]) -> tuple[Text, ...]:
    """What is readable of a line; of the events only prompts and answers that no item repeats."""
    said = payload.get("message")
    match kind, payload.get("type"):
        case "response_item", "message":
            return tuple(("content", _part(part)) for part in payload["content"])
        case "response_item", "reasoning":
            return tuple(("reasoning", part["text"]) for part in [*(payload.get("summary") or ()), *(payload.get("content") or ())])
        case "response_item", "function_call":
            return (("call", _call(payload["call_id"], _full_name(payload), payload["arguments"])),)
        case "response_item", "local_shell_call":
            return (("call", _call(payload["call_id"], "local_shell", payload["action"])),)
        case "response_item", "custom_tool_call":
            return (("call", _call(payload["call_id"], _full_name(payload), {"input": payload["input"]})),)
        case "response_item", "function_call_output" | "custom_tool_call_output":
            return (("answers", payload["call_id"]), *(("content", text) for text in _result_texts(payload["output"])))
        case "compacted", _ if said:
            return (("content", said),)
        case "event_msg", ("user_message" | "agent_message") as event if said:
            role = "user" if event == "user_message" else "assistant"
            return () if (role, said.strip()) in told else (("content", said),)
    return ()


# OpenAI-shaped files: messages as they are


def _dialogues(file: Path, rows: list[tuple[int, JSON]]) -> list[Talk]:
    return [_openai(file, row["messages"], number) for number, row in rows]


def _one_conversation(file: Path, rows: list[tuple[int, JSON]]) -> list[Talk]:
    return [Talk(file, tuple(_exactly(row, number) for number, row in rows))]


def _whole(file: Path, value: Any) -> list[Talk]:
    """The conversations of a file that is one JSON value."""
    if isinstance(value, dict) and "history" in value:
        return [Talk(file, tuple(_swe_agent(message, place) for place, message in enumerate(value["history"], start=1)))]
    listed = value if isinstance(value, list) else [value]
    if listed and isinstance(listed[0], dict) and "role" in listed[0]:
        return [_openai(file, listed)]
    return [_openai(file, each[key], place) for place, each in enumerate(listed, start=1) for key in ("traj", "messages") if key in each]


def _openai(file: Path, messages: Sequence[JSON], number: int = 0) -> Talk:
    return Talk(file, tuple(_exactly(message, number or place) for place, message in enumerate(messages, start=1)))


def _exactly(message: JSON, number: int) -> Spoken:
    return Spoken(message["role"], texts_of(message), (number,), exact=message)


def _swe_agent(message: JSON, place: int) -> Spoken:
    """A message of a trajectory carries keys of its own; only what the model saw is asked for."""
    answered = message.get("tool_call_ids") or [None]
    return Spoken(message["role"], texts_of({**message, "tool_call_id": answered[0]}), (place,))


LINES: tuple[tuple[Callable[[JSON], bool], Callable[[Path, list[tuple[int, JSON]]], list[Talk]]], ...] = (
    (_is_claude_code, _claude_code),
    (_is_codex, _codex),
    (lambda row: isinstance(row.get("messages"), list), _dialogues),
    (lambda row: "role" in row and "content" in row, _one_conversation),
)
"""How lines of a kind are known -> what is read of them."""


# Both sides in one form


def texts_of(message: JSON) -> tuple[Text, ...]:
    """What is readable of a message in the OpenAI shape: whom it answers, its reasoning, its content, its calls."""
    content = message.get("content")
    found: list[Text] = [("answers", message["tool_call_id"])] if message.get("tool_call_id") else []
    if reasoning := message.get("reasoning_content"):
        found.append(("reasoning", reasoning))
    if isinstance(content, list):
        found += [("content", _part(part)) for part in content]
    elif content:
        found.append(("content", content))
    for call in message.get("tool_calls") or ():
        found.append(("call", _call(call["id"], call["function"]["name"], call["function"]["arguments"])))
    return tuple(found)


def _call(name: str, tool: str, arguments: object) -> str:
    """A call as text: id, tool and what its arguments mean."""
    if isinstance(arguments, str):
        with suppress(ValueError):
            arguments = json.loads(arguments)
    return json.dumps([name, tool, arguments], sort_keys=True)


def _joined(one: Spoken, piece: Spoken) -> Spoken:
    return replace(one, texts=one.texts + piece.texts, lines=one.lines + piece.lines, times=one.times | piece.times)


def _settled(spoken: Spoken) -> Spoken:
    """In the order in which an archived message holds its texts; reasoning is one text, empty ones are none."""
    kinds: dict[str, list[str]] = {"answers": [], "reasoning": [], "content": [], "call": []}
    for kind, text in spoken.texts:
        if text:
            kinds[kind].append(text)
    kinds["reasoning"] = ["\n\n".join(kinds["reasoning"])] if kinds["reasoning"] else []
    return replace(spoken, texts=tuple((kind, text) for kind, texts in kinds.items() for text in texts))

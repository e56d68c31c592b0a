"""What an import has to bring into the archive, said a second time: raw files read with nothing but ``json``.

Nothing here knows the readers of ``host.formats``; only the shape of archived messages is taken from the house.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from host.store.protocols import Store
from host.store.values import Row, Session

JSON = dict[str, Any]
Text = tuple[str, str]  # kind and text
PATTERNS = ("*.json", "*.jsonl", "*.traj")
SHOWN = 6  # differences of a conversation; the rest follows from them
EXCERPT = 70
ROLLOUT_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
PROMPTS = ("user", "developer", "system")


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

    @property
    def digest(self) -> str:
        """The same for conversations that say the same in the same order."""
        return digest([message.key for message in self.messages])


@dataclass(frozen=True)
class Difference:
    """Where the archive is not what the file says. ``line`` is 0 where it concerns a whole conversation."""

    file: Path
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file.name}:{self.line}: {self.what}"


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
    for number, row in rows:
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


# Asking the archive


@dataclass
class Checked:
    """What was found. ``conversations``, ``messages`` and ``texts`` count what was compared."""

    conversations: int = 0
    messages: int = 0
    texts: int = 0
    differences: list[Difference] = field(default_factory=list)

    def __str__(self) -> str:
        counted = f"{self.conversations} conversations, {self.messages:,} messages, {self.texts:,} texts"
        return f"{counted}, {len(self.differences)} differences"


def check(store: Store, talks: Sequence[Talk]) -> Checked:
    """Hold an archive against what the files say; every conversation of the files is asked for, once where files are copies."""
    checked = Checked()
    sessions = _by_file(store)
    taken: set[str] = set()
    for talk in talks:
        if any(_is_beginning(talk, other) for other in talks):
            continue
        checked.conversations += 1
        checked.messages += len(talk.messages)
        checked.texts += sum(len(message.texts) for message in talk.messages)
        session = _session_of(store, talk, [each for each in sessions.get(talk.file.resolve(), ()) if each.conversation not in taken])
        if session is None:
            checked.differences.append(Difference(talk.file, _line(talk), f"no conversation of {talk.agent or 'the main chain'}"))
            continue
        taken.add(session.conversation)
        checked.differences += _differences(talk, session, _rows(store, session))
    expected = {talk.file.resolve() for talk in talks}
    extra = [each for file in expected for each in sessions.get(file, ()) if each.conversation not in taken]
    checked.differences += [Difference(Path(str(each.about["file"])), 0, f"{each.conversation} is in no file") for each in extra]
    return checked


def _is_beginning(talk: Talk, other: Talk) -> bool:
    """Whether a file is an earlier copy of another: what it holds is asked of the longer one."""
    if not talk.session or (talk.session, talk.agent) != (other.session, other.agent) or len(talk.messages) >= len(other.messages):
        return False
    return [_bare(said).key for said in talk.messages] == [_bare(said).key for said in other.messages[: len(talk.messages)]]


def counts(store: Store) -> tuple[int, int, int]:
    """Conversations, rows with all versions, and versions of views: what a second import must leave as it is."""
    names = {session.conversation for session in store.sessions.listed()}
    return (
        len(names),
        sum(1 for name in names for _ in store.archive(name).rows()),
        sum(store.views(name).version() for name in names),
    )


def _by_file(store: Store) -> dict[Path, list[Session]]:
    found: dict[Path, list[Session]] = {}
    for session in store.sessions.listed():
        if file := session.about.get("file"):
            found.setdefault(Path(str(file)).resolve(), []).append(session)
    return found


def _session_of(store: Store, talk: Talk, sessions: list[Session]) -> Session | None:
    """The session that holds a conversation: by its side chain, and among many of one file by what was said."""
    right = [session for session in sessions if session.about.get("agent", "") in (talk.agent, None)] if talk.session else sessions
    if len(right) < 2:
        return right[0] if right else None
    same = (each for each in right if [_spoken(row).key for row in _rows(store, each)] == [_bare(said).key for said in talk.messages])
    return next(same, None)


def _rows(store: Store, session: Session) -> list[Row]:
    return [row for row in store.archive(session.conversation).current() if row.message is not None]


def _spoken(row: Row) -> Spoken:
    message: JSON = dict(row.message or {})
    return Spoken(row.role, texts_of(message), (row.position,), frozenset({row.time}))


def _bare(spoken: Spoken) -> Spoken:
    return replace(spoken, exact=None)


def _line(talk: Talk) -> int:
    return talk.messages[0].lines[0] if talk.messages else 0


def _differences(talk: Talk, session: Session, rows: list[Row]) -> Iterator[Difference]:
    recorded = session.about.get("working_directory") or ""
    if recorded != talk.directory:
        yield Difference(talk.file, _line(talk), f"working directory {recorded!r}, not {talk.directory!r}")
    if talk.session and not talk.agent and session.about.get("session") != talk.session:
        yield Difference(talk.file, _line(talk), f"session {session.about.get('session')!r}, not {talk.session!r}")
    kept = rows[1:] if rows and talk.optional and {text for _, text in _spoken(rows[0]).texts} <= talk.optional else rows
    yield from (_grouped if talk.grouped else _loose)(talk, kept)


def _grouped(talk: Talk, rows: list[Row]) -> Iterator[Difference]:
    """Message by message: count, order, texts, times, and all of it as JSON where that is asked."""
    if len(rows) != len(talk.messages):
        yield Difference(talk.file, _line(talk), f"{len(rows)} messages, not {len(talk.messages)}")
    got, wanted = [_spoken(row).key for row in rows], [_bare(said).key for said in talk.messages]
    shown = 0
    for tag, a, b, c, d in SequenceMatcher(None, wanted, got, autojunk=False).get_opcodes():
        if tag != "equal":
            missing, instead = talk.messages[a:b], rows[c:d]
            line = (missing or talk.messages[a - 1 : a] or talk.messages[:1])[0].lines[0]
            yield Difference(talk.file, line, f"{_shown(missing)} became {_shown([_spoken(row) for row in instead])}")
            shown += 1
        for said, row in zip(talk.messages[a:b], rows[c:d], strict=False) if tag == "equal" else ():
            yield from _one(talk.file, said, row)
        if shown == SHOWN:
            return


def _one(file: Path, said: Spoken, row: Row) -> Iterator[Difference]:
    if said.times and row.time not in said.times:
        yield Difference(file, said.lines[0], f"time {row.time.isoformat()}, not {min(said.times).isoformat()}")
    if said.exact is not None and said.exact != row.message:
        keys = {*said.exact, *(row.message or {})}
        other = sorted(key for key in keys if said.exact.get(key, ...) != dict(row.message or {}).get(key, ...))
        yield Difference(file, said.lines[0], f"not equal as JSON in {', '.join(other)}")


def _loose(talk: Talk, rows: list[Row]) -> Iterator[Difference]:
    """Between one prompt and the next the same texts of each kind in the same order, and no time that no line has."""
    wanted, got = _stretches(talk.messages), _stretches([_spoken(row) for row in rows])
    if len(wanted) != len(got):
        yield Difference(talk.file, _line(talk), f"{len(got)} stretches between prompts, not {len(wanted)}")
    for (line, want), (_, have) in zip(wanted, got, strict=False):
        for kind in sorted({*want, *have}):
            lost, added = _lost(want.get(kind, []), have.get(kind, []))
            if lost or added:
                yield Difference(talk.file, line, f"{kind}: lost {_cut(lost)}, has instead {_cut(added)}")
            elif want.get(kind) != have.get(kind):
                yield Difference(talk.file, line, f"{kind}: other order")
    times = {time for said in talk.messages for time in said.times}
    yield from (Difference(talk.file, 0, f"row {row.position} has time {row.time.isoformat()}") for row in rows if row.time not in times)


def _stretches(messages: Sequence[Spoken]) -> list[tuple[int, dict[str, list[str]]]]:
    """The line of each prompt, and what follows it until the next, by kind; reasoning is cut where it was joined."""
    found: list[tuple[int, dict[str, list[str]]]] = [(0, {})]
    for message in messages:
        if message.role in PROMPTS:
            found.append((message.lines[0], {}))
        for kind, text in message.texts:
            pieces = text.split("\n\n") if kind == "reasoning" else [text]
            name = "prompt" if message.role in PROMPTS else f"{message.role} {kind}"
            found[-1][1].setdefault(name, []).extend(pieces)
    return found


def _lost(want: list[str], have: list[str]) -> tuple[list[str], list[str]]:
    return list((Counter(want) - Counter(have)).elements()), list((Counter(have) - Counter(want)).elements())


def _shown(messages: Sequence[Spoken]) -> str:
    if not messages:
        return "nothing"
    return " + ".join(f"{said.role} {[(kind, text[:EXCERPT]) for kind, text in said.texts][:3]}" for said in messages[:3])


def _cut(texts: list[str]) -> str:
    return f"{len(texts)} {[text[:EXCERPT] for text in texts[:2]]}"

"""Kind ``prompt-cache``: the markers of a request, the bytes of its prompt, and how long they are kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time
from functools import partial
from pathlib import Path
from typing import Any, cast

from host import Host
from host.app.agents import SCRIPTED
from host.compressor.compressor import Compressor
from host.config.loader import load
from host.errors import ConfigError
from host.messages.canonical import canonical
from host.messages.reading import is_system, text_of
from host.messages.types import Message
from host.provider.caching import MARKER, Layout, layout_for, mark
from host.store.memory import MemoryStore
from host.testing.engines import services
from host.transforms.handoff import NOTE
from tests.cases.case import Case
from tests.cases.facts import Each, Facts, NoDriver
from tests.cases.house import messages_of
from tests.cases.scribe import ANSWER, Scribe, always, reply_of
from tests.cases.sitting import PRICE, narrow_window, sitting, turns
from tests.cases.story_talk import count_of
from tests.desk import WINDOW, Desk, fed

PROMPT: Message = {"role": "system", "content": "You are an agent."}
TODAY = datetime(2026, 3, 4, tzinfo=UTC)
BUILD = re.compile(r"build .*\bat (\d\d:\d\d:\d\d)", re.IGNORECASE)
COMPRESS = re.compile(r"compress (\w+)(?: times)?", re.IGNORECASE)


def marked(case: Case, folder: Path) -> Facts:
    """The markers of a request, in the layout that a service takes or in both, kept short and long."""
    messages = messages_of(case.input["messages"])
    for index in case.input.get("preexisting_markers_on", ()):
        part = {"type": "text", "text": text_of(messages[index]), MARKER: {"type": "ephemeral"}}
        messages[index] = cast(Message, {**messages[index], "content": [part]})
    named = case.input.get("layout")
    layouts = (layout_for("claude-sonnet-4-5", named),) if named else tuple(Layout)
    runs = {f"{layout} {ttl}": _markers(mark(messages, layout, ttl)) for layout in layouts if layout for ttl in ("5m", "1h")}
    return {name: Each({way: run[name] for way, run in runs.items()}) for name in next(iter(runs.values()))}


def _markers(messages: Sequence[Message]) -> dict[str, int]:
    beside = [message for message in messages if MARKER in message]
    contents = [content for message in messages if isinstance(content := message.get("content"), list)]
    parts = [part for content in contents for part in content if MARKER in part]
    bare_texts = [part for part in parts if part.get("type") == "text" and not part["text"]]
    return {
        "cache_control_count": json.dumps(messages).count(f'"{MARKER}"'),
        "markers_on_empty_text": len(bare_texts),
        "top_level_cache_control_on_tool": sum(message["role"] == "tool" for message in beside),
        "markers_on_empty_content": len(bare_texts) + sum(not message.get("content") for message in beside),
        "markers_on_content_parts": len(parts),
    }


def told(case: Case, folder: Path) -> Facts:
    """Requests that are built at several times of a day, or a conversation that is compacted several times."""
    steps = case.input["steps"]
    if times := [found[1] for step in steps if (found := BUILD.match(step))]:
        return _built(times, folder) if len(times) == len(steps) else _unread(steps)
    counts = [count_of(found[1]) for step in steps if (found := COMPRESS.fullmatch(step))]
    return _compacted(sum(counts)) if len(counts) == len(steps) else _unread(steps)


def _unread(steps: object) -> Facts:
    raise NoDriver(f"no driver reads {steps!r} as steps")


def _built(times: Sequence[str], folder: Path) -> Facts:
    """One session, opened anew at each of these times: a conversation, and an agent whose configured prompt says the time."""
    desk = Desk(MemoryStore())
    requests: list[list[Message]] = []
    for clock in times:
        moment = datetime.combine(TODAY, time.fromisoformat(clock), UTC)
        talk = desk.open(Compressor(replace(services(WINDOW), clock=partial(_same, moment))))
        if not talk.view.messages:
            fed(talk, [PROMPT, *turns(3)])
        requests.append(list(talk.view.messages))
    ways = {"a conversation": requests, "an agent": [_asked_at(clock, folder) for clock in times]}
    return {"system_prompt_bytes_equal": Each({way: _is_one_prompt(each) for way, each in ways.items()}), "requests": requests}


def _is_one_prompt(requests: Sequence[Sequence[Message]]) -> bool:
    prompts = {b"\n".join(_prompt_bytes(request)) for request in requests}
    return len(prompts) == 1 and all(prompts)


def _asked_at(clock: str, home: Path) -> list[Message]:
    """What an agent that is started at this time sends, where its prompt is to begin with the time."""
    script = home / "script.json"
    script.write_text(json.dumps({"repeat": True, "steps": ["Fine."]}), encoding="utf-8")
    config = {"agent": {"system_prompt": f"It is {clock}. You are an agent."}}
    (home / "config.yaml").write_text(json.dumps(config), encoding="utf-8")
    with Host(home=home, warn=_ignored) as host:
        agent = host.agent("work", model=f"{SCRIPTED}{script}")
        agent.turn("And now?")
        return agent.conversation.window()


def _ignored(text: str) -> None:
    """Hear a warning."""


def _same(moment: datetime) -> datetime:
    return moment


def _prompt_bytes(request: Sequence[Message]) -> Iterator[bytes]:
    for layout in Layout:
        yield from (canonical(message) for message in mark(request, layout) if is_system(message))


def _compacted(times: int) -> Facts:
    at = sitting(Scribe(always(reply_of(ANSWER))), window=narrow_window(turns(13)))
    at.hear([PROMPT], PRICE)
    facts: dict[str, Any] = {}
    for number in range(1, times + 1):
        at.hear(turns(12, 6 * number))
        at.compact()
        if not at.outcome.progressed:
            raise NoDriver(f"compaction {number} did nothing: {at.outcome.reason}")
        facts[f"system_after_{number}"] = b"\n".join(_prompt_bytes(at.window))
    return {**facts, "note_count_in_system": sum(text_of(message).count(NOTE) for message in at.window if is_system(message))}


def configured(case: Case, folder: Path) -> Facts:
    """What the configuration makes of a section."""
    (folder / "config.yaml").write_text(json.dumps({"prompt_caching": case.input["prompt_caching"]}), encoding="utf-8")
    try:
        loaded = load(config_file=None, home=folder, cwd=folder, environ={})
    except ConfigError as error:
        return {"config_error": str(error), "cache_ttl": "", "warned": False}
    return {"config_error": "", "cache_ttl": loaded.config.prompt_caching.cache_ttl, "warned": bool(loaded.warnings)}

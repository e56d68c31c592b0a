"""Feeds as an importer uses them: read with any cuts, each state through JSON, every message through the bytes of an archive."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from host.formats import claude_code
from host.formats.feeds import FEEDS, Event, Feed, Said
from host.formats.feeds.events import MAIN
from host.formats.source import open_source
from host.messages.reading import call_id, calls_of, text_of
from host.messages.types import JSON, Message
from tests.formats.session_rows import SessionRows

DATA = Path(__file__).parents[3] / "shared" / "data"
CLAUDE = "claude-code"
SHEET = Path("0f0e0d0c-0000-4000-8000-000000000001.jsonl")


@dataclass
class Told:
    """What the events of a file made: by chain the newest version of each message in the order of their first, and what is live."""

    messages: dict[str, dict[str, Message]] = field(default_factory=dict)
    live: dict[str, list[str]] = field(default_factory=dict)
    past: dict[tuple[str, str | None], list[str]] = field(default_factory=dict)  # what was live when a message was the newest
    compactions: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    abouts: dict[str, JSON] = field(default_factory=dict)
    state: JSON = field(default_factory=dict)

    def take(self, event: Event) -> None:
        """Keep an event as an archive does."""
        self.events.append(event)
        live = self.live.setdefault(event.chain, [])
        if not isinstance(event, Said):
            self.live[event.chain] = list(self.past.get((event.chain, event.after), []))
            return
        kept = self.messages.setdefault(event.chain, {})
        if event.key not in kept:
            live.append(event.key)
            self.past[event.chain, event.key] = list(live)
        if event.compaction:
            self.compactions.append(event.key)
        kept[event.key] = json.loads(json.dumps(event.message))

    def known(self, chain: str, key: str) -> Message | None:
        """A message as it was kept."""
        return self.messages.get(chain, {}).get(key)

    def window(self, chain: str = MAIN) -> list[Message]:
        """The messages of a chain that were not taken back."""
        return [self.messages[chain][key] for key in self.live.get(chain, [])]

    @property
    def outcome(self) -> object:
        """What must not depend on where the reading stopped in between."""
        messages = {chain: list(kept.items()) for chain, kept in self.messages.items()}
        facts = {chain: {**about, "title": ""} for chain, about in self.abouts.items()}
        return messages, self.live, self.compactions, facts


def fed(client: str, rows: Sequence[JSON], cuts: Collection[int] = (), path: Path = SHEET) -> Told:
    """Read rows, and begin a new feed from the state of the one before ahead of each row whose index is in ``cuts``."""
    told = Told()
    with _written(path, rows if cuts else []) as file:
        feed: Feed = FEEDS[client].start(file, {}, told.known)
        for index, row in enumerate(rows):
            if index in cuts:
                feed = FEEDS[client].start(file, json.loads(json.dumps(feed.state())), told.known)
            for event in feed.take(index + 1, row):
                told.take(event)
    told.abouts = {chain: feed.about(chain) for chain in {MAIN, *told.messages}}
    told.state = feed.state()
    return told


@contextmanager
def _written(path: Path, rows: Sequence[JSON]) -> Iterator[Path]:
    """The file of these rows; it is written where it is not there and a feed may look into it."""
    if path.exists() or not any(row.get("type") == "queue-operation" for row in rows):
        yield path
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / path.name
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        yield file


def rows_of(path: Path) -> list[JSON]:
    """The rows of a file, one a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def shape(messages: list[Message]) -> list[str]:
    """Each message as role, calls and text in short."""
    return [f"{m['role']}{''.join(f'+{call_id(call)}' for call in calls_of(m))}:{m.get('tool_call_id') or text_of(m)}" for m in messages]


def in_place(messages: list[Message]) -> list[Message]:
    """Results before what the user said: a feed says a prompt as soon as the model was told it, results may still come."""
    ordered: list[Message] = []
    for message in messages:
        place = len(ordered)
        while message["role"] == "tool" and place and ordered[place - 1]["role"] == "user":
            place -= 1
        ordered.insert(place, message)
    return ordered


def drafts_of(path: Path) -> list[list[Message]]:
    """The conversations of a whole file."""
    with open_source(path) as source:
        return [messages for draft in claude_code.read(source) if (messages := draft.messages)]


class Sheet(SessionRows):
    """The rows of a session that a feed reads."""

    def result(self, *keys: str, **more: Any) -> str:
        return self.user([{"type": "tool_result", "tool_use_id": key, "content": f"of {key}"} for key in keys], **more)

    def queue(self, operation: str, words: Any = None, **more: Any) -> int:
        """An operation on the queue, which stands outside of the chain; gives the number of its line."""
        content = {} if words is None else {"content": words}
        self.rows.append({"type": "queue-operation", "operation": operation, "sessionId": "s-1", **content, **more})
        return len(self.rows)

    def attach(self, prompt: Any, **more: Any) -> str:
        return self.line("attachment", attachment={"type": "queued_command", "prompt": prompt}, **more)

    def read(self, cuts: Any = ()) -> Told:
        return fed(CLAUDE, self.rows, cuts)


def text(words: str) -> JSON:
    return {"type": "text", "text": words}


def use(key: str, **arguments: Any) -> JSON:
    return {"type": "tool_use", "id": key, "name": "Read", "input": arguments}

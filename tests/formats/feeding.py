"""Feeds as an importer uses them: read with any cuts, each state through JSON, every message through the bytes of an archive."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from host.formats.feeds import FEEDS, Event, Feed, Said
from host.formats.feeds.events import MAIN
from host.messages.reading import call_id, calls_of, text_of
from host.messages.types import JSON, Message

DATA = Path(__file__).parents[3] / "shared" / "data"
SHEET = Path("0f0e0d0c-0000-4000-8000-000000000001.jsonl")


@dataclass
class Told:
    """What the events of a file made: by chain the newest version of each message in the order of their first, and what is live."""

    messages: dict[str, dict[str, Message]] = field(default_factory=dict)
    live: dict[str, list[str]] = field(default_factory=dict)
    compactions: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    abouts: dict[str, JSON] = field(default_factory=dict)
    state: JSON = field(default_factory=dict)

    def take(self, event: Event) -> None:
        """Keep an event as an archive does."""
        self.events.append(event)
        live = self.live.setdefault(event.chain, [])
        if not isinstance(event, Said):
            del live[live.index(event.key) :]
            return
        kept = self.messages.setdefault(event.chain, {})
        if event.key not in kept:
            live.append(event.key)
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
    feed: Feed = FEEDS[client].start(path, {}, told.known)
    for index, row in enumerate(rows):
        if index in cuts:
            feed = FEEDS[client].start(path, json.loads(json.dumps(feed.state())), told.known)
        for event in feed.take(index + 1, row):
            told.take(event)
    told.abouts = {chain: feed.about(chain) for chain in {MAIN, *told.messages}}
    told.state = feed.state()
    return told


def rows_of(path: Path) -> list[JSON]:
    """The rows of a file, one a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def shape(messages: list[Message]) -> list[str]:
    """Each message as role, calls and text in short."""
    return [f"{m['role']}{''.join(f'+{call_id(call)}' for call in calls_of(m))}:{m.get('tool_call_id') or text_of(m)}" for m in messages]

"""Cases told as steps: each sentence is read by a table of patterns, done with real files and processes, and looked at in the end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host.errors import CtxhostError
from host.messages.types import Message
from host.transforms.handoff import is_handoff
from tests.cases.child import Child
from tests.cases.facts import NoDriver
from tests.cases.house import House, said

SETTING = re.compile(r"(\w+)\s*=\s*(\d+(?:\.\d+)?)")
LANDINGS = ((r"\bin[- ]place\b", True), (r"\brotat", False))
ENOUGH = 30  # messages before a compaction where the case does not say how many


@dataclass
class Story:
    """``told`` is the conversation as a caller holds it; ``seen`` gathers what was seen on the way."""

    house: House
    told: list[Message] = field(default_factory=list)
    seen: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    positions: list[int] = field(default_factory=list)  # that were acknowledged
    since_compaction: int = 0
    child: Child | None = None

    def tell(self, count: int, word: str = "", at: int = 0) -> None:
        """Add so many messages, with a word in the one that has this number among them."""
        start = len(self.told)
        for number in range(start + 1, start + count + 1):
            self.add(said(number, word if number - start == at else ""))

    def add(self, message: Message) -> int:
        """Add one."""
        position = self.house.talk().add(message)
        self.told.append(message)
        self.positions.append(position)
        self.since_compaction += 1
        return position

    def receive(self, messages: list[Message]) -> None:
        """Hand over a whole list."""
        self.house.talk().receive(messages)
        self.told = messages
        self.since_compaction = len(messages)

    def compact(self) -> None:
        """Compact, with something to compact."""
        if not self.since_compaction:
            self.tell(ENOUGH)
        outcome = self.house.talk().compact()
        self.since_compaction = 0
        self.seen.setdefault("compactions", []).append(outcome.progressed)
        if not outcome.progressed:
            self.error = self.error or f"not compacted: {outcome.refused}"

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """What the product may refuse: the error is noted, and the story goes on."""
        try:
            yield
        except CtxhostError as error:
            self.error = f"{type(error).__name__}: {error}"

    def writer(self) -> Child:
        """The other process, begun at the first use."""
        if self.child is None:
            self.child = Child(self.house.home)
        return self.child

    def end(self) -> None:
        """Let go of processes and files."""
        if self.child is not None:
            self.child.kill()
        self.house.close()


Action = Callable[[Story, "re.Match[str]"], None]
Steps = tuple[tuple[str, Action], ...]
"""Patterns, searched for in any case of letters, and what is done where one is found; the first counts."""


def compression_of(sentences: list[str]) -> dict[str, Any]:
    """The settings that steps are (``protect_first_n=2``), and where a compaction goes on as far as they say it."""
    settings: dict[str, Any] = {}
    for sentence in sentences:
        if found := SETTING.fullmatch(sentence.strip()):
            settings[found[1]] = float(found[2]) if "." in found[2] else int(found[2])
        for pattern, in_place in LANDINGS:
            if re.search(pattern, sentence, re.IGNORECASE):
                settings["in_place"] = in_place
    return settings


def action_of(sentence: str, steps: Steps) -> tuple[Action, re.Match[str]]:
    """What a sentence means; NoDriver where no pattern reads it."""
    for pattern, action in steps:
        if found := re.search(pattern, sentence, re.IGNORECASE):
            return action, found
    raise NoDriver(f"no driver reads the step {sentence!r}")


def play(folder: Path, sentences: list[str], steps: Steps) -> tuple[Story, dict[str, Any]]:
    """Do what the sentences say; returns the story, over, and its facts."""
    actions = [action_of(sentence, steps) for sentence in sentences]
    story = Story(House(folder, compression_of(sentences)))
    try:
        for action, found in actions:
            action(story, found)
        return story, {**outlook(story), **story.seen}
    finally:
        story.end()


def outlook(story: Story) -> dict[str, Any]:
    """What is true at the end, as far as the archive can be opened."""
    seen: dict[str, Any] = {"raises": story.error or False}
    with suppress(CtxhostError):
        rows = list(story.house.talk().archive.rows())
        window = list(story.house.talk().view.messages)
        roles = {row.position: row.role for row in rows}
        present = {row.position for row in rows}
        seen |= {
            "rows": len(rows),
            "messages": len(rows),
            "rows_present": len(rows),
            "row_*_role": lambda position: roles.get(int(position)),
            "archived_user_assistant_rows": sum(row.role in ("user", "assistant") for row in rows),
            "duplicates": len(rows) - len({json.dumps(row.message, default=str) for row in rows}),
            "acknowledged_rows_missing": len(set(story.positions) - present),
            "rows_lost": len(set(story.positions) - present),
            "*_message_in_model_list": lambda word: _shows(window, story.told, word),
            "outline": outline(window),
        }
    return seen


def _shows(window: list[Message], told: list[Message], word: str) -> bool:
    """Whether the message with this word is still there as it was."""
    return any(word in str(message.get("content")) for message in window if message in told)


def outline(window: list[Message]) -> list[Message | str]:
    """The window, with a summary only as something that stands there."""
    return ["a summary" if is_handoff(message) else message for message in window]

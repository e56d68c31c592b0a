"""Codex rollouts while they grow: each item's messages at once, an event's text said under one key with the item that repeats it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from host.formats.assembly import Assembly
from host.formats.codex import SAID, add_item, instructions_in, summary_item, wrapped
from host.formats.feeds.drafting import SHAPE, Added, Drafting, gone_on_with, newest, time_of
from host.formats.feeds.echoes import Echoes
from host.formats.feeds.events import MAIN, Event, Known, Said, TakenBack
from host.formats.loose import count_under, keyed, listed, text_under
from host.messages.types import JSON

TURNS = 200  # may be taken back
NAMED = re.compile(r".*([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})")
"""The name of a rollout's file ends with the id of the session."""


class CodexFeed:
    """One rollout while it is read; all of it is one chain."""

    def __init__(self, path: Path, state: JSON, known: Known) -> None:
        state = gone_on_with(state)
        self._stem = path.stem
        self._drafting = Drafting(known, keyed(state.get("open")))
        self._echoes = Echoes(self._drafting, partial(known, MAIN), keyed(state.get("echoes")))
        self._last = text_under(state, "last")  # the key of the newest message that was not taken back
        self._turns: list[str] = [*listed(state.get("turns"))]  # what that was when each turn began
        self._facts: JSON = {**keyed(state.get("facts"))}
        self._title = ""

    def take(self, number: int, row: JSON) -> list[Event]:
        """What the row of a line adds."""
        entry = wrapped(row)
        if entry is None:
            return []
        try:
            events = ROWS.get(entry[0], _pass_over)(self, f"line {number}", entry[1])
        except RecursionError:  # nested deeper than it could be written again: no archive would keep it
            return []
        time = time_of(row)
        return [replace(event, time=time) if isinstance(event, Said) else event for event in events]

    def about(self, chain: str) -> JSON:
        """What is known of the session by now; a title is told in the reading that met it and not remembered."""
        if chain != MAIN:
            return {}
        named = NAMED.fullmatch(self._stem)
        title = {"title": self._title} if self._title else {}
        return {"session": named[1] if named else self._stem, **self._facts, **title}

    def state(self) -> JSON:
        """Keys, places and facts of the session."""
        return {
            "shape": SHAPE,
            "open": self._drafting.state(),
            "echoes": self._echoes.state(),
            "last": self._last,
            "turns": newest(self._turns, TURNS),
            "facts": {**self._facts},
        }

    def meta(self, key: str, payload: JSON) -> list[Event]:
        """Facts of the session and the client's instructions; in a forked one later such lines are its parent's."""
        if self._facts.get("session"):
            return []
        found = {
            "session": text_under(payload, "id"),
            "working_directory": text_under(payload, "cwd"),
            "model": text_under(payload, "model"),
            "client_version": text_under(payload, "cli_version"),
            "branch": text_under(keyed(payload.get("git")), "branch"),
            "originator": text_under(payload, "originator"),
            "side_chain_of": _parent_in(payload),
        }
        self._facts.update((name, value) for name, value in found.items() if value)
        instructions = instructions_in(payload)
        return self._added(key, lambda assembly: assembly.say("system", instructions)) if instructions else []

    def turn(self, key: str, payload: JSON) -> list[Event]:
        """The model of a turn; the directory of the first where the session names none."""
        if model := text_under(payload, "model"):
            self._facts["model"] = model
        if cwd := text_under(payload, "cwd"):
            self._facts.setdefault("working_directory", cwd)
        return []

    def item(self, key: str, payload: JSON) -> list[Event]:
        """An item of the Responses API."""
        if payload.get("type") == "message":
            return self._said(self._echoes.item(key, payload))
        return self._added(key, partial(add_item, item=payload))

    def compaction(self, key: str, payload: JSON) -> list[Event]:
        """The client's summary; what it kept beside that was said before."""
        summary = summary_item(payload)
        return self._added(key, partial(add_item, item=summary), compaction=True) if summary else []

    def event(self, key: str, payload: JSON) -> list[Event]:
        """An event by its type."""
        return EVENTS.get(text_under(payload, "type"), _pass_over)(self, key, payload)

    def repeated(self, key: str, payload: JSON) -> list[Event]:
        """A prompt or an answer as an event."""
        item = SAID[text_under(payload, "type")](payload)
        return self._said(self._echoes.event(key, item)) if item else []

    def begin_turn(self, key: str, payload: JSON) -> list[Event]:
        """A turn begins with the next message."""
        self._turns = [*newest(self._turns, TURNS - 1), self._last]
        return []

    def take_back(self, key: str, payload: JSON) -> list[Event]:
        """The user undid the newest turns."""
        undone = self._turns[-turns:] if (turns := count_under(payload, "num_turns")) else []
        del self._turns[len(self._turns) - len(undone) :]
        if not undone or undone[0] == self._last:
            return []
        self._last = undone[0]
        self._drafting.close(MAIN)
        self._echoes.forget()
        return [TakenBack(MAIN, self._last or None)]

    def entitle(self, key: str, payload: JSON) -> list[Event]:
        """The session got a name."""
        self._title = text_under(payload, "thread_name")
        return []

    def _added(self, key: str, add: Callable[[Assembly], None], *, compaction: bool = False) -> list[Event]:
        return self._said(self._drafting.added(MAIN, key, add), compaction=compaction)

    def _said(self, added: Sequence[Added], *, compaction: bool = False) -> list[Event]:
        self._echoes.remember(added)
        self._last = next((one.key for one in reversed(added) if one.is_new), self._last)
        return [Said(MAIN, one.key, one.message, compaction=compaction) for one in added]


def _parent_in(meta: JSON) -> str:
    """The thread that spawned this one."""
    spawned = keyed(keyed(keyed(meta.get("source")).get("subagent")).get("thread_spawn"))
    return text_under(spawned, "parent_thread_id") or text_under(meta, "parent_thread_id")


def _pass_over(feed: CodexFeed, key: str, payload: JSON) -> list[Event]:
    """A line that holds nothing of the conversation."""
    return []


ROWS: dict[str, Callable[[CodexFeed, str, JSON], list[Event]]] = {
    "session_meta": CodexFeed.meta,
    "turn_context": CodexFeed.turn,
    "response_item": CodexFeed.item,
    "compacted": CodexFeed.compaction,
    "event_msg": CodexFeed.event,
}
"""Type of a line -> what is taken from it."""

EVENTS: dict[str, Callable[[CodexFeed, str, JSON], list[Event]]] = {
    "task_started": CodexFeed.begin_turn,
    "turn_started": CodexFeed.begin_turn,
    "user_message": CodexFeed.repeated,
    "agent_message": CodexFeed.repeated,
    "thread_name_updated": CodexFeed.entitle,
    "thread_rolled_back": CodexFeed.take_back,
}
"""Type of an event -> what is taken from it; the others repeat or only report."""

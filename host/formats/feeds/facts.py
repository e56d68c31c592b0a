"""What a Claude Code session says about itself: where it ran, with which model, whose side chain it is, its title."""

from __future__ import annotations

import re
from collections.abc import Callable

from host.formats.branches import Line
from host.formats.claude_code import model_of
from host.formats.feeds.drafting import CHAINS, newest
from host.formats.feeds.events import MAIN
from host.formats.loose import count_under, keyed, text_under
from host.formats.marks import mark_of
from host.messages.types import JSON

UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
WAITING_TITLES = 100  # of lines that are still to come; the client lists titles of other sessions too
NEWEST = {"version": "client_version", "gitBranch": "branch"}
"""Keys of a line whose newest value counts -> their names here."""

TITLES: dict[str, tuple[str, int]] = {"summary": ("summary", 1), "ai-title": ("aiTitle", 2), "custom-title": ("customTitle", 3)}
"""Type of a line -> the key of the title in it, and its rank: the newest of the highest rank counts, the user's own above all."""


class Facts:
    """The facts of one file and of each chain in it.

    A title is words of the conversation: it is told in the reading that met it, only its rank is remembered.
    """

    def __init__(self, stem: str, state: JSON) -> None:
        """Begin, or go on from the ``state`` of an earlier reading; ``stem`` is the file's name without its suffix."""
        self._stem = stem
        self._session = text_under(state, "session")
        self._chains: dict[str, JSON] = {chain: {**keyed(facts)} for chain, facts in keyed(state.get("chains")).items()}
        self._rank = count_under(state, "rank")
        self._title = ""
        self._waiting: dict[str, str] = {}

    def state(self) -> JSON:
        """The session's id, the facts of the newest chains, and the rank of the title."""
        chains = {chain: {**facts} for chain, facts in newest(self._chains.items(), CHAINS)}
        return {"session": self._session, "chains": chains, "rank": self._rank}

    def about(self, chain: str) -> JSON:
        """What is known of a chain by now."""
        facts = {**self._chains.get(chain, {})}
        if chain == MAIN:
            facts["session"] = self._stem if UUID.fullmatch(self._stem) else self._session or self._stem
            if self._title:
                facts["title"] = self._title
        return facts

    def note_file(self, row: JSON, holds: Callable[[str], bool]) -> None:
        """Take what a line says of the whole file; ``holds`` tells whether a line of an id is in it."""
        self._session = self._session or text_under(row, "sessionId", "session_id")
        key, rank = TITLES.get(text_under(row, "type"), ("", 0))
        title = text_under(row, key)
        if not title:
            return
        leaf = text_under(row, "leafUuid")
        if rank > 1 or holds(leaf):
            self._entitle(title, rank)
        elif len(self._waiting) < WAITING_TITLES:
            self._waiting[mark_of(leaf)] = title

    def note(self, chain: str, row: JSON, line: Line) -> None:
        """Take what a line says of its chain."""
        facts = self._chains.pop(chain, {})
        self._chains[chain] = facts  # the chain that spoke last is remembered longest
        if cwd := text_under(row, "cwd"):
            facts.setdefault("working_directory", cwd)
        facts.update((name, value) for key, name in NEWEST.items() if (value := text_under(row, key)))
        if model := model_of(line.message or {}):
            facts["model"] = model
        if chain != MAIN:
            facts.update((name, value) for name, value in (("side_chain_of", line.session), ("agent", text_under(row, "agentId"))) if value)
        if self._waiting and (title := self._waiting.pop(mark_of(line.uuid), "")):
            self._entitle(title, 1)

    def _entitle(self, title: str, rank: int) -> None:
        if rank >= self._rank:
            self._title, self._rank = title, rank

"""Claude Code sessions while they grow: each line's messages at once, an answer in pieces said again as it grows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from host.formats.branches import Line
from host.formats.claude_code import add_message, chain_of, line_of
from host.formats.feeds.drafting import Added, Drafting, newest, time_of
from host.formats.feeds.events import Event, Known, Said, TakenBack
from host.formats.feeds.facts import Facts
from host.formats.feeds.trail import Trail
from host.formats.loose import keyed
from host.messages.types import JSON

ROOTS = 200  # lines of side chains without an agent's name: the next one follows one of them


class ClaudeCodeFeed:
    """One session file while it is read."""

    def __init__(self, path: Path, state: JSON, known: Known) -> None:
        self._drafting = Drafting(known, keyed(state.get("open")))
        self._trail = Trail(keyed(state.get("trail")))
        self._facts = Facts(path.stem, keyed(state.get("facts")))
        self._roots: dict[str, str] = {**keyed(state.get("roots"))}

    def take(self, number: int, row: JSON) -> list[Event]:
        """What the row of a line adds."""
        try:
            return self._taken(number, row)
        except RecursionError:  # nested deeper than it could be written again: no archive would keep it
            return []

    def about(self, chain: str) -> JSON:
        """What is known of a chain by now; a title is told in the reading that met it and not remembered."""
        return self._facts.about(chain)

    def state(self) -> JSON:
        """Ids, line numbers and facts of the session."""
        return {
            "open": self._drafting.state(),
            "trail": self._trail.state(),
            "facts": self._facts.state(),
            "roots": dict(newest(self._roots.items(), ROOTS)),
        }

    def _taken(self, number: int, row: JSON) -> list[Event]:
        line = line_of(number, row)
        self._facts.note_file(row, self._trail.holds)
        if line is None or self._trail.holds(line.uuid):
            return []
        chain = chain_of(line, row, self._roots)
        self._trail.pass_line(line.uuid, number)
        self._facts.note(chain, row, line)
        if line.message is None:
            return []
        added = self._drafting.added(chain, line.uuid, partial(add_message, message=line.message))
        return [*self._gone_back(chain, number, row, line, added), *_said(chain, row, added)]

    def _gone_back(self, chain: str, number: int, row: JSON, line: Line, added: Sequence[Added]) -> list[Event]:
        """Note the messages that a line began; where its prompt goes back behind an earlier one, what it takes back."""
        key = None
        is_prompt = row.get("type") == "user" and line.is_prompt and not row.get("isMeta")
        if row.get("isCompactSummary"):
            self._trail.compact(chain, number)
        elif is_prompt:
            key = self._trail.back(chain, line.parent)
            self._trail.prompt(chain, number, line.uuid, line.parent)
        self._trail.begin(chain, number, [entry.key for entry in added if entry.is_new])
        return [TakenBack(chain, key)] if key else []


def _said(chain: str, row: JSON, added: Sequence[Added]) -> list[Event]:
    time, summarises = time_of(row), bool(row.get("isCompactSummary"))
    return [Said(chain, one.key, one.message, time, compaction=summarises and one.message["role"] != "tool") for one in added]

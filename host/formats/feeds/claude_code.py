"""Claude Code sessions while they grow: each line's messages at once, an answer in pieces said again as it grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from host.formats.branches import Line
from host.formats.claude_code import add_message, chain_of, line_of
from host.formats.content import content_from
from host.formats.feeds.drafting import SHAPE, Added, Drafting, gone_on_with, newest, time_of
from host.formats.feeds.events import MAIN, Event, Known, Said
from host.formats.feeds.facts import Facts
from host.formats.feeds.trail import Trail
from host.formats.loose import keyed
from host.formats.queued import QUEUE, PromptQueue, Queued, mark_of_words
from host.formats.source import Broken, parsed
from host.messages.types import JSON

KEPT = frozenset({"preservedSegment", "preservedMessages"})  # of a compaction: messages from before it that stay in the window
ROOTS = 200  # lines of side chains without an agent's name: the next one follows one of them


class ClaudeCodeFeed:
    """One session file while it is read."""

    def __init__(self, path: Path, state: JSON, known: Known) -> None:
        state = gone_on_with(state)
        self._path = path
        self._drafting = Drafting(known, keyed(state.get("open")))
        self._trail = Trail(keyed(state.get("trail")))
        self._facts = Facts(path.stem, keyed(state.get("facts")))
        self._queue = PromptQueue(keyed(state.get("queue")))
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
            "shape": SHAPE,
            "open": self._drafting.state(),
            "trail": self._trail.state(),
            "facts": self._facts.state(),
            "queue": self._queue.state(),
            "roots": dict(newest(self._roots.items(), ROOTS)),
        }

    def _taken(self, number: int, row: JSON) -> list[Event]:
        self._facts.note_file(row, self._trail.holds)
        if row.get("type") == QUEUE:
            return self._handed_over(number, row)
        line = line_of(number, row)
        repeats = self._trail.repeats(line.uuid, line.message) if line else True
        if line is None or repeats:
            return []
        if repeats is False:  # another line under the same id
            line = replace(line, uuid=f"{line.uuid} line {number}")
        chain = chain_of(line, row, self._roots)
        self._trail.pass_line(line.uuid, number, line.message)
        self._facts.note(chain, row, line)
        if KEPT & keyed(row.get("compactMetadata")).keys():
            self._trail.keep_before(chain, number)
        if line.message is None or (chain == MAIN and self._queue.repeats(number, row, line)):
            return []
        added = self._drafting.added(chain, line.uuid, partial(add_message, message=line.message))
        return [*self._gone_back(chain, number, row, line, added), *_said(chain, row, added)]

    def _handed_over(self, number: int, row: JSON) -> list[Event]:
        """The prompt that a line of the queue hands to the model. The answer goes on around it, so it stays open."""
        queued = self._queue.operate(number, row)
        content = _content_of(queued, self._path) if queued else None
        if queued is None or content is None:
            return []
        self._queue.hand_over(queued, number)
        self._trail.begin(MAIN, number, [queued.key])
        return [Said(MAIN, queued.key, {"role": "user", "content": content_from(content)}, time_of(row))]

    def _gone_back(self, chain: str, number: int, row: JSON, line: Line, added: Sequence[Added]) -> list[Event]:
        """Note the messages that a line began; and whether its prompt goes back behind an earlier one."""
        is_prompt = row.get("type") == "user" and line.is_prompt and not row.get("isMeta") and not row.get("isCompactSummary")
        back = self._trail.back(chain, line.parent) if is_prompt else None
        if is_prompt:
            self._trail.prompt(chain, number, line.parent)
        if back is not None and chain == MAIN:
            self._queue.forget()
        self._trail.begin(chain, number, [entry.key for entry in added if entry.is_new])
        return [back] if back is not None else []


def _said(chain: str, row: JSON, added: Sequence[Added]) -> list[Event]:
    time, summarises = time_of(row), bool(row.get("isCompactSummary"))
    return [Said(chain, one.key, one.message, time, compaction=summarises and one.message["role"] != "tool") for one in added]


def _content_of(queued: Queued, path: Path) -> object:
    """What a prompt in the queue says, from the file where an earlier reading met it; None where it is not there any more."""
    if queued.content is not None:
        return queued.content
    content = _content_at(path, queued.number)
    return content if mark_of_words(content) == queued.mark else None


def _content_at(path: Path, number: int) -> object:
    try:
        with path.open("rb") as opened:
            line = next(islice(opened, number - 1, None), b"")
        return keyed(parsed(line.strip())).get("content")
    except (OSError, Broken):
        return None

"""Where the newest lines of a file lie: whether one was read before, and how far back a prompt goes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

from host.formats.feeds.drafting import CHAINS, newest
from host.formats.feeds.events import TakenBack
from host.formats.loose import keyed, listed
from host.formats.marks import mark_of
from host.messages.types import JSON

LINES = 500  # remembered: a line that is written twice is written soon again
MESSAGES = 200  # before them only a prompt is seen to be tried again
PROMPTS = 200


class Prompt(NamedTuple):
    """A user's prompt: its chain, its line number, the mark of the line that it follows, and the key of the message before it."""

    chain: str
    number: int
    parent: str
    before: str


class Begun(NamedTuple):
    """A message's chain, the line number where it was first said, and its key."""

    chain: str
    number: int
    key: str


class Trail:
    """The newest lines, messages and prompts of each chain, as far back as the user may go.

    Parallel tool results fork a chain without being branches, so only a prompt that follows a line from before another
    prompt counts as going back.
    """

    def __init__(self, state: JSON) -> None:
        """Begin, or go on from the ``state`` of an earlier reading."""
        self._lines: dict[str, list[int]] = {mark: [*place] for mark, place in keyed(state.get("lines")).items()}
        self._messages = [Begun(*entry) for entry in listed(state.get("messages"))]
        self._prompts = [Prompt(*entry) for entry in listed(state.get("prompts"))]
        self._floors: dict[str, int] = {**keyed(state.get("floors"))}

    def state(self) -> JSON:
        """Marks, line numbers and keys of the newest lines, messages and prompts."""
        return {
            "lines": {mark: [*place] for mark, place in self._lines.items()},
            "messages": [list(entry) for entry in newest(self._messages, MESSAGES)],
            "prompts": [list(entry) for entry in self._prompts],
            "floors": dict(newest(self._floors.items(), CHAINS)),
        }

    def holds(self, uuid: str) -> bool:
        """Whether a line of this id was read before."""
        return mark_of(uuid) in self._lines

    def repeats(self, uuid: str, message: object) -> bool | None:
        """Whether a line of this id was read before, and said the same; False where it said something else, None for a new one."""
        place = self._lines.get(mark_of(uuid))
        return None if place is None else place[1] == _checksum(message)

    def pass_line(self, uuid: str, number: int, message: object) -> None:
        """A line was read."""
        self._lines[mark_of(uuid)] = [number, _checksum(message)]
        if len(self._lines) > LINES:  # or a file read at once would know more than one that was cut
            del self._lines[next(iter(self._lines))]

    def begin(self, chain: str, number: int, keys: Iterable[str]) -> None:
        """Messages were said for the first time."""
        self._messages.extend(Begun(chain, number, key) for key in keys)
        self._messages = self._messages if len(self._messages) < 2 * MESSAGES else newest(self._messages, MESSAGES)

    def prompt(self, chain: str, number: int, parent: str) -> None:
        """The user says something after the line of the id ``parent``."""
        prompt = Prompt(chain, number, mark_of(parent), self._newest_message(chain, number) or "")
        self._prompts = [*newest(self._prompts, PROMPTS - 1), prompt]

    def keep_before(self, chain: str, number: int) -> None:
        """A compaction kept messages from before this line as they were: what follows them goes on, not back."""
        self._floors[chain] = number

    def back(self, chain: str, parent: str) -> TakenBack | None:
        """The going back of a prompt that follows the line ``parent``, empty: none; None for a prompt that goes on.

        Where an earlier prompt followed the same line, all that was said before that belongs to both: results of other calls too.
        """
        mine = [prompt for prompt in self._prompts if prompt.chain == chain]
        if not parent:
            return TakenBack(chain, None) if mine and chain not in self._floors else None
        mark = mark_of(parent)
        tried = next((prompt for prompt in mine if prompt.parent == mark), None)
        number = tried.number - 1 if tried is not None else self._lines.get(mark, [0])[0]
        if not number or number < self._floors.get(chain, 0) or not any(prompt.number > number for prompt in mine):
            return None
        after = tried.before if tried is not None else self._newest_message(chain, number)
        return TakenBack(chain, after) if after else None

    def _newest_message(self, chain: str, number: int) -> str | None:
        """The key of the newest message of a chain up to a line; None where that is too long ago."""
        known = reversed(newest(self._messages, MESSAGES))
        return next((begun.key for begun in known if begun.chain == chain and begun.number <= number), None)


def _checksum(message: object) -> int:
    """By what a line that is written twice is told from another one of the same id."""
    return crc32(json.dumps(message).encode())

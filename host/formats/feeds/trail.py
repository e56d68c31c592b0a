"""Where the newest lines of a file lie: whether one was read before, and how far back a prompt goes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from host.formats.feeds.drafting import newest
from host.formats.loose import keyed, listed
from host.formats.marks import mark_of
from host.messages.types import JSON

LINES = 500  # remembered: a line that is written twice is written soon again
MESSAGES = 200  # who goes back behind more takes back from the first prompt there on
PROMPTS = 200


class Prompt(NamedTuple):
    """A user's prompt: its chain, line number, key, and the mark of the line that it follows."""

    chain: str
    number: int
    key: str
    parent: str


class Begun(NamedTuple):
    """A message's chain, the line number where it was first said, and its key."""

    chain: str
    number: int
    key: str


class Trail:
    """The live line of each chain, as far back as the user may go.

    A file's parallel tool results fork the chain without being branches, so only a prompt that follows a line from before
    an earlier prompt counts as going back. Nobody goes back behind a compaction.
    """

    def __init__(self, state: JSON) -> None:
        """Begin, or go on from the ``state`` of an earlier reading."""
        self._lines: dict[str, int] = {**keyed(state.get("lines"))}
        self._messages = [Begun(*entry) for entry in listed(state.get("messages"))]
        self._prompts = [Prompt(*entry) for entry in listed(state.get("prompts"))]
        self._floors: dict[str, int] = {**keyed(state.get("floors"))}

    def state(self) -> JSON:
        """Marks, line numbers and keys of the newest lines, messages and prompts."""
        return {
            "lines": dict(newest(self._lines.items(), LINES)),
            "messages": [list(entry) for entry in newest(self._messages, MESSAGES)],
            "prompts": [list(entry) for entry in newest(self._prompts, PROMPTS)],
            "floors": {**self._floors},
        }

    def holds(self, uuid: str) -> bool:
        """Whether a line of this id was read before."""
        return mark_of(uuid) in self._lines

    def pass_line(self, uuid: str, number: int) -> None:
        """A line was read."""
        self._lines[mark_of(uuid)] = number
        if len(self._lines) > LINES:  # or a file read at once would know more than one that was cut
            del self._lines[next(iter(self._lines))]

    def begin(self, chain: str, number: int, keys: Iterable[str]) -> None:
        """Messages were said for the first time."""
        self._messages.extend(Begun(chain, number, key) for key in keys)
        self._messages = self._messages if len(self._messages) < 2 * MESSAGES else newest(self._messages, MESSAGES)

    def prompt(self, chain: str, number: int, key: str, parent: str) -> None:
        """The user said something after the line of the id ``parent``."""
        self._prompts = [*newest(self._prompts, PROMPTS - 1), Prompt(chain, number, key, mark_of(parent))]

    def compact(self, chain: str, number: int) -> None:
        """What is before this line is out of reach."""
        self._floors[chain] = number
        self._cut(chain, 0)

    def back(self, chain: str, parent: str) -> str | None:
        """Whether a prompt that follows the line ``parent`` goes back: the key from which on it takes messages back.

        These are forgotten here. None for a prompt that goes on.
        """
        mark = mark_of(parent)
        found = (self._retried(chain, mark) or self._returned(chain, mark)) if mark else None
        if found is None:
            return None
        self._cut(chain, found.number)
        return found.key

    def _retried(self, chain: str, mark: str) -> Prompt | None:
        """The earlier prompt that followed the same line."""
        return next((prompt for prompt in self._prompts if prompt.chain == chain and prompt.parent == mark), None)

    def _returned(self, chain: str, mark: str) -> Begun | Prompt | None:
        """The first message after a line behind which a prompt lies."""
        number = self._lines.get(mark, 0)
        prompt = next((prompt for prompt in self._prompts if prompt.chain == chain and prompt.number > number), None)
        if prompt is None or number < self._floors.get(chain, 0) or mark not in dict(newest(self._lines.items(), LINES)):
            return None
        messages = (entry for entry in newest(self._messages, MESSAGES) if entry.chain == chain and entry.number > number)
        return min(next(messages, prompt), prompt, key=lambda entry: entry.number)

    def _cut(self, chain: str, number: int) -> None:
        """Forget the messages of a chain from a line on."""
        self._messages = [entry for entry in self._messages if entry.chain != chain or entry.number < number]
        self._prompts = [entry for entry in self._prompts if entry.chain != chain or entry.number < number]

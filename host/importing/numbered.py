"""Conversations of a file that have no id but their number: which is which when the file was written anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from host.formats.loose import listed
from host.messages.canonical import identity
from host.messages.types import JSON, Message
from host.store.readings import Reading

Beginning = tuple[int, bytes]
"""So many messages, and a digest of them."""


@dataclass(frozen=True)
class Remembered:
    """The chains of a file's conversations without an id: those that it held when it was read, in their order, and earlier ones."""

    here: list[str]
    gone: list[str]

    @classmethod
    def of(cls, reading: Reading | None, titles: list[str]) -> Remembered:
        """What a reading left; where that was lost the numbers that they would have, which are ``titles``."""
        if reading is None:
            return cls([], [])
        kept = [[str(chain) for chain in listed(reading.state.get(key))] for key in ("here", "gone")]
        return cls(kept[0] or titles, kept[1])

    def followed_by(self, here: list[str]) -> JSON:
        """The state of the next reading."""
        return {"here": here, "gone": [chain for chain in (*self.here, *self.gone) if chain not in here]}


def is_numbered(title: str) -> bool:
    """Whether a conversation's title is no id, but its number in the file, or nothing where it is the only one."""
    return not title or title.isdecimal()


def chains_of(titles: Sequence[str], talks: Sequence[Sequence[Message]], archived: Mapping[str, Sequence[Message]]) -> list[str]:
    """The chain of each numbered conversation: the one in ``archived`` with which it has the longest beginning in common.

    A single one is the single one that is archived where they have any message in common. What is not archived gets a chain
    that no other has, its title where that is free.
    """
    found = _by_beginning(talks, archived)
    if not found and len(talks) == len(archived) == 1:
        ((chain, before),) = archived.items()
        if {identity(message) for message in before} & {identity(message) for message in talks[0]}:
            found = {0: chain}
    taken = {*found.values(), *archived}
    chains: list[str] = []
    for index, title in enumerate(titles):
        fresh = (name for name in (title, *map(str, range(2, len(titles) + len(taken) + 3))) if name not in taken)
        chains.append(found[index] if index in found else next(fresh))
        taken.add(chains[-1])
    return chains


def _by_beginning(talks: Sequence[Sequence[Message]], archived: Mapping[str, Sequence[Message]]) -> dict[int, str]:
    """Which conversation is which chain, the longest common beginnings first, each chain once."""
    begun: defaultdict[Beginning, list[str]] = defaultdict(list)
    for chain, messages in archived.items():
        for beginning in _beginnings(messages):
            begun[beginning].append(chain)
    pairs = [(length, index, digest) for index, talk in enumerate(talks) for length, digest in _beginnings(talk)]
    found: dict[int, str] = {}
    left = set(archived)
    for length, index, digest in sorted(pairs, key=lambda pair: (-pair[0], pair[1])):
        same = [chain for chain in begun.get((length, digest), ()) if chain in left]
        if same and index not in found:
            found[index] = same[0]
            left.remove(same[0])
    return found


def _beginnings(messages: Iterable[Message]) -> Iterator[Beginning]:
    """Every beginning in which somebody says something: a system prompt alone is the same for many."""
    digest, is_said = blake2b(digest_size=16), False
    for length, message in enumerate(messages, start=1):
        digest.update(identity(message))
        is_said = is_said or message.get("role") not in ("system", "developer")
        if is_said:
            yield length, digest.digest()

"""Which conversations the chains of one file go to, what of them is archived there already, and what a keeping of them brought."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from host.errors import NoSuchSession
from host.formats.feeds.events import MAIN
from host.importing.matching import Archived, is_same, marked
from host.importing.places import RecordedFile
from host.importing.values import Imported, Trouble
from host.messages.types import JSON
from host.store.protocols import FileStore
from host.store.readings import Chapter, Entry, Placed, Reading
from host.store.values import Session

SAME = ("session", "side_chain_of", "agent")  # of ``about``: what two recordings of one conversation have in common
UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
SHORTEST, LONGEST = 4, 92  # characters of a name: room is left for what tells it from another


class Binding:
    """The chains of one file. ``again``: it was read before and is read anew, so what it holds may be archived.

    ``is_matching`` is True from when a chain is met whose messages have to be looked for among those that are archived: such a
    file has to be handed over whole, for a message that grew is recognised as it is at last.
    """

    def __init__(self, store: FileStore, file: RecordedFile, client: str, *, again: bool) -> None:
        self.is_matching = again
        self._store = store
        self._file = file
        self._client = client
        self._again = again
        self._names: dict[str, str] = {}
        self._archived: dict[str, Archived] = {}
        self._ends: dict[str, int] = {}

    def meet(self, chain: str, entries: Sequence[Entry], about: JSON) -> None:
        """Find out which conversation a chain belongs to."""
        if chain in self._names:
            return
        conversation = self._store.imports.conversation(self._file.name, chain)
        if conversation is not None:
            self._bind(chain, conversation, is_archived=self._again)
            return
        wanted = fit(str(about.get("name") or name_of(chain, about, self._file)))
        known = self._recorded(wanted)
        if known is not None and self._is_copy(known, entries, about):
            self._bind(chain, known.conversation, is_archived=True)
        else:
            self._names[chain] = wanted if known is None else f"{wanted}-{_digest(self._file.name, chain)}"
            self._ends[chain] = 0

    def has(self, chain: str) -> bool:
        """Whether a chain of the file has a conversation."""
        return self._ends.get(chain, 0) > 0 or self._store.imports.conversation(self._file.name, chain) is not None

    def chapters(self, chains: Mapping[str, list[Entry]], abouts: Mapping[str, JSON]) -> list[Chapter]:
        """What to hand over; a chain without a conversation only where it has a message."""
        return [
            self._chapter(chain, entries, abouts[chain])
            for chain, entries in chains.items()
            if any(entry.message is not None for entry in entries) or self.has(chain)
        ]

    def keep(self, reading: Reading, chapters: Sequence[Chapter], *, expected: int, history: bool) -> Imported:
        """Hand them over; raises Outrun where another process was quicker."""
        placed = self._store.imports.keep(reading, chapters, expected=expected, history=history)
        return sum((self._counted(*pair) for pair in zip(chapters, placed, strict=True)), Imported())

    def _chapter(self, chain: str, entries: Sequence[Entry], about: JSON) -> Chapter:
        self.meet(chain, entries, about)
        archived = self._archived.get(chain)
        told = {key: value for key, value in about.items() if key != "name"}
        whose = {**told, "client": self._client, "file": self._file.name}
        return Chapter(chain, self._names[chain], entries if archived is None else marked(entries, archived), whose)

    def _bind(self, chain: str, conversation: str, *, is_archived: bool) -> None:
        archive = self._store.archive(conversation)
        self._names[chain], self._ends[chain] = conversation, archive.range()[1]
        if is_archived:
            self._archived[chain] = Archived(archive.rows())
            self.is_matching = True

    def _recorded(self, name: str) -> Session | None:
        """The session of that name, if a recording of this client brought it."""
        try:
            session = self._store.sessions.get(name)
        except NoSuchSession:
            return None
        return session if session.source == self._client else None

    def _is_copy(self, known: Session, entries: Sequence[Entry], about: JSON) -> bool:
        if about.get("session") or about.get("side_chain_of"):
            return all(known.about.get(key) == about.get(key) for key in SAME)
        return is_same(self._store.archive(known.conversation).current(), entries)

    def _counted(self, chapter: Chapter, placed: Placed) -> Imported:
        """What came of a chapter: a place behind the former end is a new message, any other new row a version."""
        if not placed.conversation:
            return Imported(deleted=1)
        before, end = self._ends[chapter.chain], self._store.archive(placed.conversation).range()[1]
        self._ends[chapter.chain], self._names[chapter.chain] = end, placed.conversation
        new = {place for place in placed.positions if place is not None and place > before}
        kept = [entry for entry, place in zip(chapter.entries, placed.positions, strict=True) if place in new]
        times = [entry.time for entry in kept if entry.time is not None]
        return Imported(
            conversations=int(placed.is_new),
            messages=len(new),
            versions=max(end - before - len(new), 0),
            compactions=sum(entry.compaction for entry in kept),
            refused=tuple(Trouble(self._file.shown, why) for why in placed.refused.values()),
            since=min(times, default=None),
            until=max(times, default=None),
        )


def name_of(chain: str, about: JSON, file: RecordedFile) -> str:
    """The id that the conversation of a chain should get: the client's own, a side chain's that of its agent."""
    if chain != MAIN or about.get("side_chain_of"):
        return f"agent-{about.get('agent') or chain or file.path.stem}"
    return str(about.get("session") or file.path.stem)


def fit(name: str) -> str:
    """A name of letters, digits and a few signs, not too short and not too long."""
    cleaned = UNFIT.sub("-", name).strip("-._")[:LONGEST]
    return cleaned if len(cleaned) >= SHORTEST else f"recording-{cleaned}".rstrip("-")


def _digest(*texts: str) -> str:
    return blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()

"""Which conversations the chains of one file go to, what of them is archived there already, and what a keeping of them brought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from host.errors import NoSuchSession
from host.importing.matching import Archived, is_named_only, is_same, marked, telling_keys
from host.importing.naming import family, names_of
from host.importing.places import RecordedFile
from host.importing.values import Imported, Pace, Trouble
from host.messages.types import JSON
from host.store.protocols import FileStore
from host.store.readings import FORGOTTEN, Chapter, Entry, Placed, Reading, Told
from host.store.values import DIRECTORY, Session

IDS = ("session", "side_chain_of", "agent")  # of ``about``: what does not change in a recording of a conversation
SAME = (*IDS, DIRECTORY)  # what two recordings of one have in common: an id may come again in another project

LineOf = Mapping[tuple[str, str], int]
"""Chain and key of a message -> the line where it stands."""


@dataclass
class Bound:
    """The conversation of a chain, by the ``name`` that it has or should get. ``end`` is its last position.

    ``is_compared``: its messages are looked for among those that are archived. ``is_anew``: the file holds another conversation
    in this chain than it did.
    """

    name: str
    conversation: str | None = None
    end: int = 0
    is_compared: bool = False
    is_anew: bool = False


Match = tuple[Bound, Sequence[Entry]]
"""The conversation of a chain, and what of it is archived there already."""


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
        self._bound: dict[str, Bound] = {}

    def meet(self, chain: str, entries: Sequence[Entry], about: JSON) -> None:
        """Find out which conversation a chain belongs to."""
        if chain not in self._bound:
            read_before = self._store.imports.conversation(self._file.name, chain)
            if read_before is not None and self._is_still(read_before, about):
                self._bound[chain] = self._goes_on(read_before, is_compared=self._again)
            else:
                self._bound[chain] = self._found(chain, entries, about)
                self._bound[chain].is_anew = read_before is not None
            self.is_matching = self.is_matching or self._bound[chain].is_compared

    def has(self, chain: str) -> bool:
        """Whether a chain of the file has a conversation."""
        bound = self._bound.get(chain)
        if bound is not None and (bound.conversation is not None or bound.is_anew):
            return bound.conversation is not None
        return self._store.imports.conversation(self._file.name, chain) is not None

    @property
    def compared(self) -> int:
        """How many archived messages there are to compare with."""
        return sum(bound.end for bound in self._bound.values() if bound.is_compared)

    def newest_time(self, chain: str) -> datetime | None:
        """When the newest archived message of a chain was said."""
        bound = self._bound.get(chain)
        if bound is None or bound.conversation is None or not bound.end:
            return None
        return next((row.time for row in self._store.archive(bound.conversation).rows(bound.end, bound.end)), None)

    def chapters(self, chains: Mapping[str, list[Entry]], abouts: Mapping[str, JSON]) -> list[Chapter]:
        """What to hand over; a chain without a conversation only where it has a message."""
        return [
            self._chapter(chain, entries, abouts[chain])
            for chain, entries in chains.items()
            if any(isinstance(entry, Told) for entry in entries) or self.has(chain)
        ]

    def keep(self, reading: Reading, chapters: Sequence[Chapter], *, expected: int, pace: Pace, line_of: LineOf | None = None) -> Imported:
        """Hand them over; raises Outrun where another process was quicker. Without ``line_of`` messages are told by their number."""
        placed = self._store.imports.keep(reading, chapters, expected=expected, history=pace.history, patience=pace.patience)
        brought = sum((self._counted(*pair, line_of) for pair in zip(chapters, placed, strict=True)), Imported())
        return brought + Imported(deleted=int(any(not each.conversation for each in placed)))

    def _chapter(self, chain: str, entries: Sequence[Entry], about: JSON) -> Chapter:
        self.meet(chain, entries, about)
        bound, entries = self._matched(chain, entries, about)
        told = {key: value for key, value in about.items() if key != "name"}
        whose = {**told, "client": self._client, "file": self._file.name}
        after = bound.end if bound.is_compared and bound.conversation is not None else None
        return Chapter(chain, bound.name, entries, whose, bound.conversation, after=after, is_anew=bound.is_anew)

    def _matched(self, chain: str, entries: Sequence[Entry], about: JSON) -> Match:
        """The conversation of a chain, and its entries with the places of those that are archived there.

        It is another one than its ids say where its messages are others: a client's file may take another's place under its name.
        """
        bound = self._bound[chain]
        if not bound.is_compared or bound.conversation is None:
            return bound, entries
        known, is_told = self._marked(bound.conversation, chain, entries)
        another = None if is_told else self._another(bound, chain, entries, about)
        if another is None:
            return bound, known
        self._bound[chain] = another[0]
        return another

    def _another(self, bound: Bound, chain: str, entries: Sequence[Entry], about: JSON) -> Match | None:
        """The conversation that the messages are of. Where there is none a file that is read anew begins one, any other none."""
        is_anew = self._store.imports.conversation(self._file.name, chain) is not None
        for found in self._candidates(chain, entries, about):
            if found.conversation is None:
                return (replace(found, is_anew=is_anew), entries) if self._again else None
            if found.conversation != bound.conversation:
                known, is_told = self._marked(found.conversation, chain, entries)
                if is_told:
                    return replace(found, is_anew=is_anew), known
        return None

    def _marked(self, conversation: str, chain: str, entries: Sequence[Entry]) -> tuple[list[Entry], bool]:
        """The entries with their places, and whether they are of this conversation, as far as content, times and keys tell.

        Messages without a key may all have been edited.
        """
        archived = Archived(self._store.archive(conversation).rows())
        known = marked(entries, archived)
        told = [entry for entry in entries if isinstance(entry, Told)]
        if not told or archived.is_told(len(told)) or any(entry.key is None for entry in told):
            return known, True
        imports, file = self._store.imports, self._file.name
        is_still = imports.conversation(file, chain) == conversation
        return known, is_still and any(imports.recorded(file, chain, key) is not None for key in telling_keys(known))

    def _found(self, chain: str, entries: Sequence[Entry], about: JSON) -> Bound:
        """The conversation that a chain goes on in, or the name of one that it begins."""
        return next(self._candidates(chain, entries, about))

    def _candidates(self, chain: str, entries: Sequence[Entry], about: JSON) -> Iterator[Bound]:
        """The conversations that a chain may go on in, and names of those that it may begin, the best first."""
        taken = {bound.name for other, bound in self._bound.items() if other != chain}
        free = (name for name in names_of(chain, about, self._file) if name not in taken)
        return filter(None, (self._of_name(name, entries, about) for name in free))

    def _of_name(self, name: str, entries: Sequence[Entry], about: JSON) -> Bound | None:
        """A new conversation of that name, or the one that has it; None where that is another than the recorded one."""
        known = self._recorded(name)
        if known is None:
            return Bound(name)
        return self._goes_on(known.conversation, is_compared=True) if self._is_copy(known, entries, about) else None

    def _goes_on(self, conversation: str, *, is_compared: bool) -> Bound:
        return Bound(conversation, conversation, self._store.archive(conversation).range()[1], is_compared)

    def _is_still(self, conversation: str, about: JSON) -> bool:
        """Whether a chain is the conversation that it went into before: where a file is read anew another may have taken its place."""
        if not self._again:
            return True
        known = self._recorded(conversation)
        return known is not None and all(known.about.get(key) == about.get(key) for key in IDS)

    def _recorded(self, name: str) -> Session | None:
        """The session of that name, if a recording of this client brought it."""
        try:
            session = self._store.sessions.get(name)
        except NoSuchSession:
            return None
        return session if family(session.source) == family(self._client) else None

    def _is_copy(self, known: Session, entries: Sequence[Entry], about: JSON) -> bool:
        if about.get("session") or about.get("side_chain_of"):
            return all(known.about.get(key) == about.get(key) for key in SAME)
        return is_same(self._store.archive(known.conversation).current(), entries)

    def _counted(self, chapter: Chapter, placed: Placed, line_of: LineOf | None) -> Imported:
        """What came of a chapter: a place behind the former end is a new message, any other new row a version."""
        if not placed.conversation:
            return Imported()
        bound = self._bound[chapter.chain]
        before, end = bound.end, self._store.archive(placed.conversation).range()[1]
        bound.name = bound.conversation = placed.conversation
        bound.end, bound.is_anew = end, False
        new = {place for place in placed.positions if place is not None and place > before}
        pairs = zip(chapter.entries, placed.positions, strict=True)
        kept = [entry for entry, place in pairs if place in new and isinstance(entry, Told)]
        times = [entry.time for entry in kept if entry.time is not None]
        refused = dict.fromkeys(self._trouble(chapter, index, why, line_of) for index, why in placed.refused.items())
        return Imported(
            conversations=int(placed.is_new),
            messages=len(new),
            versions=max(end - before - len(new), 0),
            compactions=sum(entry.compaction for entry in kept),
            refused=tuple(trouble for trouble in refused if trouble.why != FORGOTTEN),
            erased=tuple(trouble for trouble in refused if trouble.why == FORGOTTEN),
            since=min(times, default=None),
            until=max(times, default=None),
        )

    def _trouble(self, chapter: Chapter, index: int, why: str, line_of: LineOf | None) -> Trouble:
        """What is wrong with an entry, with its line, or which message of its chapter it is."""
        entry = chapter.entries[index]
        if line_of is not None and isinstance(entry, Told):
            return Trouble(self._file.shown, why, line=line_of.get((chapter.chain, str(entry.key)), 0))
        return Trouble(self._file.shown, why, message=sum(not is_named_only(each) for each in chapter.entries[: index + 1]))

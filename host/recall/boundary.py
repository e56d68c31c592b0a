"""Where a search looks, and how far an agent may reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from host.errors import NoSuchSession
from host.recall.answers import Wrong
from host.recall.references import id_in
from host.store.lineage import LAST
from host.store.protocols import Store
from host.store.titles import clean_title
from host.store.values import Session

ALL, PROJECT, CONVERSATION = "all", "project", "conversation"
KEYWORDS = frozenset({ALL, PROJECT, CONVERSATION})
MOST_CANDIDATES = 5  # of an ambiguous name
HOW_TO_ALLOW = (
    "only the user can allow more: `ctxhost mcp --scope all`, or `recall: {scope: all}` in the config.yaml of ctxhost's home folder"
)


@dataclass(frozen=True)
class Boundary:
    """What is searched by default, and what may be reached at most.

    By default: the ``conversation`` where one is named, else the conversations of the ``directories``, else everything where
    that is allowed. Within reach are the conversation, those of the directories, and with ``everything`` all others. An empty
    boundary reaches nothing.
    """

    conversation: str | None = None
    directories: tuple[str, ...] = ()
    everything: bool = False


@dataclass(frozen=True)
class Scope:
    """Where one search looks. ``words`` says it; with neither conversation nor directories it is everything."""

    words: str
    conversation: str | None = None
    directories: tuple[str, ...] = ()


class Reach:
    """Names that a model gives, resolved within a boundary. What lies outside is as if it were not there."""

    def __init__(self, store: Store, boundary: Boundary) -> None:
        self._sessions = store.sessions
        self._boundary = boundary

    @property
    def conversation(self) -> str | None:
        """The conversation that the model itself is in, where that is known."""
        return self._boundary.conversation

    @property
    def may_widen(self) -> bool:
        """Whether everything may be asked for and is not what is searched by default."""
        return self._boundary.everything and self.default().words != EVERYTHING.words

    def default(self) -> Scope:
        """Where a search looks that names no scope; Wrong where nothing may be searched."""
        offered = [self._this_conversation(), self._this_project(), EVERYTHING if self._boundary.everything else None]
        found = next((scope for scope in offered if scope is not None), None)
        if found is None:
            raise Wrong("scope", None, HOW_TO_ALLOW, "nothing may be searched from here: no project and no conversation is set")
        return found

    def scope(self, asked: str | None) -> Scope:
        """Where a search of this scope looks; Wrong for what is not within reach."""
        if asked is None:
            return self.default()
        word = asked.strip().lower()
        if word in KEYWORDS:
            return self._of_keyword(word)
        session = self.session(asked, "scope")
        title = f" {session.title!r}" if session.title else ""
        return Scope(f"the conversation{title} ({session.conversation})", conversation=session.conversation)

    def session(self, name: str, where: str) -> Session:
        """The session of this id, prefix or title within reach, ``last`` for the newest; Wrong, for the argument ``where``.

        Where the name as it stands is none, the id in it counts, also in capitals.
        """
        matches: list[Session] = []
        for spelt in dict.fromkeys((name.strip(), id_in(name), id_in(name).lower())):
            matches = matches or self._found(spelt)
        if len(matches) == 1:
            return matches[0]
        ids = ", ".join(session.id for session in matches[:MOST_CANDIDATES])
        several = f"; it could be {ids}" if matches else ""
        raise Wrong(where, name, self._expected(where), f"no session within reach has this id or title{several}")

    def holds(self, conversation: str) -> bool:
        """Whether a conversation may be reached."""
        if self._boundary.everything or conversation == self._boundary.conversation:
            return True
        directories = self._boundary.directories
        return bool(directories and self._sessions.listed(conversation=conversation, directories=directories, limit=1))

    def _this_conversation(self) -> Scope | None:
        name = self._boundary.conversation
        return None if name is None else Scope("this conversation", conversation=name)

    def _this_project(self) -> Scope | None:
        directories = self._boundary.directories
        return Scope(f"this project ({', '.join(directories)})", directories=directories) if directories else None

    def _of_keyword(self, word: str) -> Scope:
        allowed = {ALL: EVERYTHING if self._boundary.everything else None, PROJECT: self._this_project()}
        found = allowed.get(word, self._this_conversation())
        if found is None:
            raise Wrong("scope", word, self._expected(), f"the scope {word!r} is not within reach")
        return found

    def _found(self, name: str) -> list[Session]:
        """The sessions within reach that a name could mean; one where it is clear."""
        if name != LAST or self._boundary.everything:
            try:
                found = self._sessions.find(name)
            except NoSuchSession:
                found = None
            if found is not None and self.holds(found.conversation):
                return [found]
        inside = self._within()
        return inside[:1] if name == LAST else _called(name, inside)

    def _within(self) -> list[Session]:
        """What is within reach, newest first."""
        if self._boundary.everything:
            return self._sessions.listed()
        own, directories = self._boundary.conversation, self._boundary.directories
        of_project = self._sessions.listed(directories=directories) if directories else []
        of_own = self._sessions.listed(conversation=own) if own is not None else []
        return list({session.id: session for session in [*of_project, *of_own]}.values())

    def _expected(self, where: str = "scope") -> str:
        """What to give instead, and how the user allows more."""
        nothing = "null, or " if where == "scope" else ""
        named = f"{nothing}the id, a unique beginning of the id, or the title of a session"
        if self._boundary.everything:
            return named
        return f"{named} of {self.default().words}; {HOW_TO_ALLOW}"


def _called(name: str, sessions: Sequence[Session]) -> list[Session]:
    """The sessions of this title, or whose id begins so."""
    title = clean_title(name)
    return [session for session in sessions if (name and session.id.startswith(name)) or (title is not None and session.title == title)]


EVERYTHING = Scope("everything that is archived")

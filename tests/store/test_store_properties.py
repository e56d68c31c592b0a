"""Whatever is done, in whatever order: the store in memory and the file are of one mind, also after the file was opened anew."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from host.errors import CtxhostError
from host.messages.canonical import canonical
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.store.memory import MemoryStore
from host.store.protocols import Store
from host.store.query import Mode, Query
from host.store.sqlite.store import SqliteStore
from host.store.values import Lease, Publication, Published, Row, Session

ENGINES = ("e", "f")
HOLDERS = ("A", "B")
RIGHTS = ("one", "two")
LOOKING = (Mode.AUTO, Mode.LITERAL, Mode.WORDS, Mode.REGEX)
MOST_CONVERSATIONS = 3  # more of them, and little happens to each
SAID = datetime(2024, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)

CALL = {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
MESSAGES: tuple[Any, ...] = (
    {"role": "user", "content": "yes"},
    {"role": "user", "content": "bad \udc81\x00"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "x" * 40_000}]},
    {"role": "critic", "content": "", "n": [1, 1.0, float("nan")]},
)
UNSTORABLE: tuple[Any, ...] = ({"role": "user", "content": {1}}, "no message")

messages = st.sampled_from(MESSAGES)
any_message = st.one_of(messages, messages, messages, st.sampled_from(UNSTORABLE))
titles = st.sampled_from((None, "", "work", "work #2", "work #3", "play", " wo\u200brk "))
documents = st.sampled_from((None, {"n": 1}, {"n": 2}, {"n": {3}}))
offsets = st.sampled_from((0, 0, 0, 0, 0, 0, -1, 1))  # from the version that is right
picks = st.integers(0, 11)  # of what there is, counted round


class Side:
    """One of the two stores, and the names that both give to its sessions."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.conversations: list[str] = []
        self.sessions: list[str] = []
        self.leases: list[Lease] = []

    def told(self, act: Callable[[Side], object]) -> object:
        """What an act gives or raises, in names that both sides share."""
        try:
            found = self.plain(act(self))
        except (CtxhostError, TypeError, ValueError) as error:
            found = f"{type(error).__name__}: {error}"
        self._name_new()
        return self._named(found) if isinstance(found, str) else found

    def plain(self, value: object) -> object:
        """A value without what differs by chance: names, the time of day."""
        match value:
            case Session():
                plain = replace(value, id="", conversation="", parent=None, started=None, ended=None)
                return plain, self._label(value.id), value.parent and self._label(value.parent), value.ended is not None
            case Row():
                body = None if value.message is None else canonical(value.message)
                return replace(value, message=None, conversation="", session=""), self._label(value.session), body
            case Published():
                entries = [(canonical(entry.message), entry.row, entry.kind, entry.covers) for entry in value.ledger]
                return replace(value, time=SAID, ledger=Ledger(), session=""), self._label(value.session), entries
            case Lease():
                self.leases.append(value)
                return value.name, value.holder, value.fence
            case list():
                return [self.plain(inner) for inner in value]
        return value

    def all_that_is_there(self) -> Iterator[object]:
        """Everything that can be read."""
        yield self.plain(self.store.sessions.listed())
        for conversation in self.conversations:
            archive, views = self.store.archive(conversation), self.store.views(conversation)
            yield self.plain(self.store.sessions.listed(conversation=conversation))
            yield self._label(self.store.sessions.tip(conversation).id)
            yield archive.range(), list(map(canonical, archive.read(0, 99)))
            yield self.plain(list(archive.rows())), self.plain(archive.current())
            yield self.plain(views.history()), self.plain(views.current()), views.version()
            yield [self.store.state(conversation, engine).load() for engine in ENGINES]
        yield [self.store.leases.holder(name) for name in RIGHTS]

    def _name_new(self) -> None:
        self.sessions += [session.id for session in self.store.sessions.listed() if session.id not in self.sessions]

    def _label(self, session: str) -> int:
        if session not in self.sessions:
            self.sessions.append(session)
        return self.sessions.index(session)

    def _named(self, text: str) -> str:
        for number, session in enumerate(self.sessions):
            text = text.replace(session, f"session {number}").replace(repr(session[:-1]), f"nearly session {number}")
        return text


class TwoStores(RuleBasedStateMachine):
    """Everything that can be done to a store is done to both."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="ctxhost-store-")
        self.path = Path(self.folder.name, "archive.db")
        self.memory = Side(MemoryStore())
        self.file = Side(self.opened())

    def opened(self) -> Store:
        return SqliteStore(self.path, durability="normal")

    def both(self, act: Callable[[Side], object]) -> None:
        assert self.memory.told(act) == self.file.told(act)

    @initialize(title=titles)
    def begin(self, title: str | None) -> None:
        self.create(title, None)

    @precondition(lambda self: len(self.memory.conversations) < MOST_CONVERSATIONS)
    @rule(title=titles, goal=st.sampled_from((None, "ship")))
    def create(self, title: str | None, goal: str | None) -> None:
        def act(side: Side) -> Session:
            session = side.store.sessions.create(title=title, source="cli", settings={"goal": goal} if goal else None)
            side.conversations.append(session.conversation)
            return session

        self.both(act)

    @rule(pick=picks, message=any_message, replaces=st.one_of(st.none(), st.integers(-1, 12)))
    def append(self, pick: int, message: Message, replaces: int | None) -> None:
        self.both(lambda side: archive(side, pick).append(message, replaces=replaces, time=SAID))

    @rule(pick=picks, several=st.lists(messages, max_size=4), odd=st.sampled_from((*[None] * 4, *UNSTORABLE)), missing=st.booleans())
    def extend(self, pick: int, several: list[Message], odd: Any, missing: bool) -> None:
        given = [*several, odd] if odd is not None else several
        times = [SAID] * (len(given) - (missing and odd is None))
        self.both(lambda side: archive(side, pick).extend(given, times=times))

    @rule(
        pick=picks,
        share=st.sampled_from((0, 1, 2)),
        offset=offsets,
        rotate=st.booleans(),
        engine=st.sampled_from(ENGINES),
        document=documents,
        kind=st.sampled_from(Kind),
        beyond=st.sampled_from((0, 0, 0, 0, 1)),
        lease=st.one_of(st.none(), st.none(), picks),
    )
    def publish(
        self, pick: int, share: int, offset: int, rotate: bool, engine: str, document: Any, kind: Kind, beyond: int, lease: int | None
    ) -> None:
        def act(side: Side) -> Published:
            last = archive(side, pick).range()[1]
            made = Entry({"role": "user", "content": f"summary of {last}"}, None, kind, (range(1, last + 1),) if share else ())
            originals = [Entry(MESSAGES[0], row) for row in range(last * share // 2 + 1, last + 1 + beyond)]
            publication = Publication(Ledger([made, *originals]), last, engine, "manual", {"rows": last}, document, rotate)
            held = side.leases[lease % len(side.leases)] if lease is not None and side.leases else None
            views = side.store.views(picked(side.conversations, pick))
            return views.publish(publication, expected=views.version() + offset, lease=held)

        self.both(act)

    @rule(pick=picks, offset=offsets)
    def undo(self, pick: int, offset: int) -> None:
        def act(side: Side) -> Published:
            views = side.store.views(picked(side.conversations, pick))
            return views.undo(expected=views.version() + offset)

        self.both(act)

    @rule(pick=picks, acts=st.lists(st.sampled_from(("in place", "rotate", "say", "mend", "undo")), min_size=3, max_size=8))
    def go_on_for_a_while(self, pick: int, acts: list[str]) -> None:
        for number, name in enumerate(acts):
            match name:
                case "say":
                    self.append(pick, MESSAGES[0], None)
                case "mend":
                    self.append(pick, MESSAGES[0], number)
                case "undo":
                    self.undo(pick, 0)
                case _:
                    self.publish(pick, 1, 0, name == "rotate", ENGINES[number % 2], {"n": number}, Kind.SUMMARY, 0, None)

    @rule(pick=picks, engine=st.sampled_from(ENGINES), document=documents)
    def save_state(self, pick: int, engine: str, document: Any) -> None:
        self.both(lambda side: side.store.state(picked(side.conversations, pick), engine).save(document or {}))

    @rule(pick=picks, title=titles)
    def rename(self, pick: int, title: str | None) -> None:
        self.both(lambda side: side.store.sessions.rename(picked(side.sessions, pick), title))

    @rule(pick=picks, reason=st.sampled_from(("done", "left")))
    def end(self, pick: int, reason: str) -> None:
        self.both(lambda side: side.store.sessions.end(picked(side.sessions, pick), reason))

    @rule(pick=picks, key=st.sampled_from(("goal", "n")), value=st.sampled_from((None, 1, [2], {3})))
    def change_settings(self, pick: int, key: str, value: Any) -> None:
        self.both(lambda side: side.store.sessions.set(picked(side.sessions, pick), **{key: value}))

    @rule(name=st.sampled_from(("last", "work", "work #2", "play", "nothing", "", "\udc81")))
    def find(self, name: str) -> None:
        self.both(lambda side: side.store.sessions.find(name))

    @rule(
        pick=st.one_of(st.none(), picks), mode=st.sampled_from(LOOKING), text=st.sampled_from(("yes", "BAD", "summary", "x", "\udc81", ""))
    )
    def search(self, pick: int | None, mode: Mode, text: str) -> None:
        def act(side: Side) -> list[object]:
            where = None if pick is None else picked(side.conversations, pick)
            page = side.store.search.find(Query(text, mode, conversation=where, limit=5))
            return [
                page.complete,
                page.mode,
                *([replace(hit, conversation="", session=""), side.plain(side.store.sessions.get(hit.session))] for hit in page.hits),
            ]

        self.both(act)

    @rule(pick=picks, length=st.sampled_from((-1, 0, 40)))
    def find_by_id(self, pick: int, length: int) -> None:
        self.both(lambda side: side.store.sessions.find(picked(side.sessions, pick)[: length or None]) if length else None)

    @precondition(lambda self: len(self.memory.conversations) > 1)
    @rule(pick=picks)
    def delete(self, pick: int) -> None:
        def act(side: Side) -> int:
            gone = side.conversations.pop(pick % len(side.conversations))
            return side.store.sessions.delete(gone)

        self.both(act)

    @rule(name=st.sampled_from((*RIGHTS, "")), holder=st.sampled_from(HOLDERS), seconds=st.sampled_from((300.0, 300.0, -1.0)))
    def acquire(self, name: str, holder: str, seconds: float) -> None:
        self.both(lambda side: side.store.leases.acquire(name, holder, seconds))

    @precondition(lambda self: bool(self.memory.leases))
    @rule(pick=picks, seconds=st.sampled_from((300.0, -1.0)))
    def refresh(self, pick: int, seconds: float) -> None:
        self.both(lambda side: side.store.leases.refresh(side.leases[pick % len(side.leases)], seconds))

    @precondition(lambda self: bool(self.memory.leases))
    @rule(pick=picks)
    def release(self, pick: int) -> None:
        self.both(lambda side: side.store.leases.release(side.leases[pick % len(side.leases)]))

    @rule()
    def open_the_file_anew(self) -> None:
        self.file.store.close()
        self.file.store = self.opened()

    @invariant()
    def both_hold_the_same(self) -> None:
        assert list(self.memory.all_that_is_there()) == list(self.file.all_that_is_there())

    def teardown(self) -> None:
        self.file.store.close()
        self.folder.cleanup()


def picked(names: list[str], pick: int) -> str:
    return names[pick % len(names)] if names else "nothing"


def archive(side: Side, pick: int) -> Any:
    return side.store.archive(picked(side.conversations, pick))


TestTwoStores = TwoStores.TestCase
TestTwoStores.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

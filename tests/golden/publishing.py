"""A compaction against a real store: what is published, what stays where something fails (hermes.md 8.2 to 8.4).

Of the reference's figures those are compared that a caller can see. Its rows carry flags; ours never change, so here:
``message_count`` and ``live_rows`` of a session are the entries of the newest view where the session has it, else its rows;
``archived_rows`` are the rows of a session that its own view has taken the place of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, cast

from host.conversation.conversation import Conversation
from host.conversation.shelf import Shelf
from host.engine.contract import ContextEngine
from host.engine.services import State
from host.errors import EngineFailed
from host.messages.types import Message
from host.store.protocols import Archive, Search, Sessions, Store, Views
from host.store.sqlite.store import SqliteStore
from host.store.values import COMPRESSION
from host.testing.engines import services
from host.testing.messages import chat
from tests.desk import Desk, fed
from tests.engines_for_tests import Scripted
from tests.golden.engines import compressor
from tests.golden.reading import Driver, Golden
from tests.golden.stores import new_store

TAIL = 60  # tokens
COMPARED = ("returned_same_list", "returned_len", "agent_session", "sessions", "live_rows", "archived_rows", "lock_rows")
BOOKKEEPING = "last_prompt_tokens"  # the engine's own: compared where what it did was published


@dataclass(frozen=True)
class WithoutLeases:
    """A store that never heard of leases."""

    store: SqliteStore

    @property
    def sessions(self) -> Sessions:
        return self.store.sessions

    @property
    def search(self) -> Search:
        return self.store.search

    def archive(self, conversation: str) -> Archive:
        return self.store.archive(conversation)

    def views(self, conversation: str) -> Views:
        return self.store.views(conversation)

    def state(self, conversation: str, engine: str) -> State:
        return self.store.state(conversation, engine)


def reference_engine() -> ContextEngine:
    """The built-in engine with the case's tail."""
    engine = compressor()
    engine.budgets = replace(engine.budgets, tail=TAIL)
    return engine


def broken(messages: list[Message]) -> list[Message]:
    raise RuntimeError("engine bug")


@contextmanager
def unwritable(desk: Desk, store: SqliteStore, table: str) -> Iterator[None]:
    """No row can be added to a table, for a reason of the database's own."""
    connection = store.connection.database.conn
    connection.execute(f"CREATE TRIGGER spoil BEFORE INSERT ON {table} BEGIN INSERT INTO nowhere VALUES (1); END")
    try:
        yield
    finally:
        connection.execute("DROP TRIGGER spoil")


def held_by_another(desk: Desk, store: SqliteStore) -> AbstractContextManager[None]:
    assert store.leases.acquire(desk.kept.conversation, "another", 300)
    return nullcontext()


def already_rotated(desk: Desk, store: SqliteStore) -> AbstractContextManager[None]:
    store.sessions.end(desk.kept.id, COMPRESSION)
    return nullcontext()


def nothing(desk: Desk, store: SqliteStore) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True)
class Fault:
    """``befall`` makes it happen while the block runs that it gives; ``engine`` is the one that runs."""

    befall: Callable[[Desk, SqliteStore], AbstractContextManager[None]] = nothing
    engine: Callable[[], ContextEngine] = reference_engine
    has_leases: bool = True


FAULTS: dict[str | None, Fault] = {
    None: Fault(),
    "child session row cannot be created": Fault(lambda desk, store: unwritable(desk, store, "sessions")),
    "archive_and_compact raises": Fault(lambda desk, store: unwritable(desk, store, "views")),
    "another holder owns the lock": Fault(held_by_another),
    "acquire raises inside its implementation": Fault(lambda desk, store: unwritable(desk, store, "leases")),
    "the store class has no lock API at all": Fault(has_leases=False),
    "session already ended with reason compression": Fault(already_rotated),
    "engine.compress raises": Fault(engine=lambda: Scripted(broken)),
    "engine returns an equal copy": Fault(engine=lambda: Scripted(deepcopy)),
    "engine returns an empty list": Fault(engine=lambda: Scripted([])),
}


@dataclass(frozen=True)
class Seen:
    """The reference's figures as they are here, and what was said."""

    figures: dict[str, Any]
    warnings: list[str]
    error: str


def seen(case: Golden, *, on_error: str = "fallback") -> Seen:
    """Twenty messages, one compaction by hand under the case's fault."""
    fault = FAULTS[case.input.get("fault")]
    with new_store() as store:
        desk, engine, error = Desk(store), fault.engine(), ""
        known = store if fault.has_leases else cast(Store, WithoutLeases(store))
        shelf = Shelf.of(known, desk.kept.conversation, "", in_place=case.input["in_place"])
        given = getattr(engine, "services", None) or services()
        talk = fed(Conversation(engine, given, shelf, warn=desk.warnings.append, on_error=on_error), chat(20, chars=80))
        before = list(talk.view.messages)
        with fault.befall(desk, store):
            try:
                talk.compact()
            except EngineFailed as failed:
                error = failed.what
        return Seen(figures(desk, store, talk, before), desk.warnings, error)


def figures(desk: Desk, store: SqliteStore, talk: Conversation, before: list[Message]) -> dict[str, Any]:
    """What a caller sees of the conversation and of the store."""
    after, newest = list(talk.view.messages), store.views(desk.kept.conversation).current()
    sessions = store.sessions.listed(conversation=desk.kept.conversation)
    names = {session.id: name for session, name in zip(sessions, ("S", "CHILD", "GRANDCHILD"), strict=False)}
    owner = newest.session if newest else ""
    live = {session.id: len(newest.ledger) if newest and session.id == owner else session.messages for session in sessions}
    upto = newest.upto if newest else 0
    replaced = [row for session in sessions if session.id == owner for span in session.rows for row in span if row <= upto]
    return {
        "returned_same_list": len(after) == len(before) and all(now is then for now, then in zip(after, before, strict=True)),
        "returned_len": len(after),
        "agent_session": names[talk.session],
        "sessions": [
            {
                "id": names[session.id],
                "parent_session_id": names.get(session.parent or ""),
                "end_reason": session.end_reason,
                "title": session.title,
                "message_count": live[session.id],
            }
            for session in sessions
        ],
        "live_rows": {names[session]: count for session, count in live.items()},
        "archived_rows": len(replaced),
        "lock_rows": int(store.leases.holder(desk.kept.conversation) is not None),
        BOOKKEEPING: talk.last_prompt,
    }


def boundary(case: Golden) -> None:
    """As the reference does it."""
    found = seen(case)
    for name in (*COMPARED, *([BOOKKEEPING] if not case.output["returned_same_list"] else [])):
        assert found.figures[name] == case.output[name], name
    if case.output["warnings"]:
        assert len(found.warnings) == len(case.output["warnings"])


def boundary_of_a_failing_engine(case: Golden) -> None:
    """The error is told in a warning and the turn goes on; with ``context.on_error: error`` it is raised."""
    boundary(case)
    assert case.output["error"] in seen(case).warnings[0]
    strict = seen(case, on_error="error")
    assert case.output["error"] in strict.error
    assert all(strict.figures[name] == case.output[name] for name in COMPARED)


def boundary_that_cannot_be_kept(case: Golden) -> None:
    """The reference goes on with a list that its store does not have; here the old window stays, and a warning says so."""
    found = seen(case)
    wanted = {**case.output, "returned_same_list": True, "returned_len": 20}
    for name in COMPARED:
        assert found.figures[name] == wanted[name], name
    assert len(found.warnings) == 1


def boundary_without_leases(case: Golden) -> None:
    """It goes on, as the reference does, and says that nothing keeps two processes apart."""
    boundary(case)
    assert len(seen(case).warnings) == 1


DRIVERS: dict[str, Driver] = {
    "boundary_in_place": boundary,
    "boundary_rotation": boundary,
    "boundary_rotation_child_create_fails_33906": boundary_that_cannot_be_kept,
    "boundary_in_place_write_fails": boundary_that_cannot_be_kept,
    "boundary_lock_held": boundary,
    "boundary_lock_raises_fail_closed": boundary,
    "boundary_lock_api_missing_fail_open": boundary_without_leases,
    "boundary_parent_already_rotated": boundary,
    "boundary_engine_raises_releases_lock": boundary_of_a_failing_engine,
    "boundary_noop_equal_copy": boundary,
    "boundary_empty_result": boundary,
}

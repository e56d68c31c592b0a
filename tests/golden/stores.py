"""What the store keeps: leases, titles, an engine's document, a window published in place (hermes.md 8, 9, 11)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from host.conversation.shelf import Shelf
from host.engine.contract import ContextEngine
from host.errors import TitleTaken
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.store.query import Mode, Query
from host.store.sqlite.store import SqliteStore
from host.store.values import GOAL, Lease, Publication, Session
from host.testing.messages import chat, user
from tests.desk import Desk, fed
from tests.engines_for_tests import Scripted
from tests.golden.reading import Driver, Golden

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SEARCHES = {"search_archived_cjk3": "大别山", "search_cjk2": "问题", "search_latin": "answer"}
ASKED = "engine"  # whose document it is


@contextmanager
def new_store() -> Iterator[SqliteStore]:
    """A store in a file that goes away."""
    with tempfile.TemporaryDirectory(prefix="ctxhost-golden-") as folder:
        store = SqliteStore(Path(folder) / "archive.db")
        try:
            yield store
        finally:
            store.close()


def publish(store: SqliteStore, conversation: str, messages: list[Message], *, rotate: bool = False) -> None:
    """Let made messages stand for all rows, the first of them as their summary."""
    views, last = store.views(conversation), store.archive(conversation).range()[1]
    made = [Entry(message, None, Kind.FOREIGN) for message in messages]
    summary = [Entry(each.message, None, Kind.SUMMARY, (range(1, last + 1),)) for each in made[:1]]
    views.publish(Publication(ledger=Ledger([*summary, *made[1:]]), upto=last, rotate=rotate), expected=views.version())


def archive_and_compact(case: Golden) -> None:
    """A row of the reference is one of ours or a message that an engine made; compacted is what the newest view covers."""
    old, new = ([user(content) for content, active, _ in case.output["all"] if active == shown] for shown in (0, 1))
    with new_store() as store:
        kept = store.sessions.create(title="work")
        archive = store.archive(kept.conversation)
        archive.extend(old)
        publish(store, kept.conversation, new)
        view = store.views(kept.conversation).current()
        assert view is not None
        covered = {row for entry in view.ledger for span in entry.covers for row in span}
        rows = [[row.message and row.message["content"], 0, int(row.position in covered)] for row in archive.rows()]
        made = [[entry.message["content"], 1, 0] for entry in view.ledger]
        assert {
            "returned": len(view.ledger),
            "live": [entry.message["content"] for entry in view.ledger],
            "all": [*rows, *made],
            "message_count": len(view.ledger),
            **{name: len(archive.search(text)) for name, text in SEARCHES.items()},
        } == case.output
    assert case.input == {"before": len(old), "compacted": len(new)}


def lock_sequence(case: Golden) -> None:
    with new_store() as store:
        leases, held = store.leases, dict[str, Lease]()

        def acquire(holder: str, seconds: float = 300, name: str = "S") -> bool:
            lease = leases.acquire(name, holder, seconds)
            held[holder] = lease or Lease(name, holder, fence=0, expires=NOW)
            return lease is not None

        def refresh(holder: str) -> bool:
            return leases.refresh(held[holder], 300) is not None

        def released(holder: str) -> str | None:
            leases.release(held[holder])
            return leases.holder("S")

        found: list[Any] = [acquire("A"), acquire("B"), acquire("A"), leases.holder("S"), refresh("B"), refresh("A")]
        found += [released("B"), released("A")]
        found += [acquire("C", seconds=-1), leases.holder("S"), refresh("C"), acquire("D"), acquire("E", name="")]
    assert found == case.output


def title_lineage(case: Golden) -> None:
    with new_store() as store:
        sessions = store.sessions
        parent = sessions.create(title="my work")
        child = rotated(store, parent)
        conflict = ""
        try:
            sessions.rename(sessions.create().id, "my work")
        except TitleTaken as taken:
            conflict = taken.what.replace(parent.id, "p1")
        found = {
            "next": child.title,
            "conflict": conflict,
            "transfer_ok": sessions.rename(child.id, "my work").title == "my work",
            "parent_title": sessions.get(parent.id).title,
            "end_reason": sessions.end(parent.id, "cli_close").end_reason,
            "tip": "c1" if sessions.tip(parent.conversation).id == child.id else "p1",
            "resume_child_without_messages": "c1" if sessions.find("my work").id == child.id and not child.messages else "p1",
        }
        sessions.rename(child.id, "my work #2")
        found["next_again"] = rotated(store, child).title
    assert found == case.output


def rotated(store: SqliteStore, session: Session) -> Session:
    """The session in which a conversation goes on after a compaction."""
    publish(store, session.conversation, [user("SUM")], rotate=True)
    return store.sessions.tip(session.conversation)


def cooldown(case: Golden) -> None:
    """What the reference has columns for is a document here: an engine that pauses keeps what it needs, to the letter."""
    until = NOW + timedelta(seconds=60)
    paused = {"cooldown_until": until.isoformat(), "error": case.output["error"], "streak": case.output["streak"]}
    with new_store() as store:
        conversation = store.sessions.create().conversation
        store.state(conversation, ASKED).save(paused)
        loaded = store.state(conversation, ASKED).load()
        remaining = (datetime.fromisoformat(loaded["cooldown_until"]) - NOW).total_seconds()
        assert store.state(conversation, "another").load() == {}
        store.state(conversation, ASKED).save({})
        cleared = store.state(conversation, ASKED).load()
    assert {
        "error": loaded["error"],
        "remaining_is_about_60": round(remaining) == 60,
        "after_clear": cleared.get("cooldown_until"),
        "streak": loaded["streak"],
    } == case.output


class Attentive(Scripted):
    """Notes which session it is told to be in."""

    def __init__(self) -> None:
        super().__init__(lambda messages: [messages[0], user("SUM"), *messages[-4:]])
        self.session = ""

    def on_session_start(self, session_id: str, **kwargs: Any) -> None:
        self.session = session_id


def context_after_rotation(case: Golden) -> None:
    """Whoever names the session (the engine is told it, callers ask for it) says the new one after a rotation."""
    with new_store() as store:
        engine = Attentive()
        desk = compacted(store, engine)
        tip = store.sessions.tip(desk.kept.conversation).id
        told = {engine.session, Shelf.of(store, desk.kept.conversation, "", in_place=False).session}
        assert {"equal": told == {tip}, "rotated": tip != desk.kept.id} == case.output


def goal(case: Golden) -> None:
    with new_store() as store:
        desk = compacted(store, Attentive(), **{GOAL: case.input["goal"]})
        old, new = store.sessions.get(desk.kept.id), store.sessions.tip(desk.kept.conversation)
        assert {
            "returned": new.parent == old.id,
            "old_status": "active" if GOAL in old.settings else "cleared",
            "new_goal": new.settings.get(GOAL),
            "new_status": "active" if GOAL in new.settings else "cleared",
        } == case.output


def compacted(store: SqliteStore, engine: ContextEngine, **settings: object) -> Desk:
    """A conversation that was compacted once and went on in a child session."""
    desk = Desk(store, **settings)
    assert fed(desk.open(engine), chat(20)).compact().progressed
    return desk


def sanitised(case: Golden) -> None:
    """The reference rewrites a query for FTS5; here it is found as it stands, and no mode stumbles over it."""
    query = case.input["query"]
    with new_store() as store:
        conversation = store.sessions.create().conversation
        archive = store.archive(conversation)
        bare = query.strip('"')
        archive.extend([user(f"we had {query} there"), user(f"and {bare.upper()} again"), user("nothing of the kind")])
        for index_is_there in (False, True):
            if index_is_there:
                store.search.catch_up()
            for mode in Mode:
                if mode is not Mode.REGEX:
                    page = store.search.find(Query(query, mode=mode, conversation=conversation))
                    assert page.complete
                    assert 1 in [hit.position for hit in page.hits], f"{mode} does not find the query itself"
            found = {position for position, _ in archive.search(query)}
            assert 3 not in found
            assert found == ({1, 2} if query == bare else {1}) or '"' in query


DRIVERS: dict[str, Driver] = {
    "store_archive_and_compact": archive_and_compact,
    "store_lock_sequence": lock_sequence,
    "store_title_lineage": title_lineage,
    "store_cooldown": cooldown,
    "fts_sanitize_*": sanitised,
    "logging_context_34089": context_after_rotation,
    "goal_migration_33618": goal,
}

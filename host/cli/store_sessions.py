"""Sessions as they are listed, shown and drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from host.cli.last_compaction import FailedSummary, failed_summary
from host.cli.store_text import aligned, clipped, counted, local, plain, spans
from host.conversation.idleness import KeptIdle, idle_of
from host.conversation.shelf import OWN
from host.engine.idle import Idle, Reason
from host.messages.types import JSON
from host.pipeline.settle import render
from host.store.values import UNDONE, Published, Session

if TYPE_CHECKING:
    from rich.tree import Tree

    from host.store.protocols import Archive, Store

RECORDED_TITLE = 48  # cells
HEADINGS = ("ID", "TITLE", "MESSAGES", "LAST MESSAGE", "STATE", "SOURCE")
VERSION_HEADINGS = ("VERSION", "TIME", "TRIGGER", "ENGINE", "TOKENS", "MESSAGES", "SESSION")


@dataclass(frozen=True)
class Known:
    """Everything that the archive knows of a session."""

    session: Session
    family: tuple[Session, ...]  # the sessions of its conversation, oldest first
    versions: tuple[Published, ...]
    latest: datetime | None  # time of its newest message
    compacting: str | None = None  # who holds the lease
    idle: KeptIdle | None = None  # why it was not compacted when that was last considered
    failed: FailedSummary | None = None  # how the last compaction went, where no summary could be had

    @property
    def children(self) -> tuple[Session, ...]:
        """The sessions that began where this one was compacted."""
        return tuple(other for other in self.family if other.parent == self.session.id)


def known(store: Store, session: Session, *, is_automatic: bool = True) -> Known:
    """Look everything up. Where nothing is compacted by itself (``is_automatic``), that is why, unless more is known."""
    conversation = session.conversation
    versions = tuple(store.views(conversation).history())
    disabled = None if is_automatic else KeptIdle(Idle(Reason.DISABLED, "compression.enabled is false"), None)
    return Known(
        session,
        tuple(store.sessions.listed(conversation=conversation)),
        versions,
        latest_of(store.archive(conversation), session),
        store.leases.holder(conversation),
        idle_of(store.state(conversation, OWN).load()) or disabled,
        failed_summary(store, conversation, versions),
    )


def latest_of(archive: Archive, session: Session) -> datetime | None:
    """When the newest message of a session was said; None for an empty one."""
    if not session.rows:
        return None
    newest = session.rows[-1].stop - 1
    return next((row.time for row in archive.rows(newest, newest)), None)


def state_of(session: Session) -> str:
    """Open, or why it ended."""
    return "open" if session.ended is None else f"ended: {plain(session.end_reason or 'no reason given')}"


def title_of(session: Session) -> str:
    """Its own title, by which it is found; else as much as there is room for of the one that it was recorded under."""
    return plain(session.title) if session.title else clipped(plain(str(session.about.get("title") or "")), RECORDED_TITLE)


def list_lines(sessions: Sequence[tuple[Session, datetime | None]]) -> list[str]:
    """One line a session."""
    rows = [
        (each.id, title_of(each) or "-", f"{each.messages:,}", local(latest), state_of(each), plain(each.source or "-"))
        for each, latest in sessions
    ]
    return aligned([HEADINGS, *rows], right=[2])


def session_json(session: Session, latest: datetime | None) -> JSON:
    """A session for scripts; times are UTC, positions include both ends."""
    return {
        "id": session.id,
        "conversation": session.conversation,
        "title": session.title,
        "parent": session.parent,
        "source": session.source,
        "started": _iso(session.started),
        "ended": _iso(session.ended),
        "end_reason": session.end_reason,
        "messages": session.messages,
        "positions": [[span.start, span.stop - 1] for span in session.rows],
        "latest": _iso(latest),
        "settings": session.settings,
        "about": session.about,
    }


def show_json(found: Known) -> JSON:
    """Everything for scripts."""
    return {
        **session_json(found.session, found.latest),
        "children": [child.id for child in found.children],
        "compacted_now_by": found.compacting,
        "idle": idle_json(found.idle),
        "last_compaction": found.failed.as_json() if found.failed else None,
        "versions": [version_json(version) for version in found.versions],
    }


def version_json(version: Published) -> JSON:
    """A version of the window for scripts."""
    return {
        "version": version.version,
        "time": _iso(version.time),
        "session": version.session,
        "trigger": version.trigger,
        "engine": version.engine,
        "messages": len(render(version.ledger)),
        "upto": version.upto,
        "undoes": version.undoes,
        "receipt": version.receipt,
    }


def show_lines(found: Known) -> Iterator[str]:
    """Everything for people."""
    session = found.session
    facts = {
        "session": session.id,
        "title": session.title,
        "conversation": f"{session.conversation} ({counted(len(found.family), 'session')})",
        "parent": session.parent,
        "children": ", ".join(f"{child.id}{' (undone)' if child.end_reason == UNDONE else ''}" for child in found.children),
        "source": session.source,
        "started": local(session.started),
        "state": state_of(session) + (f", {local(session.ended)}" if session.ended else ""),
        "messages": f"{session.messages:,}" + (f" (positions {spans(session.rows)})" if session.messages else ""),
        "latest": local(found.latest),
        "settings": _document(session.settings),
        "about": _document(session.about),
        "compacted by": found.compacting,
        "not compacted": idle_words(found.idle),
        "last summary": found.failed.words() if found.failed else None,
    }
    yield from (f"{name:<13} {plain(str(value))}" for name, value in facts.items() if value)
    if found.versions:
        yield ""
        yield from aligned([VERSION_HEADINGS, *map(_version_row, found.versions)], right=[0, 5])
    else:
        yield "the window is the archive itself: nothing was compacted"


def idle_words(kept: KeptIdle | None) -> str:
    """Why it was not compacted, and since when; empty right after a compaction."""
    if kept is None:
        return ""
    return f"since {local(kept.since)}: {kept.idle}" if kept.since else f"by itself: {kept.idle}"


def idle_json(kept: KeptIdle | None) -> JSON | None:
    """The same for scripts."""
    if kept is None:
        return None
    return {"reason": kept.idle.reason.name.lower(), "detail": kept.idle.detail, "since": _iso(kept.since)}


def tokens_of(version: Published) -> str:
    """``12,000 -> 3,100`` where the receipt tells."""
    before, after = (version.receipt.get(key) for key in ("before", "after"))
    return f"{before:,} -> {after:,}" if isinstance(before, int) and isinstance(after, int) else "-"


def what_made(version: Published) -> str:
    """The trigger, or which version it takes back."""
    return f"undo of {version.undoes}" if version.undoes is not None else plain(version.trigger or "-")


def trees(sessions: Sequence[Session]) -> list[Tree]:
    """One tree a conversation, each session under its parent. ``sessions`` come oldest first."""
    from rich.text import Text
    from rich.tree import Tree

    nodes: dict[str, Tree] = {}
    roots = []
    for session in sessions:
        label = Text(tree_label(session), style="dim strike" if session.end_reason == UNDONE else "")
        if session.parent in nodes:
            nodes[session.id] = nodes[session.parent].add(label)
        else:
            nodes[session.id] = Tree(label)
            roots.append(nodes[session.id])
    return roots


def tree_label(session: Session) -> str:
    """Id, title, size and state on one line."""
    title = f"  {plain(session.title)}" if session.title else ""
    mark = "UNDONE" if session.end_reason == UNDONE else state_of(session)
    return f"{session.id}{title}  {counted(session.messages, 'message')}  {mark}"


def _version_row(version: Published) -> tuple[str, ...]:
    engine = plain(version.engine or "-")
    return (
        f"{version.version}",
        local(version.time),
        what_made(version),
        engine,
        tokens_of(version),
        f"{len(render(version.ledger)):,}",
        version.session,
    )


def _document(document: JSON) -> str:
    return json.dumps(document, ensure_ascii=False) if document else ""


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None

"""What a client's session hook prints after a compaction."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from host.app.recalling import COUNTED_AS, DURABILITY, importer_for
from host.app.stores import open_archive
from host.errors import CtxhostError
from host.mcp.hooks import AFTER_COMPACTION, HookInput
from host.tokens import Counter

if TYPE_CHECKING:
    from host.store.protocols import FileStore, Store
    from host.store.values import Session


def left_behind_in(home: Path, session: str | None, told: HookInput, *, budget: int, warn: Callable[[str], None]) -> str | None:
    """The rules and exact values that a session has lost with a compaction, in at most ``budget`` tokens; None where there are none.

    ``session`` is an id, a prefix of one or a title; None for the one that a client tells its hook. The file that the client
    names is imported first. After a compaction that may not be in the file yet everything recorded counts as lost. Raises
    NoSuchSession.
    """
    from host.recall.leaving import left_behind

    if told.source not in ("", AFTER_COMPACTION):
        return None  # it begins, or goes on as it was: nothing has left the window just now
    with closing(open_archive(home, durability=DURABILITY)) as store:
        own = None
        if told.transcript is not None and told.transcript.is_file():
            try:
                own = imported(store, told.transcript)
            except CtxhostError as error:  # what was archived before is worth saying
                warn(str(error))
        name = store.sessions.find(session).id if session is not None else told_session(store, told, own)
        return left_behind(store, name, everything=told.source == AFTER_COMPACTION, budget=budget, count=Counter(COUNTED_AS).text)


def told_session(store: Store, told: HookInput, own: Session | None) -> str:
    """The session that the client means: its word counts, and that of its file (``own``) only where it has none.

    Raises NoSuchSession where the one that it means is not archived, whatever the file holds.
    """
    if own is not None and told.session in ("", own.id, own.about.get("session")):
        return own.id
    return store.sessions.get(told.session or str(told.transcript)).id


def imported(store: FileStore, transcript: Path) -> Session | None:
    """Import one session file; the session that it went into, None where it holds none."""
    conversation = importer_for(store, Path.home(), os.environ).read(transcript)
    return None if conversation is None else store.sessions.tip(conversation)

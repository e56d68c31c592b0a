"""What is known of a recorded session, told again and again while its recording grows."""

from __future__ import annotations

import json
import sqlite3

from host.messages.types import JSON
from host.store.kept import ERASED, object_in
from host.store.values import DIRECTORY

FIRST_COUNTS = frozenset({DIRECTORY, "file"})  # what was recorded first stays
OF_A_SESSION = ("session", "side_chain_of")  # the client's own id of it, which no other has
TITLE = "title"  # words of the conversation
HELD = "SELECT id, CAST(about AS BLOB) FROM sessions WHERE conversation = ? ORDER BY id LIMIT 1"


def tell_about(connection: sqlite3.Connection, conversation: int, about: JSON) -> None:
    """Add what is known of a recording by now. What was erased of it stays so."""
    found = connection.execute(HELD, (conversation,)).fetchone()
    if found is None:  # the session was lost by damage
        return
    number, held = found
    before = object_in(held) or {}
    after = {**before, **{key: value for key, value in about.items() if not _stays(key, before)}}
    if after != before:
        connection.execute("UPDATE sessions SET about = ? WHERE id = ?", (json.dumps(after), number))


def untitled(about: JSON) -> JSON:
    """The same of a conversation of which something was erased: its title may be a piece of that."""
    return {key: value for key, value in about.items() if key != TITLE}


def without_title(about: JSON) -> JSON:
    """The same of a copy of such a conversation: no title is taken from now on."""
    return {**about, TITLE: ERASED}


def _stays(key: str, before: JSON) -> bool:
    return before.get(key) == ERASED or (key in FIRST_COUNTS and key in before)

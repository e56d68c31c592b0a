"""The verbs of looking after a store (protocol Admin)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from host.engine.services import Progress
from host.store.care import Erasure, Forget, Verified
from host.store.protocols import quiet
from host.store.sqlite.care import expire, forget
from host.store.sqlite.care.backup import backup
from host.store.sqlite.care.verify import verified
from host.store.sqlite.connection import Connection
from host.store.sqlite.index import SearchIndex
from host.store.sqlite.unfinished import finish, unfinished_in


class SqliteAdmin:
    """Looking after one file."""

    def __init__(self, connection: Connection, key: bytes, index: SearchIndex) -> None:
        self._connection = connection
        self._key = key
        self._index = index

    def verify(self, *, prove: bool = False, progress: Progress = quiet) -> Verified:
        """Read everything and check it; with ``prove`` say of every row where it is."""
        return verified(self._connection, self._key, self._index, prove=prove, progress=progress)

    def backup(self, target: Path, *, progress: Progress = quiet) -> Path:
        """Copy the store to a file that is not there yet, while others may go on writing."""
        return backup(self._connection, target, progress)

    def forget(
        self,
        what: Forget,
        *,
        apply: bool,
        folders: Sequence[Path] | None = None,
        stores: Sequence[Path] = (),
        progress: Progress = quiet,
    ) -> Erasure:
        """Erase messages for good, with everything made from them; without ``apply`` only say what would go."""
        searched = tuple(folders) if folders is not None else (self._connection.path.parent,)
        order = forget.Order(what, searched, (self._connection.path, *stores), progress)
        return forget.forget(self._connection, self._key, self._index, order) if apply else forget.would_forget(self._connection, order)

    def unfinished(self) -> str | None:
        """What is left to do of an earlier erasure whose bytes may still be in the file; None where nothing is."""
        with self._connection.reading() as reader:
            receipt = unfinished_in(reader)
        return None if receipt is None else f"the erasure with receipt {receipt} is not finished: its bytes may still be in the file"

    def finish(self, progress: Progress = quiet) -> tuple[str, ...]:
        """Finish what ``unfinished`` names; returns why some bytes may be left all the same."""
        progress(0, 1, "compacting the file")
        return tuple(f"{self._connection.path}: {why}" for why in finish(self._connection, self._index))

    def expire(self, older_than: timedelta, *, apply: bool, progress: Progress = quiet) -> Erasure:
        """Erase conversations in which nothing happened for longer; without ``apply`` only say which."""
        return (
            expire.expire(self._connection, self._index, older_than, progress)
            if apply
            else expire.would_expire(self._connection, older_than)
        )

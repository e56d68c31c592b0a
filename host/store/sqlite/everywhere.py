"""Erasing from all archives of a home at once: the main one and those of kept replays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from host.engine.services import Progress
from host.errors import NoSuchSession
from host.store.care import Erasure, Forget, TellEngine
from host.store.protocols import quiet
from host.store.sqlite.store import FILE, SqliteStore


def forget_everywhere(
    home: Path,
    what: Forget,
    *,
    apply: bool,
    folders: Sequence[Path] = (),
    tell: TellEngine | None = None,
    progress: Progress = quiet,
) -> dict[Path, Erasure]:
    """Erase from every archive under a home; what went per archive. ``folders`` are those in which engines keep files.

    A message of a conversation is erased where the conversation is; NoSuchSession where it is nowhere.
    """
    stores = list(stores_under(home))
    erased: dict[Path, Erasure] = {}
    for path in stores:
        with closing(SqliteStore(path)) as store:
            try:
                erased[path] = store.admin.forget(what, apply=apply, folders=(home, *folders), stores=stores, tell=tell, progress=progress)
            except NoSuchSession:
                continue  # the conversation is in another archive
    if not erased and what.text is None:
        raise NoSuchSession(what.conversation or "")
    return erased


def stores_under(home: Path) -> Iterator[Path]:
    """The archives of a home."""
    return (path for path in (home / FILE, *sorted((home / "replays").glob(f"*/{FILE}"))) if path.exists())

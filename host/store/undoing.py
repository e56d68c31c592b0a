"""Which version of a view can be taken back, and to what: the same in every store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from host.errors import UsageError
from host.store.values import IMAGES, PIN, Publication, Published

PASSED_OVER = frozenset({PIN, IMAGES})


class Version(NamedTuple):
    """A version as its store holds it: ``session`` and ``entries`` in the store's own form, ``state`` as JSON text."""

    version: int
    session: Any
    upto: int
    entries: Any
    undoes: int | None
    engine: str
    state: str | None
    trigger: str = ""


@dataclass(frozen=True)
class Undoing:
    """``undone`` is taken back; ``before`` was shown before it, None for the archive itself.

    ``state`` is the document that the engine gets back, None where the version had brought none.
    """

    undone: Version
    before: Version | None
    state: str | None


def to_undo(versions: Sequence[Version]) -> Undoing:
    """Take back the newest version that is neither undone nor an undo itself. UsageError where there is none.

    A version that only brought a pinned message in is passed over, it is unpinned to be taken back; so is one with smaller
    pictures, as the large ones were refused.
    """
    undone = {version.undoes for version in versions}
    standing = [version for version in versions if version.undoes is None and version.version not in undone]
    newest = next((version for version in reversed(standing) if version.trigger not in PASSED_OVER), None)
    if newest is None:
        raise UsageError("there is no compaction to undo", "`ctxhost sessions show` lists the versions of the window")
    older = standing[: standing.index(newest)]
    documents = (version.state for version in reversed(older) if version.engine == newest.engine and version.state is not None)
    return Undoing(newest, older[-1] if older else None, None if newest.state is None else next(documents, "{}"))


def would_undo(history: Sequence[Published]) -> Undoing:
    """What an undo would do to these versions, oldest first, but for the engine's document. UsageError where there is none."""
    return to_undo([Version(one.version, one.session, one.upto, one.ledger, one.undoes, one.engine, None, one.trigger) for one in history])


def refuse_unknown_rows(publication: Publication, last: int) -> None:
    """Raise where a view names a row that is not in the archive: it could never be read again."""
    rows = [row for row in publication.ledger.rows() if row is not None]
    wrong = [row for row in rows if not 1 <= row <= last] or [row for row in (publication.upto,) if not 0 <= row <= last]
    if wrong:
        raise UsageError(f"a view cannot name row {wrong[0]}: the archive has {last}", "publish rows of this conversation only")

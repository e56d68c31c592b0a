"""Erasing from all archives of a home at once: the main one and those of kept replays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from host.engine.services import Progress
from host.errors import NoSuchSession, StoreError
from host.store.care import Erasure, Forget
from host.store.protocols import quiet
from host.store.sqlite.store import FILE, SqliteStore
from host.store.values import Row


@dataclass(frozen=True)
class Part:
    """What goes, or went, from one archive. ``folders`` are searched for copies with it."""

    store: SqliteStore
    what: Forget
    erasure: Erasure
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Everywhere:
    """An erasure over several open archives. ``unopened`` are those that could not be looked into, each with why.

    ``stores`` are all that are open, those too that hold nothing of it.
    """

    parts: tuple[Part, ...]
    stores: tuple[SqliteStore, ...] = ()
    unopened: tuple[tuple[Path, str], ...] = ()

    @property
    def erasure(self) -> Erasure:
        """All archives as one; the receipt is the first one's that has one."""
        each = [part.erasure for part in self.parts]
        counts: Counter[str] = Counter()
        for erasure in each:
            counts.update(erasure.counts)
        return Erasure(
            applied=any(erasure.applied for erasure in each),
            messages=tuple(message for erasure in each for message in erasure.messages),
            counts=dict(counts),
            may_hold_copies=tuple(dict.fromkeys(place for erasure in each for place in erasure.may_hold_copies)),
            repeatable=tuple(message for erasure in each for message in erasure.repeatable),
            also_in=tuple(dict.fromkeys(name for erasure in each for name in erasure.also_in)),
            is_finished=all(erasure.is_finished for erasure in each),
            receipt=next((erasure.receipt for erasure in each if erasure.receipt is not None), None),
        )

    def rows(self, most: int) -> list[Row]:
        """The first of the messages that go, as they are now."""
        named = [(part.store, *message.rpartition(":")[::2]) for part in self.parts for message in part.erasure.messages[:most]]
        found = (store.archive(conversation).rows(int(position), int(position)) for store, conversation, position in named[:most])
        return [row for rows in found for row in rows]

    def unfinished(self) -> tuple[str, ...]:
        """What is left to do of earlier erasures, each with its archive."""
        return tuple(f"{store.path}: {left}" for store in self.stores if (left := store.admin.unfinished()))

    def finished(self, progress: Progress = quiet) -> tuple[str, ...]:
        """Finish earlier erasures; returns why some of their bytes may be left all the same."""
        return tuple(why for store in self.stores if store.admin.unfinished() for why in store.admin.finish(progress))

    def applied(self, progress: Progress = quiet) -> Everywhere:
        """Erase for good, from the archives that hold something."""
        paths = [part.store.path for part in self.parts]

        def after(part: Part) -> Part:
            forget = part.store.admin.forget
            return replace(part, erasure=forget(part.what, apply=True, folders=part.folders, stores=paths, progress=progress))

        return replace(self, parts=tuple(part if part.erasure.is_empty else after(part) for part in self.parts))


@contextmanager
def looked_everywhere(home: Path, what: Forget, *, folders: Sequence[Path] = (), progress: Progress = quiet) -> Iterator[Everywhere]:
    """Open the archives of a home and look what would go from each; nothing is written before ``applied``.

    The home and the ``folders``, in which engines keep files, are searched for copies once. A message of a conversation is
    looked for where the conversation is, which any session of it names; NoSuchSession where it is nowhere.
    """
    with ExitStack() as stack:
        stores, unopened = _opened(home, stack)
        orders = [(store, order) for store in stores if (order := _order_in(store, what)) is not None]
        if not orders and what.text is None:
            raise NoSuchSession(what.conversation or "")
        paths = [store.path for store in stores]
        parts: list[Part] = []
        for store, order in orders:
            searched = () if parts else (home, *folders)
            would_go = store.admin.forget(order, apply=False, folders=searched, stores=paths, progress=progress)
            parts.append(Part(store, order, would_go, searched))
        yield Everywhere(tuple(parts), tuple(stores), unopened)


def stores_under(home: Path) -> Iterator[Path]:
    """The archives of a home."""
    return (path for path in (home / FILE, *sorted((home / "replays").glob(f"*/{FILE}"))) if path.exists())


def _opened(home: Path, stack: ExitStack) -> tuple[list[SqliteStore], tuple[tuple[Path, str], ...]]:
    """The archives that can be opened, and the replays' that cannot; the home's own must be."""
    stores, unopened = [], []
    for path in stores_under(home):
        try:
            stores.append(SqliteStore(path))
        except StoreError as error:
            if path == home / FILE:
                raise
            unopened.append((path, error.what))
        else:
            stack.callback(stores[-1].close)
    return stores, tuple(unopened)


def _order_in(store: SqliteStore, what: Forget) -> Forget | None:
    """The order as one archive knows it; None where it does not have the conversation."""
    if what.conversation is None:
        return what
    try:
        return replace(what, conversation=store.sessions.get(what.conversation).conversation)
    except NoSuchSession:
        return None

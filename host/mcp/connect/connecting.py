"""Telling a client of ctxhost, and taking it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from host.errors import UsageError
from host.mcp.connect import files
from host.mcp.connect.clients import CLIENTS, Client, Level, Start, Surroundings
from host.mcp.connect.files import Original
from host.mcp.connect.obstacles import NameTaken, NotEdited, NotTakenOut, NotText, Obstacle, Taken
from host.mcp.connect.parts import SYNTAXES, Part
from host.mcp.connect.recognised import value_at
from host.mcp.connect.record import Written, digest, forget_again, keep, recorded

HOOKS_OFF = "{path} has {key} = false: {title} runs no hook before that is true or gone"
RESTORED, REMOVED, TAKEN_OUT, NOTHING = "restored", "removed", "taken out", "nothing there"


@dataclass(frozen=True)
class Change:
    """What one file will hold. ``made``: containers that its part needs made."""

    original: Original
    part: Part
    after: bytes
    made: int

    @property
    def path(self) -> Path:
        """The file's name."""
        return self.original.path

    @property
    def state(self) -> str:
        """``new``, ``changed`` or ``unchanged``."""
        if self.original.data is None:
            return "new"
        return "unchanged" if self.after == self.original.data else "changed"


@dataclass(frozen=True)
class Plan:
    """Everything that connecting one client comes to."""

    client: str
    level: Level
    changes: tuple[Change, ...]
    own_command: str | None
    found: tuple[str, ...] = ()  # what stands in the files that the user should know

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of these files."""
        return (*CLIENTS[self.client].places[self.level].notes, *self.found)

    @property
    def is_done(self) -> bool:
        """Whether every file says it already."""
        return all(change.state == "unchanged" for change in self.changes)


@dataclass(frozen=True)
class Saved:
    """A file that was written, and where it is kept as it was before."""

    path: Path
    backup: Path | None


@dataclass(frozen=True)
class TakenBack:
    """What an undo did to one file; ``how`` is RESTORED, REMOVED, TAKEN_OUT or NOTHING."""

    path: Path
    how: str
    backup: Path | None = None


def plan(client: str, level: Level | None, around: Surroundings, start: Start, *, hook: bool = True, force: bool = False) -> Plan:
    """What would be written; raises UsageError, with the text to put in by hand, where a file cannot be changed safely."""
    known = CLIENTS[client]
    level = level or known.usual
    if not _is_text(start.words):
        raise NotText(start.words)
    wanted = known.files(level, around, start, hook=hook, force=force)
    changes = tuple(_change(files.read(path), part) for path, part in wanted)
    return Plan(client, level, changes, known.own_command(level, start), _hooks_off(known, changes))


def write(planned: Plan, home: Path, now: datetime) -> list[Saved]:
    """Back up and replace the files that change. Each is recorded before it is written: an undo knows of it whatever comes between."""
    return [_written(planned.client, change, home, now) for change in planned.changes if change.state != "unchanged"]


def undo(client: str, level: Level | None, around: Surroundings, home: Path, now: datetime) -> list[TakenBack]:
    """Take back what was written. Without ``level``: wherever it was recorded for this user and project, else at the usual place."""
    return [_taken_back(path, part, home, now) for path, part in _to_undo(client, level, around, recorded(home))]


def _is_text(words: Sequence[str]) -> bool:
    """Whether these can be written as UTF-8."""
    return not any("\ud800" <= char <= "\udfff" for word in words for char in word)


def _change(original: Original, part: Part) -> Change:
    text = ""
    try:
        text = original.text
        return Change(original, part, original.encoded(part.into(text)), part.made_in(text))
    except Taken as obstacle:
        raise NameTaken(original.path, obstacle) from obstacle
    except Obstacle as obstacle:
        raise NotEdited(original.path, obstacle, part.by_hand(text)) from obstacle


def _hooks_off(client: Client, changes: Sequence[Change]) -> tuple[str, ...]:
    """That the client runs no hooks, where the file of its servers says so and a hook is written."""
    servers, *hooks = changes
    if not hooks or client.hooks_switch is None:
        return ()
    is_off = value_at(SYNTAXES[client.syntax].parsed(servers.original.text), client.hooks_switch) is False
    return (HOOKS_OFF.format(path=servers.path, key=".".join(client.hooks_switch), title=client.title),) if is_off else ()


def _written(client: str, change: Change, home: Path, now: datetime) -> Saved:
    known, is_new = recorded(home), not home.exists()
    name = str(change.original.target)
    backup = files.back_up(change.original, now)
    try:
        keep(home, {**known, name: _record(client, change, backup, known.get(name), now)})
        files.replace(change.original, change.after)
    except UsageError:
        if backup is not None:
            backup.unlink(missing_ok=True)
        forget_again(home, known, is_new=is_new)
        raise
    return Saved(change.path, backup)


def _record(client: str, change: Change, backup: Path | None, earlier: Written | None, now: datetime) -> Written:
    """What to keep of a write; a second one goes back to where the first began, as far as nobody else wrote in between."""
    original = change.original
    new = Written(client, digest(change.after), None if backup is None else str(backup), change.made, now.isoformat(timespec="seconds"))
    if earlier is None or original.data is None:
        return new
    if earlier.digest == digest(original.data):
        return replace(earlier, digest=new.digest, when=new.when)
    return replace(new, restores=False, made=earlier.made) if change.part.is_in(original.text) else new


def _to_undo(client: str, level: Level | None, around: Surroundings, known: dict[str, Written]) -> Iterator[tuple[Path, Part]]:
    start = Start(("ctxhost",))  # only the places of entries count here
    every = {one: CLIENTS[client].files(one, around, start, hook=True) for one in Level}
    noted = [(path, part) for wanted in every.values() for path, part in wanted if str(files.target_of(path)) in known]
    yield from every[level] if level else noted or every[CLIENTS[client].usual]


def _taken_back(path: Path, part: Part, home: Path, now: datetime) -> TakenBack:
    known = recorded(home)
    original = files.read(path)
    said = known.pop(str(original.target), None)
    before, how = _before(original, part, said)
    backup = files.back_up(original, now) if how == TAKEN_OUT else None
    if how != NOTHING:
        files.replace(original, before)
    if how == RESTORED and said is not None and said.backup is not None:
        Path(said.backup).unlink(missing_ok=True)  # the file itself holds the same again
    if said is not None:
        keep(home, known)
    return TakenBack(path, how, backup)


def _before(original: Original, part: Part, said: Written | None) -> tuple[bytes | None, str]:
    """What a file should hold after an undo, None for no file, and what that comes to."""
    if original.data is None:
        return None, NOTHING
    if said is not None and said.restores and digest(original.data) == said.digest:
        kept = files.read(Path(said.backup)).data if said.backup else None
        if kept is not None or said.backup is None:
            return kept, REMOVED if kept is None else RESTORED
    rest = _without(original, part, said)
    if rest == original.text:
        return original.data, NOTHING
    nothing_else = rest.strip() in ("", "{}") and said is not None and said.backup is None
    return (None, REMOVED) if nothing_else else (original.encoded(rest), TAKEN_OUT)


def _without(original: Original, part: Part, said: Written | None) -> str:
    try:
        return part.out_of(original.text, said.made if said else None)
    except Obstacle as obstacle:
        raise NotTakenOut(original.path, obstacle, part.place) from obstacle

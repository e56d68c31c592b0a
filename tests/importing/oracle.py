"""Holds an archive against what the raw session files say: nothing lost, nothing added, in order, at its time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path

from host.store.protocols import Store
from host.store.values import Row, Session
from tests.importing.raw_files import JSON, Spoken, Talk, texts_of

SHOWN = 6  # differences of a conversation; the rest follows from them
EXCERPT = 70
PROMPTS = ("user", "developer", "system")


@dataclass(frozen=True)
class Difference:
    """Where the archive is not what the file says. ``line`` is 0 where it concerns a whole conversation."""

    file: Path
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file.name}:{self.line}: {self.what}"


@dataclass
class Checked:
    """What was found. ``conversations``, ``messages`` and ``texts`` count what was compared."""

    conversations: int = 0
    messages: int = 0
    texts: int = 0
    differences: list[Difference] = field(default_factory=list)

    def __str__(self) -> str:
        counted = f"{self.conversations} conversations, {self.messages:,} messages, {self.texts:,} texts"
        return f"{counted}, {len(self.differences)} differences"


def check(store: Store, talks: Sequence[Talk]) -> Checked:
    """Hold an archive against what the files say; every conversation of the files is asked for, once where files are copies."""
    checked = Checked()
    sessions = _by_file(store)
    taken: set[str] = set()
    for talk in talks:
        if any(_is_beginning(talk, other) for other in talks):
            continue
        checked.conversations += 1
        checked.messages += len(talk.messages)
        checked.texts += sum(len(message.texts) for message in talk.messages)
        session = _session_of(store, talk, [each for each in sessions.get(talk.file.resolve(), ()) if each.conversation not in taken])
        if session is None:
            checked.differences.append(Difference(talk.file, _line(talk), f"no conversation of {talk.agent or 'the main chain'}"))
            continue
        taken.add(session.conversation)
        checked.differences += _differences(talk, session, _rows(store, session))
    expected = {talk.file.resolve() for talk in talks}
    extra = [each for file in expected for each in sessions.get(file, ()) if each.conversation not in taken]
    checked.differences += [Difference(Path(str(each.about["file"])), 0, f"{each.conversation} is in no file") for each in extra]
    return checked


def _is_beginning(talk: Talk, other: Talk) -> bool:
    """Whether a file is an earlier copy of another: what it holds is asked of the longer one."""
    if not talk.session or (talk.session, talk.agent) != (other.session, other.agent) or len(talk.messages) >= len(other.messages):
        return False
    return [_bare(said).key for said in talk.messages] == [_bare(said).key for said in other.messages[: len(talk.messages)]]


def counts(store: Store) -> tuple[int, int, int]:
    """Conversations, rows with all versions, and versions of views: what a second import must leave as it is."""
    names = {session.conversation for session in store.sessions.listed()}
    return (
        len(names),
        sum(1 for name in names for _ in store.archive(name).rows()),
        sum(store.views(name).version() for name in names),
    )


def _by_file(store: Store) -> dict[Path, list[Session]]:
    found: dict[Path, list[Session]] = {}
    for session in store.sessions.listed():
        if file := session.about.get("file"):
            found.setdefault(Path(str(file)).resolve(), []).append(session)
    return found


def _session_of(store: Store, talk: Talk, sessions: list[Session]) -> Session | None:
    """The session that holds a conversation: by its side chain, and among many of one file by what was said."""
    right = [session for session in sessions if session.about.get("agent", "") in (talk.agent, None)] if talk.session else sessions
    if len(right) < 2:
        return right[0] if right else None
    same = (each for each in right if [_spoken(row).key for row in _rows(store, each)] == [_bare(said).key for said in talk.messages])
    return next(same, None)


def _rows(store: Store, session: Session) -> list[Row]:
    return [row for row in store.archive(session.conversation).current() if row.message is not None]


def _spoken(row: Row) -> Spoken:
    message: JSON = dict(row.message or {})
    return Spoken(row.role, texts_of(message), (row.position,), frozenset({row.time}))


def _bare(spoken: Spoken) -> Spoken:
    return replace(spoken, exact=None)


def _line(talk: Talk) -> int:
    return talk.messages[0].lines[0] if talk.messages else 0


def _differences(talk: Talk, session: Session, rows: list[Row]) -> Iterator[Difference]:
    recorded = session.about.get("working_directory") or ""
    if recorded != talk.directory:
        yield Difference(talk.file, _line(talk), f"working directory {recorded!r}, not {talk.directory!r}")
    if talk.session and not talk.agent and session.about.get("session") != talk.session:
        yield Difference(talk.file, _line(talk), f"session {session.about.get('session')!r}, not {talk.session!r}")
    kept = rows[1:] if rows and talk.optional and {text for _, text in _spoken(rows[0]).texts} <= talk.optional else rows
    yield from (_grouped if talk.grouped else _loose)(talk, kept)


def _grouped(talk: Talk, rows: list[Row]) -> Iterator[Difference]:
    """Message by message: count, order, texts, times, and all of it as JSON where that is asked."""
    if len(rows) != len(talk.messages):
        yield Difference(talk.file, _line(talk), f"{len(rows)} messages, not {len(talk.messages)}")
    got, wanted = [_spoken(row).key for row in rows], [_bare(said).key for said in talk.messages]
    shown = 0
    for tag, a, b, c, d in SequenceMatcher(None, wanted, got, autojunk=False).get_opcodes():
        if tag != "equal":
            missing, instead = talk.messages[a:b], rows[c:d]
            line = (missing or talk.messages[a - 1 : a] or talk.messages[:1])[0].lines[0]
            yield Difference(talk.file, line, f"{_shown(missing)} became {_shown([_spoken(row) for row in instead])}")
            shown += 1
        for said, row in zip(talk.messages[a:b], rows[c:d], strict=False) if tag == "equal" else ():
            yield from _one(talk.file, said, row)
        if shown == SHOWN:
            return


def _one(file: Path, said: Spoken, row: Row) -> Iterator[Difference]:
    if said.times and row.time not in said.times:
        yield Difference(file, said.lines[0], f"time {row.time.isoformat()}, not {min(said.times).isoformat()}")
    if said.exact is not None and said.exact != row.message:
        keys = {*said.exact, *(row.message or {})}
        other = sorted(key for key in keys if said.exact.get(key, ...) != dict(row.message or {}).get(key, ...))
        yield Difference(file, said.lines[0], f"not equal as JSON in {', '.join(other)}")


def _loose(talk: Talk, rows: list[Row]) -> Iterator[Difference]:
    """Between one prompt and the next the same texts of each kind in the same order, and no time that no line has."""
    wanted, got = _stretches(talk.messages), _stretches([_spoken(row) for row in rows])
    if len(wanted) != len(got):
        yield Difference(talk.file, _line(talk), f"{len(got)} stretches between prompts, not {len(wanted)}")
    for (line, want), (_, have) in zip(wanted, got, strict=False):
        for kind in sorted({*want, *have}):
            lost, added = _lost(want.get(kind, []), have.get(kind, []))
            if lost or added:
                yield Difference(talk.file, line, f"{kind}: lost {_cut(lost)}, has instead {_cut(added)}")
            elif want.get(kind) != have.get(kind):
                yield Difference(talk.file, line, f"{kind}: other order")
    times = {time for said in talk.messages for time in said.times}
    yield from (Difference(talk.file, 0, f"row {row.position} has time {row.time.isoformat()}") for row in rows if row.time not in times)


def _stretches(messages: Sequence[Spoken]) -> list[tuple[int, dict[str, list[str]]]]:
    """The line of each prompt, and what follows it until the next, by kind; reasoning is cut where it was joined."""
    found: list[tuple[int, dict[str, list[str]]]] = [(0, {})]
    for message in messages:
        if message.role in PROMPTS:
            found.append((message.lines[0], {}))
        for kind, text in message.texts:
            pieces = text.split("\n\n") if kind == "reasoning" else [text]
            name = "prompt" if message.role in PROMPTS else f"{message.role} {kind}"
            found[-1][1].setdefault(name, []).extend(pieces)
    return found


def _lost(want: list[str], have: list[str]) -> tuple[list[str], list[str]]:
    return list((Counter(want) - Counter(have)).elements()), list((Counter(have) - Counter(want)).elements())


def _shown(messages: Sequence[Spoken]) -> str:
    if not messages:
        return "nothing"
    return " + ".join(f"{said.role} {[(kind, text[:EXCERPT]) for kind, text in said.texts][:3]}" for said in messages[:3])


def _cut(texts: list[str]) -> str:
    return f"{len(texts)} {[text[:EXCERPT] for text in texts[:2]]}"

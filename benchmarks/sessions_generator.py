"""Many Claude Code sessions out of a few: copies with ids, days and working directories of their own, the same at every run."""

from __future__ import annotations

import argparse
import json
import os
import re
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data" / "claude-code"
EXAMPLE = ROOT / "examples" / "claude-code.jsonl"
PROJECTS = 12  # working directories
NEWEST = date(2026, 11, 27)  # the day of the newest session; each other one lies a day before
MEGABYTE = 1_000_000

NAMES = (
    "uuid", "parentUuid", "logicalParentUuid", "leafUuid", "messageId", "sessionId", "agentId", "requestId",
    "sourceToolAssistantUUID", "sourceToolUseID", "toolUseID", "parentToolUseID", "tool_use_id",
)  # fmt: skip
# a key as text of a conversation has its quotes escaped, so only what the client itself wrote is met
FIELD = re.compile(rf'"({"|".join(NAMES)}|id|cwd|timestamp)"(\s*:\s*)"([^"\\]+)"')
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
PREFIXED = re.compile(r"(msg|toolu|req|call)_")
VALUE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{8,40}")


@dataclass(frozen=True)
class Copy:
    """Which copy of the sources: what its ids, days and working directory are made of."""

    number: int
    directory: str
    moved: timedelta

    def text(self, name: str, old: str) -> str:
        """The value of a field in this copy."""
        if name == "cwd":
            return self.directory
        if name == "timestamp":
            return f"{date.fromisoformat(old[:10]) + self.moved}{old[10:]}"
        return self.id(old)

    def id(self, old: str) -> str:
        """An id of this copy, of the same form; equal ones stay equal, in every file of the copy."""
        if UUID.fullmatch(old):
            return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.number} {old}"))
        made = sha256(f"{self.number} {old}".encode()).hexdigest()
        prefix = PREFIXED.match(old)
        return f"{prefix.group()}{made[:24]}" if prefix else made[:8]


@dataclass(frozen=True)
class Source:
    """A session file taken apart once: pieces of text with a field's name and value between them."""

    path: Path
    pieces: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]

    @property
    def last(self) -> date:
        """The day of its newest line."""
        return max(date.fromisoformat(value[:10]) for name, value in self.fields if name == "timestamp")

    def named(self, copy: Copy) -> str:
        """The file name that the client would give a copy."""
        known = dict(self.fields)
        is_side_chain = self.path.name.startswith("agent-")
        return f"agent-{copy.id(known['agentId'])}.jsonl" if is_side_chain else f"{copy.id(known['sessionId'])}.jsonl"

    def written(self, copy: Copy) -> str:
        """The text of a copy."""
        made = (text for piece, (name, old) in zip(self.pieces, self.fields, strict=False) for text in (piece, copy.text(name, old)))
        return "".join([*made, self.pieces[-1]])


@dataclass(frozen=True)
class Generated:
    """What lies in the folder now, and a text that only copies of one source hold."""

    folder: Path
    files: int
    bytes: int
    lines: int
    directories: tuple[str, ...]
    value: str

    def __str__(self) -> str:
        where = f"{len(self.directories)} working directories"
        return f"{self.bytes / MEGABYTE:.1f} MB, {self.files} sessions, {self.lines:,} lines, {where}"


def sources() -> list[Path]:
    """The session files to copy: the shared ones, and the example where they are not here."""
    return sorted(SHARED.glob("*.jsonl")) or [EXAMPLE]


def generate(home: Path, megabytes: float, *, files: Sequence[Path] = (), projects: int = PROJECTS) -> Generated:
    """Write sessions as the client lays them out, below ``.claude/projects`` of a home folder, until there are so many bytes."""
    folder, paths = home / ".claude" / "projects", list(files) or sources()
    taken = [_taken_apart(path) for path in paths]
    directories = tuple(str(home / "work" / f"project-{number}") for number in range(projects))
    size = written = lines = 0
    for number, source in _in_turns(taken):
        copy = Copy(number, directories[written % projects], _days_back(source, written))
        text = source.written(copy)
        path = folder / mangled(copy.directory) / source.named(copy)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        _set_time(path, source.last + copy.moved)
        size, written, lines = size + path.stat().st_size, written + 1, lines + text.count("\n")
        if size >= megabytes * MEGABYTE:
            break
    return Generated(folder, written, size, lines, directories[:written], value_of(paths))


def mangled(directory: str) -> str:
    """The client's folder name for a working directory."""
    return re.sub(r"[^A-Za-z0-9]", "-", directory)


def value_of(paths: Sequence[Path]) -> str:
    """A long and rare name that is said in one file only: in the largest that has one."""
    said: dict[Path, Counter[str]] = {path: Counter(VALUE.findall("\n".join(_texts(path)))) for path in paths}
    for path in sorted(paths, key=lambda each: each.stat().st_size, reverse=True):
        words = said[path]
        elsewhere = {word for other in paths if other != path for word in said[other]}
        own = [word for word in words if word not in elsewhere and not any(word in other for other in words if other != word)]
        if own:
            return sorted(own, key=lambda word: (words[word], -len(word), word))[0]
    raise ValueError("no session file holds a name that the others do not hold")


def _in_turns(taken: Sequence[Source]) -> Iterator[tuple[int, Source]]:
    return ((number, source) for number in count() for source in taken)


def _taken_apart(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    pieces, fields, at = [], [], 0
    for found in FIELD.finditer(text):
        name, _, value = found.groups()
        if name == "id" and not PREFIXED.match(value):
            continue
        pieces.append(text[at : found.start(3)])
        fields.append((name, value))
        at = found.end(3)
    return Source(path, (*pieces, text[at:]), tuple(fields))


def _days_back(source: Source, place: int) -> timedelta:
    return NEWEST - timedelta(days=place) - source.last


def _set_time(path: Path, day: date) -> None:
    """As if the client had written its last line in the evening of that day."""
    at = datetime(day.year, day.month, day.day, 20, tzinfo=UTC).timestamp()
    os.utime(path, (at, at))


@cache
def _texts(path: Path) -> tuple[str, ...]:
    """Every text that was said in a session file."""
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip())
    messages = (row["message"]["content"] for row in rows if row.get("type") in ("user", "assistant"))
    return tuple(text for content in messages for text in _said(content))


def _said(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        yield from (text for text in (part.get("text"), part.get("content")) if isinstance(text, str))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write them and say what there is."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sessions_generator", description=__doc__)
    parser.add_argument("home", type=Path, help="the home folder to write to")
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--projects", type=int, default=PROJECTS, help="working directories")
    parser.add_argument("--from", dest="files", type=Path, nargs="+", default=(), help="session files to copy")
    given = parser.parse_args(arguments)
    made = generate(given.home.resolve(), given.megabytes, files=given.files, projects=given.projects)
    print(f"{made} in {made.folder}; only one source has {made.value!r}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

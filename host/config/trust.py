"""Which project folders the user trusts: the path and a hash of what may act, kept in the home folder."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from host.errors import UsageError

TRUST_FILE = "trust.json"
CONFIG_NAME = "config.yaml"
PLUGIN_FOLDER = Path("plugins", "context_engine")
MAX_FILES = 5_000
PYC_FLAGS = slice(4, 8)  # bytes of a compiled file that say how Python checks it against its source


@dataclass(frozen=True)
class Trusted:
    """One project that the user trusts, as it was when they said so."""

    project: Path
    fingerprint: str
    since: str


def is_trusted(project: Path, home: Path) -> bool:
    """Whether the user trusts this project folder and nothing in it has changed since."""
    known = _load(home).get(str(project.resolve()))
    if known is None:
        return False
    try:
        return known.fingerprint == fingerprint(project)
    except (OSError, UsageError):
        return False


def trust(project: Path, home: Path) -> Trusted:
    """Trust a project folder as it is now: its config.yaml and everything under plugins/context_engine."""
    if not any(what_acts(project)):
        raise UsageError(
            f"nothing to trust in {project}: no {CONFIG_NAME}, no {PLUGIN_FOLDER}",
            "name the folder that holds them: `ctxhost config trust PATH`",
        )
    now = Trusted(project.resolve(), fingerprint(project), datetime.now(UTC).isoformat(timespec="seconds"))
    _save(home, {**_load(home), str(now.project): now})
    return now


def untrust(project: Path, home: Path) -> bool:
    """Trust a project folder no longer; False where it was not trusted."""
    known = _load(home)
    found = known.pop(str(project.resolve()), None)
    if found is not None:
        _save(home, known)
    return found is not None


def trusted_projects(home: Path) -> list[Trusted]:
    """Every project folder the user ever trusted and did not revoke, by path."""
    return [known for _, known in sorted(_load(home).items())]


def fingerprint(project: Path) -> str:
    """SHA-256 over names and contents of the files that trust is about."""
    total = hashlib.sha256()
    for count, path in enumerate(what_acts(project)):
        if count >= MAX_FILES:
            raise UsageError(f"{project / PLUGIN_FOLDER} holds more than {MAX_FILES:,} files", "trust a folder that holds plugins only")
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no regular file", "remove it, then trust the folder again")
        contents = path.read_bytes() if path.exists() else b"\0missing"
        total.update(hashlib.sha256(os.fsencode(path.relative_to(project))).digest() + hashlib.sha256(contents).digest())
    return total.hexdigest()


def what_acts(project: Path) -> Iterator[Path]:
    """The files that trust is about, in a fixed order; folders behind links are looked into once."""
    config = project / CONFIG_NAME
    if config.is_file():
        yield config
    seen: set[str] = set()
    for folder, folders, names in os.walk(project / PLUGIN_FOLDER, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        yield from (path for path in map(Path(folder).joinpath, sorted(names)) if not _checked_bytecode(path))


def _checked_bytecode(path: Path) -> bool:
    """Compiled files that Python itself compares with the time of their source: they come and go with every run."""
    if path.suffix != ".pyc" or path.parent.name != "__pycache__" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(8)[PYC_FLAGS] == b"\0\0\0\0"


def _load(home: Path) -> dict[str, Trusted]:
    """What is written down; a damaged file trusts nobody."""
    try:
        written: Any = json.loads((home / TRUST_FILE).read_text("utf-8"))
        projects = written["projects"].items()
        return {path: Trusted(Path(path), str(entry["fingerprint"]), str(entry["since"])) for path, entry in projects}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _save(home: Path, known: dict[str, Trusted]) -> None:
    from host.config.writing import write_whole

    projects = {path: {"fingerprint": each.fingerprint, "since": each.since} for path, each in sorted(known.items())}
    write_whole(home / TRUST_FILE, json.dumps({"version": 1, "projects": projects}, indent=2) + "\n", mode=0o600)

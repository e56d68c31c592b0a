"""What was written into which client's file: what an undo needs, kept in the home folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from host.config.writing import write_whole
from host.mcp.connect.obstacles import DamagedRecord

RECORD_NAME = "connect.json"
PRIVATE = 0o600


@dataclass(frozen=True)
class Written:
    """One file as we left it. ``backup`` holds it as it was before, None where there was no file; ``made`` counts containers we made.

    ``restores``: whether the file without our entries is what the backup holds; else an undo only takes them out.
    """

    client: str
    digest: str
    backup: str | None
    made: int
    when: str
    restores: bool = True


def recorded(home: Path) -> dict[str, Written]:
    """Path of a file -> what was written into it."""
    path = home / RECORD_NAME
    try:
        rows = json.loads(path.read_text("utf-8"))["files"]
        return {name: Written(**row) for name, row in rows.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DamagedRecord(path, str(error) or type(error).__name__) from error


def keep(home: Path, files: Mapping[str, Written]) -> None:
    """Replace the record."""
    document = {"files": {name: asdict(each) for name, each in sorted(files.items())}}
    write_whole(home / RECORD_NAME, json.dumps(document, indent=2) + "\n", mode=PRIVATE)


def forget_again(home: Path, before: Mapping[str, Written], *, is_new: bool) -> None:
    """Put the record back to what it was; the home folder goes too where it is new and holds nothing else."""
    if before:
        keep(home, before)
        return
    with suppress(OSError):
        (home / RECORD_NAME).unlink(missing_ok=True)
        if is_new:
            home.rmdir()


def digest(data: bytes) -> str:
    """What a file's bytes are known by."""
    return hashlib.sha256(data).hexdigest()

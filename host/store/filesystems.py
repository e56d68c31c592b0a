"""On what kind of file system a folder lies: WAL shares memory between processes, which no network file system does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "afs", "ceph", "glusterfs", "fuse.glusterfs", "lustre"})
MOUNTS = Path("/proc/self/mountinfo")
ESCAPED = re.compile(r"\\([0-7]{3})")  # blanks and backslashes in the name of a mount point


def filesystem_of(path: Path) -> str | None:
    """The kind of the file system under a path, which need not exist; None where the system does not tell."""
    try:
        mounts = MOUNTS.read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    return kind_of(path.resolve(), mounts.splitlines())


def network_filesystem(path: Path) -> str | None:
    """The kind of the file system where it is one of the network, None where it is not."""
    kind = filesystem_of(path)
    return kind if kind in NETWORK else None


def kind_of(path: Path, mounts: Iterable[str]) -> str | None:
    """The kind that lines of mountinfo give for a path: the longest mount point counts, of equal ones the later."""
    best: tuple[int, str] | None = None
    for line in mounts:
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if len(fields) < 5 or not kinds[0]:
            continue
        point = Path(ESCAPED.sub(lambda found: chr(int(found[1], 8)), fields[4]))
        if path.is_relative_to(point) and (best is None or len(point.parts) >= best[0]):
            best = len(point.parts), kinds[0]
    return best[1] if best else None

"""The write-ahead log cut at each frame: what was committed before the cut is there, and nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from host import Host
from host.store.sqlite.store import SqliteStore
from tests.chaos.killing import WINDOW, digest, said

HEADER, FRAME_HEADER = 32, 24  # bytes, https://www.sqlite.org/fileformat2.html#the_write_ahead_log


def written(home: Path, turns: int) -> list[str]:
    """A home whose archive is mostly in its log; returns the digests of its rows."""
    with Host(home=home, warn=lambda text: None) as host:
        connection = host.store.connection.database.conn
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        talk = host.conversation("killed", window=WINDOW)
        digests: list[str] = []
        for number in range(turns):
            for message in said(number):
                talk.add(message)
                digests.append(digest(message))
            talk.window()
        shutil.copytree(home, home.with_name("copied"))
    return digests


def cuts(home: Path, step: int = 1) -> Iterator[tuple[int, Path]]:
    """Copies of a home with its log cut after each ``step``-th frame, and in the middle of the next."""
    log = home / "archive.db-wal"
    page = int.from_bytes((home / "archive.db").read_bytes()[16:18], "big")
    frame = FRAME_HEADER + page
    whole = log.read_bytes()
    for number in range(0, (len(whole) - HEADER) // frame + 1, step):
        for torn in (0, frame // 2):
            cut = home.with_name(f"cut-{number}-{torn}")
            shutil.copytree(home, cut)
            (cut / "archive.db-wal").write_bytes(whole[: HEADER + number * frame + torn])
            (cut / "archive.db-shm").unlink(missing_ok=True)
            yield number, cut
            shutil.rmtree(cut)


def faults_of(home: Path, digests: list[str]) -> tuple[int, list[str]]:
    """How many rows a cut archive holds, and what is wrong with them."""
    store = SqliteStore(home / "archive.db")
    try:
        sessions = store.sessions.listed()
        rows = list(store.archive(sessions[0].conversation).rows()) if sessions else []
        kept = [digest(row.message) for row in rows if row.message is not None]
        faults = [] if kept == digests[: len(kept)] else ["the rows are not a beginning of what was written"]
        faults += [f"{finding.where}: {finding.what}" for finding in store.admin.verify(prove=True).findings]
        return len(kept), faults
    finally:
        store.close()

"""Steps in which another process holds the store, is short of space, or dies."""

from __future__ import annotations

import os
import re
import time

from tests.cases.child import Child
from tests.cases.story import Steps, Story
from tests.cases.story_faults import command

Found = re.Match[str]
ROOM = 60_000  # bytes that files may still grow: some messages, not a hundred
LOOP_SECONDS = 0.4  # of appends before the kill


def hold(story: Story, found: Found) -> None:
    """This process holds the store open, with something in it."""
    story.tell(5)


def touch(story: Story, found: Found) -> None:
    """Open the database file by path in this process, and close it: that drops the locks that it has on it."""
    with story.house.path.open("rb") as file:
        file.read(1)


def visit(story: Story, found: Found) -> None:
    """Another process opens the store, writes and goes; then the holder goes on."""
    visitor = Child(story.house.home)
    visitor.ask("write 1")
    visitor.close()
    before = len(story.told)
    story.add({"role": "user", "content": "the holder goes on"})
    story.house.close()
    rows = list(story.house.talk().archive.rows())
    story.seen["gateway_next_write"] = "ok" if rows[-1].message == story.told[-1] else "lost"
    story.seen["rows_lost"] = before + 2 - len(rows)


def hold_elsewhere(story: Story, found: Found) -> None:
    """Another process holds the store open, with rows that are in its log only."""
    story.seen["written"] = story.writer().ask("write 20")["saved"]
    log = story.house.path.with_name(f"{story.house.path.name}-wal")
    assert log.stat().st_size
    story.seen["wal"] = log.stat().st_ino


def list_sessions(story: Story, found: Found) -> None:
    """Run the command that lists sessions, then see whether the writer can go on."""
    listed = command(story.house, "sessions", "list")
    log = story.house.path.with_name(f"{story.house.path.name}-wal")
    story.seen["wal_inode_unchanged"] = log.exists() and os.stat(log).st_ino == story.seen.pop("wal")  # noqa: PTH116
    report = story.writer().ask("write 1")
    story.writer().close()
    story.child = None
    kept = story.house.talk().archive.range()[1]
    story.seen["writer_next_write"] = "ok" if report["saved"] == kept == story.seen["written"] + 1 else f"{kept} rows, {report}"
    story.seen["command_status"] = listed.returncode
    story.seen["rows_lost"] = story.seen["written"] + 1 - kept
    if listed.returncode:
        story.error = listed.stderr


def limit(story: Story, found: Found) -> None:
    """A process whose files may hardly grow any more."""
    story.writer().ask("write 1")
    story.writer().ask(f"limit {ROOM}")


def free(story: Story, found: Found) -> None:
    """There is room again; the process goes on for a moment."""
    report = story.writer().ask("free")
    story.seen["rows_reported_as_saved"] = report["saved"]


def kill(story: Story, found: Found) -> None:
    """Kill a process that does nothing but write; what it had acknowledged is noted."""
    writer = story.writer()
    writer.tell("stream")
    acknowledged = [writer.line().strip()]
    time.sleep(LOOP_SECONDS)
    acknowledged += writer.kill()
    story.child = None
    story.positions += [int(position) for position in acknowledged]
    story.seen["acknowledged"] = len(acknowledged)


STEPS: Steps = (
    (r"writer process holds the store open", hold_elsewhere),
    (r"(?:gateway|process|host) holds the store open", hold),
    (r"same process\b.*\bopen\(.*\.close\(\)", touch),
    (r"another process\b.*\bopen\b.*\bwrite\b.*\bclose", visit),
    (r"list-sessions|sessions list", list_sessions),
    (r"RLIMIT_FSIZE|disk (?:is )?full|small tmpfs", limit),
    (r"^free (?:some )?space", free),
    (r"kill -9\b.*\b(?:append|write)", kill),
)

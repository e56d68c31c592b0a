"""Steps in which the file is spoiled, or a write is made to fail."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from operator import ne
from pathlib import Path
from typing import Any

from host.conversation.conversation import Conversation
from host.errors import CtxhostError
from tests.cases.facts import Each
from tests.cases.house import House, index_tables, is_unlocked, soundness, word_of
from tests.cases.searching import hits_of
from tests.cases.story import Steps, Story
from tests.cases.story_talk import count_of, search_any

Found = re.Match[str]
ROOT = Path(__file__).parents[2]
CHILD_TABLES = ("engine_state", "views", "made")
WRITTEN = ("made", "views", "engine_state")  # what publishing a view writes, in this order
OPTIONAL = (("messages", "tool"), ("sessions", "about"), ("views", "undoes"), ("made", "by"))
"""Columns that may be empty or have a default, so that a version without them can have made the file."""

SESSIONS_WITHOUT_ROW = """
SELECT count(*)
FROM (SELECT session FROM segments UNION SELECT session FROM views)
WHERE session NOT IN (SELECT id FROM sessions)
"""


@contextmanager
def unwritable(house: House, table: str) -> Iterator[None]:
    """Make every insert into a table fail with an error of the database."""
    with house.outside() as connection:
        connection.execute(f"CREATE TRIGGER spoil BEFORE INSERT ON {table} BEGIN INSERT INTO nowhere VALUES (1); END")
        try:
            yield
        finally:
            connection.execute("DROP TRIGGER spoil")


def second_connection(story: Story, found: Found) -> None:
    """Write from another connection that does not wait."""
    with story.house.outside(timeout=0) as connection:
        try:
            connection.execute("INSERT INTO store (key, value) VALUES ('a case', 1)")
            connection.execute("DELETE FROM store WHERE key = 'a case'")
            story.seen["second_insert"] = "ok"
        except sqlite3.OperationalError as error:
            story.seen["second_insert"] = str(error)
    story.seen["lock_free"] = is_unlocked(story.house)


def drop_table(story: Story, found: Found) -> None:
    """Take away a table of which a session has rows; the messages go before it when a session is erased."""
    story.tell(5)
    with story.house.outside() as connection:
        table = next((name for name in CHILD_TABLES if name in found[0]), CHILD_TABLES[0])
        connection.execute(f"DROP TABLE {table}")


def zero_index(story: Story, found: Found) -> None:
    """Write zeros over the index, but for the records in which FTS5 keeps its bearings."""
    if not story.told:
        story.tell(40)
    story.house.index()
    story.seen["rows_as_archived"] = story.house.dump()
    with story.house.outside() as connection:
        for table in index_tables(story.house):
            connection.execute(f"UPDATE {table}_data SET block = zeroblob(length(block)) WHERE id > 10")


def check(story: Story, found: Found) -> None:
    """Have the store checked, by the Python door and by the command."""
    findings = story.house.host.store.admin.verify().findings
    status = command(story.house, "archive", "verify").returncode
    story.seen["check_reports_problem"] = bool(findings) and status == 1
    story.seen["findings"] = [f"{finding.where}: {finding.what}" for finding in findings]


def command(house: House, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line on the home folder."""
    return subprocess.run(
        [sys.executable, "-m", "host", "--home", str(house.home), *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )


def search_and_repair(story: Story, found: Found) -> None:
    """Look for every message; where the index was damaged, repair it and look again."""
    search_any(story, found)
    if "rows_as_archived" not in story.seen:
        return
    before = story.seen.pop("rows_as_archived")
    story.seen["hits_before_repair"] = story.seen["hits"]
    story.house.close()
    story.seen["repair"] = command(story.house, "archive", "repair").stderr
    search_any(story, found)
    each_found = all(hits_of(story.house, word_of(number)) == [number] for number in range(1, len(story.told) + 1))
    story.seen |= {
        "repair_restores_hits": each_found and soundness(story.house) == "ok",
        "messages_rows_unchanged": story.house.dump() == before,
    }


def double_schema_row(story: Story, found: Found) -> None:
    """Put a second row for the index table into the schema."""
    story.tell(5)
    story.house.index()
    story.house.close()
    with story.house.outside() as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = ?", (index_tables(story.house)[0],))
    story.seen["digest_before"] = _digest(story.house.path)


def older_file(story: Story, found: Found) -> None:
    """A file without one of the optional columns; one for each of them."""
    for table, column in OPTIONAL:
        other = Story(House(story.house.home / f"{table}-{column}"))
        other.tell(count_of(found[1]))
        other.house.close()
        with other.house.outside() as connection:
            connection.execute(f'ALTER TABLE {table} DROP COLUMN "{column}"')
        story.seen.setdefault("older", {})[f"without {table}.{column}"] = other.house


def reopen(story: Story, found: Found) -> None:
    """Open the store again, or each of those that were made."""
    if story.child is not None:
        story.child.close()
        story.child = None
    story.house.close()
    if "older" in story.seen:
        story.seen["messages"] = Each({way: _opened(house) for way, house in story.seen.pop("older").items()})
        return
    digest = story.seen.pop("digest_before", None)
    try:
        story.house.talk().archive.range()
        story.seen["opened"] = "repaired"
        story.seen["integrity_check"] = soundness(story.house)
    except CtxhostError as error:
        story.error = f"{type(error).__name__}: {error}"
        story.seen["opened"] = "refused by name" if str(story.house.path) in story.error else story.error
    if digest is not None:
        kept = [path for path in story.house.home.rglob("*") if path.is_file() and _digest(path) == digest]
        story.seen["original_file_kept"] = bool(kept)


def _opened(house: House) -> Any:
    """How many messages a file gives, after one more was added and taken away from the count; the error where it cannot."""
    try:
        talk: Conversation = house.talk()
        count = talk.archive.range()[1]
        talk.add({"role": "user", "content": "one more"})
        talk.compact()
        found = len(list(talk.archive.rows()))
        return count if found == count + 1 else f"{found} rows after one more"
    except (CtxhostError, sqlite3.Error) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        house.close()


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def write_fails(story: Story, found: Found) -> None:
    """Let each of the writes of a compaction fail, each in a home of its own."""
    mixed: dict[str, bool] = {}
    for table in WRITTEN:
        other = Story(House(story.house.home / f"without-{table}", story.house.compression))
        try:
            mixed[f"{table} cannot be written"] = _is_mixed(other, table)
        finally:
            other.end()
    story.seen |= {"stale_mix": Each(mixed), "all_or_nothing": Each({way: not mix for way, mix in mixed.items()})}


def _is_mixed(story: Story, table: str) -> bool:
    """Whether a compaction that could not be kept whole is there in part, in the file or in the process."""
    story.tell(30)
    before, talk = _published(story.house), story.house.talk()
    with unwritable(story.house, table), story.attempt():
        talk.compact()
    window = list(talk.view.messages)
    story.house.close()
    shown = list(story.house.talk().view.messages)
    is_old = window == shown == story.told and _published(story.house) == before
    is_new = window == shown != story.told and all(map(ne, _published(story.house), before))
    return not (is_old or is_new)


def _published(house: House) -> list[Any]:
    return [house.table(table) for table in WRITTEN]


def child_session_fails(story: Story, found: Found) -> None:
    """Rotate while no session can be made, then look who goes on."""
    story.tell(30)
    talk = story.house.talk()
    session = talk.session
    with unwritable(story.house, "sessions"), story.attempt():
        talk.compact()
    story.house.close()
    sessions = story.house.host.store.sessions.listed()
    children = [each for each in sessions if each.parent == session]
    story.seen |= {
        "old_session_still_open": story.house.talk().session == session and sessions[0].ended is None,
        "child_has_parent": bool(children),
        "sessions_without_row": story.house.value(SESSIONS_WITHOUT_ROW),
        "rows_lost": len(story.told) - story.house.talk().archive.range()[1],
    }


STEPS: Steps = (
    (r"second connection\b.*\binsert", second_connection),
    (r"drop (?:one|a|the) (?:child )?table", drop_table),
    (r"\bfts\b.*\bshadow.*\bzero|zero.*\bfts\b", zero_index),
    (r"^run (?:the )?(?:doctor|check|verify)", check),
    (r"^(?:run )?(?:lcm_grep|search|grep)$", search_and_repair),
    (r"writable_schema.*\bsecond row", double_schema_row),
    (r"older version,? (\d[\d,.]*) messages?,? one column missing", older_file),
    (r"^(?:re)?open(?: (?:the )?(?:store|database|file))?(?: again)?$", reopen),
    (r"\bwrite fail", write_fails),
    (r"rotate with create_session (?:raising|failing)", child_session_fails),
)

"""A check finds whatever is not as it was archived, at its place, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from host.errors import DamagedStore
from host.store.care import Verified
from host.store.sqlite.schema import SCHEMA
from host.store.sqlite.store import FILE, SqliteStore
from tests.stores_for_tests import change, compacted, furnished, pages_of, spoken, zero_page


def verified(home: Path) -> Verified:
    store = SqliteStore(home / FILE)
    try:
        return store.admin.verify(prove=True)
    finally:
        store.close()


def places(home: Path, conversation: str) -> list[str]:
    """Where a check of the messages and views finds something; the conversation's name is left out."""
    return [finding.where.replace(conversation, "it") for finding in verified(home).findings if finding.where != "index"]


@pytest.fixture
def conversation(tmp_path: Path) -> str:
    with furnished(tmp_path) as (store, conversation):
        compacted(store, conversation)
        store.archive(conversation).append({"role": "user", "content": "Raise it to 60."}, replaces=8)
        store.search.catch_up()
        assert store.admin.verify().findings == ()
    return conversation


def test_a_sound_store_is_clean_and_the_counts_say_what_was_read(tmp_path: Path, conversation: str) -> None:
    found = verified(tmp_path)
    assert found.is_clean
    assert {kind: found.counts[kind] for kind in ("messages", "conversations", "blobs", "views", "sessions", "made messages")} == {
        "messages": 12,
        "conversations": 2,
        "blobs": 1,
        "views": 1,
        "sessions": 2,
        "made messages": 3,
    }


DAMAGE = {
    "a changed byte": ("UPDATE messages SET body = CAST(replace(body, 'remember', 'dismember') AS BLOB) WHERE position = 7", ["it:7"]),
    "a text for bytes": ("UPDATE messages SET body = CAST(body AS TEXT) WHERE position = 7", ["it:7"]),
    "a flipped bit": (
        "UPDATE messages SET body = CAST(substr(body, 1, 20) || x'40' || substr(body, 22) AS BLOB) WHERE position = 2 AND conversation = 1",
        ["it:2"],
    ),
    "a changed digest": ("UPDATE messages SET digest = zeroblob(32) WHERE position = 5", ["it:5", "it:6"]),
    "a changed role": ("UPDATE messages SET role = 'user' WHERE position = 9", ["it:9"]),
    "a body taken away": ("UPDATE messages SET body = NULL WHERE position = 5", ["it:5"]),
    "a shifted cut": ("UPDATE messages SET cuts = replace(cuts, '[[', '[[1') WHERE position = 4", ["it:4"]),
    "cuts that are no list": ("UPDATE messages SET cuts = '{' WHERE position = 4", ["it:4"]),
    "cuts taken away": ("UPDATE messages SET cuts = NULL WHERE position = 4", ["it:4"]),
    "a row taken out of the middle": ("DELETE FROM messages WHERE position = 5", ["it:5"]),
    "a place that is none": ("UPDATE messages SET place = 99 WHERE position = 10", ["it:10"]),
    "a place that is a version": ("UPDATE messages SET place = 10 WHERE position = 9", ["it:9"]),
    "a view's session": ("UPDATE views SET session = 2", ["it view 1"]),
    "a view's entries": ("UPDATE views SET entries = '[[1, '", ["it view 1"]),
    "a made message taken away": ("DELETE FROM made WHERE kind = 'digest'", ["it view 1"]),
    "covers that overlap": ("UPDATE made SET covers = '[[3, 8]]' WHERE covers = '[[5, 8]]'", ["it:3"]),
    "a version missing": ("UPDATE views SET version = 3", ["it view 1", "it view 2"]),
    "a receipt that is no JSON": ("UPDATE views SET receipt = 'x'", ["views 1"]),
    "a state that is no object": ("UPDATE engine_state SET document = '[]'", ["engine_state 1 compressor"]),
    "a session of nobody": ("UPDATE segments SET session = 2 WHERE conversation = 1", ["it:1"]),
    "a time that is none": ("UPDATE messages SET time = 'now' WHERE position = 5", ["table messages"]),
    "a text that is no UTF-8": ("UPDATE sessions SET source = CAST(x'c328' AS TEXT) WHERE id = 1", ["table sessions"]),
    "a summary that is no message": ("UPDATE made SET body = x'7b' WHERE kind = 'digest'", ["made message 2"]),
    "no session at all": ("DELETE FROM segments WHERE conversation = 1", ["it:1"]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_each_damage_is_found_at_its_place(tmp_path: Path, conversation: str, damage: str) -> None:
    statement, expected = DAMAGE[damage]
    change(tmp_path / FILE, statement)
    assert places(tmp_path, conversation) == expected


def test_a_conversation_taken_away_leaves_messages_and_a_session_of_nobody(tmp_path: Path, conversation: str) -> None:
    change(tmp_path / FILE, "DELETE FROM conversations WHERE id = 2")
    where = places(tmp_path, conversation)
    assert where[0] == "conversation number 2"
    assert where[1].startswith("session ")


def test_two_swapped_rows_are_both_found(tmp_path: Path, conversation: str) -> None:
    for position, to in ((5, 105), (7, 5), (105, 7)):
        change(tmp_path / FILE, "UPDATE messages SET position = ? WHERE position = ?", to, position)
    assert {"it:5", "it:7"} <= set(places(tmp_path, conversation))


def test_a_missing_and_a_changed_blob_are_found(tmp_path: Path, conversation: str) -> None:
    change(tmp_path / FILE, "UPDATE blobs SET body = CAST('L' || substr(body, 2) AS BLOB)")
    found = verified(tmp_path).findings
    assert found[0].where == f"{conversation}:4"
    assert found[1].where.startswith("blob ")
    change(tmp_path / FILE, "DELETE FROM blobs")
    found = verified(tmp_path).findings
    assert [finding.where for finding in found] == [f"{conversation}:4"]
    assert "missing" in found[0].what


WITNESSES: dict[str, Callable[[Path], None]] = {
    "a view that went up to it": lambda path: change(path, "DELETE FROM messages WHERE conversation = 1 AND position > 8"),
    "a later message of another conversation": lambda path: change(path, "DELETE FROM messages WHERE conversation = 1 AND position = 10"),
    "the last check": lambda path: change(path, "DELETE FROM messages WHERE id = (SELECT max(id) FROM messages)"),
}


BETRAYED = {
    "a view that went up to it": "{}:9: rows are gone: view 1 goes up to position 9",
    "a later message of another conversation": "message ids ",
    "the last check": "message ids ",
}


@pytest.mark.parametrize("witness", WITNESSES)
def test_a_row_taken_from_the_end_is_betrayed_by(tmp_path: Path, witness: str) -> None:
    with furnished(tmp_path) as (store, conversation):
        compacted(store, conversation)
        store.archive(conversation).append({"role": "user", "content": "the last of this conversation"})
        other = store.sessions.listed()[-1].conversation
        store.archive(other).append({"role": "user", "content": "the last of all"})
        assert store.admin.verify().is_clean
    WITNESSES[witness](tmp_path / FILE)
    found = verified(tmp_path).findings
    assert any(f"{finding.where}: {finding.what}".startswith(BETRAYED[witness].format(conversation)) for finding in found)
    assert verified(tmp_path).findings == found  # a check that finds something does not take it for the new truth


@pytest.mark.parametrize("which", [0, 1])
def test_a_deleted_conversation_is_no_gap(tmp_path: Path, which: int) -> None:
    with furnished(tmp_path) as (store, conversation):
        assert store.admin.verify().is_clean
        names = [conversation, *(session.conversation for session in store.sessions.listed() if session.conversation != conversation)]
        store.sessions.delete(names[which])
        assert store.admin.verify().findings == ()


def test_pages_that_cannot_be_read_are_findings_and_the_rest_is_still_checked(tmp_path: Path) -> None:
    with furnished(tmp_path, spoken(400)) as (store, conversation):
        compacted(store, conversation)
    zero_page(tmp_path / FILE, pages_of(tmp_path / FILE, "messages")[3])
    change(tmp_path / FILE, "UPDATE views SET receipt = 'x'")
    where = [finding.where for finding in verified(tmp_path).findings]
    assert "file" in where
    assert "rows" in where
    assert "views 1" in where


def test_progress_says_how_far_it_is(tmp_path: Path) -> None:
    said: list[tuple[int, int, str]] = []
    with furnished(tmp_path, spoken(2_500)) as (store, _):
        store.admin.verify(progress=lambda *word: said.append(word))
    assert said == [(1000, 2502, "messages"), (2000, 2502, "messages"), (2502, 2502, "messages")]


def test_an_archive_with_nothing_in_it_is_called_empty(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"")
    assert (verified(tmp_path).is_clean, verified(tmp_path).is_empty) == (True, True)


def test_a_file_without_the_tables_of_an_archive_is_damaged(tmp_path: Path) -> None:
    change(tmp_path / FILE, "PRAGMA application_id = 0x63747868")
    change(tmp_path / FILE, f"PRAGMA user_version = {SCHEMA}")
    with pytest.raises(DamagedStore, match="no such table"):
        verified(tmp_path)


def test_an_erasure_that_is_not_finished_is_a_finding(tmp_path: Path, conversation: str) -> None:
    change(tmp_path / FILE, "INSERT INTO store (key, value) VALUES ('unfinished_erasure', 7)")
    assert [(finding.where, finding.what[:25]) for finding in verified(tmp_path).findings] == [("erasure", "receipt 7 is not finished")]

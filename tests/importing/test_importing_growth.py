"""A recording that grows, is cut, rewritten, moved, damaged: what is archived of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.importing.values import Damage
from host.messages.reading import text_of
from host.store.readings import FORGOTTEN
from tests.importing.conftest import PROJECT, Desk, append, encoded, line, rollout, session_id, turns

TALK = turns("talk", 3)
SAID = [row["message"]["content"] if row["type"] == "user" else row["message"]["content"][0]["text"] for row in TALK]


def test_a_session_is_archived_with_its_id_times_and_working_directory(desk: Desk) -> None:
    path = desk.claude("talk", TALK)
    done = desk.run()
    assert (done.read, done.conversations, done.messages, done.versions) == (1, 1, 6, 0)
    assert (done.since, done.until) == (desk.current("talk")[0].time, desk.current("talk")[-1].time)
    assert done.bytes == path.stat().st_size and done.is_complete
    session = desk.store.sessions.get(session_id("talk"))
    assert session.source == "claude-code" and session.about["working_directory"] == PROJECT
    assert session.about["client"] == "claude-code" and session.about["file"] == os.path.realpath(path)
    assert desk.texts("talk") == SAID
    assert [row.time.isoformat() for row in desk.current("talk")] == [row["timestamp"].replace("Z", "+00:00") for row in TALK]


def test_a_session_that_grows_line_by_line_is_read_on_from_where_it_was(desk: Desk) -> None:
    path = desk.claude("talk", b"\n")
    for count, row in enumerate(TALK, start=1):
        append(path, encoded([row]))
        done = desk.run()
        assert (done.messages, done.bytes) == (1, len(encoded([row])) + (count == 1))
    assert desk.texts("talk") == SAID and desk.rows() == len(SAID)


def test_a_second_run_reads_nothing(desk: Desk) -> None:
    desk.claude("talk", TALK)
    desk.codex("other", rollout("other", 1))
    desk.run()
    again = desk.run()
    assert (again.read, again.unchanged, again.messages, again.bytes) == (0, 2, 0, 0)


def test_a_file_that_was_only_touched_is_read_to_no_effect(desk: Desk) -> None:
    path = desk.claude("talk", TALK)
    desk.run()
    os.utime(path)
    touched, after = desk.run(), desk.run()
    assert (touched.read, touched.messages, touched.bytes) == (1, 0, 0)
    assert after.unchanged == 1


@given(cuts=st.lists(st.integers(0, len(encoded(TALK))), max_size=6))
def test_wherever_a_growing_file_is_cut_the_same_is_archived(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    desk, whole = Desk(tmp_path_factory.mktemp("cut")), encoded(TALK)
    for cut in [*sorted(cuts), len(whole)]:
        desk.claude("talk", whole[:cut])
        assert desk.run().damaged == ()
    assert desk.texts("talk") == SAID and desk.rows() == len(SAID)
    desk.store.close()


def test_an_unfinished_last_line_waits_without_being_called_damaged(desk: Desk) -> None:
    path = desk.claude("talk", encoded(TALK)[:-40])
    done = desk.run()
    assert (done.messages, done.unfinished, done.damaged) == (5, 1, ())
    append(path, encoded(TALK)[-40:])
    assert desk.run().messages == 1
    assert desk.texts("talk") == SAID


def test_a_whole_last_line_without_an_end_is_taken_and_lines_are_counted_on(desk: Desk) -> None:
    path = desk.claude("talk", encoded(TALK[:2])[:-1])
    assert desk.run().messages == 2
    append(path, b"\nbroken\n" + encoded(TALK[2:]))
    done = desk.run()
    assert (done.messages, [damage.line for damage in done.damaged]) == (4, [3])
    assert desk.texts("talk") == SAID


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (b'{"type": "user", "mess\n', "breaks off"),
        (b"[1, 2]\n", "an object is expected, this is a list"),
        (b"\xff\xfe\n", "not UTF-8"),
        (b"\0\0\0\0\n", "NUL"),
        (b"[" * 5000 + b"\n", "nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}\n", "a number that is too long"),
    ],
    ids=["cut", "list", "bytes", "nul", "deep", "number"],
)
def test_a_damaged_line_is_named_with_its_number_and_passed_over(desk: Desk, damage: bytes, why: str) -> None:
    path = desk.claude("talk", b"\n" + encoded(TALK[:2]) + damage + encoded(TALK[2:]))
    done = desk.run()
    assert [(each.file, each.line) for each in done.damaged] == [(str(path), 4)]
    assert why in done.damaged[0].why and not done.is_complete
    assert str(done.damaged[0]) == f"{path}:4: {done.damaged[0].why}"
    assert desk.texts("talk") == SAID
    assert desk.run().damaged == ()


def test_crlf_blank_lines_a_byte_order_mark_and_lone_surrogates_are_no_damage(desk: Desk) -> None:
    odd = line("talk", "user", "a \udcff and a \0", 8)
    data = b"\xef\xbb\xbf" + b"\r\n".join(json.dumps(row).encode() for row in TALK) + b"\r\n\r\n  \n" + encoded([odd])
    desk.claude("talk", data)
    done = desk.run()
    assert (done.messages, done.damaged, done.refused) == (7, (), ())
    assert desk.texts("talk") == [*SAID, "a \udcff and a \0"]


def rewritten(path: Path) -> None:
    """Other lines before the same messages, as a client does that writes a summary on top."""
    path.write_bytes(encoded([{"type": "summary", "summary": "A talk.", "leafUuid": "x"}, *TALK]))


def reordered_keys(path: Path) -> None:
    """The same lines, written by another JSON writer."""
    path.write_bytes(encoded([dict(reversed(row.items())) for row in TALK]))


def truncated(path: Path) -> None:
    """Cut, and written on with the same."""
    path.write_bytes(encoded(TALK[:3]))


def truncated_within_a_line(path: Path) -> None:
    """Cut in the middle of a line."""
    path.write_bytes(encoded(TALK)[:-30])


@pytest.mark.parametrize("change", [rewritten, reordered_keys, truncated, truncated_within_a_line])
def test_a_file_that_was_written_anew_adds_only_what_is_new(desk: Desk, change: Callable[[Path], None]) -> None:
    path = desk.claude("talk", TALK)
    desk.run()
    change(path)
    again = desk.run()
    assert (again.messages, again.versions, desk.rows()) == (0, 0, 6)
    path.write_bytes(path.read_bytes().rpartition(b"\n")[0] + b"\n" + encoded(turns("talk", 1, first=4)))
    assert desk.run().messages == 2
    assert desk.texts("talk") == [*SAID, "user 4 of talk", "assistant 4 of talk"]


def test_equal_messages_are_counted_when_a_file_is_read_anew(desk: Desk) -> None:
    yes = [line("talk", role, "yes", minute) for minute, role in enumerate(["user", "assistant"] * 3, start=2)]
    path = desk.claude("talk", yes[:4])
    desk.run()
    path.write_bytes(b"\n" + encoded(yes))
    assert desk.run().messages == 2
    assert desk.texts("talk") == ["yes"] * 6


def test_an_answer_in_pieces_that_grew_after_it_was_archived_is_a_version(desk: Desk) -> None:
    piece = {"id": "msg_1", "role": "assistant", "model": "claude-test"}
    first = line("talk", "assistant", "", 5, message={**piece, "content": [{"type": "text", "text": "One."}]})
    second = line("talk", "assistant", "", 6, message={**piece, "content": [{"type": "text", "text": "Two."}]})
    path = desk.claude("talk", [*TALK[:3], first])
    desk.run()
    append(path, encoded([second]))
    grown = desk.run()
    assert (grown.messages, grown.versions) == (0, 1)
    assert [text_of(row.message) for row in desk.current("talk") if row.message][-1].split() == ["One.", "Two."]
    path.write_bytes(b"\n" + path.read_bytes())  # read anew: the whole answer is known, though its first piece alone is a former version
    assert desk.run().messages == 0 and desk.rows() == 5


@pytest.mark.parametrize("more", [0, 2])
def test_a_copy_elsewhere_adds_only_what_the_archive_has_not(desk: Desk, more: int) -> None:
    desk.claude("talk", TALK)
    desk.run()
    desk.claude("talk", [*TALK, *turns("talk", more, first=4)], folder="-backup-of-ann")
    done = desk.run()
    assert (done.read, done.unchanged, done.conversations, done.messages) == (1, 1, 0, 2 * more)
    assert len(desk.texts("talk")) == 6 + 2 * more


def test_a_rollout_that_was_put_away_adds_nothing(desk: Desk) -> None:
    path = desk.codex("talk", rollout("talk", 3))
    assert desk.run().messages == 6
    target = desk.user_home / ".codex" / "archived_sessions" / path.name
    target.parent.mkdir()
    path.rename(target)
    assert desk.run().messages == 0
    append(target, encoded(rollout("talk", 4)[-2:]))
    assert desk.run().messages == 2


def test_a_conversation_that_was_deleted_stays_away_though_its_file_grows(desk: Desk) -> None:
    path = desk.claude("talk", TALK)
    desk.run()
    desk.store.sessions.delete(session_id("talk"))
    append(path, encoded(turns("talk", 1, first=4)))
    done = desk.run()
    assert (done.deleted, done.messages, desk.rows()) == (1, 0, 0)
    path.write_bytes(b"\n" + path.read_bytes())
    assert (desk.run().messages, desk.rows()) == (0, 0)


def test_an_erased_message_is_not_kept_again_when_its_file_is_read_anew(desk: Desk) -> None:
    from host.store.care import Forget

    path = desk.claude("talk", TALK)
    desk.run()
    erased = desk.store.admin.forget(Forget(text="user 2 of talk"), apply=True)
    assert erased.messages
    path.write_bytes(b"\n" + path.read_bytes())
    done = desk.run()
    assert (done.messages, done.versions, desk.texts("talk").count("user 2 of talk")) == (0, 0, 0) and done.is_complete
    desk.claude("copy", [{**row, "uuid": row["uuid"][::-1]} for row in TALK])
    copied = desk.run()
    assert (copied.messages, copied.is_complete) == (5, True)
    assert [(trouble.line, trouble.why) for trouble in copied.erased] == [(3, FORGOTTEN)]


def test_side_chains_are_conversations_of_their_own_wherever_they_are_written(desk: Desk) -> None:
    chain = [
        line("talk", role, f"{role} of the agent", minute, isSidechain=True, agentId="a1b2c3d")
        for minute, role in ((2, "user"), (3, "assistant"))
    ]
    project = desk.user_home / ".claude" / "projects" / "-home-ann-shop"
    desk.claude("talk", TALK)
    desk.write(project / session_id("talk") / "subagents" / "agent-a1b2c3d.jsonl", chain)
    assert desk.run().conversations == 2
    desk.write(project / "agent-a1b2c3d.jsonl", chain)
    assert desk.run().messages == 0
    about = desk.store.sessions.get("agent-a1b2c3d").about
    assert (about["side_chain_of"], about["agent"]) == (session_id("talk"), "a1b2c3d")


def test_agents_of_one_name_in_two_sessions_are_two_conversations(desk: Desk) -> None:
    for name in ("talk", "other"):
        chain = [line(name, "user", f"the agent of {name}", 2, isSidechain=True, agentId="a1b2c3d")]
        desk.write(desk.user_home / ".claude" / "projects" / name / "agent-a1b2c3d.jsonl", chain)
    done = desk.run()
    assert (done.conversations, done.messages) == (2, 2)


def test_a_title_that_comes_alone_is_noted(desk: Desk) -> None:
    path = desk.claude("talk", TALK)
    desk.run()
    append(path, encoded([{"type": "custom-title", "customTitle": "The shop", "sessionId": session_id("talk")}]))
    assert desk.run().messages == 0
    assert desk.store.sessions.get(session_id("talk")).about["title"] == "The shop"


def test_a_compaction_of_the_client_is_archived_and_stands_in_the_window(desk: Desk) -> None:
    summary = line("talk", "user", "What was said so far: a talk.", 8, isCompactSummary=True)
    path = desk.claude("talk", [*TALK, summary, *turns("talk", 1, first=5)])
    assert desk.run().compactions == 1
    view = desk.store.views(desk.store.sessions.get(session_id("talk")).conversation).current()
    assert view is not None and view.ledger[0].covers == (range(1, 7),)
    path.write_bytes(b"\n" + path.read_bytes())
    assert (desk.run().compactions, desk.rows()) == (0, 9)


def test_a_damage_reads_as_file_line_and_why() -> None:
    assert str(Damage("a b.jsonl", 3, "not JSON")) == "a b.jsonl:3: not JSON"

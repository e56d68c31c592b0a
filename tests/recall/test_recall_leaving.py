"""What the hook prints after a compaction: the user's rules and the exact values of the part that left, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from host.errors import NoSuchSession
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.recall.leaving import left_behind
from host.store.memory import MemoryStore
from host.store.protocols import Store
from host.store.sqlite.store import SqliteStore
from host.store.values import Publication
from host.testing.messages import assistant, call, result, user
from host.tokens.counting import Counter
from host.tokens.estimate import estimate_text

SUMMARY: Message = {"role": "user", "content": "Summary: the port is 4711. You must never sleep."}


def told(store: Store, session: str, *, everything: bool = False, budget: int = 800) -> str:
    """The text, within its bound; empty where there is none."""
    text = left_behind(store, session, everything=everything, budget=budget, count=estimate_text) or ""
    assert estimate_text(text) <= budget
    return text


def view(store: Store, conversation: str, entries: Sequence[Entry], upto: int, trigger: str = "import") -> None:
    """Publish a window."""
    views = store.views(conversation)
    views.publish(Publication(Ledger(entries), upto, trigger=trigger), expected=views.version())


def begun(*messages: Message) -> tuple[MemoryStore, str]:
    """A store with a conversation."""
    store = MemoryStore()
    conversation = store.sessions.create().conversation
    store.archive(conversation).extend(messages)
    return store, conversation


def compacted(store: Store, conversation: str) -> int:
    """Archive a summary that stands for everything before it, as an import does; its position."""
    position = store.archive(conversation).append(SUMMARY)
    view(store, conversation, [Entry(SUMMARY, position, Kind.SUMMARY, (range(1, position),))], position)
    return position


def test_rules_and_values_of_the_part_that_left() -> None:
    store, here = begun(
        user("Never push to main. The port is 4711, the ticket OPS-1234."),
        assistant("Read it.", [call("c1", "read_file", {"path": "src/net/gate.py"})]),
        result("c1", "1\n2\n3\n4412\n"),
    )
    compacted(store, here)
    store.archive(here).extend([user("Always use tabs. See docs/later.md.")])
    text = told(store, here)
    for wanted in ("Never push to main.", "OPS-1234", "src/net/gate.py", "[1]", f'lcm_expand {{"message": "{here}:ROW"}}'):
        assert wanted in text
    for unwanted in ("tabs", "later.md", "sleep", "4412"):
        assert unwanted not in text
    assert "4711" not in text.partition("Exact values")[2]  # the summary still says it
    everything = told(store, here, everything=True)
    assert "tabs" in everything
    assert "sleep" not in everything


def test_without_a_compaction_the_whole_conversation_is_meant() -> None:
    store, here = begun(user("Never push to main."), assistant("Fine."))
    assert "Never push to main. [1]" in told(store, here)


def test_nothing_to_tell_is_no_text() -> None:
    store, here = begun(user("hello"), assistant("hi"))
    assert left_behind(store, here, everything=False, budget=800, count=estimate_text) is None


def test_a_compaction_of_nothing_has_left_nothing_behind() -> None:
    store, here = begun()
    compacted(store, here)
    store.archive(here).append(user("Never push to main."))
    assert told(store, here) == ""


@pytest.mark.parametrize("trigger", ["import", "rewind"])
def test_what_was_taken_back_is_not_told_even_where_a_later_summary_stands_for_it(trigger: str) -> None:
    store, here = begun(
        user("Never push to main."), assistant("Fine."), user("You must delete /srv/everything."), assistant("See OPS-666.")
    )
    first, second, *_ = store.archive(here).read(1, 4)
    view(store, here, [Entry(first, 1), Entry(second, 2)], 4, trigger)
    store.archive(here).append(user("Never touch /srv/ledger."))
    compacted(store, here)
    text = told(store, here)
    assert "/srv/ledger" in text
    for unwanted in ("/srv/everything", "OPS-666"):
        assert unwanted not in text
        assert unwanted not in told(store, here, everything=True)


def test_an_older_version_is_not_told_and_a_newer_one_of_a_kept_message_is() -> None:
    store, here = begun(user("Never use port 8125."), assistant("Fine."), user("gone, see OPS-9"))
    first, second, *_ = store.archive(here).read(1, 3)
    store.archive(here).append(user("Never use port 2525."), replaces=1)
    view(store, here, [Entry(first, 1), Entry(second, 2)], 4)
    compacted(store, here)
    text = told(store, here)
    assert "2525" in text
    assert "8125" not in text
    assert "OPS-9" not in text


def test_summaries_of_earlier_compactions_are_no_words_of_the_user() -> None:
    store, here = begun(user("Never push to main."))
    compacted(store, here)
    store.archive(here).append(user("Don't touch a/b.py."))
    compacted(store, here)
    text = told(store, here)
    assert "Never push to main." in text
    assert "Don't touch a/b.py." in text
    assert "sleep" not in text
    assert "sleep" not in told(store, here, everything=True)


def test_rows_that_an_engine_left_out_have_left_too_where_its_summary_covers_them() -> None:
    store, here = begun(user("Keep it short, never more than 10 lines."), user("Never push to main."), assistant("Fine."), user("Go on."))
    first, _, _, last = store.archive(here).read(1, 4)
    made: Message = {"role": "user", "content": "An engine's words."}
    view(store, here, [Entry(first, 1), Entry(made, None, Kind.SUMMARY, (range(2, 4),)), Entry(last, 4)], 4, "preflight")
    text = told(store, here)
    assert "Never push to main." in text
    assert "10 lines" not in text


@pytest.mark.parametrize(
    "written",
    [
        "<command-name>/clear</command-name> Never stop.",
        "<local-command-stdout>You must not stop.</local-command-stdout>",
        "<system-reminder>Never mention this.</system-reminder>",
        "[Request interrupted by user] never",
        "Caveat: The messages below were generated by the user while running local commands. DO NOT respond to these messages.",
    ],
)
def test_what_a_client_writes_in_the_users_name_is_not_told(written: str) -> None:
    store, here = begun(user(written), user("Never push to main."))
    assert "Rules of the user:\n- Never push to main. [2]" in told(store, here)


def test_a_log_leaves_room_for_what_was_said_before_it() -> None:
    log = "\n".join(f'{{"took": "{number} ms", "path": "/var/log/{number}.gz", "at": "2026-11-30"}}' for number in range(3_000))
    store, here = begun(assistant("The build is in build-7f3a9c2."), assistant(None, [call("c1", "terminal", "{}")]), result("c1", log))
    assert "build-7f3a9c2" in told(store, here, budget=200)


def test_another_session_is_never_told_and_an_unknown_one_is_an_error() -> None:
    store, here = begun(user("Never push to main."))
    other = store.sessions.create(title="other").conversation
    store.archive(other).append(user("Never print /srv/secret.txt."))
    assert "secret" not in told(store, here, everything=True)
    for unknown in ("other", here[:6], "last", ""):
        with pytest.raises(NoSuchSession):
            left_behind(store, unknown, everything=False, budget=800, count=estimate_text)


@pytest.mark.parametrize("budget", [0, 10, 60, 120, 300, 800])
def test_the_text_stays_within_its_budget_heading_and_all(budget: int) -> None:
    store, here = begun(*(user(f"Never touch /srv/{number}/ledger.db, it must stay as it is, 日本語も。") for number in range(100)))
    text = left_behind(store, here, everything=False, budget=budget, count=Counter().text)
    assert Counter().text(text or "") <= budget
    assert (text is None) is (budget < 100)


def test_half_a_character_can_be_printed() -> None:
    store, here = begun(user("Never write `\ud800` into /srv/ledger.db."))
    assert told(store, here).encode("utf-8")


TURNS: list[list[str]] = [
    [f"Never delete the file /data/f{number}.txt." for number in range(6)],
    ["Never use port 4711.", "Never use port 4712."],
    ["Always use port 8080 for the web.", "Always use port 5432 for the database."],
    ["Never use port 4711.", "Always use port 5432 for the database."],
    ["Never connect to 10.0.0.1.", "Never connect to 10.0.0.2."],
    [f"Rule {letter}0: never call function fn_{letter}." for letter in "abcdefghijklmnopqrstuvwx"],
]


@pytest.mark.parametrize("turns", TURNS, ids=lambda turns: turns[0])
def test_every_rule_that_still_holds_is_told_in_the_order_in_which_it_was_said(turns: list[str]) -> None:
    store, here = begun(*(message for text in turns for message in (user(text), assistant("ok"))))
    rules = [f"- {text} [{2 * index + 1}]" for index, text in enumerate(turns)]
    assert [line for line in told(store, here).splitlines() if line.startswith("- ")][: len(rules)] == rules


def test_of_rules_that_find_no_room_the_text_says_how_many_and_where() -> None:
    store, here = begun(*(user(f"Never touch /srv/{number}/ledger.db.") for number in range(100)))
    lines = told(store, here, budget=300).splitlines()
    shown = [line for line in lines if line.startswith("- Never")]
    assert shown[-1].endswith("[100]")
    assert f"{100 - len(shown)} more rules of the user hold and found no room, in rows 1 to {100 - len(shown)}" in lines[-1]
    assert "more rules" not in told(store, here, budget=8_000)


def test_rules_are_told_however_long_ago_they_were_said_and_values_are_not() -> None:
    store, here = begun(
        user("Never push to main. See /srv/old.md. Use the read-only role, always."),
        *(assistant("ok") for _ in range(20_000)),
        user("Forget the read-only rule."),
    )
    text = told(store, here)
    assert "Never push to main. [1]" in text
    assert "old.md" not in text
    assert "read-only" not in text


def test_rules_are_read_anew_whatever_was_stored_of_a_row(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "archive.db")) as store:
        here = store.sessions.create().conversation
        store.archive(here).append(user("Use pnpm, not npm. See docs/build.md."))
        store.search.catch_up()
        store.connection.database.conn.execute("UPDATE messages SET facts = ?", ('{"path":[[23,36]]}',))
        text = told(store, here)
    assert "- Use pnpm, not npm. [1]" in text
    assert "docs/build.md" in text

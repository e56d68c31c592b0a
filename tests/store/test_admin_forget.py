"""What is forgotten is in no file any more; what may still hold a copy is named."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.errors import DamagedStore, Forgotten, NoSuchSession, UsageError
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.searchable import searchable
from host.messages.types import Message
from host.store.care import Forget
from host.store.kept import ERASED
from host.store.query import Mode, Query
from host.store.searching.matching import literal
from host.store.sqlite.archive import tombstone_content
from host.store.sqlite.care.wanted import wanted_text
from host.store.sqlite.everywhere import looked_everywhere
from host.store.sqlite.store import FILE, SqliteStore
from host.store.values import Publication
from tests.stores_for_tests import LARGE, SECRET, all_bytes, change, compacted, furnished, spoken

WORD = "kumquatzebra"  # a word that nothing else in a store has


def forms(secret: str) -> set[bytes]:
    """How the bytes of a file may spell it."""
    spelled = {secret, secret.casefold(), secret.upper(), unicodedata.normalize("NFD", secret)}
    spelled |= {json.dumps(text)[1:-1] for text in spelled} | {json.dumps(json.dumps(text))[1:-1] for text in spelled}
    return {text.encode() for text in spelled}


def traces(home: Path, secret: str) -> set[bytes]:
    held = all_bytes(home).lower()
    return {form for form in forms(secret) if form.lower() in held}


def hidden_everywhere(home: Path, secret: str) -> str:
    """A store that holds a secret wherever one can come to; returns the conversation."""
    messages = spoken()
    messages[3] = {"role": "tool", "tool_call_id": "call_1", "content": LARGE + secret}
    messages[5] = {"role": "user", "content": f"It is {secret.upper()}."}
    messages[6] = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_2", "type": "function", "function": {"name": "terminal", "arguments": json.dumps({"command": f'echo "{secret}"'})}}
        ],
    }
    with furnished(home, messages) as (store, conversation):
        archive = store.archive(conversation)
        archive.append({"role": "user", "content": f"Raise it, {secret}."}, replaces=8)
        archive.append({"role": "user", "content": "Raise it."}, replaces=8)
        compacted(store, conversation, words=f"The vault: {secret}.", state=f"holding {secret}")
        compacted(store, conversation, words="Nothing to see.", state="calm")
        store.sessions.rename(conversation, f"about {secret}")
        store.sessions.set(conversation, goal=f"open it with {secret}")
        with pytest.raises(Exception, match="kept"):
            archive.append({"role": "user", "content": {secret}})  # type: ignore[typeddict-item]
        store.search.catch_up()
    return conversation


@pytest.mark.parametrize("secret", [SECRET, WORD, "Passwort-Grüße-ÄÖ", "库房暗号七七", 'a "quoted" back\\slash', "🦓🍊"])
def test_a_forgotten_text_is_in_no_file(tmp_path: Path, secret: str) -> None:
    conversation = hidden_everywhere(tmp_path, secret)
    assert traces(tmp_path, secret)
    with closing(SqliteStore(tmp_path / FILE)) as store:
        erasure = store.admin.forget(Forget(secret), apply=True)
        assert erasure.messages == tuple(f"{conversation}:{position}" for position in (4, 6, 7, 8, 10, 11))
        assert erasure.may_hold_copies == ()
        assert {kind: count for kind, count in erasure.counts.items() if count} == {
            "messages": 6,
            "blobs": 1,
            "summaries": 3,
            "titles": 1,
            "quarantine": 1,
            "session settings": 1,
            "view receipts": 1,
            "engine states": 1,
        }
        assert traces(tmp_path, secret) == set()
        assert store.admin.verify().findings == ()
        shown = [entry.message["content"] for entry in store.views(conversation).history()[0].ledger]
        assert shown.count(ERASED) == 4
    assert traces(tmp_path, secret) == set()


def test_a_rare_word_is_no_term_of_the_index(tmp_path: Path) -> None:
    hidden_everywhere(tmp_path, WORD)
    with closing(SqliteStore(tmp_path / FILE)) as store:
        connection = store.connection
        connection.database.conn.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, search_words, row)")
        asked = "SELECT count(*) FROM temp.terms WHERE term LIKE 'kumquatz%'"
        assert connection.value(asked)
        store.admin.forget(Forget(WORD), apply=True)
        assert not connection.value(asked)
        assert not connection.value("SELECT count(*) FROM search_trigram_terms WHERE term IN ('umq', 'atz')")
        assert store.archive(store.sessions.listed()[0].conversation).search("gateway")
    assert b"mquatz" not in all_bytes(tmp_path)


def test_what_was_forgotten_is_refused_and_the_conversation_goes_on(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        archive = store.archive(conversation)
        store.admin.forget(Forget(SECRET), apply=True)
        with pytest.raises(Forgotten):
            archive.append(spoken()[5])
        assert archive.append({"role": "user", "content": "next"}) == 10
        assert [row.position for row in archive.rows() if row.message is None] == [6]
        assert store.admin.verify().is_clean


def test_a_dry_run_says_the_same_and_writes_nothing(tmp_path: Path) -> None:
    hidden_everywhere(tmp_path, SECRET)
    with closing(SqliteStore(tmp_path / FILE)) as store:
        before = all_bytes(tmp_path)
        said = store.admin.forget(Forget(SECRET), apply=False)
        assert all_bytes(tmp_path) == before
        done = store.admin.forget(Forget(SECRET), apply=True)
        assert (said.messages, said.counts, said.receipt, said.applied) == (done.messages, done.counts, None, False)


def test_the_receipt_does_not_hold_the_text(tmp_path: Path) -> None:
    hidden_everywhere(tmp_path, SECRET)
    with closing(SqliteStore(tmp_path / FILE)) as store:
        erasure = store.admin.forget(Forget(SECRET), apply=True)
        kind, text = store.connection.rows("SELECT kind, receipt FROM receipts WHERE id = ?", (erasure.receipt,))[0]
        assert kind == "forget"
        assert json.loads(text)["messages"] == list(erasure.messages)
        assert SECRET.lower() not in text.lower()


def test_nothing_to_forget_is_said_so(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, _):
        erasure = store.admin.forget(Forget("never said"), apply=True)
        assert erasure.messages == ()
        assert not any(erasure.counts.values())
        with pytest.raises(UsageError):
            store.admin.forget(Forget(" "), apply=True)
        with pytest.raises(UsageError):
            store.admin.forget(Forget(), apply=True)
        with pytest.raises(UsageError):
            store.admin.forget(Forget(conversation=store.sessions.listed()[0].conversation, position=99), apply=True)
        with pytest.raises(NoSuchSession):
            store.admin.forget(Forget(conversation="nobody", position=1), apply=True)


def test_a_tool_name_beside_a_message_goes_and_the_message_stays(tmp_path: Path) -> None:
    messages = spoken()
    messages[2]["tool_calls"][0]["function"]["name"] = "open_vault_77"  # type: ignore[index]
    with furnished(tmp_path, messages) as (store, conversation):
        store.admin.forget(Forget("vault_77"), apply=True)
        answer = store.connection.rows("SELECT tool, body IS NULL FROM messages WHERE position = 4")[0]
        assert tuple(answer) == (None, 0)
        assert store.archive(conversation).read(3, 3) == []


class TestOneMessage:
    def test_it_goes_with_its_versions_and_with_what_quotes_it(self, tmp_path: Path) -> None:
        with furnished(tmp_path) as (store, conversation):
            compacted(store, conversation, words="They said: and never at night.", state="code Zebra-Kumquat")
            store.archive(conversation).append({"role": "user", "content": "The vault is open."}, replaces=6)
            store.sessions.rename(conversation, "The vault opens with")
            erasure = store.admin.forget(Forget(conversation=conversation, position=6), apply=True)
            assert erasure.messages == (f"{conversation}:6", f"{conversation}:10")
            assert (erasure.counts["summaries"], erasure.counts["titles"], erasure.counts["engine states"]) == (2, 1, 2)
            assert store.admin.verify().is_clean
        held = all_bytes(tmp_path)
        assert b"Zebra" not in held
        assert b"never at night" not in held

    def test_a_summary_of_it_goes_though_it_has_none_of_its_words_and_those_of_other_rows_stay(self, tmp_path: Path) -> None:
        with furnished(tmp_path) as (store, conversation):
            compacted(store, conversation)
            erasure = store.admin.forget(Forget(conversation=conversation, position=6), apply=True)
            assert erasure.counts["summaries"] == 1
            shown = [entry.message["content"] for entry in store.views(conversation).history()[0].ledger]
            assert (shown[1], shown[3]) == ("The user wants the gateway to be quicker.", ERASED)

    def test_the_summaries_of_older_versions_go_too(self, tmp_path: Path) -> None:
        with furnished(tmp_path) as (store, conversation):
            compacted(store, conversation, words="Once: look at it.")
            compacted(store, conversation, words="Twice: look at it.")
            assert store.admin.forget(Forget(conversation=conversation, position=2), apply=True).counts["summaries"] == 2
            undone = store.views(conversation).undo(expected=2)
            assert undone.ledger[1].message["content"] == ERASED

    @pytest.mark.parametrize("words", ["- mail: noah.muller2290@example.com [6]", "They gave the number 80243-7."])
    def test_what_quotes_its_values_goes_though_another_conversation_has_the_same_message(self, tmp_path: Path, words: str) -> None:
        said: Message = {"role": "user", "content": "It is noah.muller2290@example.com\nand 80243-7"}
        messages = [*spoken()[:5], said, *spoken()[6:]]
        with furnished(tmp_path, messages) as (store, conversation):
            other = store.sessions.create(source="cli").conversation
            store.archive(other).extend([said, said])
            compacted(store, conversation, words=words)
            erasure = store.admin.forget(Forget(conversation=conversation, position=6), apply=True)
            shown = [entry.message["content"] for entry in store.views(conversation).history()[0].ledger]
            assert (erasure.counts["summaries"], shown[1]) == (2, ERASED)
            assert erasure.also_in == (other,)
            assert store.archive(other).read(1, 2) == [said, said]

    def test_of_a_summary_merged_into_a_message_the_message_stays(self, tmp_path: Path) -> None:
        with furnished(tmp_path) as (store, conversation):
            archived = store.archive(conversation).read(1, 9)
            merged: Message = {"role": "user", "content": "Notes.\n\nRaise the timeout to 45 seconds."}
            entries = [Entry(archived[0], 1), Entry(merged, 8, Kind.MERGED, (range(2, 8),)), Entry(archived[8], 9)]
            store.views(conversation).publish(Publication(Ledger(entries), 9, "compressor", "manual", {}), expected=0)
            assert store.admin.forget(Forget(conversation=conversation, position=6), apply=True).counts["summaries"] == 1
            window = store.views(conversation).history()[0].ledger
            assert [(entry.row, entry.message) for entry in window] == [(1, archived[0]), (8, archived[7]), (9, archived[8])]
            store.admin.forget(Forget(conversation=conversation, position=8), apply=True)
            assert store.views(conversation).history()[0].ledger[1].message["content"] == ERASED

    def test_a_word_in_other_conversations_is_not_told(self, tmp_path: Path) -> None:
        with furnished(tmp_path, [*spoken(), {"role": "user", "content": "yes"}]) as (store, conversation):
            store.archive(store.sessions.create().conversation).append({"role": "user", "content": "yes"})
            assert store.admin.forget(Forget(conversation=conversation, position=10), apply=False).also_in == ()

    def test_its_digest_goes_with_it_though_it_quotes_nothing(self, tmp_path: Path) -> None:
        with furnished(tmp_path) as (store, conversation):
            compacted(store, conversation)
            erasure = store.admin.forget(Forget(conversation=conversation, position=4), apply=True)
            assert (erasure.counts["summaries"], erasure.counts["blobs"]) == (1, 1)
        assert b"large output large output" not in all_bytes(tmp_path)

    def test_a_large_string_that_another_message_has_too_stays(self, tmp_path: Path) -> None:
        again: Message = {"role": "user", "content": LARGE}
        with furnished(tmp_path, [*spoken(), again]) as (store, conversation):
            store.admin.forget(Forget(conversation=conversation, position=4), apply=True)
            assert store.archive(conversation).read(10, 10) == [again]
            assert store.admin.verify().is_clean

    def test_another_message_with_the_same_words_stays(self, tmp_path: Path) -> None:
        with furnished(tmp_path, [*spoken(), spoken()[4]]) as (store, conversation):
            store.admin.forget(Forget(conversation=conversation, position=5), apply=True)
            assert store.archive(conversation).read(10, 10) == [spoken()[4]]


class TestSaidAgain:
    """What was erased is refused when it comes again, but for a message that may be said again in earnest."""

    def talk(self, tmp_path: Path, messages: list[Message], forget: int) -> tuple[tuple[str, ...], bool]:
        """Forget one message and say it again; the ids that the erasure calls repeatable without its conversation, and if it is kept."""
        with furnished(tmp_path, messages) as (store, conversation):
            archive = store.archive(conversation)
            erasure = store.admin.forget(Forget(conversation=conversation, position=forget), apply=True)
            said = store.admin.verify()
            assert said.is_clean
            assert said.counts["forgotten"] == 1
            receipt = json.loads(store.connection.value("SELECT receipt FROM receipts WHERE id = ?", (erasure.receipt,)))
            assert receipt["may_be_said_again"] == len(erasure.repeatable)
            try:
                archive.append(messages[forget - 1])
            except Forgotten:
                kept = False
            else:
                kept = archive.read(len(messages) + 1, len(messages) + 1) == [messages[forget - 1]]
            return tuple(message.rpartition(":")[2] for message in erasure.repeatable), kept

    def test_a_word_is(self, tmp_path: Path) -> None:
        assert self.talk(tmp_path, [*spoken(), {"role": "user", "content": "yes"}], 10) == (("10",), True)

    def test_what_another_message_says_too_is(self, tmp_path: Path) -> None:
        again: Message = {"role": "user", "content": "Please go on with the next file."}
        assert self.talk(tmp_path, [*spoken(), again, {**again, "timestamp": 5}], 10) == (("10",), True)  # type: ignore[typeddict-unknown-key]

    def test_a_sentence_of_its_own_is_not(self, tmp_path: Path) -> None:
        assert self.talk(tmp_path, spoken(), 6) == ((), False)

    def test_a_picture_without_words_is_not(self, tmp_path: Path) -> None:
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" * 40}}
        assert self.talk(tmp_path, [*spoken(), {"role": "user", "content": [picture]}], 10) == ((), False)

    def test_the_same_in_another_conversation_does_not_count(self, tmp_path: Path) -> None:
        with furnished(tmp_path) as (store, conversation):
            store.archive(store.sessions.create().conversation).append(spoken()[5])
            erasure = store.admin.forget(Forget(conversation=conversation, position=6), apply=True)
            assert erasure.repeatable == ()
            with pytest.raises(Forgotten):
                store.archive(conversation).append(spoken()[5])

    def test_the_message_after_a_forgotten_word_is_not_lost(self, tmp_path: Path) -> None:
        messages: list[Message] = [
            {"role": "user", "content": "Shall we?"},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": "yes"},
        ]
        assert self.talk(tmp_path, messages, 3) == (("3",), True)

    def test_of_a_text_every_message_is_refused(self, tmp_path: Path) -> None:
        with furnished(tmp_path, [*spoken(), {"role": "user", "content": "pin 4711"}]) as (store, conversation):
            erasure = store.admin.forget(Forget("4711"), apply=True)
            assert (len(erasure.messages), erasure.repeatable) == (1, ())
            with pytest.raises(Forgotten):
                store.archive(conversation).append({"role": "user", "content": "pin 4711"})

    def test_a_tombstone_of_a_word_does_not_give_it_away(self, tmp_path: Path) -> None:
        """Who has the key of the digests could try words until one fits."""
        with furnished(tmp_path, [*spoken(), {"role": "user", "content": "yes"}]) as (store, conversation):
            store.admin.forget(Forget(conversation=conversation, position=10), apply=True)
            left = store.connection.value("SELECT content FROM tombstones WHERE position = 10")
            assert left != tombstone_content(store.key, {"role": "user", "content": "yes"})


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("my name is Άνοιξη Μαΐου", "μαι"),
        ("my name is Άνοιξη Μαΐου", "άνοιξη μα"),
        ("J\u030cepa", "j"),
        ("Stra\u00dfe 5", "STRASSE"),
        ("\u1fb3 and \u0390", "\u03b9"),
        ("cafe\u0301 noir", "CAF\u00c9"),
        ("\ufb01ling", "fil"),
    ],
)
def test_whatever_a_literal_search_finds_is_forgotten(tmp_path: Path, text: str, query: str) -> None:
    with furnished(tmp_path, [{"role": "user", "content": text}, {"role": "assistant", "content": "Good."}]) as (store, _):
        hits = [hit.id for hit in store.search.find(Query(query, mode=Mode.LITERAL)).hits]
        assert len(hits) == 1
        assert store.admin.forget(Forget(query), apply=True).messages == tuple(hits)
        assert store.search.find(Query(query, mode=Mode.LITERAL)).hits == ()


SPELT = st.text(alphabet="jJǰ\u030cιΐϊ\u0301\u0308İi\u0307ßs", max_size=3)


@given(before=SPELT, text=SPELT, after=SPELT, spell=st.sampled_from([str, str.lower, str.upper, str.casefold]))
def test_no_spelling_that_is_found_is_missed(before: str, text: str, after: str, spell: Callable[[str], str]) -> None:
    query, message = spell(text), Message(role="user", content=before + text + after)
    found = literal(query).finds(searchable(message), 1)
    assert not found or wanted_text(query).is_in_message(message)


class TestCopiesElsewhere:
    def test_a_message_without_words_of_its_own_may_be_in_every_backup(self, tmp_path: Path) -> None:
        with furnished(tmp_path) as (store, conversation):
            store.archive(conversation).append({"role": "user", "content": "yes"})
            copy = store.admin.backup(tmp_path / "backups" / "archive-1.db")
            erasure = store.admin.forget(Forget(conversation=conversation, position=10), apply=True)
            assert erasure.messages == (f"{conversation}:10",)
            assert [line.partition(": may hold")[0] for line in erasure.may_hold_copies] == [str(copy)]

    def test_a_short_text_is_not_found_by_chance(self, tmp_path: Path) -> None:
        with furnished(tmp_path, spoken(300)) as (store, _):
            assert store.admin.forget(Forget("qx"), apply=True).may_hold_copies == ()

    def test_backups_engine_folders_and_other_files_are_named(self, tmp_path: Path) -> None:
        home, engine = tmp_path / "home", tmp_path / "engine"
        hidden_everywhere(home, SECRET)
        engine.mkdir()
        (engine / "cache.json").write_text(json.dumps({"vault": SECRET}))
        (home / "notes.txt").write_text(f"remember {SECRET.lower()}")
        (home / "config.yaml").write_text("context: {}")
        with closing(SqliteStore(home / FILE)) as store:
            copy = store.admin.backup(home / "backups" / "archive-1.db")
            erasure = store.admin.forget(Forget(SECRET), apply=True, folders=(home, engine))
        assert erasure.may_hold_copies == (
            f"{engine / 'cache.json'}: holds a copy",
            f"{copy}: holds a copy",
            f"{home / 'notes.txt'}: holds a copy",
        )

    def test_a_backup_made_after_it_is_clean(self, tmp_path: Path) -> None:
        hidden_everywhere(tmp_path, SECRET)
        with closing(SqliteStore(tmp_path / FILE)) as store:
            store.admin.forget(Forget(SECRET), apply=True)
            store.admin.backup(tmp_path / "backups" / "archive-1.db")
            assert store.admin.forget(Forget(SECRET), apply=False).may_hold_copies == ()

    def test_a_reader_that_keeps_the_log_is_named_and_a_second_time_does_it(self, tmp_path: Path) -> None:
        hidden_everywhere(tmp_path, SECRET)
        with closing(SqliteStore(tmp_path / FILE)) as store:
            with reading_in_another_process(tmp_path / FILE):
                erasure = store.admin.forget(Forget(SECRET), apply=True)
                assert len(erasure.messages) == 6
                assert "another process reads" in erasure.may_hold_copies[0]
                assert traces(tmp_path, SECRET)
            again = store.admin.forget(Forget(SECRET), apply=True)
            assert (again.messages, again.may_hold_copies) == ((), ())
            assert traces(tmp_path, SECRET) == set()

    def test_who_is_at_work_on_a_conversation_is_named(self, tmp_path: Path) -> None:
        with furnished(tmp_path) as (store, conversation):
            store.leases.acquire(conversation, "process 12", 60)
            assert store.admin.forget(Forget(SECRET), apply=False).may_hold_copies == (
                f"the memory of process 12, at work on {conversation}",
            )


class TestEverywhere:
    def test_all_archives_of_a_home_are_erased_from(self, tmp_path: Path) -> None:
        hidden_everywhere(tmp_path, SECRET)
        hidden_everywhere(tmp_path / "replays" / "one", SECRET)
        with looked_everywhere(tmp_path, Forget(SECRET)) as planned:
            assert (planned.erasure.applied, len(planned.erasure.messages), planned.erasure.counts["messages"]) == (False, 12, 12)
            assert len(planned.rows(20)) == 12
            assert len(planned.rows(7)) == 7
            assert traces(tmp_path, SECRET)
            done = planned.applied().erasure
        assert (done.applied, len(done.messages), done.may_hold_copies, done.receipt) == (True, 12, (), 1)
        assert traces(tmp_path, SECRET) == set()

    def test_a_message_is_erased_where_its_conversation_is_whichever_session_names_it(self, tmp_path: Path) -> None:
        hidden_everywhere(tmp_path, SECRET)
        replay = tmp_path / "replays" / "one"
        conversation = hidden_everywhere(replay, SECRET)
        with closing(SqliteStore(replay / FILE)) as store:
            views = store.views(conversation)
            publication = Publication(Ledger([Entry(spoken()[0], 1)]), 11, rotate=True)
            child = views.publish(publication, expected=views.version()).session
        assert child != conversation
        with looked_everywhere(tmp_path, Forget(conversation=child, position=1)) as planned:
            assert [part.store.path for part in planned.parts] == [replay / FILE]
            assert planned.applied().erasure.messages == (f"{conversation}:1",)

    def test_a_conversation_that_is_nowhere_is_an_error(self, tmp_path: Path) -> None:
        hidden_everywhere(tmp_path, SECRET)
        with pytest.raises(NoSuchSession), looked_everywhere(tmp_path, Forget(conversation="nobody", position=1)):
            pass

    def test_a_replay_that_cannot_be_opened_is_named_and_the_homes_own_archive_must_be(self, tmp_path: Path) -> None:
        hidden_everywhere(tmp_path, SECRET)
        broken = tmp_path / "replays" / "one" / FILE
        broken.parent.mkdir(parents=True)
        broken.write_bytes(b"garbage" * 1_000)
        with looked_everywhere(tmp_path, Forget(SECRET)) as planned:
            assert [path for path, _ in planned.unopened] == [broken]
            assert len(planned.applied().erasure.messages) == 6
        (tmp_path / FILE).write_bytes(b"garbage" * 1_000)
        with pytest.raises(DamagedStore), looked_everywhere(tmp_path, Forget(SECRET)):
            pass


def test_what_was_deleted_before_and_is_still_in_freed_pages_goes_too(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, _):
        pass
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as careless:
        careless.execute("PRAGMA secure_delete = OFF")
        careless.execute("INSERT INTO blobs (digest, body) VALUES (x'00', ?)", ((SECRET * 3_000).encode(),))
        careless.execute("DELETE FROM blobs WHERE digest = x'00'")
    assert traces(tmp_path, SECRET * 2)
    with closing(SqliteStore(tmp_path / FILE)) as store:
        assert store.admin.forget(Forget(SECRET), apply=True).may_hold_copies == ()
    assert traces(tmp_path, SECRET) == set()


def test_a_damaged_message_does_not_stop_it(tmp_path: Path) -> None:
    hidden_everywhere(tmp_path, SECRET)
    change(tmp_path / FILE, "DELETE FROM blobs")
    with closing(SqliteStore(tmp_path / FILE)) as store:
        assert len(store.admin.forget(Forget(SECRET), apply=True).messages) == 5
    assert traces(tmp_path, SECRET) == set()


READER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM messages").fetchone()
print("reading", flush=True)
sys.stdin.read()
"""


class reading_in_another_process:
    """Another process has a read transaction open while the block runs."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", READER, str(self._path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def test_a_message_that_comes_while_the_archive_is_read_goes_too(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation), closing(SqliteStore(tmp_path / FILE)) as another:

        def meanwhile(done: int, total: int, text: str) -> None:
            if text == "messages" and another.archive(conversation).range() == (1, 9):
                another.archive(conversation).append({"role": "user", "content": f"again {SECRET}"})

        erasure = store.admin.forget(Forget(SECRET), apply=True, progress=meanwhile)
        assert erasure.messages == (f"{conversation}:6", f"{conversation}:10")
        assert store.admin.verify().is_clean


@contextmanager
def full_disk(store: SqliteStore) -> Iterator[None]:
    """SQLite cannot write the file anew: VACUUM attaches a second one."""
    connection = store.connection.database.conn
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK)
    try:
        yield
    finally:
        connection.set_authorizer(None)


def test_an_erasure_that_a_full_disk_cuts_short_is_remembered_and_finished(tmp_path: Path) -> None:
    hidden_everywhere(tmp_path, WORD)
    with closing(SqliteStore(tmp_path / FILE)) as store:
        with full_disk(store):
            erasure = store.admin.forget(Forget(WORD), apply=True)
        assert not erasure.is_finished
        assert any("freed pages may hold it" in place for place in erasure.may_hold_copies)
    with closing(SqliteStore(tmp_path / FILE)) as store:
        assert store.admin.unfinished() == f"the erasure with receipt {erasure.receipt} is not finished: its bytes may still be in the file"
        assert [finding.where for finding in store.admin.verify().findings] == ["erasure"]
        with full_disk(store):
            assert store.admin.finish()
        assert store.admin.unfinished()
        assert store.admin.finish() == ()
        assert store.admin.unfinished() is None
        assert store.admin.verify().is_clean
    assert traces(tmp_path, WORD) == set()


def test_an_erasure_while_somebody_reads_is_finished_by_the_next_order_that_finds_nothing(tmp_path: Path) -> None:
    hidden_everywhere(tmp_path, WORD)
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as reader, closing(SqliteStore(tmp_path / FILE)) as store:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM messages").fetchone()
        assert not store.admin.forget(Forget(WORD), apply=True).is_finished
    with looked_everywhere(tmp_path, Forget(WORD)) as found:
        assert found.erasure.is_empty
        assert len(found.unfinished()) == 1
        assert found.finished() == ()
        assert found.unfinished() == ()
    assert traces(tmp_path, WORD) == set()


def test_a_finished_erasure_leaves_nothing_to_do(tmp_path: Path) -> None:
    hidden_everywhere(tmp_path, WORD)
    with closing(SqliteStore(tmp_path / FILE)) as store:
        assert store.admin.forget(Forget(WORD), apply=True).is_finished
        assert store.admin.unfinished() is None


UNKNOWN_FIELDS: list[dict[str, object]] = [
    {WORD: 1},
    {"x": [{"deep": {WORD: [1, 2]}}]},
    {"metadata": {f"about {WORD.upper()}": None}},
]


@pytest.mark.parametrize("field", UNKNOWN_FIELDS)
@pytest.mark.parametrize("by_text", [True, False])
def test_a_key_of_an_unknown_field_is_content_too(tmp_path: Path, field: dict[str, object], by_text: bool) -> None:
    with furnished(tmp_path) as (store, conversation):
        position = store.archive(conversation).append({"role": "user", "content": "as agreed upon", **field})  # type: ignore[typeddict-item]
        what = Forget(WORD) if by_text else Forget(conversation=conversation, position=position)
        assert store.admin.forget(what, apply=False).messages == (f"{conversation}:{position}",)
        assert store.admin.forget(what, apply=True).may_hold_copies == ()
    assert traces(tmp_path, WORD) == set()


@pytest.mark.parametrize("name", ["content", "role", "tool_calls", "arguments"])
def test_the_names_of_fields_are_nobodys_content(tmp_path: Path, name: str) -> None:
    with furnished(tmp_path) as (store, _):
        assert store.admin.forget(Forget(name), apply=False).is_empty

"""Every row is accounted for, once."""

from __future__ import annotations

from pathlib import Path

from host.store.care import Forget, Proof
from host.store.sqlite.store import SqliteStore
from tests.stores_for_tests import SECRET, compacted, furnished


def proof(store: SqliteStore, conversation: str) -> Proof:
    (found,) = (proof for proof in store.admin.verify(prove=True).proofs if proof.conversation == conversation)
    return found


def test_without_a_view_all_is_shown(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        assert proof(store, conversation) == Proof(conversation, shown=(range(1, 10),))


def test_shown_rows_and_rows_that_something_stands_for_are_told_apart(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        compacted(store, conversation)
        store.archive(conversation).append({"role": "user", "content": "and then?"})
        assert proof(store, conversation) == Proof(conversation, shown=(range(1, 2), range(8, 11)), covered=(range(2, 8),))


def test_a_new_version_of_a_shown_message_is_shown_and_of_a_covered_one_is_not_represented(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        compacted(store, conversation)
        archive = store.archive(conversation)
        archive.append({"role": "user", "content": "Raise it to 60."}, replaces=8)
        archive.append({"role": "user", "content": "Read the log of the mailer, please."}, replaces=2)
        found = proof(store, conversation)
        assert found.superseded == (range(2, 3), range(8, 9))
        assert found.shown == (range(1, 2), range(9, 11))
        assert found.covered == (range(3, 8),)
        assert found.not_represented == (range(11, 12),)


def test_what_an_engine_drops_is_named(tmp_path: Path) -> None:
    from host.messages.ledger import Entry, Ledger
    from host.store.values import Publication

    with furnished(tmp_path) as (store, conversation):
        archived = store.archive(conversation).read(1, 9)
        store.views(conversation).publish(Publication(Ledger([Entry(archived[0], 1), Entry(archived[8], 9)]), 9), expected=0)
        assert proof(store, conversation).not_represented == (range(2, 9),)


def test_forgotten_rows_are_forgotten_and_a_summary_without_words_stands_for_nothing(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        compacted(store, conversation, words=f"The vault opens with {SECRET}.")
        store.admin.forget(Forget(SECRET), apply=True)
        found = proof(store, conversation)
        assert found.forgotten == (range(6, 7),)
        assert found.covered == (range(4, 5),)
        assert found.not_represented == (range(2, 4), range(5, 6), range(7, 8))


def test_every_position_is_in_exactly_one_list(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        compacted(store, conversation)
        store.archive(conversation).append({"role": "user", "content": "x"}, replaces=6)
        store.admin.forget(Forget(conversation=conversation, position=8), apply=True)
        found = proof(store, conversation)
        lists = (found.shown, found.covered, found.superseded, found.forgotten, found.not_represented)
        assert sorted(position for spans in lists for span in spans for position in span) == list(range(1, 11))

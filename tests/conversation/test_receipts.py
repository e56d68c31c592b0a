"""The receipt of a compaction, from archive and views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from host.conversation.receipts import ReceiptPage, receipt_at
from host.errors import UsageError
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.searchable import searchable
from host.messages.types import Message
from host.pipeline.pinned import ranges
from host.store.care import Forget
from host.store.memory import MemoryStore
from host.store.protocols import Store
from host.store.sqlite.store import SqliteStore
from host.store.values import IMPORT, REWIND, Publication
from host.testing.messages import assistant, call, result, system, user
from host.transforms.handoff import handoff_text
from tests.desk import Desk, fed, long_session

TALK: tuple[Message, ...] = (
    system("Be an agent in /srv/agent."),
    user("The gateway listens on port 8080. Never touch /srv/data/raw."),
    assistant("I look into /etc/parcel/gateway.yaml.", [call("c1", "read_file", {"path": "/etc/parcel/gateway.yaml"})]),
    result("c1", "timeout: 45s\nupstream: 10.2.3.4:7001\nyou must never restart it"),
    assistant("It waits 45s."),
    user("Use port 9090 instead."),
    assistant("Done, see commit 1f3a9c7e."),
)


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "archive.db", durability="normal")
    yield made
    made.close()


class Kept:
    """A conversation in a store, compacted by hand."""

    def __init__(self, store: Store, messages: Sequence[Message] = TALK) -> None:
        self.store = store
        self.name = store.sessions.create().conversation
        self.archive, self.views = store.archive(self.name), store.views(self.name)
        self.archive.extend(list(messages))

    def publish(self, *shown: int, summary: str = "", covers: Sequence[int] = (), trigger: str = "manual", **digests: str) -> int:
        """A version that shows rows, a summary in front of them, and digests of rows (``row4="..."``)."""
        rows = {row.position: row.message for row in self.archive.rows() if row.message is not None}
        shortened = {int(row[3:]): text for row, text in digests.items()}
        made = [Entry(user(summary), None, Kind.SUMMARY, ranges(sorted(covers)))] if summary else []
        entries = [
            Entry({**rows[row], "content": shortened[row]}, row, Kind.DIGEST) if row in shortened else Entry(rows[row], row)
            for row in sorted({*shown, *shortened})
        ]
        publication = Publication(Ledger([*made, *entries]), len(rows), "e", trigger, {"before": 900, "after": 300})
        return self.views.publish(publication, expected=self.views.version()).version

    def receipt(self, version: int | None = None) -> ReceiptPage:
        return receipt_at(self.archive, self.views.history(), version)


def texts(page: ReceiptPage) -> list[tuple[str, int, bool]]:
    return [(one.text, one.row, one.is_visible) for one in page.listed]


def test_a_receipt_says_what_left_and_what_became_of_it(store: Store) -> None:
    kept = Kept(store)
    kept.publish(1, 6, 7, summary="The agent read /etc/parcel/gateway.yaml.", covers=(2, 3, 4, 5))
    page = kept.receipt()
    assert (page.version, page.trigger, page.engine, page.before, page.after) == (1, "manual", "e", 900, 300)
    assert (page.left, page.shortened, page.undone_by) == ((range(2, 6),), (), None)
    assert page.time == kept.views.history()[0].time
    assert texts(page) == [
        ("8080", 2, False),
        ("Never touch /srv/data/raw.", 2, False),
        ("/srv/data/raw", 2, False),
        ("/etc/parcel/gateway.yaml", 3, True),
        ("10.2.3.4:7001", 4, False),
        ("45s", 5, False),
    ]
    assert [one.text for one in page.listed if one.is_rule] == ["Never touch /srv/data/raw."]
    port = page.listed[0]
    assert port.replaced_by is not None and (port.replaced_by.fact.text, port.replaced_by.row) == ("9090", 6)
    assert [one.text for one in page.lost] == ["Never touch /srv/data/raw.", "/srv/data/raw", "10.2.3.4:7001", "45s"]


def test_the_newest_compaction_is_told_unless_another_is_asked_for(store: Store) -> None:
    kept = Kept(store)
    kept.publish(1, *range(5, 8), summary="First.", covers=(2, 3, 4))
    kept.archive.append(user("And /var/log/late.log."))
    kept.publish(1, 8, summary="Second.", covers=range(2, 8))
    assert kept.receipt().left == (range(5, 8),)
    assert kept.receipt(1).left == (range(2, 5),)
    assert "/etc/parcel/gateway.yaml" in [one.text for one in kept.receipt(1).listed]
    assert [one.text for one in kept.receipt(2).listed] == ["45s", "Use port 9090 instead.", "9090", "1f3a9c7e"]


def test_rows_that_came_since_the_version_before_were_in_the_window(store: Store) -> None:
    kept = Kept(store)
    kept.publish(1, *range(5, 8), summary="First.", covers=(2, 3, 4))
    kept.archive.extend([user("Look at /var/log/late.log."), user("Thanks.")])
    kept.publish(1, 9, summary="Second.", covers=range(2, 9))
    assert kept.receipt().left == (range(5, 9),)
    assert "/var/log/late.log" in [one.text for one in kept.receipt().listed]


def test_of_a_shortened_message_only_what_its_short_form_leaves_out_is_listed(store: Store) -> None:
    kept = Kept(store)
    kept.publish(1, 2, 3, 5, 6, 7, row4="[read_file] 3 lines, timeout: 45s")
    first = kept.receipt()
    assert (first.left, first.shortened) == ((), (range(4, 5),))
    assert texts(first) == [("10.2.3.4:7001", 4, False)]
    kept.publish(1, 2, 6, 7, summary="Nothing.", covers=(3, 4, 5))
    assert [one.text for one in kept.receipt().listed if one.row == 4] == [], "its values are told by row 5"
    assert "10.2.3.4:7001" not in [one.text for one in kept.receipt().listed], "it had left before"


def test_a_prompt_that_got_a_note_lost_nothing(store: Store) -> None:
    kept = Kept(store)
    kept.publish(6, 7, summary="Nothing.", covers=range(2, 6), row1=f"{TALK[0]['content']}\n\n[Earlier turns were compacted.]")
    page = kept.receipt()
    assert (page.left, page.shortened) == ((range(2, 6),), ())
    assert "/srv/agent" not in [one.text for one in page.listed]


def test_a_new_version_is_what_left_and_not_the_old_one(store: Store) -> None:
    kept = Kept(store)
    version = kept.archive.append(user("The gateway listens on port 7070."), replaces=2)
    kept.publish(1, 6, 7, summary="Nothing.", covers=(2, 3, 4, 5, version))
    page = kept.receipt()
    assert page.left == (range(3, 6), range(version, version + 1))
    found = {one.text: one.row for one in page.listed}
    assert found["7070"] == version and "8080" not in found and "Never touch /srv/data/raw." not in found


@pytest.mark.parametrize(
    ("trigger", "what"),
    [(REWIND, "made by rewind"), (IMPORT, "made by import"), ("pin", "made by pin"), ("", "made by an unnamed trigger")],
)
def test_a_version_that_no_compaction_made_has_no_receipt(store: Store, trigger: str, what: str) -> None:
    kept = Kept(store)
    kept.publish(1, *range(5, 8), summary="First.", covers=(2, 3, 4))
    kept.publish(1, 5, 6, trigger=trigger)
    kept.publish(1, 6, summary="Third.", covers=range(2, 6))
    with pytest.raises(UsageError, match=f"version 2 was {what}, not by a compaction") as raised:
        kept.receipt(2)
    assert raised.value.advice == "versions made by one: 1, 3"
    assert kept.receipt(3).left == (range(5, 6),), "what the rewind took was gone already"


@pytest.mark.parametrize("version", [0, 2, 99])
def test_a_version_that_is_not_there_is_named_with_those_that_are(store: Store, version: int) -> None:
    kept = Kept(store)
    kept.publish(1, 6, 7, summary="First.", covers=range(2, 6))
    with pytest.raises(UsageError, match=f"there is no version {version}") as raised:
        kept.receipt(version)
    assert raised.value.advice == "versions made by one: 1"


def test_a_conversation_that_was_never_compacted_has_none(store: Store) -> None:
    with pytest.raises(UsageError, match="never compacted"):
        Kept(store).receipt()


def test_an_undone_compaction_says_so_and_an_undo_has_no_receipt(store: Store) -> None:
    kept = Kept(store)
    kept.publish(1, 6, 7, summary="First.", covers=range(2, 6))
    kept.views.undo(expected=1)
    assert kept.receipt().undone_by == 2
    with pytest.raises(UsageError, match="version 2 was made by undo"):
        kept.receipt(2)
    kept.publish(1, 7, summary="Again.", covers=range(2, 7))
    assert (kept.receipt().version, kept.receipt().left, kept.receipt().undone_by) == (3, (range(2, 7),), None)


def test_what_was_taken_back_replaces_nothing(store: Store) -> None:
    kept = Kept(store)
    kept.publish(*range(1, 6), trigger=REWIND)  # "use port 9090 instead" never happened
    kept.archive.append(user("Go on."))
    kept.publish(1, 8, summary="Nothing.", covers=range(2, 6))
    assert next((one.text, one.replaced_by) for one in kept.receipt().listed) == ("8080", None)


def test_what_was_erased_since_is_gone_from_the_receipt(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "archive.db", durability="normal")
    kept = Kept(store)
    kept.publish(1, 6, 7, summary="It is 10.2.3.4:7001.", covers=range(2, 6))
    store.admin.forget(Forget(conversation=kept.name, position=2), apply=True)
    store.admin.forget(Forget("10.2.3.4"), apply=True)
    page = kept.receipt()
    assert page.left == (range(3, 4), range(5, 6))
    assert [one.text for one in page.listed] == ["/etc/parcel/gateway.yaml", "45s"]
    store.close()


def test_what_a_client_or_an_engine_says_in_the_user_s_name_is_no_rule(store: Store) -> None:
    reminder = "<system-reminder>Never mention /etc/hidden.conf.</system-reminder>"
    handoff = handoff_text("Never touch /old/summary.")
    kept = Kept(store, [user(reminder), user("Never touch /srv/data/raw."), user(handoff), user("Now.")])
    kept.publish(4, summary="Nothing.", covers=(1, 2, 3))
    assert [one.text for one in kept.receipt().listed if one.is_rule] == ["Never touch /srv/data/raw."]
    assert "/etc/hidden.conf" in [one.text for one in kept.receipt().listed]


def test_odd_contents_are_no_trouble(store: Store) -> None:
    parts = [
        {"type": "text", "text": "Never push to /parts/main."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    odd: list[Any] = [
        user("lone \udc80 surrogate in /srv/\udc80/a.txt, NUL \x00"),
        {"role": "assistant", "content": None, "x_unknown": 1},
        {"role": "user", "content": parts},
        user("Now."),
    ]
    kept = Kept(store, odd)
    kept.publish(4, summary="say \udc80", covers=(1, 2, 3))
    page = kept.receipt()
    assert [one.text for one in page.listed if one.is_rule] == ["Never push to /parts/main."]
    assert all(one.text in searchable(odd[one.row - 1]) for one in page.listed)


def test_after_real_compactions_what_is_called_visible_is_in_the_window(store: Store) -> None:
    desk = Desk(store)
    talk = fed(desk.open(), long_session())
    talk.window()
    fed(talk, long_session(seed=4)[1:]).window()
    archive, history = store.archive(desk.kept.conversation), store.views(desk.kept.conversation).history()
    assert len(history) > 1
    gone: set[int | None] = set()
    for version in history:
        page, window = receipt_at(archive, history, version.version), "\n".join(searchable(entry.message) for entry in version.ledger)
        left = {row for span in page.left for row in span}
        assert left and page.listed and not left & gone
        assert all(one.is_visible is (one.text in window) for one in page.listed)
        gone |= left
        assert gone == set(range(1, version.upto + 1)) - {entry.row for entry in version.ledger}

"""What is listed of the rows that left a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.facts import FactKind, Live, Told, facts_of, told
from host.messages.searchable import searchable
from host.messages.types import Message
from host.pipeline.receipts import Listed, listed
from host.testing.messages import assistant, result, user

Said = Sequence[Message]


def told_by(*said: Message) -> list[Told]:
    """What was told in messages that stand in the rows from 1 on."""
    return [
        one
        for row, message in enumerate(said, start=1)
        for one in told(facts_of(message), searchable(message), row=row, role=message["role"])
    ]


def receipt(*said: Message, window: str = "", left: Callable[[int], bool] = lambda row: True) -> list[Listed]:
    """The receipt of a compaction after which the window says this."""
    live = Live()
    live.hear(told_by(*said))
    return listed([one for one in told_by(*said) if left(one.row)], live.replaced(), window.__contains__)


def lines(found: Sequence[Listed]) -> list[tuple[str, int, str, bool]]:
    return [(one.text, one.row, one.role, one.is_visible) for one in found]


def test_values_of_every_role_and_rules_of_the_user_are_listed_in_row_order() -> None:
    found = receipt(
        user("Never touch /srv/data/raw."),
        assistant("I read /etc/parcel/gateway.yaml; you must never restart it."),
        result("c1", "ERR_LEASE_LOST at 10.2.3.4: the lease must never be taken twice"),
        window="see /etc/parcel/gateway.yaml",
    )
    assert lines(found) == [
        ("Never touch /srv/data/raw.", 1, "user", False),
        ("/srv/data/raw", 1, "user", False),
        ("/etc/parcel/gateway.yaml", 2, "assistant", True),
        ("ERR_LEASE_LOST", 3, "tool", False),
        ("10.2.3.4", 3, "tool", False),
    ]
    assert [one.text for one in found if one.is_rule] == ["Never touch /srv/data/raw."]


def test_what_was_said_often_is_listed_once_where_it_was_said_last() -> None:
    found = receipt(user("Read /a/b.toml."), assistant("I read /a/b.toml."), user("And /c/d.toml."))
    assert lines(found) == [("/a/b.toml", 2, "assistant", False), ("/c/d.toml", 3, "user", False)]


@pytest.mark.parametrize(
    ("window", "is_visible"),
    [
        ("the token lives in /srv/a.key, as before", True),
        ("the token lives in /SRV/A.KEY", False),
        ("the token lives in /srv/ a.key", False),
        ("", False),
    ],
)
def test_visible_is_what_the_window_says_to_the_letter(window: str, is_visible: bool) -> None:
    assert [one.is_visible for one in receipt(user("The token lives in /srv/a.key."), window=window)] == [is_visible]


def test_a_replaced_value_names_what_took_its_place() -> None:
    said = (user("The gateway listens on port 8080."), user("Use port 9090 instead."))
    old, new = (next(one for one in receipt(*said) if one.text == value) for value in ("8080", "9090"))
    assert old.replaced_by is not None and (old.replaced_by.fact.text, old.replaced_by.row) == (new.text, 2)
    assert (old.is_lost, new.is_lost, new.replaced_by) == (False, True, None)


@pytest.mark.parametrize(
    ("second", "by"),
    [
        ("The port must be 9443 now, not 8080.", "9443"),
        ("Use 9443 instead of 8080.", "9443"),
        ("Not 8080: 9443 from now on.", "9443"),
        ("The previous port 8080 is gone.", "8080"),  # called old, and no other is named: its own mention
    ],
)
def test_a_value_that_is_called_old_names_what_its_sentence_says_instead(second: str, by: str) -> None:
    found = receipt(user("The gateway listens on port 8080."), user(second))
    replaced = {one.text: one.replaced_by for one in found if one.replaced_by is not None}
    assert "8080" in replaced and (replaced["8080"].fact.text, replaced["8080"].row) == (by, 2)


def test_a_rule_that_was_taken_back_names_the_sentence_that_did() -> None:
    lifting = "The production namespace is open to you now, you may touch it."
    (rule,) = (one for one in receipt(user("Never touch the production namespace."), user(lifting)) if one.is_rule)
    assert rule.replaced_by is not None
    assert (rule.replaced_by.fact.kind, rule.replaced_by.fact.text, rule.replaced_by.row) == (FactKind.release, lifting, 2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The gateway must listen on port 8080.", "The port must be 9090 now."),
        ("The timeout must stay at 30s.", "Make the timeout 60s instead, always."),
    ],
)
def test_a_rule_whose_value_was_replaced_in_a_rule_names_that_rule(old: str, new: str) -> None:
    replaced = {one.text: one.replaced_by for one in receipt(user(old), user(new)) if one.is_rule}
    assert replaced[new] is None and (by := replaced[old]) is not None
    assert (by.fact.text, by.row) == (new, 2)


def test_look_alikes_replace_nothing() -> None:
    found = receipt(user("The port of staging is 8080."), user("The port of prod is 9090."))
    assert [one.replaced_by for one in found] == [None, None]


def test_what_replaced_it_may_still_be_in_the_window() -> None:
    said = (user("The gateway listens on port 8080."), user("Use port 9090 instead."))
    (old,) = receipt(*said, left=lambda row: row == 1, window="Use port 9090 instead.")
    assert old.replaced_by is not None and (old.row, old.replaced_by.row, old.is_visible) == (1, 2, False)


def test_quoted_and_pasted_rules_are_nobody_s() -> None:
    pasted = user("The README says:\n\n> You must never run this as root.\n\n```\n# always use sudo\n```\nWhat do you make of it?")
    assert [one for one in receipt(pasted) if one.is_rule] == []


TEXTS = st.sampled_from(
    [
        "use port 9090 instead",
        "/srv/a.key",
        "Never push to main.",
        "v1.2.3 \udc80",
        "8080",
        "",
        "must\x00not 45s",
        "端口必须是 9443",
        "not 8080",
    ]
)
SAID = st.lists(st.tuples(st.sampled_from([user, assistant, lambda text: result("c", text)]), TEXTS), max_size=8)


@given(SAID, TEXTS)
def test_each_text_is_listed_once_as_it_stands_in_its_row(said: list[tuple[Callable[[str], Message], str]], window: str) -> None:
    messages = [make(text) for make, text in said]
    found = receipt(*messages, window=window)
    assert len({(one.is_rule, one.text) for one in found}) == len(found)
    assert [one.row for one in found] == sorted(one.row for one in found)
    for one in found:
        assert one.text in searchable(messages[one.row - 1]) and messages[one.row - 1]["role"] == one.role
        assert one.is_visible is (one.text in window)
        assert one.role == "user" or not one.is_rule
    every = {one.fact.text for one in told_by(*messages) if one.fact.kind is not FactKind.release}
    assert {one.text for one in found} == every

"""Facts of a text: kinds by example, what is none, and what must hold for any text."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.messages.facts import Fact, FactKind, Told, block, constraints_in, decoded, encoded, facts_of, rules_in, told, values_in
from host.messages.facts.fact import KEPT
from host.messages.facts.reading import READ
from host.messages.searchable import searchable

# fmt: off
VALUES: list[tuple[FactKind, str, str]] = [
    (FactKind.path, "look into src/cart/total.py first", "src/cart/total.py"),
    (FactKind.path, "see README.md for that", "README.md"),
    (FactKind.path, "keep to services/orders please", "services/orders"),
    (FactKind.path, "the branch is fix/late-night", "fix/late-night"),
    (FactKind.path, "it lies in ~/shop", "~/shop"),
    (FactKind.path, "配置在 /opt/shop/app.toml。", "/opt/shop/app.toml"),
    (FactKind.url, "open https://a.example/x?y=1 now", "https://a.example/x?y=1"),
    (FactKind.url, "bucket s3://raw/in/2026/", "s3://raw/in/2026/"),
    (FactKind.version, "we run 2.14.0 there", "2.14.0"),
    (FactKind.version, "httpx==0.27.2", "0.27.2"),
    (FactKind.version, "move to PostgreSQL 16 soon", "PostgreSQL 16"),
    (FactKind.version, "node v20.11.0", "v20.11.0"),
    (FactKind.version, "image shop/web:2.1.0", "2.1.0"),
    (FactKind.quantity, "wait 250 ms between them", "250 ms"),
    (FactKind.quantity, "超时 3 秒", "3 秒"),
    (FactKind.quantity, "a budget of 120 EUR", "120 EUR"),
    (FactKind.quantity, "costs €45.50 today", "€45.50"),
    (FactKind.quantity, "put load on it: 25 orders a second", "25 orders a second"),
    (FactKind.quantity, "batches of 250, please", "250"),
    (FactKind.id, "ticket SHOP-771 is open", "SHOP-771"),
    (FactKind.id, "the train is RX 412", "RX 412"),
    (FactKind.id, "sshd[20817]: closed", "20817"),
    (FactKind.id, "see 5f0c2a9e-31b7-4c6e-9d41-7a86e0f2b913", "5f0c2a9e-31b7-4c6e-9d41-7a86e0f2b913"),
    (FactKind.hash, "committed as d81f3a6 by me", "d81f3a6"),
    (FactKind.quoted, "set `capture_method` to automatic", "capture_method"),
    (FactKind.quoted, "通知の文は「できました」です", "できました"),
    (FactKind.quoted, "the button says \"Sign in\" on top", "Sign in"),
    (FactKind.quoted, "cron 30 3 * * * /bin/x", "30 3 * * *"),
    (FactKind.quoted, "run it with --no-daemon then", "--no-daemon"),
    (FactKind.quoted, "the table payment_events is new", "payment_events"),
    (FactKind.env, "read SHOP_TOKEN from there", "SHOP_TOKEN"),
    (FactKind.error, "it ended in java.lang.OutOfMemoryError", "OutOfMemoryError"),
    (FactKind.error, "got ERR_MAINTENANCE", "ERR_MAINTENANCE"),
    (FactKind.error, "HTTP/1.1 503 Service", "HTTP/1.1 503"),
    (FactKind.email, "write to ines@post.example.", "ines@post.example"),
    (FactKind.address, "the host is 10.3.2.15:5432", "10.3.2.15:5432"),
    (FactKind.address, "db-1.shop.internal answers", "db-1.shop.internal"),
    (FactKind.address, "it listens on port 8443", "8443"),
    (FactKind.address, "端口是 8301", "8301"),
    (FactKind.date, "at 2026-05-14T12:21:07Z", "2026-05-14T12:21:07Z"),
    (FactKind.date, "from 03:30 UTC on", "03:30 UTC"),
    (FactKind.date, "on 17 July we go", "17 July"),
    (FactKind.date, "on July 17, 10:30 then", "July 17, 10:30"),
    (FactKind.date, "推迟到 4月22日 23:30。", "4月22日 23:30"),
]

NO_VALUES = [
    "", "Good plan, go on.", "and/or", "it is a read/write lock", "application/json", "three of the five rules", "Yes. No. e.g. this one",
    "It was \"fine\", they said.", "utf-8 and p95", "{\"exit_code\": 0}", "x = items[0] + 1", "他很好，谢谢。", "ありがとうございます。",
]

RULES = [
    "You must never connect to production.", "Do not touch it.", "But don't push.", "Please never delete a thing there.",
    "Always set it to automatic.",
    "Only change files under src.", "Staging only, and then stop.", "Prefer small commits.", "No flights, never.", "At most 50 in a sweep.",
    "不要动生产库。", "超时必须不超过 3 秒。", "迁移之前务必先备份。", "私钥禁止写进日志。", "只能连预发环境。",
    "本番の鍵は絶対に使わないでください。", "絵文字は使用禁止です。", "必ず公開前に確認してください。", "値を画面に出してはいけません。",
]

NO_RULES = [
    "", "You must be tired.", "I never saw this before.", "My sister always says I plan too much.",
    "Must I really confirm each?",
    "I must say this was quick.", "You don't have to explain.", "It \"always works on my machine\".", "> never do this",
    "```\n# must not raise\n```",
    "必须说这拖了很久。", "我从来没见过，要不要重启？", "必ず治ると思いますが、心配です。", "30秒 にしてください。",
]
# fmt: on


@pytest.mark.parametrize(("kind", "text", "value"), VALUES, ids=[value for _, _, value in VALUES])
def test_values_by_kind(kind: FactKind, text: str, value: str) -> None:
    assert (kind, value) in [(fact.kind, fact.text) for fact in values_in(text)]


@pytest.mark.parametrize("text", NO_VALUES)
def test_plain_words_hold_no_value(text: str) -> None:
    assert values_in(text) == []


@pytest.mark.parametrize("sentence", RULES)
def test_a_sentence_that_binds_is_found_whole(sentence: str) -> None:
    text = f"Thanks so far.\n- {sentence} The rest is fine.\n"
    assert [fact.text for fact in constraints_in(text)] == [sentence]


@pytest.mark.parametrize("text", NO_RULES)
def test_what_only_sounds_like_a_rule_is_none(text: str) -> None:
    assert constraints_in(text) == []


@pytest.mark.parametrize("text", ["Forget the read-only rule.", "You may restart it now.", "之前的限制取消。", "再実行して構いません。"])
def test_what_takes_a_rule_back_is_a_release(text: str) -> None:
    assert [fact.kind for fact in rules_in(text)] == [FactKind.release]


def test_rules_are_the_users_alone() -> None:
    text = "Never push. Port 8443."
    kinds = {role: {fact.kind for fact in facts_of({"role": role, "content": text})} for role in ("user", "assistant", "tool", "system")}
    assert FactKind.constraint in kinds.pop("user")
    assert set(map(frozenset, kinds.values())) == {frozenset({FactKind.address})}


def test_both_ends_of_a_long_message_are_read_in_its_own_places() -> None:
    content = "port 8443 " + "x " * (2 * READ) + "port 9443"
    found = facts_of({"role": "tool", "content": content})
    assert [fact.text for fact in found] == ["8443", "9443"]
    assert all(content[fact.start : fact.end] == fact.text for fact in found)


# --- stored ------------------------------------------------------------------------------------------------------


def test_nothing_is_stored_for_nothing() -> None:
    assert encoded([]) is None
    assert decoded(None, "text") == []


@pytest.mark.parametrize(
    "stored", ["", "[]", "{", '{"path":5}', '{"path":[[0]]}', '{"path":[[0,99]]}', '{"path":[[2,1]]}', '{"no":[[0,1]]}', "9"]
)
def test_a_stored_column_that_nobody_wrote_gives_nothing(stored: str) -> None:
    assert decoded(stored, "text") == []


def test_of_many_facts_the_rules_and_names_are_kept() -> None:
    log = " ".join(f"{second} ms" for second in range(1000, 3000))
    text = f"{log}\nsee /var/log/a.log\nNever push."
    found = facts_of({"role": "user", "content": text})
    kept = decoded(encoded(found), text)
    assert len(found) > KEPT == len(kept)
    assert {"/var/log/a.log", "Never push."} <= {fact.text for fact in kept}


# --- for any text ------------------------------------------------------------------------------------------------

pieces = st.sampled_from(
    [text for _, text, _ in VALUES] + RULES + NO_RULES + NO_VALUES + ["\ud800", "\x00", "\u2028", "😀", "`", '"', "「"]
)
texts = st.one_of(st.text(), st.lists(pieces, max_size=8).map("\n".join), st.lists(pieces, max_size=8).map("".join))
messages = st.builds(lambda role, content: {"role": role, "content": content}, st.sampled_from(["user", "assistant", "tool"]), texts)


@given(messages)
def test_facts_are_spans_of_the_searchable_text_and_rise(message: Any) -> None:
    text, found = searchable(message), facts_of(message)
    assert all(fact.text == text[fact.start : fact.end] != "" for fact in found)
    assert [(fact.start, fact.end) for fact in found] == sorted((fact.start, fact.end) for fact in found)
    assert found == facts_of(message)


@given(messages)
def test_what_is_stored_comes_back(message: Any) -> None:
    text, found = searchable(message), facts_of(message)
    back = decoded(encoded(found), text)
    assert {(fact.kind, fact.text) for fact in back} == {(fact.kind, fact.text) for fact in found}
    assert decoded(encoded(back), text) == back


@given(messages)
def test_a_fact_stands_in_what_is_around_it(message: Any) -> None:
    text = searchable(message)
    for one in told(facts_of(message), text, row=3, role=message["role"]):
        assert one.around[one.at : one.at + len(one.fact.text)] == one.fact.text


# fmt: off
SIZES: dict[str, str] = {
    "letters": "a", "capitals": "A", "digits": "9", "slashes": "/", "versions": "1.", "dots": ".", "dashes": "-", "backticks": "`",
    "quotes": '"',
    "breaks": "\n", "spaces": " ", "colons": ":", "names": "a_", "hosts": "a.", "mails": "a@", "ids": "a1-",
    "brackets": "「", "han": "必", "wide": "！",
    "flags": "--a", "errors": "Error", "rules": "never ", "addresses": "1:", "pairs": "a=",
    "equals": "=", "hex": "0f", "stars": "*", "fences": "```\n",
}
# fmt: on


@pytest.mark.parametrize("unit", SIZES.values(), ids=SIZES)
def test_a_megabyte_of_one_thing_is_read_in_linear_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert _seconds(lambda: values_in(text)) < 1.5  # about 0.3 where the machine is free
    assert _seconds(lambda: rules_in(text)) < 1.5
    assert _seconds(lambda: facts_of({"role": "user", "content": text})) < 1.5


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


# --- the block ---------------------------------------------------------------------------------------------------


def said(kind: FactKind, text: str, row: int, role: str = "user") -> Told:
    return Told(Fact(kind, 0, len(text), text), row, role, text)


TOLD = [
    said(FactKind.constraint, "Never push.", 1),
    said(FactKind.address, "10.0.0.1:80", 2),
    said(FactKind.address, "10.0.0.1", 2),
    said(FactKind.release, "You may push.", 3),
    said(FactKind.date, "03:30", 4, "tool"),
    said(FactKind.constraint, "Only staging.", 5),
    said(FactKind.date, "05:30", 6),
    said(FactKind.address, "10.0.0.1:80", 7),
]


def test_block_gives_rules_then_values_newest_first_by_kind_each_once_with_its_row() -> None:
    assert block(TOLD, 800, len) == (
        "Rules of the user:\n- Never push. [1]\n- Only staging. [5]\n"
        "Exact values, newest first (row in brackets):\n- address: 10.0.0.1:80 [7]\n- date: 05:30 [6], 03:30 [4]"
    )


def test_where_room_is_short_the_users_word_goes_before_a_newer_one_of_a_tool() -> None:
    values = [said(FactKind.date, "05:30", 1), *(said(FactKind.date, f"{hour}:00", 2 + hour, "tool") for hour in range(10, 24))]
    text = block(values, 90, len)
    assert text is not None
    assert "05:30 [1]" in text
    assert "23:00" in text
    assert "10:00" not in text


@given(st.lists(st.sampled_from(TOLD)), st.integers(min_value=0, max_value=300))
def test_block_keeps_to_its_budget_and_cuts_nothing(facts: list[Told], budget: int) -> None:
    text = block(facts, budget, len)
    assert text == block(facts, budget, len)
    if text is not None:
        assert len(text) <= budget
        assert all(any(one.fact.text in line for one in facts) for line in text.splitlines() if line.startswith("-"))


@settings(max_examples=20)
@given(st.lists(messages, max_size=4))
def test_nothing_is_written_of_what_nobody_said(history: list[Any]) -> None:
    facts = [one for row, message in enumerate(history) for one in told(facts_of(message), searchable(message), row=row, role="user")]
    text = block(facts, 10_000, len)
    assert (text is None) == all(one.fact.kind is FactKind.release for one in facts)

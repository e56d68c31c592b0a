"""Values of two things, and entries of a list, hold side by side; what a sentence calls old is all that it replaces."""

from __future__ import annotations

import pytest

from host.messages.facts import Live, facts_of, told
from host.messages.facts.statements import restatements
from host.messages.searchable import searchable
from host.messages.types import Message


def live(*texts: str) -> Live:
    live = Live()
    for row, text in enumerate(texts):
        message: Message = {"role": "user", "content": text}
        live.hear(told(facts_of(message), searchable(message), row=row, role="user"))
    return live


def holding(*texts: str) -> set[str]:
    return {one.fact.text for one in live(*texts).holding()}


SIDE_BY_SIDE = [
    (["端口是 8080", "数据库端口是 5433"], {"8080", "5433"}),
    (["服务器是 10.0.0.5", "备用服务器是 10.0.0.6"], {"10.0.0.5", "10.0.0.6"}),
    (["超时 30 秒", "上传超时 90 秒"], {"30 秒", "90 秒"}),
    (["版本 1.4.2", "客户端版本 2.0.1"], {"1.4.2", "2.0.1"}),
    (["价格是 300 元", "会员价格是 250 元"], {"300 元", "250 元"}),
    (["ポート 8080", "予備ポート 8081"], {"8080", "8081"}),
    (["タイムアウトは 30 秒です。", "接続タイムアウトは 10 秒です。"], {"30 秒", "10 秒"}),
    (["The version is 1.4.2.", "The client version is 2.0.1."], {"1.4.2", "2.0.1"}),
    (["Rule 1: the port is 8001.", "Rule 2: the port is 8002."], {"8001", "8002"}),
    (["Use port 8001 for service 1.", "Use port 8002 for service 2."], {"8001", "8002"}),
    (["Staging runs on port 8080.", "Production runs on port 9090."], {"8080", "9090"}),
    (["step 1 of part 0, see SHOP-001", "step 2 of part 0, see SHOP-002"], {"SHOP-001", "SHOP-002"}),
    (["The port is 8080.", "The log says: 'port 9090 is now used instead of 8080'. Ignore it."], {"8080"}),
    (["My date of birth is 1990-03-04.", "Change the date to 2024-05-20."], {"1990-03-04", "2024-05-20"}),
    (["数据库端口是 5433", "Now port 8080 is taken, use 9090 instead."], {"5433", "9090"}),
]


@pytest.mark.parametrize(("texts", "both"), SIDE_BY_SIDE, ids=[case[0][1] for case in SIDE_BY_SIDE])
def test_values_of_two_things_hold_side_by_side(texts: list[str], both: set[str]) -> None:
    assert both <= holding(*texts)
    assert not {one.value for one in restatements(texts)} & both


REPLACED = [
    (["The gate is A12.", "The gate is not A12 but B7."], "A12", "B7"),
    (["The host is 10.0.0.5.", "The host is not 10.0.0.5 but 10.0.0.9."], "10.0.0.5", "10.0.0.9"),
    (["Install v4.2.0 on the nodes.", "take v4.2.3, 4.2.0 leaks"], "v4.2.0", "v4.2.3"),
    (["用 v3.1.0 部署", "换 v3.1.2,3.1.0 有内存泄漏"], "v3.1.0", "v3.1.2"),
    (["交付时间是 2024-07-01。", "延期到 2024-07-15。"], "2024-07-01", "2024-07-15"),
    (["ホテルは一泊 15,000円 までにしてください。", "予算を 20,000円 に変更します。"], "15,000円", "20,000円"),
    (["The images are at harbor1.example.com/team/api:2.0.", "We moved to harbor2.example.com."],
     "harbor1.example.com/team/api:2.0", "harbor2.example.com"),
    (["Use 30 s as the read timeout and 45 s as the write timeout.", "Change the read timeout to 60 s."], "30 s", "45 s"),
]  # fmt: skip


@pytest.mark.parametrize(("texts", "old", "new"), REPLACED, ids=[case[0][1] for case in REPLACED])
def test_what_is_called_old_is_all_that_goes(texts: list[str], old: str, new: str) -> None:
    held = holding(*texts)
    assert new in held and old not in held


RULES = [
    ("The retry limit is 5.", "Actually make the limit 7."),
    ("必ずポート 8080 を使ってください。", "8080 ではなく 9090 です。"),
    ("Spend at most 500 dollars.", "You can spend at most 700 dollars."),
    ("Always use npm to install.", "From now on always pnpm instead of npm."),
]


@pytest.mark.parametrize(("rule", "change"), RULES)
def test_a_rule_leaves_with_its_only_value(rule: str, change: str) -> None:
    assert rule in holding(rule)
    assert rule not in holding(rule, change)


def test_a_rule_of_two_values_stays_where_one_is_replaced() -> None:
    rule = "Always deploy to 10.0.0.5 on port 8080."
    assert {rule, "10.0.0.5", "9090"} <= holding(rule, "Change the port to 9090.")


def test_a_value_among_many_of_its_kind_is_found_by_what_it_is_of() -> None:
    prices = [f"The price of article {number} is {number + 100} EUR." for number in range(90)]
    held = holding(*prices, "Change the price of article 7 to 55 EUR.")
    assert "55 EUR" in held and "107 EUR" not in held and "106 EUR" in held

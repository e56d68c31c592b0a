"""The id in whatever a model copied along with it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.recall.references import Reference, id_in, reference_in

IDS = (
    "file_123",
    "8f3a2b",
    "20261130_160000_ab12cd",
    "20261130_160000_914686",
    "agent-a51c9e0",
    "624a4a58-b34c-462d-a70d-13421c8125a8",
    "sum_7f.2",
    "rollout-9",
)
WRAPS = (
    "{}",
    "`{}`",
    '"{}"',
    "'{}'.",
    "[{}]",
    "<{}>",
    "【{}】",
    "**{}**",
    "id: {}",
    "ID={}",
    "id：{}",
    "the id is {}, I think",
    "[LCM Tool Output: {} | 40KB]",
    "[Summary: {} | depth 2 | 1,204 tokens | 2026-11-30]",
    "[Externalized tool-1 output: {} | 1.5 MB]",
    "see {} (12,345 bytes)",
    "{}: the log of the gateway",
    "lcm://{}",
    "[{}](the log)",
    '{{"id": "{}", "size": "40KB"}}',
    '["{}"]',
    '"{{\\"ref\\": \\"{}\\"}}"',
)


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("wrap", WRAPS)
def test_an_id_is_found_in_any_decoration(id: str, wrap: str) -> None:
    assert reference_in(wrap.format(id)) == Reference(id)


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_position_is_found_with_it(wrap: str) -> None:
    assert reference_in(wrap.format("agent-a51c9e0:12")) == Reference("agent-a51c9e0", 12)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("abc:3-9", Reference("abc", 3, 9)),
        ("abc:3..abc:9", Reference("abc", 3, 9)),
        ("abc:3 to 9", Reference("abc", 3, 9)),
        ("abc#3", Reference("abc", 3)),
        ("abc%3A3", Reference("abc", 3)),
        ("`8f3a2b: 3`", Reference("8f3a2b", 3)),
        ("position: 3", Reference("position: 3")),
        ("abc:3-", Reference("abc", 3, more="-")),
        ("abc:3.5", Reference("abc", 3, more=".5")),
        ("abc:1-2,5", Reference("abc", 1, 2, more=",5")),
        ("`abc:1` and `abc:2`", Reference("abc", 1)),
        ("abc:1 and abc:2", Reference("abc", 1, more="and abc:2")),
        ("abc:1, 12,345 bytes", Reference("abc", 1)),
        (7, Reference(None, 7)),
        ("#7", Reference(None, 7)),
        ("7-9", Reference(None, 7, 9)),
        ({"open": {"message": "abc:3"}}, Reference("abc", 3)),
        ({"message": "abc:3", "excerpt": "see other:9"}, Reference("abc", 3)),
        ([{"id": "abc:3"}], Reference("abc", 3)),
        ("fix the parser", Reference("fix the parser")),
        ("“网关的超时”。", Reference("网关的超时")),
        ("", None),
        ("[ | ]", None),
        (None, None),
        (True, None),
        ([], None),
        ({"size": 3}, None),
        (["a", "b"], None),
        (3.5, None),
    ],
)
def test_what_a_value_refers_to(value: object, meant: Reference | None) -> None:
    assert reference_in(value) == meant


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5))
def test_nothing_that_a_model_sends_raises(value: object) -> None:
    found = reference_in(value)
    assert found is None or found.id or found.first is not None
    reference_in(json.dumps(value))


@pytest.mark.parametrize("text", ["[" * 5_000, '{"id":' * 2_000, "a" * 1_000_000, "a:" * 50_000, "9" * 100_000])
def test_long_and_broken_texts_end_soon(text: str) -> None:
    assert isinstance(id_in(text), str)
    reference_in(text)

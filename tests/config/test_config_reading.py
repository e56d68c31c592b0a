"""YAML in, plain values and places out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.config.reading import MAX_BYTES, Place, dotted, read_bytes, read_file, read_text

BOMB = (
    "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d]\n"
)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", {}),
        ("# only a comment\n", {}),
        ("~", None),
        ("a: no\nb: on\nc: y", {"a": "no", "b": "on", "c": "y"}),
        ("a: 1_000\nb: 0x10\nc: 0o17\nd: 012\ne: -3", {"a": 1000, "b": 16, "c": 15, "d": 12, "e": -3}),
        ("a: .5\nb: 1e3\nc: .inf\nd: 1:30", {"a": 0.5, "b": 1000.0, "c": float("inf"), "d": "1:30"}),
        ("a: 2026-01-01", {"a": "2026-01-01"}),
        ("a: !!str 5\nb: '5'", {"a": "5", "b": "5"}),
        ("1: x\ntrue: y", {"1": "x", "true": "y"}),
        ("a: &x {q: 1, r: 2}\nb:\n  <<: *x\n  q: 5", {"a": {"q": 1, "r": 2}, "b": {"q": 5, "r": 2}}),
        ("\ufeffa: 1", {"a": 1}),
    ],
)
def test_plain_values_are_those_of_yaml_1_2(text: str, tree: Any) -> None:
    document = read_bytes(text.encode(), "f")
    assert document.problems == ()
    assert document.tree == tree


def test_every_key_and_every_item_has_its_place() -> None:
    places = read_text("a:\n  bb: 1\n  c: [x, {d: 2}]\n", "f").places
    assert places["a", "bb"] == Place(2, 3)
    assert places["a", "c", 0] == Place(3, 7)
    assert places["a", "c", 1, "d"] == Place(3, 11)


@pytest.mark.parametrize(
    ("text", "where", "says"),
    [
        (b"a: [", "f:1:5", "not valid YAML"),
        (b"a:\n\t- b\n", "f:2:1", "a tab; indent with spaces"),
        (b"a: b: c", "f:1:5", "mapping values are not allowed here"),
        (b"a: 1\nb: 2\na: 3\n", "f:3:1", "written twice, first in line 1"),
        (b"a: *x", "f:1:4", "undefined alias"),
        (b"a: \xff\xfe", "f:1:4", "not UTF-8"),
        (b"x: 1\na: \x00", "f:2:4", "control character"),
        (b"a: !!python/object/apply:os.system [ls]", "f:1:4", "has no meaning here"),
        (b"{{ name }}: 1", "f:1:1", "needs quotes"),
        (b"a: 1\n---\nb: 2\n", "f:2:1", "another document"),
        (b"a: " + b"9" * 5000, "f:1:4", "cannot be read as int"),
        (b"[" * 3000, "f:1:1", "nested deeper than 32 levels"),
        (b"a: &x [*x]", "f:1:4", "nested deeper than 32 levels"),
        (b"a: &x {<<: *x}", "f:1:4", "nested deeper than 32 levels"),
        (BOMB.encode(), "f:1", "more than 10,000 values"),
        (b"x" * (MAX_BYTES + 1), "f", "longer than"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: bytes, where: str, says: str) -> None:
    problems = read_bytes(text, "f").problems
    assert len(problems) == 1
    assert problems[0].where.startswith(where)
    assert says in problems[0].expected


def test_a_folder_and_a_missing_file_are_problems_not_exceptions(tmp_path: Path) -> None:
    assert "cannot be read" in str(read_file(tmp_path).problems[0])
    assert "cannot be read" in str(read_file(tmp_path / "none").problems[0])


@given(st.binary(max_size=200) | st.text(alphabet="ab:-[]{}&*!|>'\"%@`#\n\t ?,<~", max_size=60).map(str.encode))
def test_any_bytes_are_refused_or_read_with_a_place_for_every_value(raw: bytes) -> None:
    document = read_bytes(raw, "f")
    for path in () if document.problems else document.places:
        here = document.tree
        for part in path:
            here = here[part]


def test_a_key_cannot_steer_the_terminal() -> None:
    assert dotted(("engines", "\x1b[2J", "\u202ex")) == "engines.\\x1b[2J.\\u202ex"

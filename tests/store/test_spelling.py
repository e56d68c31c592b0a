"""Names that are no text, as text and back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.store.spelling import spelled, unspelled


@given(st.text(st.characters(codec=None, exclude_characters="\\")))
def test_whatever_name_is_text_when_it_is_spelled_and_comes_back(name: str) -> None:
    spelled(name).encode("utf-8")
    assert unspelled(spelled(name)) == name


@given(st.binary().filter(lambda raw: b"\\" not in raw))
def test_bytes_of_a_path_come_back(raw: bytes) -> None:
    assert os.fsencode(unspelled(spelled(os.fsdecode(raw)))) == raw


@pytest.mark.parametrize("path", ["/src/shop", Path("/src/café"), "C:\\users\\ann"])
def test_a_path_that_is_text_is_spelled_as_it_is(path: str | Path) -> None:
    assert spelled(path) == os.fspath(path)
    assert unspelled(os.fspath(path)) == os.fspath(path)


def test_two_paths_that_are_no_utf8_are_told_apart() -> None:
    assert spelled(os.fsdecode(b"/caf\xe9")) == "/caf\\udce9" != spelled(os.fsdecode(b"/caf\xe8"))

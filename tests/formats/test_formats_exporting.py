"""Conversations written out in their canonical form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.formats.exporting import EXPORTS, harmless, written
from host.messages.canonical import canonical
from host.messages.types import Message

TEXTS = st.text(st.characters(codec=None))  # lone surrogates and control characters too


@given(TEXTS)
def test_a_written_message_is_utf8_and_reads_back_to_the_same_bytes(text: str) -> None:
    message: Message = {"role": "user", "content": text}
    for shown in (written(message), harmless(written(message))):
        shown.encode("utf-8")
        assert canonical(json.loads(shown)) == canonical(message)


@given(TEXTS)
def test_a_terminal_is_never_commanded(text: str) -> None:
    shown = harmless(written({"role": "user", "content": text}))
    assert shown.isprintable()


@pytest.mark.parametrize(("name", "text"), [("openai", "[]\n"), ("jsonl", ""), ("dialogues", '{"id":"a \\ud800 title","messages":[]}\n')])
def test_an_empty_conversation_is_written_too(name: str, text: str) -> None:
    assert EXPORTS[name]("a \ud800 title", []) == text

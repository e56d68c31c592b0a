"""What a search can find in a message, and what it must not trip over."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.searchable import searchable

PIXELS = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"


def says(content: Any, **more: Any) -> Any:
    return {"role": "user", "content": content, **more}


def calls(name: str, arguments: Any) -> Any:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}],
    }


EXAMPLES: list[tuple[str, Any, str]] = [
    ("plain text", says("hello\nworld"), "hello\nworld"),
    ("no content", says(None), ""),
    ("no key but the role", {"role": "user"}, ""),
    ("text parts", says([{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}, "c"]), "a\nb\nc"),
    ("a result of a tool", {"role": "tool", "tool_call_id": "c1", "name": "grep", "content": "found"}, "grep\nfound"),
    ("call", calls("edit", '{"path": "src/ä.py", "lines": [3, 1.50], "deep": {"text": "x\\ny"}, "ok": true, "no": null}'),
     "edit\nsrc/ä.py\n3\n1.50\nx\ny"),
    ("arguments cut off", calls("edit", '{"path": "src/a'), 'edit\n{"path": "src/a'),
    ("a picture as argument", calls("see", {"image": {"type": "base64", "data": PIXELS, "alt": "logo"}, "data": "kept"}),
     "see\nbase64\nlogo\nkept"),
    ("arguments never text", calls("edit", {"path": "a", "n": 7}), "edit\na\n7"),
    ("empty arguments", calls("list", ""), "list"),
    ("calls null", {"role": "assistant", "content": "x", "tool_calls": None}, "x"),
    ("reasoning before content", {"role": "assistant", "reasoning": "hm", "content": "so"}, "hm\nso"),
    ("reasoning twice told", {"role": "assistant", "content": "so", "reasoning": "hm", "reasoning_content": "hm"}, "so\nhm"),
    ("reasoning details", {"role": "assistant", "content": "", "reasoning_details": [
        {"type": "reasoning.text", "text": "first", "signature": "S1"}, {"type": "reasoning.summary", "summary": "second"},
        {"type": "reasoning.encrypted", "data": PIXELS}]}, "first\nsecond"),
    ("reasoning items", {"role": "assistant", "content": "so", "codex_reasoning_items": [
        {"id": "rs_1", "encrypted_content": PIXELS, "summary": [{"type": "summary_text", "text": "hm"}]}]}, "so\nhm"),
    ("thinking part", says([{"type": "thinking", "thinking": "hm", "signature": "S1"}]), "hm"),
    ("file", says([{"type": "file", "file": {"filename": "plan.pdf", "file_data": f"data:application/pdf;base64,{PIXELS}"}}]), "plan.pdf"),
    ("image", says([{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXELS}"}},
        {"type": "text", "text": "see"}]), "see"),
    ("image source", says([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXELS}}]), ""),
    ("data URL in a text", says(f"<img src='data:image/png;base64,{PIXELS}'> logo"), "<img src='data:image/png;base64,'> logo"),
    ("use and result as parts", says([{"type": "tool_use", "name": "ls", "input": {"dir": "/tmp"}},
        {"type": "tool_result", "content": [{"type": "text", "text": "a.txt"}]}]), "ls\n/tmp\na.txt"),
    ("unknown part", says([{"type": "hologram", "text": "shown", "blob": "hidden"}]), "shown"),
    ("object content", says({"text_summary": "three pictures", "parts": [1]}), "three pictures"),
    ("lone surrogate", says("\ud800 x\x00"), "\ud800 x\x00"),
    ("calls malformed", {"role": "assistant", "tool_calls": [None, "x", {"function": None}, {"function": {"name": "f"}}]}, "x\nf"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "expected"), [each[1:] for each in EXAMPLES], ids=[each[0] for each in EXAMPLES])
def test_the_text_of(message: Any, expected: str) -> None:
    before = copy.deepcopy(message)
    assert searchable(message) == expected
    assert message == before


json_values: Any = st.recursive(
    st.text('ab"\\\n\ud800 é', min_size=1, max_size=6) | st.integers(-999, 999),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict | list):
        return [leaf for inner in (value.values() if isinstance(value, dict) else value) for leaf in leaves(inner)]
    return [str(value)]


@given(json_values)
def test_every_argument_value_is_found_however_it_was_escaped(value: Any) -> None:
    for text in (json.dumps({"a": value}), json.dumps({"a": value}, ensure_ascii=False, indent=2)):
        found = searchable(calls("f", text))
        assert all(leaf in found for leaf in leaves(value))


def test_arguments_nested_beyond_the_parser_are_read_as_text() -> None:
    deep = "[" * 200_000 + '"x"' + "]" * 200_000
    assert deep in searchable(calls("f", deep))


def test_content_nested_beyond_the_recursion_limit_is_read() -> None:
    content: Any = "deep"
    for _ in range(50_000):
        content = [content]
    assert searchable(says(content)) == "deep"

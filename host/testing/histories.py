"""Random conversations that a provider would accept, for property tests. Needs hypothesis (the ``dev`` extra).

Strategies are cached: hypothesis spends more time on checking a new strategy than on drawing from a known one.
"""

from __future__ import annotations

import json
import operator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, cast

from hypothesis import strategies as st

from host.messages.types import Message, Part, ToolCall

LONGEST_TEXT = 3_000  # characters, reached by repetition: a shrinking example stays quick

FRAGMENTS = (
    "ok",
    "",
    " \n\t",
    "Fix src/parser.py:42, port 8443, never touch main.",
    "请把网关的超时改成三十秒。",
    "設定を確認してください",
    "👩‍💻🎉",
    "cut \ud83d",
    "bad \udc81 byte",
    "nul \x00 inside",
    '{"exit_code": 0, "output": "3 passed"}',
    "<think>hm</think> answer",
    "line one\r\nline two\n",
)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGES: tuple[Part, ...] = (
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
    {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
    {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
)
EXTRAS: tuple[dict[str, Any], ...] = (
    {},
    {"timestamp": 1_700_000_000.5},
    {"_engine_note": "private"},
    {"x_vendor": {"深": [1, None, True]}},
    {"annotations": [], "refusal": None},
)
REASONING: tuple[dict[str, Any], ...] = (
    {},
    {"reasoning": "先看日志 then decide"},
    {"reasoning_content": "step one\nstep two", "reasoning": None},
    {
        "reasoning_details": [
            {"type": "reasoning.text", "text": "because", "signature": "c2ln"},
            {"type": "reasoning.encrypted", "data": "AAAA"},
        ]
    },
)
TOOLS = ("terminal", "read_file", "web_search", "lcm_grep")
CALL_IDS = tuple(f"call_{number}" for number in range(6))  # few, so that ids come again after their results


@dataclass(frozen=True)
class _Size:
    turns: int
    groups: int
    calls: int
    strict: bool


def histories(
    *,
    max_turns: int = 5,
    max_groups: int = 3,
    max_calls: int = 4,
    strict: bool = False,
    assistant_end: bool = False,
) -> st.SearchStrategy[list[Message]]:
    """Legal conversations that stop where a model call would be made: after a user message or a whole tool group.

    A turn is a request, up to ``max_groups`` tool groups of one to ``max_calls`` parallel calls, and an answer. With
    ``strict`` it begins with the user (after a system prompt, if any) and user and assistant alternate; else it may begin
    with the assistant, hold two user turns in a row and a system message midway. ``assistant_end`` also allows a plain
    assistant message as the last one.
    """
    size = _Size(max_turns, max_groups, max_calls, strict)
    return _histories(size, assistant_end)


@cache
def texts(*, longest: int = LONGEST_TEXT) -> st.SearchStrategy[str]:
    """Texts of up to ``longest`` characters: empty, CJK, emoji, lone surrogates, NUL, JSON; a few long by repetition."""
    short = st.one_of(st.sampled_from(FRAGMENTS), st.text(st.characters(codec=None), max_size=12))
    return st.builds(lambda text, times: (text * times)[:longest], short, st.sampled_from((1, 1, 1, 1, 1, 2, 40, 1_000)))


@cache
def user_messages() -> st.SearchStrategy[Message]:
    """A user message: a text, or a list of text and image parts; sometimes named."""
    names = st.sampled_from(({}, {}, {}, {"name": "小明"}))
    return _built({"role": "user"}, st.one_of(texts(), _part_lists()), names, st.sampled_from(EXTRAS))


@cache
def assistant_messages(*, null_content: bool = True) -> st.SearchStrategy[Message]:
    """An assistant message without calls; ``null_content`` allows ``content: null``."""
    contents: list[st.SearchStrategy[Any]] = [texts(), st.lists(_text_parts(), min_size=1, max_size=2)]
    if null_content:
        contents.append(st.none())
    return _built({"role": "assistant"}, st.one_of(contents), st.sampled_from(REASONING), st.sampled_from(EXTRAS))


@st.composite
def tool_groups(draw: st.DrawFn, max_calls: int = 4) -> list[Message]:
    """An assistant message with one to ``max_calls`` calls and all their results, in any order."""
    ids = draw(_call_ids(max_calls))
    calls = [draw(_calls(id)) for id in ids]
    caller: Message = {**draw(assistant_messages()), "tool_calls": calls}
    return [caller, *(draw(_results(id)) for id in draw(_orders(tuple(ids))))]


@cache
def _call_ids(most: int) -> st.SearchStrategy[list[str]]:
    if most > len(CALL_IDS):
        raise ValueError(f"max_calls is {most}; there are {len(CALL_IDS)} call ids")
    return st.lists(st.sampled_from(CALL_IDS), min_size=1, max_size=most, unique=True)


@cache
def _orders(ids: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.permutations(ids)


@cache
def _results(id: str) -> st.SearchStrategy[Message]:
    contents = st.one_of(texts(), _part_lists())
    names = st.sampled_from(({}, {"name": "terminal"}))
    return _built({"role": "tool", "tool_call_id": id}, contents, names, st.sampled_from(EXTRAS))


@cache
def _calls(id: str) -> st.SearchStrategy[ToolCall]:
    return st.builds(partial(_call, id), st.sampled_from(TOOLS), texts(longest=600), st.booleans(), st.booleans())


def _call(id: str, tool: str, text: str, ascii_only: bool, two_ids: bool) -> ToolCall:
    arguments = json.dumps({"command": text, "limit": 3} if text else {}, ensure_ascii=ascii_only)
    call: ToolCall = {"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}}
    return {**call, "id": f"fc_{id}", "call_id": id} if two_ids else call


@cache
def _text_parts() -> st.SearchStrategy[Part]:
    return st.builds(lambda text: {"type": "text", "text": text}, texts())


@cache
def _part_lists() -> st.SearchStrategy[list[Part]]:
    return st.lists(st.one_of(_text_parts(), st.sampled_from(IMAGES).map(_copy)), min_size=1, max_size=3)


def _built(fixed: dict[str, Any], contents: st.SearchStrategy[Any], *more: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Message]:
    def build(content: object, *keys: dict[str, Any]) -> Message:
        message = {**fixed, "content": content}
        for extra in keys:
            message |= _copy(extra)
        return cast(Message, message)

    return st.builds(build, contents, *more)


def _copy(value: dict[str, Any]) -> dict[str, Any]:
    """Values of the tables above are never shared between messages."""
    copied: dict[str, Any] = json.loads(json.dumps(value))
    return copied


@cache
def _systems() -> st.SearchStrategy[list[Message]]:
    messages = st.builds(
        lambda role, text: cast(Message, {"role": role, "content": text}), st.sampled_from(("system", "developer")), texts()
    )
    return st.lists(messages, max_size=1)


@st.composite
def _histories(draw: st.DrawFn, size: _Size, assistant_end: bool) -> list[Message]:
    history = draw(_systems())
    for turn in range(draw(st.integers(0, size.turns - 1))):
        history += draw(_openings(size, first=turn == 0))
        history += draw(_works(size))
        history.append(draw(assistant_messages(null_content=not size.strict)))
    history += draw(_openings(size, first=False))
    return history + draw(_endings(size, assistant_end))


@cache
def _openings(size: _Size, *, first: bool) -> st.SearchStrategy[list[Message]]:
    """What stands before the assistant's work: one user message, or what a lenient provider takes besides."""
    if size.strict:
        return st.lists(user_messages(), min_size=1, max_size=1)
    requests = st.lists(user_messages(), min_size=0 if first else 1, max_size=2)
    return st.builds(operator.add, st.just([]) if first else _systems(), requests)


@cache
def _works(size: _Size) -> st.SearchStrategy[list[Message]]:
    groups = st.lists(tool_groups(size.calls), max_size=size.groups)
    return groups.map(lambda found: [message for group in found for message in group])


@cache
def _endings(size: _Size, assistant_end: bool) -> st.SearchStrategy[list[Message]]:
    """Nothing (the user spoke last), work in progress, or, where it is allowed, an answer."""
    endings: list[st.SearchStrategy[list[Message]]] = [_works(size)]
    if assistant_end:
        answers = assistant_messages(null_content=not size.strict).map(lambda answer: [answer])
        endings.append(st.builds(operator.add, _works(size), answers))
    return st.one_of(endings)

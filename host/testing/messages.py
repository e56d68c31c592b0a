"""Short ways to write conversations: one message, an ordinary chat, a tool session of any size."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, repeat
from typing import Any

from host.messages.types import Message, ToolCall

PROSE = (
    "the archive keeps every message while the window holds a summary of what was said and done before so that an agent "
    "can read test change and ask again without losing a path a number or a decision on the way to its goal"
)
WORDS = PROSE.split()
FILES = ("src/parser.py", "src/store/views.py", "tests/test_parser.py", "docs/guide.md", "config/settings.yaml", "src/网关/接入.py")
BYTES_IN_RESULTS = 1.75  # a result's share of the bytes: somewhat more than half of the messages are results and carry nearly all
BLOCK_LINES = 200  # lines of tool output made once per session; results are cut from them


def system(text: str) -> Message:
    """A system message."""
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    """A user message."""
    return {"role": "user", "content": text}


def assistant(text: str | None = None, calls: Sequence[ToolCall] = ()) -> Message:
    """An assistant message, with ``tool_calls`` only where there are calls."""
    message: Message = {"role": "assistant", "content": text}
    return {**message, "tool_calls": list(calls)} if calls else message


def call(id: str, name: str, arguments: str | dict[str, Any] = "{}") -> ToolCall:
    """One tool call; arguments that are an object are written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


def result(id: str, text: str) -> Message:
    """The result of the call with this id."""
    return {"role": "tool", "tool_call_id": id, "content": text}


def chat(n: int, chars: int = 200) -> list[Message]:
    """``n`` messages, user and assistant in turn, each of ``chars`` characters and none like another."""
    return [(user if i % 2 == 0 else assistant)(_numbered(i, chars)) for i in range(n)]


def tool_session(n: int, *, seed: int = 0, chars: int = 1_200) -> list[Message]:
    """A coding session of exactly ``n`` messages: a system prompt, requests, groups of one to three calls, answers.

    ``chars`` is the usual length of a result (0.5 to 1.5 times of it). Same arguments, same session; call ids are unique.
    """
    dice = random.Random(seed)
    return _fill(n, _turns(dice, lambda: int(chars * dice.uniform(0.5, 1.5))))


def big_session(n_messages: int = 10_000, bytes_per_message: int = 4_700, seed: int = 0) -> list[Message]:
    """A session for benchmarks: ``n_messages`` messages, about ``n_messages * bytes_per_message`` bytes of JSON."""
    dice = random.Random(seed)
    return _fill(n_messages, _turns(dice, lambda: int(BYTES_IN_RESULTS * bytes_per_message * dice.uniform(0.9, 1.1))))


def _fill(n: int, turns: Iterable[list[Message]]) -> list[Message]:
    """The first ``n`` messages of the turns, without cutting a group: what is left over becomes plain talk."""
    messages = [system("You are a careful software engineer.")][:n]
    for turn in turns:
        if len(messages) + len(turn) > n:
            break
        messages += turn
    return [*messages, *chat(n - len(messages))]


def _turns(dice: random.Random, size: Callable[[], int]) -> Iterator[list[Message]]:
    """Turns without end: a request, one to four tool groups, an answer."""
    blocks = {tool: write(dice) for tool, write in OUTPUTS.items()}
    ids = (f"call_{number:06d}" for number in range(10**9))
    while True:
        request = user(f"Please look into {dice.choice(FILES)}: {_prose(dice, 30)}")
        groups = [_group(dice, list(islice(ids, dice.randint(1, 3))), blocks, size) for _ in range(dice.randint(1, 4))]
        yield [request, *chain.from_iterable(groups), assistant(f"Done: {_prose(dice, 40)}")]


def _group(dice: random.Random, ids: list[str], blocks: dict[str, str], size: Callable[[], int]) -> list[Message]:
    tools = [dice.choice(list(OUTPUTS)) for _ in ids]
    calls = [call(id, tool, _arguments(dice, tool)) for id, tool in zip(ids, tools, strict=True)]
    results = [result(id, _cut(dice, f"# {id}\n", blocks[tool], size())) for id, tool in zip(ids, tools, strict=True)]
    return [assistant(_prose(dice, 12), calls), *results]


def _cut(dice: random.Random, head: str, block: str, chars: int) -> str:
    start = dice.randrange(len(block))
    times = (start + chars) // len(block) + 1
    return (head + (block * times)[start : start + chars])[:chars]


def _arguments(dice: random.Random, tool: str) -> dict[str, Any]:
    arguments: dict[str, Callable[[], dict[str, Any]]] = {
        "terminal": lambda: {"command": f"python -m pytest {dice.choice(FILES)} -x --count {dice.randint(1, 99)}"},
        "read_file": lambda: {"path": dice.choice(FILES), "offset": dice.randint(1, 400), "limit": 200},
        "search_files": lambda: {"pattern": dice.choice(WORDS), "path": "src", "target": "content"},
        "web_search": lambda: {"query": _prose(dice, 5)},
    }
    return arguments[tool]()


def _terminal(dice: random.Random) -> str:
    lines = (
        f"{dice.choice(FILES)}::test_{dice.choice(WORDS)}[{i}] {dice.choice(('PASSED', 'PASSED', 'FAILED'))} in {dice.random():.3f}s"
        for i in range(BLOCK_LINES)
    )
    return "\n".join(lines) + "\n"


def _read_file(dice: random.Random) -> str:
    lines = (f"{i + 1:6}|    {dice.choice(WORDS)}_{i} = {dice.choice(WORDS)}({dice.randint(0, 9_999)})" for i in range(BLOCK_LINES))
    return "\n".join(lines) + "\n"


def _search_files(dice: random.Random) -> str:
    lines = (f"{dice.choice(FILES)}:{dice.randint(1, 900)}: {_prose(dice, 8)}" for _ in range(BLOCK_LINES))
    return "\n".join(lines) + "\n"


def _web_search(dice: random.Random) -> str:
    hits = [{"title": _prose(dice, 6), "url": f"https://example.org/{i}", "snippet": _prose(dice, 25)} for i in range(BLOCK_LINES // 4)]
    return json.dumps({"total_count": len(hits), "results": hits}, indent=1) + "\n"


OUTPUTS: dict[str, Callable[[random.Random], str]] = {
    "terminal": _terminal,
    "read_file": _read_file,
    "search_files": _search_files,
    "web_search": _web_search,
}
"""Tool -> what its results look like."""


def _prose(dice: random.Random, words: int) -> str:
    return " ".join(dice.choices(WORDS, k=words))


def _numbered(number: int, chars: int) -> str:
    words = chain([f"Message {number}:"], chain.from_iterable(repeat(WORDS)))
    return " ".join(islice(words, chars // 2 + 2))[:chars]

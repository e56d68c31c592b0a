"""Values that stand among many of their kind: nothing is held against everything, and what a listing holds replaces nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from itertools import product
from types import FrameType

import pytest

from host.messages.facts import Live, facts_of, kept, told
from host.messages.facts.crowds import MOST_IN_ROW, MOST_IN_SENTENCE, Crowd, crowds_of
from host.messages.facts.grounds import rank
from host.messages.facts.statements import restatements
from host.messages.searchable import searchable
from host.messages.types import Message

ROLES = ("user", "tool")
PER_MESSAGE = 100
SHAPES: dict[str, Callable[[int], str]] = {
    "names in a row": lambda i: f"word{i // 60}x{i}",
    "numbered lines": lambda i: f"{i}. item number {i} takes {i * 7 % 1000} ms\n",
    "paths": lambda i: f"src/pkg{i % 17}/mod{i}/file_{i}.py\n",
    "addresses in a row": lambda i: f"https://h{i % 9}.example.com/a/{i}",
    "versions": lambda i: f"package-{i % 40}=={i % 7}.{i % 13}.{i}\n",
    "versions in a row": lambda i: f"{i % 7}.{i % 13}.{i},",
    "dates": lambda i: f"2026-{i % 12 + 1:02}-{i % 28 + 1:02}: meeting {i} took place in room {i}\n",
    "JSON log": lambda i: json.dumps({"ts": f"2026-01-02T03:{i % 60:02}:00Z", "id": f"req-{i}", "ms": i * 3 % 997}) + "\n",
    "table": lambda i: f"| row{i} | {i * 3} | {i * 7 % 100}% | {i} GB |\n",
    "lock file": lambda i: f'[[package]]\nname = "p{i}"\nversion = "{i % 9}.{i % 11}.{i}"\n',
    "list of files": lambda i: f"-rw-r--r-- 1 root root {i * 91} Dec  1 0{i % 9}:12 file{i}.txt\n",
    "minified code": lambda i: f'function a{i}(b){{return b*{i}+"x{i}"}};',
}
MOST_RANKED = 4
"""Values that one is held against, all in all, in what nobody says a word of change in."""
LINEAR = 2.3
"""Times the calls for twice as much."""


def messages_of(shape: Callable[[int], str], count: int, role: str) -> list[Message]:
    pieces = [shape(i) for i in range(count * PER_MESSAGE)]
    texts = [" ".join(pieces[start : start + PER_MESSAGE]) for start in range(0, len(pieces), PER_MESSAGE)]
    return [{"role": role, "content": f"message {row} {text}"} for row, text in enumerate(texts)]


def hear(live: Live, messages: Sequence[Message]) -> int:
    """Hears the messages as the archive keeps them; how many facts they hold."""
    heard = 0
    for row, message in enumerate(messages, 1):
        facts = kept(facts_of(message))
        live.hear(told(facts, searchable(message), row=2 * row, role=str(message["role"])))
        heard += len(facts)
    return heard


def calls_of(work: Callable[[], object]) -> tuple[int, int]:
    """How often a function of Python was called in all, and how often two values were held against each other."""
    calls, ranked = 0, 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal calls, ranked
        if event == "call":
            calls += 1
            ranked += frame.f_code is rank.__code__

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls, ranked


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_twice_as_many_values_cost_twice_as_much(shape: Callable[[int], str], role: str) -> None:
    one, other = (messages_of(shape, count, role) for count in (4, 8))
    heard = hear(Live(), other)  # what is remembered of texts is remembered for both
    (few, _), (many, ranked) = calls_of(lambda: hear(Live(), one)), calls_of(lambda: hear(Live(), other))
    assert many <= LINEAR * few
    assert ranked <= MOST_RANKED * heard


def test_a_listing_claims_nothing_that_a_later_one_could_say_again() -> None:
    texts = [str(message["content"]) for message in messages_of(SHAPES["names in a row"], 6, "user")]
    assert restatements(texts) == []


def crowds(text: str) -> set[Crowd]:
    message: Message = {"role": "user", "content": text}
    return set(crowds_of(told(facts_of(message), text, row=1, role="user")))


@pytest.mark.parametrize(
    ("count", "between", "crowd"),
    [
        (MOST_IN_SENTENCE, " ", Crowd.none),
        (MOST_IN_SENTENCE + 1, " ", Crowd.sentence),
        (MOST_IN_ROW, "\n", Crowd.none),
        (MOST_IN_ROW + 1, "\n", Crowd.message),
        (400, " ", Crowd.sentence),  # longer than any sentence: a piece of it stands around each value
    ],
)
def test_how_many_of_a_kind_are_a_listing(count: int, between: str, crowd: Crowd) -> None:
    assert crowds(between.join(f"host{i}.example.com:8{i:03}" for i in range(count))) == {crowd}


def holding(*texts: str) -> set[str]:
    live = Live()
    hear(live, [{"role": "user", "content": text} for text in texts])
    return {one.fact.text for one in live.holding()}


LISTED = "The ports in use are " + ", ".join(f"80{i:02}" for i in range(20)) + "."
PARTS = [f"{end}{start}" for end in ("read", "write", "idle", "open", "close", "boot") for start in ("er", "able", "ful", "less", "like")]
SETTINGS = "\n".join(f"{part}_{end}: {1000 + i} ms" for i, (part, end) in enumerate(product(PARTS, ("timeout", "delay"))))


def test_a_listing_replaces_nothing_that_was_set_before() -> None:
    assert "7070" in holding("The port is 7070.", LISTED)


def test_what_a_listing_holds_is_replaced_where_it_is_named() -> None:
    assert holding(LISTED, "Use 9090 instead of 8003.") & {"8003", "8004", "9090"} == {"8004", "9090"}


def test_a_long_list_of_settings_pasted_again_replaces_what_it_sets_otherwise() -> None:
    held = holding(SETTINGS, SETTINGS.replace("1007", "2007"))
    assert "2007 ms" in held and "1007 ms" not in held and "1008 ms" in held


def test_lines_of_a_log_under_one_label_all_hold() -> None:
    log = "\n".join(f"latency: {i} ms" for i in range(100, 160))
    later = "\n".join(f"latency: {i} ms" for i in range(200, 260))
    assert {"100 ms", "159 ms", "259 ms"} <= holding(log, later)

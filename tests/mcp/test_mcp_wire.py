"""Lines that the SDK cannot parse: each gets an answer, and the server goes on."""

from __future__ import annotations

import io
import json
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCError

from host.mcp.wire import LONGEST_LINE, Lines, id_in, message_in
from tests.mcp.conftest import Wire, Wires
from tests.mcp.test_mcp_server import TOY

CALL = '{"jsonrpc":"2.0","id":"z","method":"tools/call","params":{"name":"echo","arguments":%s}}'
DEEP = '{"a":' * 200 + "1" + "}" * 200
TOO_DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture
def toy(wires: Wires) -> Wire:
    wire = wires.script(TOY)
    wire.begin()
    return wire


def said(told: Any) -> Any:
    """What a tool was asked; it may be given as JSON text, as models give it."""
    _, arguments = json.loads(told["result"]["content"][0]["text"])
    return json.loads(arguments) if isinstance(arguments, str) else arguments


@pytest.mark.parametrize(
    ("arguments", "heard"),
    [
        (r'{"query":"\ud800"}', {"query": "\ud800"}),
        (r'{"query":"\ude00\ud83d \ud83d\ude00"}', {"query": "\ude00\ud83d 😀"}),
        (DEEP, json.loads(DEEP)),
        (f'{{"limit":{"9" * 5_000}}}', {"limit": float("inf")}),
        (f'{{"limit":-{"9" * 5_000}}}', {"limit": float("-inf")}),
    ],
)
def test_arguments_that_the_sdk_cannot_parse_reach_the_tool_as_they_are_meant(toy: Wire, arguments: str, heard: object) -> None:
    toy.line((CALL % arguments).encode())
    told = toy.hear()
    assert told["id"] == "z" and said(told) == heard


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (b"{not json", (None, PARSE_ERROR)),
        (b"\xff\xfe", (None, PARSE_ERROR)),
        ((CALL % TOO_DEEP).encode(), ("z", PARSE_ERROR)),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ec', (7, PARSE_ERROR)),
        (b"[]", (None, INVALID_REQUEST)),
        (b'[{"jsonrpc":"2.0","id":3,"method":"ping"}]', (None, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0"}', (None, INVALID_REQUEST)),
        (b'{"params":{"id":1},"id":4,"method":7}', (4, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}', (None, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', (None, INVALID_REQUEST)),
        ((CALL % ('"' + "x" * 3 * LONGEST_LINE + '"')).encode(), ("z", INVALID_REQUEST)),
    ],
)
def test_what_is_no_message_is_refused_and_the_next_one_is_answered(toy: Wire, line: bytes, answer: tuple[object, int]) -> None:
    toy.line(line)
    refused = toy.hear()
    assert (refused["id"], refused["error"]["code"]) == answer and refused["error"]["message"]
    assert toy.used("echo", {"next": 1}) == (["echo", {"next": 1}], False)
    status, rest, errors, _ = toy.end()
    assert (status, rest) == (0, b"") and b"cannot be read" not in errors


def test_what_is_refused_is_said_where_a_log_is_wanted(wires: Wires) -> None:
    toy = wires.script(TOY, "-v")
    toy.begin()
    toy.line(b"{not json")
    toy.hear()
    assert b"a line that cannot be read" in toy.end()[2]


@pytest.mark.parametrize("line", ["", "\n", " \r\n", '{"jsonrpc":"2.0","id":1,"result":7}', '{"id":1,"error":"?"}'])
def test_nothing_is_said_to_a_line_for_which_nobody_waits(line: str) -> None:
    assert message_in(line) is None


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"id": 5, "x": {"id": 6}}', 5),
        ('{"x": {"id": 6}, "y": ["id", {"id": 7}], "id": "a\\"b"}', 'a"b'),
        ('{"x": "\\"id\\": 1, ", "id":2', 2),
        ('{"x": "\\"id\\": 1, ', None),
        ('{"id": tru', None),
        ('{"id": true}', None),
        ('{"id": 1.5}', None),
        ('{"id": "\\ud800"}', None),
        ('{"id": "' + '\\"' * 1_000_000, None),
        ("[" * 100_000, None),
        ("", None),
    ],
)
def test_the_id_of_a_broken_message(line: str, found: object) -> None:
    assert id_in(line) == found


class Bounded(io.StringIO):
    """A file of which no more than a bounded piece is taken at once."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # typeshed has bytes above it
        assert 0 < size <= LONGEST_LINE + 1
        return super().readline(size)


def test_a_line_that_is_too_long_is_passed_over_to_its_end_and_only_there() -> None:
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    refused: list[SessionMessage] = []

    async def refuse(answer: SessionMessage) -> None:
        refused.append(answer)

    async def read() -> list[str]:
        text = f"\ufeff{ping}{'x' * (3 * LONGEST_LINE)}\n{ping}{'x' * LONGEST_LINE}\n{ping}{'y' * (2 * LONGEST_LINE)}"
        return [line async for line in Lines(Bounded(text), refuse)]

    assert anyio.run(read) == [ping] * 3
    assert [isinstance(answer.message, JSONRPCError) for answer in refused] == [True] * 3

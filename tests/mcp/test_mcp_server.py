"""The server on the wire, with a tool that does whatever a tool may do wrong."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.mcp.conftest import Wire, Wires

TOY = Path(__file__).with_name("toy_server.py")
PROMPTLY = 1.0  # seconds in which a server is gone
LONG = 8  # seconds that a call sleeps while something else happens


@pytest.fixture
def toy(wires: Wires) -> Wire:
    wire = wires.script(TOY)
    told = wire.begin()
    assert told["serverInfo"]["name"] == "ctxhost" and "lcm_grep" in told["instructions"] and "lcm_expand" in told["instructions"]
    return wire


def test_whatever_a_client_sends_is_answered_and_the_next_request_works(toy: Wire) -> None:
    for noise in (b"{not json", b"", b"\xff\xfe", b"[]", b'{"jsonrpc": "2.0"}', b"x" * 3_000_000):
        toy.line(noise)
    assert [toy.hear()["error"]["code"] for _ in range(5)] == [-32700, -32700, -32600, -32600, -32700]
    toy.ask("tools/list")
    (tool,) = toy.hear()["result"]["tools"]
    assert tool["name"] == "echo" and tool["inputSchema"]["additionalProperties"] is False
    assert tool["annotations"]["readOnlyHint"] is True and tool["annotations"]["openWorldHint"] is False
    toy.ask("no/such/method")
    assert toy.hear()["error"]["code"] == -32601
    for arguments in ({"a": "\x00 猫"}, {}, [1, [2]], None, "words", 7):
        assert toy.used("echo", arguments) == (["echo", arguments], False)
    assert toy.used("other", {}) == (["other", {}], False)  # which names there are is for the tools to say
    status, rest, errors, _ = toy.end()
    assert (status, rest) == (0, b"") and set(errors.splitlines()) == {b"something printed by mistake"}


def test_a_tool_that_fails_is_an_answer_that_says_what_to_do(toy: Wire) -> None:
    for told, what in (({"fault": "rows"}, "echo failed: KeyError: 'rows'"), ({"unavailable": 1}, "archive.db cannot be used")):
        answer, is_error = toy.used("echo", told)
        assert is_error and what in answer["error"]["what"] and answer["error"]["what_to_do"]
    assert toy.used("echo", {}) == (["echo", {}], False)
    assert b"Traceback" not in toy.end()[2]


def test_a_log_is_written_where_it_is_wanted(wires: Wires) -> None:
    toy = wires.script(TOY, "-v")
    toy.begin()
    toy.used("echo", {"fault": "rows"})
    assert b"Traceback" in toy.end()[2]


def test_a_call_holds_up_nothing_and_a_cancelled_one_is_never_answered(toy: Wire) -> None:
    slow = toy.use("echo", {"sleep": LONG})
    ping = toy.ask("ping")
    assert toy.hear() == {"jsonrpc": "2.0", "id": ping, "result": {}}
    toy.tell("notifications/cancelled", requestId=slow, reason="no longer wanted")
    assert toy.used("echo", {"next": 1}) == (["echo", {"next": 1}], False)
    status, rest, _, taken = toy.end()
    assert (status, rest) == (0, b"") and taken < PROMPTLY


def test_no_more_calls_run_at_once_than_share_the_archive_well_and_all_are_answered(toy: Wire) -> None:
    asked = {toy.use("echo", {"sleep": 0.4, "n": number}) for number in range(10)}
    assert {toy.hear()["id"] for _ in asked} == asked
    assert toy.used("echo", {"most": True}) == (4, False)


@pytest.mark.parametrize("way", ["closes its streams", "stops reading", signal.SIGTERM, signal.SIGINT])
def test_the_end_comes_at_once_and_quietly_also_in_the_middle_of_a_call(toy: Wire, way: str | signal.Signals) -> None:
    toy.use("echo", {"sleep": 0.3 if way == "stops reading" else LONG})
    toy.ask("ping")
    toy.hear()
    begun = time.monotonic()
    if isinstance(way, signal.Signals):
        toy.process.send_signal(way)
        status, _, errors, taken = toy.ended(begun)
    else:
        assert toy.process.stdout is not None
        if way == "stops reading":
            toy.process.stdout.close()
            time.sleep(0.6)  # the answer meets a closed pipe
        status, _, errors, taken = toy.end()
    assert status == 0 and taken < PROMPTLY
    assert set(errors.splitlines()) <= {b"something printed by mistake"}

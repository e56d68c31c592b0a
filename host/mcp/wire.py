"""What a client writes, line by line, as the SDK can read it. What the SDK would drop without an answer is mended, or refused."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import sys
from collections.abc import Awaitable, Callable
from typing import IO, Any

import anyio
from anyio.to_thread import run_sync
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCNotification, jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import from_json

from host.recall.answers import LONE_SURROGATE

LONGEST_LINE = 4 << 20  # characters; a call has a few hundred
MOST_DIGITS = 4_000  # of a number that is read as one
LONGEST_ID = 200  # characters of an id that is looked for in what is no JSON
TOKEN = re.compile(
    r"""(?xs)
    " [^"\\]*+ (?: \\. [^"\\]*+ )*+ (?: " | \\?\Z )     # a string, also one that is cut
    | [\[\]{}:,] | [^\s"\[\]{}:,]+
    """
)
OPENING, CLOSING = frozenset("[{"), frozenset("]}")
REPLACEMENT = "\ufffd"
BOM = "\ufeff"

Refuse = Callable[[SessionMessage], Awaitable[None]]


class Lines(anyio.AsyncFile[str]):
    """The lines of a file that are messages; ``refuse`` gets the answers to those that cannot be read."""

    def __init__(self, file: IO[str], refuse: Refuse) -> None:
        super().__init__(file)
        self._refuse = refuse

    async def readline(self) -> str:
        """The next message; empty at the end of the file."""
        while (read := await run_sync(_next_in, self.wrapped)) != "":
            if isinstance(read, str):
                return read
            if read is not None:
                await self._refuse(SessionMessage(read))
        return ""


def message_in(line: str) -> str | JSONRPCError | None:
    """A line as the SDK reads it, or the answer that it cannot be read; None where nobody waits for one."""
    line = line.lstrip(BOM)
    if not line.strip():
        return None
    if len(line) > LONGEST_LINE:
        return _refusal(line, INVALID_REQUEST, f"a line of more than {LONGEST_LINE:,} characters is not read")
    if _is_message(line):
        return line
    try:
        document = json.loads(line, parse_int=_number)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return _refusal(line, PARSE_ERROR, f"this line is no JSON that can be read: {why}")
    mended = _mended(document)
    return mended if _is_message(mended) else _refusal(line, INVALID_REQUEST, "this is no JSON-RPC 2.0 message of MCP", document)


def own_stdin() -> IO[str]:
    """Standard input on a handle of our own: whatever else reads it finds nothing, and takes no message away."""
    stdin = sys.stdin.fileno()
    handle = os.dup(stdin)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123  a device
        os.dup2(nothing.fileno(), stdin)
    return io.TextIOWrapper(os.fdopen(handle, "rb", closefd=False), encoding="utf-8", errors="replace")


def _next_in(file: IO[str]) -> str | JSONRPCError | None:
    """What the next line says; empty at the end. Of one that is too long no more than that is ever in memory."""
    line = rest = file.readline(LONGEST_LINE + 1)
    while len(rest) > LONGEST_LINE and not rest.endswith("\n"):
        rest = file.readline(LONGEST_LINE + 1)
    return message_in(line) if line else ""


def _is_message(line: str) -> bool:
    """Whether the SDK reads it; it takes a request for a notification, and gives no answer, where it does not like the id."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return False
    return not isinstance(message, JSONRPCNotification) or "id" not in from_json(line)


def _mended(document: Any) -> str:
    """The message with a tool's arguments as JSON text, which the tools read themselves; elsewhere half a pair is replaced."""
    if isinstance(document, dict) and isinstance(params := document.get("params"), dict) and isinstance(params.get("arguments"), dict):
        document = {**document, "params": {**params, "arguments": json.dumps(params["arguments"])}}
    return LONE_SURROGATE.sub(REPLACEMENT, json.dumps(document, ensure_ascii=False))


def _refusal(line: str, code: int, why: str, document: object = None) -> JSONRPCError | None:
    logging.getLogger("ctxhost").warning("a line that cannot be read: %s", why)
    if isinstance(document, dict) and "method" not in document and ("result" in document or "error" in document):
        return None  # an answer: an error with its id would seem to answer a request of the client's
    return JSONRPCError(jsonrpc="2.0", id=id_in(line), error=ErrorData(code=code, message=why))


def id_in(line: str) -> int | str | None:
    """The id of a message, however deep, wrong or cut what else stands in it; None where there is none that could be answered."""
    depth, before = 0, ("", "")
    for found in TOKEN.finditer(line):
        token = found[0]
        if depth == 1 and before == ('"id"', ":"):
            return _id(token)
        depth += (token in OPENING) - (token in CLOSING)
        before = (before[1], token)
    return None


def _id(token: str) -> int | str | None:
    try:
        told = json.loads(token) if len(token) <= LONGEST_ID else None
    except ValueError:
        return None
    is_id = isinstance(told, int | str) and not isinstance(told, bool) and not (isinstance(told, str) and LONE_SURROGATE.search(told))
    return told if is_id else None


def _number(digits: str) -> float | int:
    """A whole number; one with more digits than can be counted with is infinite."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)

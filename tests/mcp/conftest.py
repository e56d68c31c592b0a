"""A client that speaks to a server process line by line, and says what no proper client would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

OVERDUE = 60  # seconds, then an answer never comes
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Wire:
    """A server process and its three streams."""

    def __init__(self, command: Sequence[str], *, cwd: Path, home: Path) -> None:
        environ = {**os.environ, "HOME": str(home)}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=environ)
        self._last = 0

    def line(self, raw: bytes) -> None:
        """Send a line as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(raw + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: object = None) -> int:
        """Send a request; returns its number."""
        self._last += 1
        self.line(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params or {}}).encode())
        return self._last

    def tell(self, method: str, **params: object) -> None:
        """Send a notification."""
        self.line(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def hear(self) -> Any:
        """The next message."""
        assert self.process.stdout is not None
        overdue = threading.Timer(OVERDUE, self.process.kill)
        overdue.start()
        line = self.process.stdout.readline()
        overdue.cancel()
        assert line, f"no answer within {OVERDUE} s, or the server is gone"
        return json.loads(line)

    def begin(self) -> Any:
        """Shake hands; returns what the server says of itself."""
        self.ask("initialize", HELLO)
        told = self.hear()["result"]
        self.tell("notifications/initialized")
        return told

    def use(self, tool: str, arguments: object) -> int:
        """Call a tool; returns the number of the request."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def used(self, tool: str, arguments: object) -> tuple[Any, bool]:
        """Call a tool and wait; its answer as it was in JSON, and whether it is an error."""
        number = self.use(tool, arguments)
        heard = self.hear()
        assert heard["id"] == number
        (content,) = heard["result"]["content"]
        return json.loads(content["text"]), heard["result"].get("isError", False)

    def end(self) -> tuple[int, bytes, bytes, float]:
        """Close standard input; status, what else it printed, its errors, and how long it took."""
        begun = time.monotonic()
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.ended(begun)

    def ended(self, begun: float) -> tuple[int, bytes, bytes, float]:
        """Wait for its end."""
        assert self.process.stdout is not None and self.process.stderr is not None
        status = self.process.wait(20)
        taken = time.monotonic() - begun
        out = b"" if self.process.stdout.closed else self.process.stdout.read()
        return status, out, self.process.stderr.read(), taken


class Wires:
    """Makes them, and ends those that a test left."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self._made: list[Wire] = []

    def script(self, path: Path, *arguments: str) -> Wire:
        """A server of a test's own."""
        return self._start([sys.executable, str(path), *arguments], self.cwd, self.cwd)

    def ctxhost(self, user_home: Path, *arguments: str, cwd: Path | None = None) -> Wire:
        """``ctxhost mcp`` as a client starts it."""
        command = [sys.executable, "-P", "-m", "host", "--home", str(user_home / "ctxhost"), "mcp", *arguments]
        return self._start(command, cwd or self.cwd, user_home)

    def _start(self, command: Sequence[str], cwd: Path, home: Path) -> Wire:
        wire = Wire(command, cwd=cwd, home=home)
        self._made.append(wire)
        return wire

    def close(self) -> None:
        """Nothing outlives a test."""
        for wire in self._made:
            for stream in (wire.process.stdin, wire.process.stdout, wire.process.stderr):
                if stream is not None and not stream.closed:
                    try:
                        stream.close()
                    except BrokenPipeError:
                        continue
            wire.process.kill()
            wire.process.wait()


@pytest.fixture
def wires(tmp_path: Path) -> Iterator[Wires]:
    """Servers that start in the test's folder."""
    made = Wires(tmp_path)
    yield made
    made.close()

"""A server with one tool that says what it was asked, after it has slept, printed, or failed as told."""

from __future__ import annotations

import sys
import threading
import time

from host.errors import StoreUnavailable
from host.mcp.server import leave, serve
from host.messages.types import ToolSchema
from host.recall.answers import Answer, as_text


class Toy:
    """The tools."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running, self.most = 0, 0

    def tools(self) -> list[ToolSchema]:
        """One."""
        parameters = {"type": "object", "properties": {"sleep": {"type": "number"}}, "additionalProperties": False}
        return [{"type": "function", "function": {"name": "echo", "description": "Say it again.", "parameters": parameters}}]

    def call(self, name: str, arguments: object) -> Answer:
        """Do as told."""
        print("something printed by mistake")
        told = arguments if isinstance(arguments, dict) else {}
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        time.sleep(told.get("sleep", 0))
        with self.lock:
            self.running -= 1
        if "most" in told:
            return Answer(as_text(self.most))
        if "fault" in told:
            raise KeyError(told["fault"])
        if "unavailable" in told:
            raise StoreUnavailable("archive.db", "disk I/O error")
        return Answer(as_text([name, arguments]))


if __name__ == "__main__":
    serve(Toy(), verbose="-v" in sys.argv)
    leave()

"""A server with one tool that says what it was asked, after it has slept, printed, or failed as told."""

from __future__ import annotations

import sys
import time

from host.errors import StoreUnavailable
from host.mcp.server import leave, serve
from host.messages.types import ToolSchema
from host.recall.answers import Answer, as_text


class Toy:
    """The tools."""

    def tools(self) -> list[ToolSchema]:
        """One."""
        parameters = {"type": "object", "properties": {"sleep": {"type": "number"}}, "additionalProperties": False}
        return [{"type": "function", "function": {"name": "echo", "description": "Say it again.", "parameters": parameters}}]

    def call(self, name: str, arguments: object) -> Answer:
        """Do as told."""
        print("something printed by mistake")
        told = arguments if isinstance(arguments, dict) else {}
        time.sleep(told.get("sleep", 0))
        if "fault" in told:
            raise KeyError(told["fault"])
        if "unavailable" in told:
            raise StoreUnavailable("archive.db", "disk I/O error")
        return Answer(as_text([name, arguments]))


if __name__ == "__main__":
    serve(Toy(), verbose="-v" in sys.argv)
    leave()

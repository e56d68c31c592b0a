"""The tools that give an agent its memory back: ``lcm_grep`` finds, ``lcm_expand`` opens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from host.errors import CtxhostError
from host.messages.types import JSON, ToolSchema
from host.recall.answers import Answer, Wrong, as_text, failure, shown
from host.recall.arguments import Arguments, nearest, read
from host.recall.boundary import Boundary, Reach
from host.recall.expand import Expand, Expanding
from host.recall.grep import Grep, Grepping
from host.store.protocols import Store

Count = Callable[[str], int]
CatchUp = Callable[[], tuple[str, ...]]
STALE = "the newest messages may be missing: {}"


class Recall:
    """The tools over one store, within a boundary.

    ``count`` measures what is sent in tokens. ``catch_up`` is called before each search and gives notices; where it fails the
    search goes on with what is archived.
    """

    def __init__(self, store: Store, boundary: Boundary, *, count: Count, catch_up: CatchUp | None = None) -> None:
        reach = Reach(store, boundary)
        self._answers: dict[str, Callable[[Any, list[str]], JSON]] = {
            "lcm_grep": Grepping(store, reach, count, None if catch_up is None else _guarded(catch_up)).answered,
            "lcm_expand": Expanding(store, reach, count).answered,
        }

    def tools(self) -> list[ToolSchema]:
        """The tools in the OpenAI shape."""
        return schemas()

    def call(self, name: str, arguments: object) -> Answer:
        """The answer of a tool. Never raises for what a model sends: an error says what is wrong and shows the right form."""
        tool = TOOLS.get(name)
        if tool is None:
            return _unknown(name)
        try:
            notices: list[str] = []
            given = read(tool.model, arguments, notices, datetime.now(UTC))
            return Answer(as_text(self._answers[name](given, notices)))
        except Wrong as wrong:
            return Answer(as_text({"error": wrong.as_json(), "right_form": tool.model.right_form(name)}), is_error=True)
        except CtxhostError as error:
            return failure(error)


@dataclass(frozen=True)
class Tool:
    """What a model is told of a tool, and its arguments."""

    description: str
    model: type[Arguments]

    def schema(self, name: str) -> JSON:
        """What a model is shown."""
        return {"name": name, "description": self.description, "parameters": self.model.schema_of_parameters()}


GREP = (
    "Search every message of past and present sessions, also those that left the context window in a compaction. Newest first. "
    "Each hit has an excerpt and `open`, the arguments with which lcm_expand shows the whole message."
)
EXPAND = (
    "Open an archived message, or a range of them, word for word. Give `open` of a lcm_grep hit. "
    "A long one comes in pages: call again with `next` until `complete` is true."
)


TOOLS = {"lcm_grep": Tool(GREP, Grep), "lcm_expand": Tool(EXPAND, Expand)}


def schemas() -> list[ToolSchema]:
    """The tools in the OpenAI shape; the same over every store."""
    return [{"type": "function", "function": tool.schema(name)} for name, tool in TOOLS.items()]


def _unknown(name: object) -> Answer:
    near = nearest(str(name), list(TOOLS))
    hint = f"did you mean {near!r}? " if near else ""
    error = {
        "what": "there is no such tool",
        "where": "name",
        "given": shown(name),
        "expected": f"{hint}The tools are {', '.join(TOOLS)}",
    }
    forms = [tool.model.right_form(each) for each, tool in TOOLS.items()]
    return Answer(
        as_text({"error": error, "right_form": [{"name": form["name"], "arguments": form["arguments"]} for form in forms]}),
        is_error=True,
    )


def _guarded(catch_up: CatchUp) -> CatchUp:
    def caught_up() -> tuple[str, ...]:
        try:
            return catch_up()
        except (CtxhostError, OSError) as error:
            return (STALE.format(str(error).partition("\n")[0] or type(error).__name__),)

    return caught_up

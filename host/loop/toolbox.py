"""All tools of an agent under one lid: the engine's, those of plugins, and the host's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from time import monotonic
from typing import Any, Protocol

from host.discovery.aside import printing_aside
from host.discovery.foreign import words_of
from host.engine.offers import Tool
from host.loop.interrupting import Abandoned, Stop
from host.messages.reading import call_arguments, call_name
from host.messages.types import ToolCall, ToolSchema

HOST = "the host"  # as an owner of tools
TIMEOUT = 120.0  # seconds
SAME_FAILURES = 3  # of the same call in a row; then its result says that this leads nowhere
GOING_ROUND = "This call has failed {} times in a row with the same arguments. Change them, or try something else."


@dataclass(frozen=True)
class Result:
    """What a call gave, as the model reads it. ``failed``: it says why there is nothing else."""

    text: str
    failed: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Owned:
    """A tool and whose it is, in words for a warning: ``plugin notes``. One that may hang is given ``timeout`` seconds.

    ``yields``: it is there for want of a better one, and leaves its name to any other without a word.
    """

    owner: str
    tool: Tool
    timeout: float | None = None
    yields: bool = False


class EngineTools(Protocol):
    """Where an engine's tools are offered and called (``Conversation``)."""

    def tools(self) -> list[ToolSchema]:
        """As they are offered to the model."""

    def call(self, tool_call: ToolCall) -> str:
        """The answer as JSON text, an error too."""


class Refused(Exception):
    """A call cannot be made as it is; the text tells the model why."""


class Toolbox:
    """Every name once: the engine's tools first, then the others in the order given.

    A tool whose name is taken is not offered, which is said once, unless it is one that yields.
    Whatever goes wrong in a call is its result. What a tool prints goes to standard error.
    """

    def __init__(self, engine: EngineTools, tools: Sequence[Owned] = (), *, warn: Callable[[str], None] = lambda text: None) -> None:
        self._engine = engine
        self._tools = tuple(tools)
        self._warn = warn
        self._told: set[str] = set()
        self._failures: tuple[tuple[str, str], int] = (("", ""), 0)  # of which call, and how often in a row

    def schemas(self) -> list[ToolSchema]:
        """The tools in the OpenAI shape."""
        engine = self._engine.tools()
        others = self._others(_names_of(engine)).items()
        return [*engine, *({"type": "function", "function": {**owned.tool.schema, "name": name}} for name, owned in others)]

    def names(self) -> list[str]:
        """What may be called."""
        engine = _names_of(self._engine.tools())
        return [*engine, *self._others(engine)]

    def call(self, call: ToolCall, stop: Stop | None = None) -> Result:
        """Make a call. Only an interrupt is raised."""
        started = monotonic()
        try:
            result = self._made(call, stop or Stop())
        except Refused as refused:
            result = failure(str(refused))
        text = self._with_hint(call, result) if result.failed else result.text
        self._failures = self._failures if result.failed else (("", ""), 0)
        return Result(text, result.failed, monotonic() - started)

    def _made(self, call: ToolCall, stop: Stop) -> Result:
        name = call_name(call)
        engine = _names_of(self._engine.tools())
        if name in engine:
            text = self._engine.call(call)
            return Result(text, is_failure(text))
        owned = self._others(engine).get(name)
        if owned is None:
            raise Refused(self._unknown(name))
        arguments = arguments_of(call, owned.tool.schema)
        return called(owned, arguments, stop)

    def _unknown(self, name: str) -> str:
        near = get_close_matches(name, self.names(), n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        return f"there is no tool {name!r}; {hint}the tools are: {', '.join(self.names()) or 'none'}"

    def _others(self, engine: Sequence[str]) -> dict[str, Owned]:
        """The tools that are not the engine's, by name: of one name the first."""
        owners = dict.fromkeys(engine, "the engine")
        offered: dict[str, Owned] = {}
        for name, owned in self._named():
            if name in owners:
                self._tell_clash(name, owners[name], owned)
                continue
            owners[name], offered[name] = owned.owner, owned
        return offered

    def _named(self) -> Iterator[tuple[str, Owned]]:
        """The tools with a name that can be called."""
        for owned in self._tools:
            name: object = owned.tool.name
            if isinstance(name, str) and name.strip():
                yield name, owned
            else:
                self._warn_once(f"a tool of {owned.owner} is not offered: it has no name")

    def _tell_clash(self, name: str, first: str, second: Owned) -> None:
        if not second.yields:
            self._warn_once(f"the tool {name!r} of {second.owner} is not offered: {first} has one of this name")

    def _warn_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._warn(text)

    def _with_hint(self, call: ToolCall, result: Result) -> str:
        """The text of a failure; where the same call has failed before, again and again, it says so."""
        same = (call_name(call), call_arguments(call))
        times = self._failures[1] + 1 if self._failures[0] == same else 1
        self._failures = same, times
        return f"{result.text}\n{GOING_ROUND.format(times)}" if times >= SAME_FAILURES else result.text


def _names_of(schemas: Sequence[ToolSchema]) -> list[str]:
    return [str(schema["function"]["name"]) for schema in schemas]


def arguments_of(call: ToolCall, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments exactly as they were written; Refused where they are no JSON object, or one is missing."""
    name = call_name(call)
    try:
        arguments = json.loads(call_arguments(call).strip() or "{}")
    except (ValueError, RecursionError) as error:
        raise Refused(f"the arguments of {name} are no JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise Refused(f"the arguments of {name} are a JSON {type(arguments).__name__}, not an object")
    parameters = schema.get("parameters")
    required = parameters.get("required") if isinstance(parameters, Mapping) else None
    missing = [str(key) for key in required if key not in arguments] if isinstance(required, list | tuple) else []
    if missing:
        raise Refused(f"{name} needs {', '.join(missing)}; given were: {', '.join(arguments) or 'none'}")
    return arguments


def called(owned: Owned, arguments: dict[str, Any], stop: Stop) -> Result:
    """Call a tool that the host did not write; what it raises is its result, an interrupt passes."""
    tool, name = owned.tool, owned.tool.name
    try:
        answer = partial(_answer_of, tool, arguments)
        text = answer() if owned.timeout is None else stop.answer_of(answer, owned.timeout)
        return Result(text, is_failure(text))
    except KeyboardInterrupt:
        raise
    except Abandoned:
        return failure(f"{name} did not answer within {owned.timeout:g} seconds; it may still be at work, and nobody waits for it")
    except BaseException as error:  # noqa: BLE001  the tool's door, exit() included: the model reads what went wrong
        return failure(f"{name} failed: {type(error).__name__}: {words_of(error)}")


def _answer_of(tool: Tool, arguments: dict[str, Any]) -> str:
    with printing_aside():
        return as_text(tool.call(arguments))


def failure(why: str) -> Result:
    """A result that says why there is none, in the form of the engines' own."""
    return Result(json.dumps({"error": why}, ensure_ascii=False), failed=True)


def is_failure(text: str) -> bool:
    """Whether a result is a JSON object with an error in it, as the tools of engines and host answer."""
    if not text.startswith('{"error"'):
        return False
    try:
        return bool(json.loads(text).get("error"))
    except (ValueError, RecursionError):
        return False


def as_text(result: object) -> str:
    """A result as text: a text itself, anything else as JSON, what JSON does not know by its own words."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)

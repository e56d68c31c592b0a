"""Python functions as tools of the agent: methods of an engine, or the toolset of a plugin."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from host.errors import CtxhostError

M = TypeVar("M", bound=Callable[..., Any])
MARK = "_is_tool"
JSON_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object"}
ACCEPTED: dict[str, tuple[type, ...]] = {name: (kind,) for kind, name in JSON_TYPES.items()} | {"number": (int, float)}
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class ToolError(CtxhostError):
    """A tool cannot do what it was asked: what is wrong, and what the agent may do instead."""


def tool(method: M) -> M:
    """Offer a function, or a method of an engine, to the agent; its docstring is what the agent reads."""
    setattr(method, MARK, True)
    return method


@dataclass(frozen=True)
class FunctionTool:
    """A function as a ``Tool``: its schema is its signature, arguments are checked before it is called."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The function schema of its signature and docstring."""
        return schema_of(self.function)

    def call(self, arguments: Mapping[str, Any]) -> str:
        """The result, anything but a text as JSON. Raises ToolError for an argument that the signature does not allow."""
        result = self.function(**checked(self.function, arguments))
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)


def toolset(*parts: object) -> list[FunctionTool]:
    """The tools in these parts: each a function, or an object with methods marked by ``@tool``."""
    found: list[FunctionTool] = []
    for part in parts:
        functions = [part] if inspect.isroutine(part) else tools_of(part).values()
        found += [FunctionTool(function) for function in functions]
    return found


def tools_of(engine: object) -> dict[str, Callable[..., Any]]:
    """The marked methods of an engine by name, bound to it."""
    names = [key for key in dir(type(engine)) if getattr(getattr(type(engine), key, None), MARK, False)]
    return {name: getattr(engine, name) for name in names}


def schema_of(method: Callable[..., Any]) -> dict[str, Any]:
    """The function schema of a function: name, description, parameters as JSON schema."""
    hints = get_type_hints(method, include_extras=True)
    parameters = parameters_of(method)
    return {
        "name": method.__name__,
        "description": inspect.getdoc(method) or "",
        "parameters": {
            "type": "object",
            "properties": {name: property_of(hints.get(name, str)) for name in parameters},
            "required": required_of(parameters),
        },
    }


def parameters_of(method: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters that can be given by name."""
    return {name: parameter for name, parameter in inspect.signature(method).parameters.items() if parameter.kind not in VARIADIC}


def required_of(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    """The names of those without a default."""
    return [name for name, parameter in parameters.items() if parameter.default is parameter.empty]


def property_of(hint: Any) -> dict[str, Any]:
    """An annotation as JSON schema: its type, the choices of a Literal, and the first text in an Annotated as description."""
    told = next((note for note in getattr(hint, "__metadata__", ()) if isinstance(note, str)), "")
    plain = _plain(hint)
    choices = {"enum": list(get_args(plain))} if get_origin(plain) is Literal else {}
    return {"type": json_type(hint), **choices, **({"description": told} if told else {})}


def json_type(hint: Any) -> str:
    """The JSON type of an annotation; of an optional one the type of what it may be, of an unknown one a string."""
    plain = _plain(hint)
    if get_origin(plain) is Literal:
        plain = type(get_args(plain)[0])
    return JSON_TYPES.get(get_origin(plain) or plain, "string")


def checked(method: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the signature has them; numbers and truth values may be written as text. ToolError for any other."""
    hints, parameters = get_type_hints(method, include_extras=True), parameters_of(method)
    if unknown := [name for name in arguments if name not in parameters]:
        raise ToolError(f"{method.__name__} takes no {unknown[0]!r}", f"its arguments are: {', '.join(parameters) or 'none'}")
    required = required_of(parameters)
    if missing := [name for name in required if name not in arguments]:
        raise ToolError(f"{method.__name__} needs {', '.join(missing)}", "call it again with it")
    given = {name: value for name, value in arguments.items() if value is not None or name in required}  # null: as if left out
    return {name: _value(name, value, hints.get(name, Any)) for name, value in given.items()}


def _value(name: str, value: Any, hint: Any) -> Any:
    if hint is Any or (value is None and NoneType in get_args(_unannotated(hint))):
        return value
    wanted = property_of(hint)
    read = _read(value, wanted["type"])
    fits = isinstance(read, ACCEPTED[wanted["type"]]) and (isinstance(read, bool) == (wanted["type"] == "boolean"))
    if not fits:
        raise ToolError(f"{name} is {_shown(value)}", f"give {name} as JSON {wanted['type']}")
    if read not in wanted.get("enum", [read]):
        raise ToolError(f"{name} is {_shown(value)}", f"give one of {', '.join(map(str, wanted['enum']))}")
    return read


def _read(value: Any, wanted: str) -> Any:
    """A value as models often write it: ``"3"`` and ``3.0`` for 3, ``"true"`` for true, a list as JSON text."""
    if isinstance(value, str) and wanted != "string":
        try:
            value = json.loads(value.strip().lower() if wanted == "boolean" else value)
        except (ValueError, RecursionError):
            return value
    return int(value) if wanted == "integer" and isinstance(value, float) and value.is_integer() else value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _unannotated(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _plain(hint: Any) -> Any:
    """An annotation without Annotated and None."""
    hint = _unannotated(hint)
    if get_origin(hint) in (Union, UnionType):
        hint = _unannotated(next((part for part in get_args(hint) if part is not NoneType), str))
    return hint

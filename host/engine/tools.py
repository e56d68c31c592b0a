"""Methods of an engine as tools of the agent."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

M = TypeVar("M", bound=Callable[..., Any])
MARK = "_is_tool"
JSON_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object"}


def tool(method: M) -> M:
    """Offer a method of an engine to the agent; its docstring is what the agent reads."""
    setattr(method, MARK, True)
    return method


def tools_of(engine: object) -> dict[str, Callable[..., Any]]:
    """The marked methods of an engine by name, bound to it."""
    names = [key for key in dir(type(engine)) if getattr(getattr(type(engine), key, None), MARK, False)]
    return {name: getattr(engine, name) for name in names}


def schema_of(method: Callable[..., Any]) -> dict[str, Any]:
    """The function schema of a marked method: name, description, parameters as JSON schema."""
    hints = get_type_hints(method)
    parameters = inspect.signature(method).parameters
    return {
        "name": method.__name__,
        "description": inspect.getdoc(method) or "",
        "parameters": {
            "type": "object",
            "properties": {name: {"type": json_type(hints.get(name, str))} for name in parameters},
            "required": [name for name, parameter in parameters.items() if parameter.default is parameter.empty],
        },
    }


def json_type(hint: Any) -> str:
    """The JSON type of an annotation; of an optional one the type of what it may be, of an unknown one a string."""
    if get_origin(hint) in (Union, UnionType):
        hint = next((part for part in get_args(hint) if part is not NoneType), str)
    return JSON_TYPES.get(get_origin(hint) or hint, "string")

"""What an engine remembers, taken before a compaction and put back where its window is not the one that goes on."""

from __future__ import annotations

import dataclasses
import logging
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType, SimpleNamespace
from typing import Any

COUNTERS = frozenset(
    {"last_prompt_tokens", "last_completion_tokens", "last_total_tokens", "compression_count", "protect_first_n", "protect_last_n", "state"}
)
"""What engines keep of the compactions that were made; the rest may be what they learnt of models that fail."""
UNCHANGING = (
    *(type(None), bool, int, float, complex, str, bytes, range, Decimal, Enum, date, time, timedelta, tzinfo, PurePath, re.Pattern),
    *(type, ModuleType, FunctionType, BuiltinFunctionType, logging.Logger),
)
"""Nothing of an engine's memory is in these."""


@dataclasses.dataclass(frozen=True)
class Refill:
    """How a collection is read, emptied and filled, without a line of a subclass's code."""

    items: Callable[[Any], Iterable[Any]]
    clear: Callable[[Any], None]
    fill: Callable[[Any, Any], None]


REFILLS: Mapping[type, Refill] = {
    OrderedDict: Refill(OrderedDict.items, OrderedDict.clear, OrderedDict.update),
    dict: Refill(dict.items, dict.clear, dict.update),
    list: Refill(list.__iter__, list.clear, list.extend),
    set: Refill(set.__iter__, set.clear, set.update),
    deque: Refill(deque.__iter__, deque.clear, deque.extend),
    bytearray: Refill(bytearray.__iter__, bytearray.clear, bytearray.extend),
}
"""First match wins."""


class EngineMemory:
    """An engine's attributes, and the insides of what is in them; objects stay the same ones, only their contents go back.

    Known are collections, dataclasses, models of pydantic, and objects of the engine's own package, as deep as they go.
    ``unknown`` are attributes that hold something else, such as a file or a client: nobody can tell what changes in it.
    ``hosts`` are the host's own objects, which are none of the engine's memory. None of the engine's code runs.
    """

    def __init__(self, engine: object, *, hosts: Collection[object] = (), only: Collection[str] | None = None) -> None:
        self._attributes: dict[str, Any] = getattr(engine, "__dict__", {})
        self._only = only
        self._own = type(engine).__module__.partition(".")[0]
        self._seen: dict[int, object] = {id(known): known for known in (engine, *hosts)}
        self._steps: list[Callable[[], None]] = []
        self._before = {name: value for name, value in self._attributes.items() if self._is_meant(name)}
        self.unknown = tuple(name for name, value in self._before.items() if not self._take(value))

    def put_back(self) -> None:
        """Everything as it was."""
        for name in [*filter(self._is_meant, self._attributes)]:
            del self._attributes[name]
        self._attributes.update(self._before)
        for step in self._steps:
            step()

    def _is_meant(self, name: str) -> bool:
        return self._only is None or name in self._only

    def _take(self, value: object) -> bool:
        """Note what is in a value and below it; False where something in it is of no known kind."""
        waiting, is_known = [value], True
        while waiting:
            thing = waiting.pop()
            if isinstance(thing, UNCHANGING) or id(thing) in self._seen:
                continue
            self._seen[id(thing)] = thing
            inside = self._inside(thing)
            is_known = is_known and inside is not None
            waiting.extend(inside or ())
        return is_known

    def _inside(self, thing: object) -> list[object] | None:
        """What a thing holds; None where that cannot be told."""
        if isinstance(thing, tuple | frozenset):
            return list(thing)
        if isinstance(thing, MethodType | partial):
            return [thing.__self__] if isinstance(thing, MethodType) else [thing.func, *thing.args, *thing.keywords.values()]
        refill = next((how for kind, how in REFILLS.items() if isinstance(thing, kind)), None)
        if refill is None and not self._is_plain(thing):
            return None
        held = self._note_items(thing, refill) if refill is not None else []
        return [*held, *self._note_fields(thing)]

    def _is_plain(self, thing: object) -> bool:
        """Whether all that an object knows is in its attributes."""
        kind = type(thing)
        is_data = dataclasses.is_dataclass(kind) or kind is SimpleNamespace or hasattr(kind, "model_fields")
        return is_data or kind.__module__.partition(".")[0] == self._own

    def _note_items(self, thing: object, refill: Refill) -> list[object]:
        items = list(refill.items(thing))

        def put_back() -> None:
            refill.clear(thing)
            refill.fill(thing, items)

        self._steps.append(put_back)
        return items

    def _note_fields(self, thing: object) -> Iterator[object]:
        attributes: dict[str, Any] | None = getattr(thing, "__dict__", None)
        if isinstance(attributes, dict):
            yield from (value for pair in self._note_items(attributes, REFILLS[dict]) for value in pair)  # type: ignore[attr-defined]
        for slot in slots_of(type(thing)):
            try:
                value = slot.__get__(thing)
            except AttributeError:
                self._steps.append(partial(_emptied, slot, thing))
                continue
            self._steps.append(partial(slot.__set__, thing, value))
            yield value


def slots_of(kind: type) -> Iterator[MemberDescriptorType]:
    """The slots that a class written in Python has, with those of the classes under it."""
    for base in kind.__mro__:
        names = base.__dict__.get("__slots__", ())
        for name in [names] if isinstance(names, str) else names:
            if isinstance(slot := base.__dict__.get(name), MemberDescriptorType):
                yield slot


def _emptied(slot: MemberDescriptorType, thing: object) -> None:
    try:
        slot.__delete__(thing)
    except AttributeError:
        return  # it was not filled meanwhile

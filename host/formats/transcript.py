"""What a reader gives back, and what a reader is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from host.formats.source import Source
from host.messages.types import Message, ToolSchema


@dataclass(frozen=True)
class Draft:
    """One conversation as its reader found it, before it is mended."""

    messages: list[Message]
    title: str = ""
    tools: list[ToolSchema] = field(default_factory=list)
    model: str | None = None
    window: int | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)  # keys of ``mend.MENDED``


@dataclass(frozen=True)
class Transcript:
    """A recorded conversation that a provider would accept.

    ``title`` is its id within the file, ``window`` the model's window in tokens where the recording tells it,
    ``mended`` what had to be repaired (plain English -> count, empty where nothing was), ``source`` the format's name.
    """

    messages: list[Message]
    tools: list[ToolSchema]
    model: str | None
    window: int | None
    title: str
    mended: Mapping[str, int]
    source: str


@dataclass(frozen=True)
class Format:
    """A way to write conversations down: how it is recognised and how it is read."""

    name: str
    about: str
    recognises: Callable[[Source], bool]
    read: Callable[[Source], Iterable[Draft]]

"""What is put into a client's file: an entry of its servers, or a hook. Each knows its own place and proves the rest unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from host.mcp.connect import json_text, toml_text
from host.mcp.connect.json_text import Step
from host.mcp.connect.obstacles import Obstacle, Taken
from host.mcp.connect.recognised import NAME, recall_hooks, replaced_at, starts_ctxhost, value_at, without_recalls
from host.mcp.hooks import AFTER_COMPACTION

SECONDS = 30  # an archive that another program holds must not hold the session

Entry = Mapping[str, str | list[str]]
Keys = tuple[str, ...]


class Part(Protocol):
    """One thing in one file."""

    @property
    def place(self) -> str:
        """Where in the document, for people: ``mcpServers.ctxhost``."""

    def is_in(self, text: str) -> bool:
        """Whether the document has it, or that of another installation."""

    def into(self, text: str) -> str:
        """The document with it, unchanged where it is there. Raises Obstacle; Taken where another program's entry would go."""

    def out_of(self, text: str, made: int | None = None) -> str:
        """The document without it; the innermost ``made`` containers around it, all where None, go too where they are empty then."""

    def made_in(self, text: str) -> int:
        """How many containers around it the document has not yet."""

    def shown(self) -> str:
        """It alone, as it would stand in an empty file."""

    def by_hand(self, text: str) -> str:
        """What a user puts into the document, that cannot be changed safely."""


class Syntax(Protocol):
    """A language of configuration files; the modules ``json_text`` and ``toml_text`` are two."""

    def parsed(self, text: str) -> Any:
        """The document."""

    def added(self, text: str, path: Keys, entry: Entry) -> str:
        """The text with an entry."""

    def updated(self, text: str, path: Keys, entry: Entry) -> str:
        """The text with new values for some keys of an entry."""

    def without(self, text: str, path: Keys) -> str:
        """The text without an entry."""

    def line_of(self, text: str, path: Keys) -> int:
        """Where an entry is."""

    def written(self, path: Keys, entry: Entry) -> str:
        """An entry in a file of its own."""

    def by_hand(self, text: str, path: Keys, entry: Entry) -> str:
        """An entry as a user puts it into the text."""


JSON, TOML = "json", "toml"
SYNTAXES: dict[str, Syntax] = {JSON: json_text, TOML: toml_text}


@dataclass(frozen=True)
class Server:
    """An entry among a client's servers. Keys that the user gave it besides (``env``) stay.

    ``replaces``: it may take the place of another program's entry.
    """

    syntax: str
    key: str
    entry: Entry
    replaces: bool = False

    @property
    def place(self) -> str:
        return ".".join(self._path)

    def is_in(self, text: str) -> bool:
        return starts_ctxhost(value_at(SYNTAXES[self.syntax].parsed(text), self._path))

    def into(self, text: str) -> str:
        language = SYNTAXES[self.syntax]
        known = value_at(language.parsed(text), self._path)
        if known is None:
            return self._proved(text, language.added(text, self._path, self.entry))
        if starts_ctxhost(known):
            return self._proved(text, language.updated(text, self._path, self._news(known)))
        if not self.replaces:
            raise Taken(language.line_of(text, self._path), f"{self.place} is there and does not start ctxhost")
        return self._proved(text, language.added(language.without(text, self._path), self._path, self.entry))

    def out_of(self, text: str, made: int | None = None) -> str:
        language = SYNTAXES[self.syntax]
        if not self.is_in(text):
            return text
        rest = language.without(text, self._path)
        if self.syntax == JSON:  # the header of a table names what it is in: it made nothing else
            rest = _pruned(rest, self._path[:-1], made)
        if repr(self._rest(rest)) != repr(self._rest(text)) or value_at(language.parsed(rest), self._path) is not None:
            raise Obstacle(language.line_of(text, self._path), f"{self.place} cannot be taken out by itself")
        return rest

    def made_in(self, text: str) -> int:
        return json_text.missing(text, self._path) if self.syntax == JSON else 0

    def shown(self) -> str:
        return SYNTAXES[self.syntax].written(self._path, self.entry)

    def by_hand(self, text: str) -> str:
        return SYNTAXES[self.syntax].by_hand(text, self._path, self.entry)

    @property
    def _path(self) -> Keys:
        return (self.key, NAME)

    def _news(self, known: Any) -> Entry:
        return {key: value for key, value in self.entry.items() if known.get(key) != value}

    def _rest(self, text: str) -> Any:
        return replaced_at(SYNTAXES[self.syntax].parsed(text), self._path, lambda _: None)

    def _proved(self, before: str, after: str) -> str:
        """The changed text, where it says what it should and all else is as it was."""
        why = f"nothing can be added to {self.key} as it is written here"
        line = SYNTAXES[self.syntax].line_of(before, self._path)
        try:
            said, same = value_at(SYNTAXES[self.syntax].parsed(after), self._path), repr(self._rest(after)) == repr(self._rest(before))
        except Obstacle as error:
            raise Obstacle(line, why) from error
        if not same or not isinstance(said, dict) or self._news(said):
            raise Obstacle(line, why)
        return after


@dataclass(frozen=True)
class Hook:
    """A command that a client runs where a session goes on after a compaction; what it prints joins the context."""

    command: str
    path: Keys = ("hooks", "SessionStart")

    @property
    def place(self) -> str:
        return ".".join(self.path)

    def is_in(self, text: str) -> bool:
        return any(recall_hooks(json_text.parsed(text), self.path))

    def into(self, text: str) -> str:
        document = json_text.parsed(text)
        ours = list(recall_hooks(document, self.path))
        after = text
        for way in ours:
            if value_at(document, (*way, "command")) != self.command:
                after = json_text.put(after, (*way, "command"), self.command)
        if not ours:
            groups = value_at(document, self.path)
            after = json_text.put(text, (*self.path, len(groups) if isinstance(groups, list) else 0), self._group)
        if repr(self._rest(after)) != repr(self._rest(text)) or not self.is_in(after):
            raise Obstacle(json_text.line_of(text, self.path), f"nothing can be added to {self.place} as it is written here")
        return after

    def out_of(self, text: str, made: int | None = None) -> str:
        rest = text
        for way in reversed(list(recall_hooks(json_text.parsed(text), self.path))):
            rest = _taken_with_group(rest, way)
        return rest if rest == text else _pruned(rest, self.path, made)

    def made_in(self, text: str) -> int:
        return json_text.missing(text, (*self.path, NAME))

    def shown(self) -> str:
        return json_text.as_text(json_text.nested((*self.path, 0), self._group))

    def by_hand(self, text: str) -> str:
        return self.shown()

    @property
    def _group(self) -> dict[str, Any]:
        return {"matcher": AFTER_COMPACTION, "hooks": [{"type": "command", "command": self.command, "timeout": SECONDS}]}

    def _rest(self, text: str) -> Any:
        return replaced_at(json_text.parsed(text), self.path, without_recalls)


def _taken_with_group(text: str, way: tuple[Step, ...]) -> str:
    """The text without a hook, and without its group where that held nothing else."""
    group = way[:-2]
    others = value_at(json_text.parsed(text), way[:-1])
    return json_text.take(text, way if len(others) > 1 else group)


def _pruned(text: str, path: Keys, made: int | None) -> str:
    """A JSON text without the innermost ``made`` containers of ``path``, all where None, as far as they are empty."""
    for depth in range(len(path), 0 if made is None else len(path) - made, -1):
        if value_at(json_text.parsed(text), path[:depth]) not in ({}, []):
            break
        text = json_text.take(text, path[:depth])
    return text

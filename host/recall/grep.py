"""``lcm_grep``: what was said, found again, in an answer of a bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from host.errors import UsageError
from host.messages.types import JSON
from host.recall.answers import Wrong
from host.recall.arguments import Arguments, moment, nearest, one_of, optional, text, whole
from host.recall.boundary import Reach, Scope
from host.recall.hits import Telling
from host.recall.versions import newest_by_place
from host.store.protocols import Store
from host.store.query import Hit, Mode, Page, Query
from host.store.searching.cursors import mark_of

MOST_HITS, DEFAULT_HITS = 50, 10
LONGEST_QUERY = 1_000  # characters
INDEXING = 0.02  # seconds on the index in a search: bringing the archive up to date has just been at it

ANYTHING = "(?s)."
LOOKING = 0.2  # seconds for each look at what tools there are
MOST_NAMES = 5
NO_SUCH_TOOL = "nothing where this search looks was ever called by a tool {!r}"

MODES = tuple(str(mode) for mode in Mode)
ROLES = ("user", "assistant", "tool", "system", "developer", "function")
SYNONYMS = {"human": "user", "ai": "assistant", "model": "assistant"}


class Grep(Arguments):
    """The arguments of ``lcm_grep``."""

    example: ClassVar[JSON] = {"query": "connection refused", "mode": "auto", "role": "tool", "since": "3d", "limit": DEFAULT_HITS}

    query: Annotated[str, BeforeValidator(text)] = Field(description="what to look for")
    mode: Annotated[Mode, BeforeValidator(optional(one_of(MODES), Mode.AUTO))] = Field(
        Mode.AUTO,
        description="auto (default); literal: text as it stands; words: all words; regex: case counts; ranked: any word, best first",
        json_schema_extra={"enum": list(MODES)},
    )
    role: Annotated[str | None, BeforeValidator(optional(one_of(ROLES, SYNONYMS)))] = Field(
        None, description="only messages of this role: user, assistant, tool, system"
    )
    tool: Annotated[str | None, BeforeValidator(optional(text))] = Field(None, description="only calls and results of this tool")
    since: Annotated[datetime | None, BeforeValidator(optional(moment))] = Field(
        None, description="only from this time on: 2026-11-30, 2026-11-30T16:00, or an age: 2h, 3d"
    )
    before: Annotated[datetime | None, BeforeValidator(optional(moment))] = Field(
        None, description="only before this time, written like since"
    )
    limit: Annotated[int, BeforeValidator(optional(whole(1, MOST_HITS), DEFAULT_HITS))] = Field(
        DEFAULT_HITS, description=f"hits on a page, 1 to {MOST_HITS} (default {DEFAULT_HITS})"
    )
    cursor: Annotated[str | None, BeforeValidator(optional(text))] = Field(
        None, description="from `next` of the page before; the other arguments stay the same"
    )
    scope: Annotated[str | None, BeforeValidator(optional(text))] = Field(
        None, description="where to look: a session id or title, project, or all where the user allows it; leave out for the default"
    )


@dataclass(frozen=True)
class Grepping:
    """Searches a store within reach. ``catch_up`` brings the archive and its index up to date and gives notices."""

    store: Store
    reach: Reach
    count: Callable[[str], int]
    catch_up: Callable[[], tuple[str, ...]] | None

    def answered(self, asked: Grep, notices: list[str]) -> JSON:
        """A page of hits. Wrong for arguments that no search can be made of."""
        scope = self.reach.scope(asked.scope)
        query = replace(query_of(asked, scope), indexing=None if self.catch_up is None else INDEXING)
        caught = () if self.catch_up is None else self.catch_up()
        telling = Telling(arguments_of(asked), scope.words, (*notices, *caught), self.reach.may_widen, self.count)
        while True:
            page = self._found(query)
            if query.tool is not None and not page.hits and page.complete:
                telling = replace(telling, notices=(*telling.notices, *self._said_of_tool(query.tool, query)))
            told = telling.told(page, outdated(page.hits, self.store))
            if not isinstance(told, int):
                return told
            query = replace(query, limit=told)  # asked again for fewer: its cursor goes on right behind the last that fits

    def _said_of_tool(self, tool: str, query: Query) -> Iterator[str]:
        """That nothing was called by this name where was looked, and the nearest name of what was called there last."""
        anything = replace(query, text=ANYTHING, mode=Mode.REGEX, cursor=None, limit=1, seconds=LOOKING, since=None, before=None, role=None)
        found = self.store.search.find(anything)
        if found.hits or not found.complete:
            return
        called = self.store.search.find(replace(anything, tool=None, role="tool", limit=MOST_HITS))
        names = list(dict.fromkeys(name for hit in called.hits for name in hit.tool.splitlines() if name))
        lower = {name.lower(): name for name in names}
        near = nearest(tool, list(lower))
        others = [lower[near]] if near else names[:MOST_NAMES]
        yield NO_SUCH_TOOL.format(tool) + (f"; called were: {', '.join(others)}" if others else "")

    def _found(self, query: Query) -> Page:
        try:
            return self.store.search.find(query)
        except UsageError as error:
            raise Wrong("query", query.text, "a simpler pattern, or mode literal for the text as it stands", error.what) from error


def query_of(asked: Grep, scope: Scope) -> Query:
    """The question to the archive. Wrong where a cursor is of another one, or nothing can lie between the times."""
    if len(asked.query) > LONGEST_QUERY:
        raise Wrong("query", asked.query, f"at most {LONGEST_QUERY:,} characters: a part that stands nowhere else is enough")
    if asked.since is not None and asked.before is not None and asked.since >= asked.before:
        raise Wrong("since", asked.since.isoformat(), f"a time before `before`, which is {asked.before.isoformat()}")
    query = Query(
        text=asked.query,
        mode=asked.mode,
        conversation=scope.conversation,
        directories=scope.directories,
        role=asked.role,
        tool=asked.tool,
        since=asked.since,
        before=asked.before,
        limit=asked.limit,
        cursor=asked.cursor,
    )
    check_cursor(query)
    return query


def check_cursor(query: Query) -> None:
    """Raises Wrong for a cursor that is none, or of another search, before the archive is brought up to date for it."""
    try:
        mark_of(query)
    except UsageError as error:
        raise Wrong("cursor", query.cursor, "the arguments in `next` of the page before, unchanged; or no cursor", error.what) from error


def arguments_of(asked: Grep) -> JSON:
    """The arguments that were given, as a model would write them again. Ages have become times: a cursor is bound to them."""
    given = {name: getattr(asked, name) for name, field in Grep.model_fields.items() if getattr(asked, name) != field.default}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in given.items()}


def outdated(hits: Sequence[Hit], store: Store) -> frozenset[Hit]:
    """The hits that are older versions of another hit."""
    places = {name: store.archive(name).places() for name in {hit.conversation for hit in hits if hit.superseded}}
    placed = [(hit, (hit.conversation, places.get(hit.conversation, {}).get(hit.position, hit.position))) for hit in hits]
    newest = newest_by_place((place, hit.position) for hit, place in placed)
    return frozenset(hit for hit, place in placed if hit.position < newest[place])

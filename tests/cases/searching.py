"""Kinds ``search`` and ``archive``: an archive that is given, and what a search in it finds."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from host.errors import CtxhostError
from host.messages.searchable import searchable
from host.messages.types import Message
from host.store.query import Mode, Page, Query
from tests.cases.case import Case
from tests.cases.described import amount_of, prose
from tests.cases.facts import Each, Facts, NoDriver
from tests.cases.facts import ways as ways_of
from tests.cases.house import House, index_tables, messages_of

MOST = 1_000  # hits that are counted where the case gives no limit
AT_ONCE = 10_000  # rows written in one transaction

KEYS: dict[str, Callable[[Any], Any]] = {
    "text": str,
    "mode": Mode,
    "limit": int,
    "role": str,
    "tool": str,
    "context": int,
}
"""Fields of a query that a case may give, and how they are read; ``query`` is the text."""


def search(case: Case, folder: Path) -> Facts:
    """Each query in an archive that holds what the case lists; with a precondition in every way that it names."""
    given = case.input["lcm_grep"]
    queries = [query_of(asked) for asked in (given if isinstance(given, list) else [given])]
    ways = conditions_of(case.expected.get("precondition"))
    found = {name: _found(case, folder / name, queries, prepare) for name, prepare in ways.items()}
    alone = next(iter(found.values())) if len(found) == 1 else {}
    facts = alone or {key: Each({way: seen[key] for way, seen in found.items()}) for key in next(iter(found.values()))}
    raised = [each for each in ways_of(facts["raises"]).values() if each]
    return {**facts, "raises": "; ".join(raised) or False, "precondition": case.expected.get("precondition")}


def query_of(asked: object) -> Query:
    """A query as the case writes it; NoDriver for what a query does not have."""
    fields = {"text" if key == "query" else key: value for key, value in asked.items()} if isinstance(asked, Mapping) else {}
    if not isinstance(fields.get("text"), str) or set(fields) - set(KEYS):
        raise NoDriver(f"no driver reads {asked!r} as a search")
    return Query(**{"limit": MOST, **{key: KEYS[key](value) for key, value in fields.items()}})


Prepare = Callable[[House, ExitStack], None]


def conditions_of(words: object) -> dict[str, Prepare]:
    """What is done to the store before the search, by name; every condition that is named is one way."""
    if words is None:
        return {"as it is": lambda house, stack: None}
    named = {name: prepare for pattern, name, prepare in CONDITIONS if re.search(pattern, str(words), re.IGNORECASE)}
    if not named:
        raise NoDriver(f"no driver reads the precondition {words!r}")
    return named


def drop_index(house: House, stack: ExitStack) -> None:
    """Take the index tables away behind the store's back."""
    house.index()
    tables = index_tables(house)
    assert tables
    with house.outside() as connection:
        for table in tables:
            connection.execute(f"DROP TABLE {table}")


def hold_lock(house: House, stack: ExitStack) -> None:
    """Have another program write all the while."""
    connection = stack.enter_context(house.outside())
    connection.execute("BEGIN EXCLUSIVE")


CONDITIONS: tuple[tuple[str, str, Prepare], ...] = (
    (r"(?:drop|delete|remove)\b.*\b(?:fts|index)", "index dropped", drop_index),
    (r"\block", "locked by another", hold_lock),
)


def _found(case: Case, home: Path, queries: list[Query], prepare: Prepare) -> dict[str, Any]:
    with House(home, durability="normal") as house, ExitStack() as stack:
        fill(house, case.input["archive"])
        before = house.dump()
        prepare(house, stack)
        pages = [_asked(house, query) for query in queries]
        many = isinstance(case.input["lcm_grep"], list)
        return {**_facts(pages, house, many=many), "archive_unchanged": house.dump() == before}


def fill(house: House, archive: object) -> None:
    """Archive what is listed, or as many rows as are described."""
    kept = house.talk().archive
    if isinstance(archive, str):
        count = amount_of(archive, "(?:rows|messages)")
        if count is None:
            raise NoDriver(f"no driver reads {archive!r}")
        for first in range(0, count, AT_ONCE):
            kept.extend([row(number) for number in range(first, min(first + AT_ONCE, count))])
        house.index()
    else:
        for message in messages_of(archive):
            house.talk().add(message)


def row(number: int) -> Message:
    """A row of a large archive; one in 50,000 names C++."""
    about = "c++" if number % 50_000 == 7 else f"topic {number % 977}"
    return {"role": "user" if number % 2 else "assistant", "content": f"row {number} about {about}: {prose(40)}"}


Asked = tuple[Page | None, str, float]
"""The answer, or the error in its place; and how long it took, in seconds."""


def _asked(house: House, query: Query) -> Asked:
    started = time.perf_counter()
    try:
        page, error = house.host.store.search.find(replace(query, conversation=house.talk().shelf.conversation)), ""
    except CtxhostError as failed:
        page, error = None, f"{type(failed).__name__}: {failed}"
    return page, error, time.perf_counter() - started


def _facts(asked: list[Asked], house: House, *, many: bool) -> dict[str, Any]:
    counts = [len(page.hits) if page else 0 for page, _, _ in asked]
    errors = [error for _, error, _ in asked if error]
    notices = [notice for page, _, _ in asked if page for notice in page.notices]
    texts = [_text(house, hit.position) for page, _, _ in asked if page for hit in page.hits]
    said = [bool(page and (page.hits or page.notices)) or bool(error) for page, error, _ in asked]
    return {
        "raises": "; ".join(errors) or False,
        "hits": counts if many else counts[0],
        "first_hit": texts[0] if texts else "",
        "texts": texts,
        "modes": [str(page.mode) for page, _, _ in asked if page],
        "notices": notices,
        "says": " ".join([*notices, *errors]),
        "never_silent": all(said),
        "seconds": max(seconds for _, _, seconds in asked),
    }


def _text(house: House, position: int) -> str:
    return searchable(house.talk().archive.read(position, position)[0])


def hits_of(house: House, text: str) -> list[int]:
    """Positions that the archive's own search finds."""
    return [position for position, _ in house.talk().archive.search(text, limit=MOST)]

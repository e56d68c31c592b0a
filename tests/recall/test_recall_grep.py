"""``lcm_grep``: bounded pages that lose no hit, lenient arguments, and nothing from beyond the boundary."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.errors import StoreUnavailable
from host.messages.types import JSON
from host.recall.answers import Answer
from host.recall.boundary import Boundary
from host.recall.recall import Recall
from host.store.memory import MemoryStore
from host.store.protocols import Search, Store
from host.store.query import Mode, Page, Query
from host.store.sqlite.store import FILE, SqliteStore
from host.testing.messages import assistant, call, result, user
from host.tokens.counting import Counter
from host.tokens.estimate import estimate_text

HERE, THERE = "/home/me/here", "/home/me/there"


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / FILE, durability="normal")
    yield opened
    opened.close()


def talk(store: Store, *texts: str, directory: str = HERE, title: str | None = None) -> str:
    """A conversation of a working directory."""
    conversation = store.sessions.create(title=title, about={"working_directory": directory}).conversation
    store.archive(conversation).extend([user(text) for text in texts])
    return conversation


def recall(store: Store, **boundary: Any) -> Recall:
    """The tools, by default for the directory ``HERE``."""
    return Recall(store, Boundary(**(boundary or {"directories": (HERE,)})), count=estimate_text)


def told(answer: Answer) -> JSON:
    """What an answer says that is no error."""
    assert not answer.is_error, answer.text
    assert estimate_text(answer.text) <= 2_000
    found: JSON = json.loads(answer.text)
    return found


def texts(page: JSON) -> list[str]:
    """The excerpts."""
    return [hit["excerpt"] for hit in page["hits"]]


def all_hits(tools: Recall, **arguments: object) -> list[str]:
    """The hits of all pages, each asked for with the arguments that the page before gives."""
    page = told(tools.call("lcm_grep", arguments))
    found = [hit["message"] for hit in page["hits"]]
    while "next" in page:
        assert len(found) < 10_000
        page = told(tools.call("lcm_grep", page["next"]))
        found += [hit["message"] for hit in page["hits"]]
    return found


@pytest.mark.parametrize("limit", [1, 7, 10, 50])
@pytest.mark.parametrize("mode", ["auto", "literal", "words", "regex"])
def test_no_hit_is_lost_or_told_twice_over_all_pages(store: Store, limit: int, mode: str) -> None:
    here = talk(store, *(f"kumquat {'and more words about it ' * (number % 40)} {number}" for number in range(120)), title="t" * 90)
    found = all_hits(recall(store), query="kumquat", mode=mode, limit=limit)
    assert found == [f"{here}:{position}" for position in range(120, 0, -1)]


def test_ranked_pages_end_with_a_word_on_it_before_their_cursor_grows_out_of_bounds(store: Store) -> None:
    talk(store, *(f"kumquat number {number}" for number in range(300)))
    tools = recall(store)
    found = all_hits(tools, query="kumquat", mode="ranked", limit=20)
    assert 60 <= len(found) == len(set(found)) < 300
    long = " ".join(["kumquat", *(f"word{number}" for number in range(120))])
    page = told(tools.call("lcm_grep", {"query": long, "mode": "ranked", "limit": 50}))
    found = all_hits(tools, query=long, mode="ranked", limit=50)
    assert len(found) < 300 and not page["complete"]
    assert "next" in page or any("since" in notice for notice in page["notices"])


@pytest.mark.parametrize("mode", [str(mode) for mode in Mode])
@pytest.mark.parametrize("word", ["kumquat ", "金柑", "🍊"])
def test_the_next_page_is_asked_for_as_it_is_given_however_long_the_query(store: Store, mode: str, word: str) -> None:
    query = word * (1_000 // len(word))
    talk(store, *[query] * 30)
    tools = recall(store)
    page = told(tools.call("lcm_grep", {"query": query, "mode": mode, "limit": 5}))
    while "next" in page:
        assert set(page["next"]) == {"query", "mode", "limit", "cursor"} - ({"mode"} if mode == "auto" else set())
        page = told(tools.call("lcm_grep", page["next"]))
    assert page["complete"] or any("search for a part" in notice or "ranked pages end" in notice for notice in page["notices"])


@given(
    st.lists(st.text(st.characters(exclude_categories=()), max_size=300).map(lambda text: f"alpha {text}"), min_size=1, max_size=60),
    st.integers(1, 50),
)
@settings(max_examples=25)
def test_any_text_stays_within_the_bound(said: list[str], limit: int) -> None:
    store = MemoryStore()
    here = talk(store, *said)
    assert all_hits(recall(store), query="alpha", limit=limit) == [f"{here}:{position}" for position in range(len(said), 0, -1)]


def test_a_hit_says_when_who_and_where_and_how_to_open_it(store: Store) -> None:
    here = talk(store, title="on the gateway")
    said = datetime(2026, 11, 30, 16, 0, tzinfo=UTC)
    store.archive(here).append(assistant("the gateway waits", [call("c1", "read_file", {"path": "gate.py"})]), time=said)
    (hit,) = told(recall(store).call("lcm_grep", {"query": "gate.py"}))["hits"]
    assert hit == {
        "message": f"{here}:1",
        "time": "2026-11-30T16:00:00Z",
        "role": "assistant",
        "tool": "read_file",
        "session": here,
        "title": "on the gateway",
        "excerpt": hit["excerpt"],
        "open": {"message": f"{here}:1"},
    }
    assert "gate.py" in hit["excerpt"]


def test_an_older_version_is_left_out_where_the_newer_one_is_on_the_page(store: Store) -> None:
    here = talk(store, "port alpha 80", "something else")
    store.archive(here).append(user("port alpha 8080"), replaces=1)
    assert texts(told(recall(store).call("lcm_grep", {"query": "alpha"}))) == ["port alpha 8080"]
    assert [hit.get("superseded") for hit in told(recall(store).call("lcm_grep", {"query": "alpha 80$", "mode": "regex"}))["hits"]] == [
        True
    ]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"query": "kumquat", "limit": "2"}, 2),
        ({"query": "kumquat", "limit": 2.0}, 2),
        ({"query": "kumquat", "limit": None, "mode": None, "role": None}, 4),
        ({"query": "kumquat", "role": "USER", "mode": "Literal"}, 4),
        ({"query": "kumquat", "role": "human"}, 4),
        ({"query": "kumquat", "role": "assistant"}, 0),
        ({"query": "kumquat", "since": "2h"}, 4),
        ({"query": "kumquat", "before": "2h"}, 0),
        ({"query": "kumquat", "since": "2020-01-01", "before": "2020-01-02T03:04:05+01:00"}, 0),
        ({"query": 8080}, 1),
        ('{"query": "kumquat"}', 4),
        ('"{\\"query\\": \\"kumquat\\"}"', 4),
    ],
)
def test_what_has_a_plain_meaning_is_taken(arguments: object, found: int) -> None:
    store = MemoryStore()
    talk(store, "kumquat 1", "kumquat 2", "kumquat 3", "kumquat on port 8080")
    assert len(told(recall(store).call("lcm_grep", arguments))["hits"]) == found


@pytest.mark.parametrize(("limit", "kept"), [(-1, 1), (0, 1), (51, 50), (10**30, 50), ("1e9", 50)])
def test_a_limit_out_of_range_is_moved_and_said_so(limit: object, kept: int) -> None:
    store = MemoryStore()
    talk(store, "kumquat")
    page = told(recall(store).call("lcm_grep", {"query": "kumquat", "limit": limit}))
    assert page["notices"] == [f"limit was set to {kept}: it may be 1 to 50"]


@pytest.mark.parametrize(
    ("arguments", "where", "expected"),
    [
        ({}, "query", "look for"),
        ({"query": None}, "query", "look for"),
        ({"query": ""}, "query", "not empty"),
        ({"query": ["a", "b"]}, "query", "text"),
        ({"query": {"a": 1}}, "query", "text"),
        ({"query": "x" * 1_001}, "query", "1,000"),
        ({"query": "(a", "mode": "regex"}, "query", "literal"),
        ({"query": "a", "limit": "many"}, "limit", "1 to 50"),
        ({"query": "a", "limit": True}, "limit", "1 to 50"),
        ({"query": "a", "limit": 2.5}, "limit", "1 to 50"),
        ({"query": "a", "mode": "rank"}, "mode", "did you mean ranked"),
        ({"query": "a", "role": "bot"}, "role", "assistant"),
        ({"query": "a", "since": "long ago"}, "since", "2h"),
        ({"query": "a", "since": 17}, "since", "2h"),
        ({"query": "a", "since": "1h", "before": "2h"}, "since", "before"),
        ({"query": "a", "cursor": "words-000000000000-1"}, "cursor", "unchanged"),
        ({"query": "a", "scope": "nobody"}, "scope", "--scope all"),
        ({"pattern": "a"}, "pattern", "did you mean 'query'"),
        ({"query": "a", "lmit": 3}, "lmit", "did you mean 'limit'"),
        ({"query": "a", "z" * 9_000: 3}, "z" * 40, "The arguments are"),
        ("find it", "arguments", "object"),
        ([{"query": "a"}], "arguments", "object"),
        ("[" * 5_000, "arguments", "object"),
    ],
)
def test_what_has_none_is_refused_with_the_right_form(arguments: object, where: str, expected: str) -> None:
    answer = recall(MemoryStore()).call("lcm_grep", arguments)
    assert answer.is_error
    assert estimate_text(answer.text) < 1_000
    said = json.loads(answer.text)
    assert said["error"]["where"] == where
    assert expected in said["error"]["expected"]
    assert said["right_form"]["name"] == "lcm_grep"
    assert set(said["right_form"]["all_arguments"]) == {"query", "mode", "role", "tool", "since", "before", "limit", "cursor", "scope"}


def test_a_bad_pattern_says_where() -> None:
    answer = recall(MemoryStore()).call("lcm_grep", {"query": "ab(c", "mode": "regex"})
    assert json.loads(answer.text)["error"]["what"].endswith(": missing ) at its end")
    answer = recall(MemoryStore()).call("lcm_grep", {"query": "ab)c", "mode": "regex"})
    assert "at character 3" in json.loads(answer.text)["error"]["what"]


def test_an_unknown_tool_names_the_right_ones() -> None:
    error = json.loads(recall(MemoryStore()).call("lcm_gerp", {}).text)["error"]
    assert error["expected"] == "did you mean 'lcm_grep'? The tools are lcm_grep, lcm_expand"


@pytest.mark.parametrize("mode", [str(mode) for mode in Mode])
def test_nothing_found_says_where_was_looked_and_what_to_try(store: Store, mode: str) -> None:
    talk(store, "one", "two")
    page = told(recall(store).call("lcm_grep", {"query": "zebra", "mode": mode, "role": "user"}))
    assert page["hits"] == []
    assert page["searched"].startswith(f"this project ({HERE}): scanned all 2")
    assert "leave out role" in page["next_step"]
    assert ("ranked" in page["next_step"]) is (page["mode"] != "ranked")


def test_a_tool_that_was_never_called_is_said_with_the_nearest_that_was(store: Store) -> None:
    here = talk(store, "the gateway waits")
    store.archive(here).extend([assistant(None, [call("c1", "read_file", {"path": "gate.py"})]), result("c1", "the gate")])
    near = "nothing where this search looks was ever called by a tool {!r}; called were: read_file"
    for arguments, misnamed in (
        ({"query": "gateway", "tool": "raed_file"}, "raed_file"),
        ({"query": "gateway", "tool": "READ_FILES", "since": "1h"}, "READ_FILES"),
        ({"query": "gateway", "tool": "shovel"}, "shovel"),
        ({"query": "zebra", "tool": "read_file"}, None),
        ({"query": "zebra"}, None),
    ):
        page = told(recall(store).call("lcm_grep", arguments))
        assert page["hits"] == [] and page.get("notices", []) == ([near.format(misnamed)] if misnamed else [])
    assert recall(store).call("lcm_grep", {"query": "gate", "tool": "Read_File"}).text.count('"open"') >= 1


def test_the_default_scope_holds_nothing_of_other_projects(store: Store) -> None:
    here, there = talk(store, "kumquat here", title="mine"), talk(store, "kumquat there", directory=THERE, title="theirs")
    tools = recall(store)
    assert texts(told(tools.call("lcm_grep", {"query": "kumquat"}))) == ["kumquat here"]
    for scope in (here, here[:-2], "mine", "last", "project", f"`{here}`", f"{here}:1"):
        assert texts(told(tools.call("lcm_grep", {"query": "kumquat", "scope": scope}))) == ["kumquat here"], scope
    outside = [tools.call("lcm_grep", {"query": "kumquat", "scope": scope}).text for scope in (there, "theirs", "x" * len(there))]
    assert len({text.replace(there, "?").replace("theirs", "?").replace("x" * len(there), "?") for text in outside}) == 1
    assert tools.call("lcm_expand", {"message": f"{there}:1"}).is_error
    assert tools.call("lcm_grep", {"query": "kumquat", "scope": "all"}).is_error
    assert tools.call("lcm_grep", {"query": "kumquat", "scope": "conversation"}).is_error


def test_a_prefix_that_is_unique_within_reach_is_enough(store: Store) -> None:
    here, _ = talk(store, "kumquat here"), talk(store, "kumquat there", directory=THERE)
    assert texts(told(recall(store).call("lcm_grep", {"query": "kumquat", "scope": here[:4]}))) == ["kumquat here"]
    another = talk(store, "kumquat too")
    error = json.loads(recall(store).call("lcm_grep", {"query": "kumquat", "scope": here[:4]}).text)["error"]
    assert here in error["what"]
    assert another in error["what"]


def test_all_is_searched_where_the_user_allows_it(store: Store) -> None:
    own, there = talk(store, "kumquat here"), talk(store, "kumquat there", directory=THERE)
    tools = recall(store, conversation=own, everything=True)
    assert texts(told(tools.call("lcm_grep", {"query": "kumquat"}))) == ["kumquat here"]
    assert "scope all" in told(tools.call("lcm_grep", {"query": "there"}))["next_step"]
    assert texts(told(tools.call("lcm_grep", {"query": "kumquat", "scope": "ALL"}))) == ["kumquat there", "kumquat here"]
    assert not tools.call("lcm_expand", {"message": f"{there}:1"}).is_error
    assert len(told(recall(store, everything=True).call("lcm_grep", {"query": "kumquat"}))["hits"]) == 2


def test_an_empty_boundary_reaches_nothing(store: Store) -> None:
    here = talk(store, "kumquat")
    tools = Recall(store, Boundary(), count=estimate_text)
    assert tools.call("lcm_grep", {"query": "kumquat"}).is_error
    assert tools.call("lcm_expand", {"message": f"{here}:1"}).is_error


def test_the_archive_is_brought_up_to_date_before_each_search_and_never_stops_one() -> None:
    store, calls = MemoryStore(), []
    here = talk(store, "alpha")

    def catch_up() -> tuple[str, ...]:
        calls.append(1)
        if len(calls) == 2:
            raise OSError("the disk is gone\nfor good")
        store.archive(here).append(user(f"alpha {len(calls)}"))
        return ("3 lines not indexed yet",)

    tools = Recall(store, Boundary(conversation=here), count=estimate_text, catch_up=catch_up)
    first = told(tools.call("lcm_grep", {"query": "alpha"}))
    assert (len(first["hits"]), first["notices"]) == (2, ["3 lines not indexed yet"])
    second = told(tools.call("lcm_grep", {"query": "alpha"}))
    assert second["notices"] == ["the newest messages may be missing: the disk is gone"]


class Asked(MemoryStore):
    """A store that remembers how long each search may index."""

    def __init__(self) -> None:
        super().__init__()
        self.indexing: list[float | None] = []

    @property
    def search(self) -> Search:
        found = super().search

        def find(query: Query) -> Page:
            self.indexing.append(query.indexing)
            return type(found).find(found, query)

        found.find = find  # type: ignore[method-assign]
        return found


@pytest.mark.parametrize(("catches_up", "most"), [(True, 0.05), (False, None)])
def test_a_search_indexes_for_a_moment_where_the_archive_was_just_brought_up_to_date(catches_up: bool, most: float | None) -> None:
    store = Asked()
    here = talk(store, "needle")
    tools = Recall(store, Boundary(conversation=here), count=estimate_text, catch_up=tuple if catches_up else None)
    assert len(told(tools.call("lcm_grep", {"query": "needle"}))["hits"]) == 1
    assert [given is None if most is None else given is not None and given <= most for given in store.indexing] == [True]


def test_a_store_that_fails_is_an_error_that_says_what_to_do() -> None:
    store = MemoryStore()
    here = talk(store, "alpha")

    def unusable() -> MemoryStore:
        raise StoreUnavailable("archive.db", "disk I/O error")

    store.archive = lambda conversation: unusable()  # type: ignore[assignment,method-assign,return-value]
    answer = recall(store, conversation=here).call("lcm_expand", {"message": f"{here}:1"})
    assert answer.is_error
    assert "ctxhost doctor" in json.loads(answer.text)["error"]["what_to_do"]


def test_the_schemas_are_flat_and_small() -> None:
    tools = recall(MemoryStore()).tools()
    assert [tool["function"]["name"] for tool in tools] == ["lcm_grep", "lcm_expand"]
    assert Counter().tools(tools) <= 1_500
    for tool in tools:
        for schema in tool["function"]["parameters"]["properties"].values():
            assert schema["type"] in {"string", "integer", "boolean"}
            assert schema["description"]
    assert tools[0]["function"]["parameters"]["required"] == ["query"]


def test_a_time_is_the_users_local_time_and_a_page_keeps_it() -> None:
    store = MemoryStore()
    here = talk(store)
    now = datetime.now(UTC)
    for hours in range(12):
        store.archive(here).append(user(f"alpha {hours}"), time=now - timedelta(hours=hours))
    local = (now - timedelta(hours=5, minutes=30)).astimezone().replace(tzinfo=None).isoformat()
    assert len(all_hits(recall(store), query="alpha", since=local, limit=2)) == 6
    assert len(all_hits(recall(store), query="alpha", since="330m", limit=2)) == 6

"""Finding archived messages, in the file and in memory: the same questions, the same answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from host.errors import UsageError
from host.messages.types import Message
from host.store.memory_search import MemorySearch
from host.store.protocols import Search
from host.store.query import Mode, Page, Query
from host.store.sqlite.store import SqliteStore
from host.store.values import Row

START = datetime(2026, 1, 1, tzinfo=UTC)


def user(text: str) -> Message:
    return {"role": "user", "content": text}


class Kept:
    """A store with messages, searched in one of three ways: before and after indexing, and by a scan of the rows."""

    def __init__(self, store: SqliteStore, way: str) -> None:
        self.store = store
        self.way = way
        self.conversation = store.sessions.create(title="the plan").conversation

    def keep(self, *messages: Any, conversation: str | None = None, replaces: int | None = None) -> list[int]:
        archive = self.store.archive(conversation or self.conversation)
        made = [user(message) if isinstance(message, str) else message for message in messages]
        if replaces is not None:
            return [archive.append(message, replaces=replaces) for message in made]
        return archive.extend(made, times=[START + timedelta(days=day) for day in range(len(made))])

    @property
    def search(self) -> Search:
        if self.way == "indexed":
            assert self.store.search.catch_up() == 0
        return MemorySearch(self.rows, self.store.sessions.get) if self.way == "scanned" else self.store.search

    def rows(self) -> Iterator[Row]:
        conversations = {session.conversation for session in self.store.sessions.listed()}
        found = [row for conversation in conversations for row in self.store.archive(conversation).rows()]
        return iter(sorted(found, key=lambda row: -row.id))

    def find(self, text: str, mode: Mode = Mode.AUTO, **more: Any) -> Page:
        return self.search.find(Query(text, mode=mode, **more))

    def found(self, text: str, mode: Mode = Mode.AUTO, **more: Any) -> list[int]:
        return [hit.position for hit in self.find(text, mode, **more).hits]


@pytest.fixture(params=["fresh", "indexed", "scanned"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    store = SqliteStore(tmp_path / "archive.db", durability="normal")
    yield Kept(store, request.param)
    store.close()


ODD: list[tuple[list[str], str, int, str]] = [
    (["see issue #123 for the crash"], "#123", 1, "literal"),
    (["edited src/main.py today", "nothing related here"], "src/main.py", 1, "literal"),
    (["we don't deploy on Friday"], "don't", 1, "literal"),
    (["please don't use agents for this"], "don't use agents", 1, "literal"),
    (["disk at 50% again"], "50%", 1, "literal"),
    (["mail alice@example.com the log"], "alice@example.com", 1, "literal"),
    (["TODO: fix the retry path"], "TODO: fix", 1, "literal"),
    (["copied to C:\\Users\\demo\\project ok"], "C:\\Users\\demo\\project", 1, "literal"),
    (["restart my-proxy now", "my cat sat", "the proxy war ended"], "my-proxy", 1, "literal"),
    (["this wrong-book entry", "a plain mistake list"], "mistake OR wrong-book", 2, "words"),
    (["say hello there"], "OR hello", 1, "words"),
    (["see 38.101 and then 23.501"], "NEAR(38.101 23.501)", 1, "ranked"),
    (["appliance broke", "only banana here", "cherry tree"], "appliance|banana|cherry", 3, "words"),
    (["run with --error-on-warnings set"], '"--error-on-warnings"', 1, "literal"),
    (["plain words only"], '"', 0, "literal"),
    (["plain words only", "f()"], "()", 1, "literal"),
    (["plain words only"], "-", 0, "literal"),
    (["x y a b br NEAR AND unclosed"], 'a" b', 1, "words"),
    (["x y a b br NEAR AND unclosed"], "[br]", 1, "words"),
    (["x y a b br NEAR AND unclosed"], "NEAR(", 1, "words"),
    (["the grammar::fa package", "grammar of fa"], "grammar::fa", 1, "literal"),
    (["What did we decide about ports? We chose 8443!"], "what did we decide, about ports?!", 1, "words"),
    (["the rare zyzzyva", "the the the"], "the zyzzyva", 1, "words"),
    (["album: Untitled vol."], "vol.", 1, "literal"),
    (["coverage 61.2% today"], "61.2%", 1, "literal"),
    (["carved @nasa from the disk"], "@nasa", 1, "literal"),
    (["进度50%完成", "进度50分完成"], "50%完", 1, "literal"),
    (["修改youer服务端的计划"], "youer", 1, "words"),
    (["昨晚 上线", "我昨晚没睡", "他说昨晚的会取消了"], "昨晚", 3, "literal"),
    (["昨晚 上线", "早上"], "昨", 1, "literal"),
    (["今日の会議は延期です"], "会議", 1, "literal"),
    (["deploy 🚀 now"], "🚀", 1, "literal"),
    (["family 👨‍👩‍👧 photo", "👨 alone"], "👨‍👩‍👧", 1, "literal"),
    (["new 🫨 picture"], "🫨", 1, "literal"),
    (["alpha\x00beta", "alpha beta"], "alpha\x00beta", 1, "literal"),
    (["bad \ud800 byte"], "\ud800", 1, "literal"),
    (["bad \ud800 byte"], "byte", 1, "words"),
    (["q"], "q", 1, "words"),
    (["ends in zq"], "zq", 1, "words"),
    (["ünïcode"], "ïC", 1, "words"),
    (["Straße"], "STRASSE", 1, "words"),
    (["a\u0301rbol"], "\u00e1rbol", 1, "words"),
    (["needle"], "needle " * 14_000, 1, "words"),
    (["x" * 100], "x" * 100_000, 0, "ranked"),
    (["？全角 ＡＢＣ"], "？", 1, "literal"),
]  # fmt: skip


@pytest.mark.parametrize(("texts", "query", "hits", "mode"), ODD, ids=[ascii(query[:20]) for _, query, _, _ in ODD])
def test_nothing_that_is_typed_is_an_error_or_a_miss(kept: Kept, texts: list[str], query: str, hits: int, mode: str) -> None:
    kept.keep(*texts)
    start = time.monotonic()
    page = kept.find(query)
    assert (len(page.hits), page.mode) == (hits, mode)
    assert page.complete
    assert page.notices == ()
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_a_blank_query_finds_nothing_and_says_so(kept: Kept, text: str, mode: Mode) -> None:
    kept.keep("anything")
    page = kept.find(text, mode)
    assert (page.hits, page.complete, len(page.notices)) == ((), True, 1)


def test_a_quoted_query_never_goes_on(kept: Kept) -> None:
    kept.keep("hello dear world", "hello world")
    assert kept.found('"hello world"') == [2]
    page = kept.find('"world hello"')
    assert (page.hits, page.tried) == ((), (Mode.LITERAL,))
    assert kept.find("world, hello").tried == (Mode.LITERAL, Mode.WORDS)


def test_words_given_as_such_are_all_meant(kept: Kept) -> None:
    kept.keep("red fox", "blue OR red", "a|b")
    assert kept.found("red OR blue", Mode.WORDS) == [2]
    assert kept.found("red OR blue") == [2, 1]
    assert kept.found("a|b", Mode.WORDS) == [3]


def test_the_newest_comes_first_whatever_the_case(kept: Kept) -> None:
    kept.keep("Port one", "no", "PORT two", "seaport three")
    assert kept.found("port") == [4, 3, 1]
    assert kept.found("Port", Mode.REGEX) == [1]
    assert kept.found("(?i)port", Mode.REGEX) == [4, 3, 1]
    assert kept.found(r"(?i)\bport\b|thr[e]{2}", Mode.REGEX) == [4, 3, 1]


def test_what_a_tool_was_given_is_found(kept: Kept) -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "deploy_service", "arguments": '{"env": "st\\u0061ging"}'}}
    kept.keep({"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "t1", "content": "ok"})
    assert kept.found("deploy_service") == [1]
    assert kept.found("staging") == [1]
    assert kept.found("o", tool="deploy_service") == [2, 1]
    assert kept.found("o", tool="deploy") == []


def test_filters_narrow_and_pages_keep_to_them(kept: Kept) -> None:
    kept.keep({"role": "user", "content": "apple 1"}, {"role": "assistant", "content": "apple 2"}, {"role": "user", "content": "apple 3"})
    other = kept.store.sessions.create(title="other").conversation
    kept.keep("apple pie", conversation=other)
    assert len(kept.find("apple").hits) == 4
    assert kept.found("apple", conversation=kept.conversation) == [3, 2, 1]
    assert kept.found("apple", conversation="nobody's") == []
    assert kept.found("apple", conversation=kept.conversation, role="user") == [3, 1]
    assert kept.found("apple", since=START + timedelta(days=1)) == [3, 2]
    assert kept.found("apple", conversation=kept.conversation, before=START + timedelta(days=1)) == [1]
    assert kept.found("apple", Mode.RANKED, conversation=other) == [1]
    assert [hit.title for hit in kept.find("apple", sessions=(other,)).hits] == ["other"]
    assert len(kept.find("apple", sessions=(other, kept.conversation, "\ud800")).hits) == 4


def test_superseded_versions_are_found_and_marked(kept: Kept) -> None:
    kept.keep("the port is 80", "good")
    kept.keep("the port is 8443", replaces=1)
    assert [(hit.position, hit.superseded) for hit in kept.find("port").hits] == [(3, False), (1, True)]


def test_what_is_forgotten_is_never_found(kept: Kept) -> None:
    kept.keep("the secret word", "other secret")
    search = kept.search
    with kept.store.connection.writing() as connection:
        kept.store.search.index.unindex(connection, next(row.id for row in kept.rows() if row.position == 1), "the secret word")
        connection.execute("UPDATE messages SET body = NULL, cuts = NULL, facts = NULL WHERE position = 1")
    for mode in (Mode.LITERAL, Mode.WORDS, Mode.REGEX, Mode.RANKED):
        assert [hit.position for hit in search.find(Query("secret", mode=mode)).hits] == [2]


def test_a_hit_shows_where_it_matches_and_what_is_around_it(kept: Kept) -> None:
    kept.keep("before " + "b" * 300, "x" * 400 + " Straße\nand straße " + "y" * 400, "after")
    (hit,) = kept.find("STRASSE", context=1).hits
    assert [hit.excerpt[start:end] for start, end in hit.spans] == ["Straße", "straße"]
    assert "\n" in hit.excerpt
    assert hit.excerpt.startswith("…x")
    assert hit.excerpt.endswith("y…")
    assert [(line.position, len(line.text)) for line in (*hit.before, *hit.after)] == [(1, 161), (3, 5)]
    assert (hit.id, hit.title, hit.role, hit.time) == (f"{kept.conversation}:2", "the plan", "user", START + timedelta(days=1))


# Pages


@pytest.mark.parametrize(
    ("text", "mode"), [("word", Mode.WORDS), ("w.rd", Mode.REGEX), ("word apple", Mode.RANKED), ("ord 1", Mode.LITERAL)]
)
def test_pages_reach_the_last_hit_without_doubles_while_rows_come_in(kept: Kept, text: str, mode: Mode) -> None:
    kept.keep(*(f"word 1{number}" for number in range(23)))
    page = kept.find(text, mode, limit=5)
    seen = [hit.position for hit in page.hits]
    while page.cursor:
        assert not page.complete
        assert page.scanned == "stopped at the limit of 5"
        kept.keep("word 1 apple, new", "another word 1")
        page = kept.find(text, mode, limit=5, cursor=page.cursor)
        seen += [hit.position for hit in page.hits]
    assert sorted(seen) == list(range(1, 24))
    assert page.complete
    assert page.scanned.startswith("scanned all ")


def test_a_cursor_of_another_search_is_an_error(kept: Kept) -> None:
    kept.keep("word", "word")
    cursor = kept.find("word", limit=1).cursor
    with pytest.raises(UsageError, match="another search"):
        kept.find("ward", cursor=cursor)
    with pytest.raises(UsageError, match="another search"):
        kept.find("word", role="user", cursor=cursor)


def test_a_search_that_runs_out_of_time_says_how_far_it_got_and_goes_on(kept: Kept) -> None:
    kept.keep("a7", "b", "c", "d")
    page = kept.find("[0-9]", Mode.REGEX, seconds=0)
    assert page.scanned == f"stopped after 0 s at message {kept.conversation}:4: 1 of 4 scanned"
    pages = 1
    while page.cursor:
        page = kept.find("[0-9]", Mode.REGEX, seconds=0, cursor=page.cursor)
        pages += 1
        assert pages < 9
        if page.hits:
            break
    assert [hit.position for hit in page.hits] == [1]


def test_a_pattern_that_would_take_for_ever_is_stopped(kept: Kept) -> None:
    kept.keep("aab", "a" * 5_000 + "!")
    start = time.monotonic()
    page = kept.find("(a+)+$", Mode.REGEX, seconds=0.3)
    assert time.monotonic() - start < 3
    assert page.cursor is not None
    assert page.scanned == f"stopped after 0.3 s at message {kept.conversation}:2: 1 of 2 scanned"
    assert page.notices == ("the pattern takes too long on this message: it was left undecided",)
    assert kept.find("(a+)+$", Mode.REGEX, seconds=0.3, cursor=page.cursor).complete


def test_a_needle_behind_a_token_of_a_million_characters(kept: Kept) -> None:
    kept.keep("x" * 1_000_000 + " needle")
    start = time.monotonic()
    (hit,) = kept.find("needle").hits
    assert hit.excerpt[slice(*hit.spans[0])] == "needle"
    assert kept.found("needle", Mode.REGEX) == [1]
    assert time.monotonic() - start < 5


# Ranking


def test_the_best_answer_comes_first_and_scores_fall(kept: Kept) -> None:
    kept.keep("we talked about the weather", "the deployment failed on port 8443", "ports and deployments again", "nothing")
    page = kept.find("why did the deploy fail?", Mode.RANKED)
    assert page.hits[0].position == 2
    scores = [hit.score for hit in page.hits if hit.score is not None]
    assert scores == sorted(scores, reverse=True)
    assert page.hits[0].excerpt[slice(*page.hits[0].spans[0])] == "deployment"


def test_the_neighbours_of_a_message_count(kept: Kept) -> None:
    kept.keep("which bakery?", "the bakery on Elm street", "good", *("filler" for _ in range(20)), "a bakery somewhere in the text")
    assert kept.found("bakery", Mode.RANKED)[:2] == [2, 1]


@pytest.mark.parametrize(("text", "position"), [("数据库怎么迁移", 2), ("会議はいつ", 3), ("cafe", 4)])
def test_ranking_reads_cjk_by_pairs_and_letters_without_accents(kept: Kept, text: str, position: int) -> None:
    kept.keep("我们去吃饭", "数据库的迁移在昨天完成", "会議は金曜日です", "un café")
    assert kept.found(text, Mode.RANKED)[0] == position


def test_roles_and_tools_are_named_in_any_case(kept: Kept) -> None:
    kept.keep("look", {"role": "tool", "tool_call_id": "c", "name": "Read_File", "content": "look"})
    assert kept.found("look", role="TOOL") == kept.found("look", tool="read_file") == [2]

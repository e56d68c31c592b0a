"""The parts that every search is made of: spellings, sieves, excerpts, cursors, and what a query asks for."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from host.errors import UsageError
from host.messages.canonical import canonical
from host.messages.searchable import searchable
from host.store.query import Mode, Query
from host.store.searching.attempts import alternatives, attempts_of, without_edges
from host.store.searching.cursors import Mark, cursor_of, mark_of
from host.store.searching.excerpts import CUT, excerpt, richest_excerpt
from host.store.searching.folding import CLUSTER, Origins, composed, fold
from host.store.searching.matching import Pattern, Words, literal
from host.store.searching.needs import AllOf, AnyOf, Holds, Need
from host.store.searching.patterns import compiled, needed
from host.store.searching.presuming import presumption
from host.store.searching.ranking import Scored, pairs_of, ranked, terms_of
from tests.store.search_oracle import without_case

TRICKY = st.text(st.sampled_from("aAeEiIsSkKßẞﬁİıſK ́̈̂가ᄀᆨ각ㄱ数据ﾊﾟ🚀‍👩️\n\x00\ud800-_."), max_size=40)


# Spellings


@given(TRICKY)
def test_composing_and_folding_never_cross_the_edge_of_a_cluster(text: str) -> None:
    clusters = [found.group() for found in CLUSTER.finditer(text)]
    assert "".join(map(composed, clusters)) == composed(text)
    assert "".join(map(fold, clusters)) == fold(text)


@given(TRICKY, TRICKY, TRICKY)
def test_a_match_in_the_folded_text_comes_back_to_where_it_was_written(before: str, needle: str, after: str) -> None:
    text = f"{before} {needle}. {after}"
    for start, end in Words(((fold(needle),),)).spans(text) if needle else ():
        assert fold(needle) in fold(text[start:end])


FOLDED = {
    "STRASSE straße ẞ": "strasse strasse ss",
    "e\u0301 \u00c9": "\u00e9 \u00e9",
    "\u212a \u212b \u017f \ufb01": "k \u00e5 s fi",
    "\u03a3\u03c3\u03c2": "\u03c3\u03c3\u03c3",
    "J\u030c \u01f0": "j\u030c j\u030c",
    "I i": "i i",
    "\u0130stanbul": "i\u0307stanbul",
    "\u0131": "\u0131",
    "\u1112\u1161\u11ab": "\ud55c",
}
"""Texts and how they are folded, from the tables of Unicode (CaseFolding.txt, C and F) and not from the code."""


@pytest.mark.parametrize("text", FOLDED)
def test_folding_is_nfc_and_full_case_folding(text: str) -> None:
    assert fold(text) == without_case(text) == FOLDED[text]


def holds(need: Need | None, folded: str) -> bool:
    match need:
        case Holds(text):
            return text in folded
        case AllOf(parts):
            return all(holds(part, folded) for part in parts)
        case AnyOf(parts):
            return any(holds(part, folded) for part in parts)
    return True


DOTTED: tuple[tuple[Words | Pattern, list[str]], ...] = (
    (literal("istanbul"), []),
    (literal("\u0130STANBUL"), ["\u0130stanbul", "i\u0307stanbul"]),
    (Pattern("(?i)istanbul"), ["\u0130stanbul"]),
    (Pattern("(?i)Istanbul"), ["\u0131stanbul"]),
    (Pattern("istanbul"), []),
)


@pytest.mark.parametrize(("matcher", "found"), DOTTED)
def test_a_dotted_i_is_another_letter_to_a_literal_and_the_same_to_a_pattern_without_case(
    matcher: Words | Pattern, found: list[str]
) -> None:
    """Each is what its tables say, and what is needed lets all through that matches."""
    spelt = ["\u0130stanbul", "i\u0307stanbul", "\u0131stanbul"]
    assert [text for text in spelt if matcher.finds(text, 1)] == found
    assert all(holds(matcher.need, fold(text)) for text in found)


def test_a_sharp_s_is_one_character_where_it_is_written() -> None:
    assert Origins("Straße!", fold).span(4, 6) == (4, 5)
    assert list(literal("strasse").spans("Die STRASSE, die Straße")) == [(4, 11), (17, 23)]
    assert list(literal("\u00e9").spans("cafe\u0301 caf\u00e9")) == [(3, 5), (9, 10)]


def test_only_the_dotted_and_dotless_i_match_what_they_do_not_fold_to() -> None:
    """The sieve of a pattern without case rests on this."""
    everything = "".join(map(chr, range(0x110000)))
    unsure = set()
    for character in map(chr, range(33, 127)):
        matched = regex.findall("(?i)" + regex.escape(character), everything)
        unsure |= {character for other in matched if unicodedata.normalize("NFC", other).casefold() != character.casefold()}
    assert unsure == {"i", "I"}


# Sieves


@pytest.mark.parametrize(
    ("pattern", "need"),
    [
        ("deploy", Holds("deploy")),
        ("Deploy.*Done", AllOf((Holds("deploy"), Holds("done")))),
        ("foo|bar", AnyOf((Holds("foo"), Holds("bar")))),
        ("ba(?:nana|rry)", AllOf((Holds("ba"), AnyOf((Holds("nana"), Holds("rry")))))),
        ("a(?:bc|d*)", Holds("a")),
        ("(abc)+", Holds("abc")),
        ("(abc)*", None),
        ("x{2,}y?", Holds("x")),
        ("(?!no)yes", Holds("yes")),
        ("(?i)TODO", Holds("todo")),
        ("(?i)fIx", AnyOf((Holds("fix"), Holds("fi\u0307x"), Holds("fıx")))),
        ("(?i:É)a", Holds("a")),
        (r"\d+", None),
        ("[a-c]", None),
        ("数据库?", Holds("数据")),
        ("--dry-run", Holds("--dry-run")),
        (r'\{"name": \[', Holds('{"name": [')),
    ],
)
def test_a_pattern_says_what_every_match_holds(pattern: str, need: Need | None) -> None:
    assert needed(pattern) == need


@pytest.mark.parametrize("pattern", ["[[:alpha:]]x", "(?:foo){e<=1}", r"\p{Lu}abc", "(?<name>abc)", "(?V1)[a--b]c"])
def test_nothing_is_certain_of_what_only_the_regex_module_reads(pattern: str) -> None:
    assert needed(pattern) is None
    compiled(pattern)


@pytest.mark.parametrize(
    ("pattern", "place"), [("x(", "at its end"), ("a[", "at its end"), ("*", "character 1"), (r"\p{Nope}", "at its end")]
)
def test_a_bad_pattern_is_an_error_that_names_the_place(pattern: str, place: str) -> None:
    with pytest.raises(UsageError, match=place):
        Pattern(pattern)


# A glance at the bytes

SPOKEN_TEXT = st.text(st.sampled_from('aAeEiIsSkKfFnN10.+-_ ,/\\"\nßﬁİſK\u0301数;base64'), max_size=30)


@given(SPOKEN_TEXT, SPOKEN_TEXT, st.sampled_from(["text", "ascii arguments", "arguments", "base64", "number"]))
def test_a_glance_never_rejects_what_matches(text: str, needle: str, where: str) -> None:
    whole = f"{text}{needle}{text}"
    message: Any = {
        "text": {"role": "user", "content": whole},
        "ascii arguments": {"role": "user", "tool_calls": [{"function": {"name": "f", "arguments": json.dumps({"a": whole})}}]},
        "arguments": {"role": "user", "tool_calls": [{"function": {"name": "f", "arguments": json.dumps([whole], ensure_ascii=False)}}]},
        "base64": {"role": "user", "content": f"data:x;base64,QUJD{whole}"},
        "number": {"role": "user", "content": [1e5, float("inf"), float("nan"), 10.50]},
    }[where]
    found = searchable(message)
    if matches := needle and fold(needle) in fold(found):
        assert presumption(Holds(fold(needle)))(canonical(message))
    for piece in ("inf", "nan", "100000.0", "10.5", fold(found)[3:9]):
        if piece and piece in fold(found):
            assert presumption(AllOf((Holds(piece),)))(canonical(message)), matches


def test_a_glance_rejects_what_cannot_match() -> None:
    may_match = presumption(AnyOf((Holds("port 8443"), AllOf((Holds("red"), Holds("fox"))))))
    assert [may_match(canonical({"role": "user", "content": text})) for text in ("PORT 8443", "port 80", "Fox, red", "red")] == [
        True,
        False,
        True,
        False,
    ]


# What a query asks for


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("hello", [Mode.WORDS, Mode.RANKED]),
        ("two words", [Mode.WORDS, Mode.RANKED]),
        ("foo_bar", [Mode.WORDS, Mode.RANKED]),
        ("src/main.py", [Mode.LITERAL, Mode.WORDS, Mode.RANKED]),
        ("会議", [Mode.LITERAL, Mode.WORDS, Mode.RANKED]),
        ('"quoted text"', [Mode.LITERAL]),
        ('"', [Mode.LITERAL]),
        ("()", [Mode.LITERAL]),
        ("OR", [Mode.RANKED]),
        (" \t", []),
        ("", []),
    ],
)
def test_what_is_not_said_to_be_a_mode_is_tried_in_order(text: str, modes: list[Mode]) -> None:
    assert [attempt.mode for attempt in attempts_of(Query(text))] == modes


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("a OR b", (("a",), ("b",))),
        ("x|y|z", (("x",), ("y",), ("z",))),
        ("red fox | blue hen", (("red", "fox"), ("blue", "hen"))),
        ("OR hello", (("hello",),)),
        ("hello AND", (("hello",),)),
        ("a or b", (("a", "or", "b"),)),
        ("“Ports,” (8443)?!", (("ports", "8443"),)),
        ("don't C:\\a #123 50%", (("don't", "c:\\a", "123", "50"),)),
        ("|||", ()),
    ],
)
def test_alternatives_are_groups_of_bare_words(text: str, groups: tuple[tuple[str, ...], ...]) -> None:
    assert alternatives(text) == groups


def test_pictures_are_no_punctuation() -> None:
    assert without_edges("«🚀»") == "🚀"


def test_stop_words_count_only_where_there_is_nothing_else() -> None:
    assert (terms := terms_of("What did we decide about the Ports?")) and terms.words == ("decide", "ports")
    assert (terms := terms_of("who are you")) and terms.words == ("who", "are", "you")
    assert (terms := terms_of("the 数据库 café")) and (terms.words, terms.pairs) == (("cafe",), ("数据", "据库"))
    assert terms_of("?!") is None
    assert pairs_of("数") == ["数"]


def test_a_message_is_ranked_with_its_neighbours() -> None:
    scored = [Scored(1, "a", 1, 1.0), Scored(2, "a", 2, 1.0), Scored(3, "a", 3, 1.0), Scored(4, "b", 4, 2.5), Scored(9, "a", 9, 1.0)]
    assert ranked(scored) == [(2, 3.0), (4, 2.5), (3, 2.0), (1, 2.0), (9, 1.0)]


# Excerpts


@given(st.integers(0, 900), st.integers(0, 900), st.integers(1, 600))
def test_an_excerpt_shows_the_first_match_and_all_others_in_it(before: int, after: int, length: int) -> None:
    text = "." * before + "x" * length + "." * after + "x"
    piece, spans = excerpt(text, [(before, before + length), (len(text) - 1, len(text))])
    assert len(piece) <= 242
    assert spans
    assert all(set(piece[start:end]) == {"x"} for start, end in spans)
    assert piece.strip(CUT) in text
    assert piece.startswith(CUT) == (not text.startswith(piece.rstrip(CUT)))


def test_an_excerpt_keeps_newlines_and_begins_at_the_start_where_nothing_matched() -> None:
    assert excerpt("one\ntwo", []) == ("one\ntwo", ())
    assert excerpt("a" * 500, [])[0] == "a" * 240 + CUT


def test_the_richest_excerpt_is_where_most_different_matches_are() -> None:
    text = "error " + "." * 400 + " error error gateway times out " + "." * 400
    spans = [(start, start + len(word)) for word in ("error", "gateway", "out") for start in [m.start() for m in re.finditer(word, text)]]
    piece, found = richest_excerpt(text, sorted(spans))
    assert [piece[start:end] for start, end in found] == ["error", "error", "gateway", "out"]
    assert richest_excerpt("nothing", []) == ("nothing", ())


# Cursors


@given(st.sampled_from([Mode.WORDS, Mode.RANKED]), st.integers(0, 1 << 62), st.lists(st.integers(0, 1 << 40)))
def test_a_cursor_holds_its_mark(mode: Mode, below: int, seen: list[int]) -> None:
    query = Query("some\ud800thing", role="user")
    mark = Mark(mode, below, tuple(seen))
    assert mark_of(Query("some\ud800thing", role="user", limit=3, cursor=cursor_of(query, mark))) == mark


@pytest.mark.parametrize("cursor", ["", "words", "words-000000000000-1f", "nomode-{}-1f", "words-{}-xyz", "words-{}-"])
def test_another_searches_cursor_is_an_error(cursor: str) -> None:
    digest = cursor_of(Query("a"), Mark(Mode.WORDS, 1)).split("-")[1]
    with pytest.raises(UsageError, match="another search"):
        mark_of(Query("a", cursor=cursor.format(digest)))
    assert mark_of(Query("a")) is None

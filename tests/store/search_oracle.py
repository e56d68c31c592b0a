"""The search held against a plain scan: thousands of patterns cut from the messages themselves, same hits, same order.

``python -m tests.store.search_oracle PATH...`` does it over every conversation below the paths.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import regex

from host.errors import FormatError
from host.formats import read
from host.messages.searchable import searchable
from host.messages.types import Message
from host.store.protocols import Search
from host.store.query import Mode, Query
from host.store.sqlite.store import SqliteStore

PAGE = 100
MOST = 500  # hits of one pattern that are compared; the newest come first, so these are the same at any number


@dataclass(frozen=True)
class Pattern:
    """Something to look for."""

    kind: str
    text: str
    mode: Mode


@dataclass(frozen=True)
class Text:
    """One message as the oracle knows it."""

    id: str
    text: str
    folded: str
    composed: str


def conversations(paths: Iterable[Path]) -> Iterator[list[Message]]:
    """Every conversation in the files below the paths; what is no conversation is passed over."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.suffix in (".json", ".jsonl", ".traj"):
                try:
                    yield from (transcript.messages for transcript in read(file, tolerant=True))
                except FormatError:
                    continue


def archive(store: SqliteStore, histories: Iterable[Sequence[Message]]) -> list[Text]:
    """Keep the histories, each as a conversation; returns what a scan reads, newest first."""
    texts: list[Text] = []
    for history in histories:
        conversation = store.sessions.create().conversation
        positions = store.archive(conversation).extend(history)
        texts += [known(f"{conversation}:{position}", searchable(message)) for position, message in zip(positions, history, strict=True)]
    return texts[::-1]


def composed(text: str) -> str:
    """The text in NFC."""
    return unicodedata.normalize("NFC", text)


def without_case(text: str) -> str:
    """What docs/search.md promises of case, written out once more: each character of the NFC text by its full case folding."""
    return "".join(character.casefold() for character in composed(text))


def known(name: str, text: str) -> Text:
    """A message with its spellings."""
    return Text(name, text, without_case(text), composed(text))


def expected(texts: Sequence[Text], pattern: Pattern) -> list[str]:
    """What a plain scan finds, newest first."""
    folded = without_case(pattern.text)
    if pattern.mode is Mode.REGEX:
        wanted = regex.compile(pattern.text)
        return [text.id for text in texts if wanted.search(text.composed)]
    words = [folded] if pattern.mode is Mode.LITERAL else folded.split()
    return [text.id for text in texts if all(word in text.folded for word in words)]


def found(search: Search, query: Query, most: int = MOST) -> list[str]:
    """What the search finds, page by page."""
    ids: list[str] = []
    page = search.find(replace(query, limit=PAGE))
    ids += [hit.id for hit in page.hits]
    while page.cursor is not None and len(ids) < most:
        page = search.find(replace(query, limit=PAGE, cursor=page.cursor))
        ids += [hit.id for hit in page.hits]
    return ids


def difference(search: Search, texts: Sequence[Text], pattern: Pattern) -> str | None:
    """What is wrong with the answer to one pattern, None where it is right."""
    right = expected(texts, pattern)[:MOST]
    ids = found(search, Query(pattern.text, mode=pattern.mode, seconds=60))[:MOST]
    if ids == right:
        return None
    missed, wrong = len(set(right) - set(ids)), len(set(ids) - set(right))
    return f"{pattern.kind} {pattern.mode} {pattern.text!r}: {missed} missed, {wrong} wrong, {len(ids)} instead of {len(right)}"


# Patterns


def patterns(texts: Sequence[Text], count: int, seed: int = 1) -> list[Pattern]:
    """Patterns of every kind, most of them cut from the texts, each kind in turn."""
    chance = random.Random(seed)
    told = [text.text for text in texts if text.text.strip()]
    made: list[Pattern] = []
    tries = 0
    while len(made) < count and tries < 20 * count:
        kind = list(KINDS)[tries % len(KINDS)]
        tries += 1
        if (text := KINDS[kind](chance, told)) and text.strip():
            made.append(Pattern(kind, text, MODES.get(kind, Mode.LITERAL)))
    return made


Chance = random.Random
Kind = Callable[[Chance, Sequence[str]], str | None]


def cut(shape: str, least: int = 1, most: int = 1) -> Kind:
    """A stretch of a text that has the shape, several of them joined by blanks."""
    compiled = regex.compile(shape)

    def kind(chance: Chance, texts: Sequence[str]) -> str | None:
        for _ in range(30):
            text = chance.choice(texts)
            start = chance.randrange(len(text))
            pieces = [piece.group() for piece in compiled.finditer(text[start : start + 2_000])]
            if pieces:
                return " ".join(chance.sample(pieces, min(len(pieces), chance.randint(least, most))))
        return None

    return kind


def stretch(chance: Chance, texts: Sequence[str]) -> str:
    text = chance.choice(texts)
    start = chance.randrange(len(text))
    return text[start : start + chance.randint(1, 40)]


def other_case(chance: Chance, texts: Sequence[str]) -> str:
    return stretch(chance, texts).swapcase()


def absent(chance: Chance, texts: Sequence[str]) -> str:
    return "".join(chance.choice("qxzjvkw0189_-.数据🚀") for _ in range(chance.randint(3, 9)))


def changed(chance: Chance, texts: Sequence[str]) -> str:
    """Almost what is there."""
    text = stretch(chance, texts)
    at = chance.randrange(len(text))
    return text[:at] + chance.choice("zq7 -") + text[at + 1 :]


def expression(chance: Chance, texts: Sequence[str]) -> str:
    """A regular expression around a stretch of a text."""
    piece = stretch(chance, texts).strip() or "a"
    plain = regex.escape(piece, special_only=True)
    word = re.escape(chance.choice(re.findall(r"\w+", piece) or ["a"]))
    shapes = (
        plain,
        f"(?i){plain}",
        f"(?i:{plain.swapcase()})" if "\\" not in plain else plain,
        f"{word}.{{0,9}}",
        f"^{word}|{plain}$",
        f"(?:{word}|zzqq)s?",
        rf"\b{word}\b",
        f"[{word[0]}]{word[1:]}" if word[0] not in "\\^" else word,
        f"({word})+(?!q)",
        f"(?=.*{word}).{{3}}",
        rf"\w+[-_./]{word}",
        r"[0-9]{2,}[^\w\s][0-9]+",
        rf"(?:{word})?{word[-1] if word[-1].isalnum() else 'e'}",
    )
    return chance.choice(shapes)


KINDS: dict[str, Kind] = {
    "word": cut(r"\w+"),
    "words": cut(r"\w+", 2, 4),
    "two words": cut(r"\w+", 2, 2),
    "phrase": cut(r"\w+(?: \w+){1,4}"),
    "stretch": stretch,
    "other case": other_case,
    "identifier": cut(r"\w+(?:[._]\w+)+"),
    "path": cut(r"[\w.~-]*(?:/[\w.-]+)+/?"),
    "hyphens": cut(r"\w+(?:-\w+)+"),
    "punctuation": cut(r"[^\w\s]{1,4}"),
    "CJK": cut(r"[\p{Han}\p{Hiragana}\p{Katakana}]{1,6}"),
    "one CJK": cut(r"[\p{Han}\p{Hiragana}\p{Katakana}]"),
    "two CJK": cut(r"[\p{Han}\p{Hiragana}\p{Katakana}]{2}"),
    "CJK words": cut(r"[\p{Han}\p{Hiragana}\p{Katakana}]{1,3}", 2, 3),
    "one or two": cut(r"\S{1,2}"),
    "symbols": cut(r"[\p{So}\p{Sm}]\S?"),
    "mixed": cut(r"\w[\p{Han}\p{Hiragana}\p{Katakana}]|[\p{Han}]\w{1,4}"),
    "expression": expression,
    "expression 2": expression,
    "absent": absent,
    "changed": changed,
}
MODES = {
    "words": Mode.WORDS,
    "two words": Mode.WORDS,
    "CJK words": Mode.WORDS,
    "expression": Mode.REGEX,
    "expression 2": Mode.REGEX,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and report; 1 where an answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.store.search_oracle", description=__doc__)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--patterns", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "archive.db", durability="normal")
        texts = archive(store, conversations(given.paths))
        store.search.catch_up()
        wanted = patterns(texts, given.patterns, given.seed)
        start = time.perf_counter()
        wrong = [fault for pattern in wanted if (fault := difference(store.search, texts, pattern))]
        seconds = time.perf_counter() - start
        store.close()
    print("\n".join(wrong))
    print(dict(Counter(pattern.kind for pattern in wanted)), file=sys.stderr)
    print(f"{len(wanted):,} patterns over {len(texts):,} messages: {len(wrong)} answered differently from a scan ({seconds:.0f} s)")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Large archives for measuring search: the same at every run, with needles whose places are known and decoys beside them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

from host.messages.types import Message
from host.store.query import Mode, Query
from host.store.sqlite.store import SqliteStore

PER_CONVERSATION = 1_000
BATCH = 1_000
CHINESE = 0.15  # of the rows
COMMON = 0.3  # of the rows hold the common word
WORDS_A_ROW = 78  # about 485 bytes
LEXEMES_A_ROW = 78  # the same in Chinese
PLACES = (0.05, 0.5, 0.95)  # of the archive, where each needle is
DECOYS = 60  # rows that hold a needle's parts in other order or without its punctuation
ROUNDS = 5  # needles of each class

VOCABULARY = 12_000  # words
LEXICON = 6_000  # Chinese words, of two characters
RESERVED = frozenset("鑫龘鬱黻黼数据库迁移")  # of the needles

# fmt: off
SYLLABLES = (
    "ba", "be", "bi", "bo", "ca", "co", "da", "de", "di", "do", "fa", "fe", "ga", "ha", "he", "ka", "ke", "la", "le", "li",
    "lo", "ma", "me", "mi", "na", "ne", "no", "pa", "po", "ra", "re", "ri", "ro", "sa", "se",
)
PLAIN = ("the", "a", "of", "to", "in", "and", "is", "that", "it", "for", "on", "with", "as", "was", "at", "by", "this", "from", "or")
# fmt: on
TOOLS = ("grep", "read_file", "write_file", "bash")


@dataclass(frozen=True)
class Needle:
    """What is looked for, and how it and its decoys look in a row."""

    kind: str
    query: Query
    planted: str
    decoy: str = ""


CLASSES = (
    "rare word", "common word", "two words", "phrase", "CJK 2", "CJK 4", "path", "snake_case", "dotted", "hyphenated id",
    "substring", "punctuation", "error code", "emoji", "regex",
)  # fmt: skip


def needles() -> list[Needle]:
    """All needles, ``ROUNDS`` of each class."""
    return [needle for number in range(ROUNDS) for needle in _needles(number)]


def _needles(n: int) -> list[Needle]:
    a, b, c = f"quv{'aeiou'[n]}x", f"wyz{'aeiou'[n]}k", f"xiq{'aeiou'[n]}v"
    cjk = "鑫龘鬱黻黼"[n]
    marks = ("<=>!", "~~>^", "{{%|", "@@?!", "^^_~")[n]
    return [
        Needle("rare word", Query(f"zeb{a}", mode=Mode.WORDS), f"zeb{a}"),
        Needle("common word", Query("error", mode=Mode.WORDS), ""),
        Needle("two words", Query(f"al{b} om{c}", mode=Mode.WORDS), f"al{b} then om{c}", f"al{b}"),
        Needle("phrase", Query(f'"the {c}ta with a {b}ra"'), f"the {c}ta with a {b}ra", f"{b}ra with a {c}ta the"),
        Needle("CJK 2", Query(f"{cjk}数"), f"把{cjk}数据", f"数{cjk}"),
        Needle("CJK 4", Query(f"{cjk}库迁移"), f"的{cjk}库迁移了", f"库迁移{cjk}"),
        Needle("path", Query(f"src/{a}/main{n}.py"), f"src/{a}/main{n}.py", f"src {a} main{n} py"),
        Needle("snake_case", Query(f"{a}_bar_{b}"), f"{a}_bar_{b}", f"{a} bar {b}"),
        Needle("dotted", Query(f"{a}.path.join{b}"), f"{a}.path.join{b}", f"{a} path join{b}"),
        Needle("hyphenated id", Query(f"req-7f3a-99{n}1-beef"), f"req-7f3a-99{n}1-beef", f"beef 99{n}1 req 7f3a"),
        Needle("substring", Query(f"ner{c}tok", mode=Mode.LITERAL), f"in{c[:2]}ner{c}token", f"ner {c} tok"),
        Needle("punctuation", Query(marks), f"a {marks} b", " ".join(marks)),
        Needle("error code", Query(f"E0{n}{n}77", mode=Mode.WORDS), f"E0{n}{n}77"),
        Needle("emoji", Query("🦜🦚🦩🦉🦆"[n]), f"ok {'🦜🦚🦩🦉🦆'[n]} done", "🚀"),
        Needle("regex", Query(rf"rx{a}-[0-9]{{4}}-z\w+", mode=Mode.REGEX), f"rx{a}-2024-zulu", f"rx{a} 2024 zulu"),
    ]  # fmt: skip


@dataclass(frozen=True)
class Archive:
    """An archive of so many rows: what is in each, counted from 0."""

    size: int

    def planted(self, number: int) -> list[int]:
        """The rows of a needle, oldest first."""
        return [int(self.size * place) + number * 3 for place in PLACES]

    def texts(self) -> Iterator[str]:
        """The text of every row."""
        extra = self._extra()
        return (self._text(row, extra.get(row, "")) for row in range(self.size))

    def text(self, row: int) -> str:
        """The text of one row."""
        return self._text(row, self._extra().get(row, ""))

    def messages(self) -> Iterator[Message]:
        """Every row as a message."""
        return (message(row, text) for row, text in enumerate(self.texts()))

    def _extra(self) -> dict[int, str]:
        return _extra(self)

    def _text(self, row: int, extra: str) -> str:
        chance = random.Random(row)
        if chance.random() < CHINESE:
            lexemes = chance.choices(_lexicon(), cum_weights=_sums(len(_lexicon())), k=LEXEMES_A_ROW)
            lexemes.insert(len(lexemes) // 2, extra)
            return "".join(lexemes)
        words = chance.choices(_vocabulary(), cum_weights=_sums(len(_vocabulary())), k=WORDS_A_ROW)
        if chance.random() < COMMON:
            words[chance.randrange(len(words))] = "error"
        words.insert(len(words) // 2, extra)
        return " ".join(words)


@cache
def _extra(archive: Archive) -> dict[int, str]:
    """What is put into which rows. A decoy never takes a needle's row."""
    extra: dict[int, str] = {}
    step = archive.size // (DECOYS + 1)
    for number, needle in enumerate(needles()):
        if needle.decoy:
            extra |= {at * step + number * 2 + 1: needle.decoy for at in range(DECOYS)}
    for number, needle in enumerate(needles()):
        extra |= dict.fromkeys(archive.planted(number), needle.planted)
    return extra


def message(row: int, text: str) -> Message:
    """A row as a message: a third each of users, assistants and tools."""
    match row % 3:
        case 0:
            return {"role": "user", "content": text}
        case 1:
            return {"role": "assistant", "content": text}
    return {"role": "tool", "tool_call_id": f"call_{row}", "name": TOOLS[row % 4], "content": text}


def build(path: Path, size: int) -> SqliteStore:
    """An archive of that many rows in a file, not indexed yet."""
    store = SqliteStore(path, durability="normal")
    batch: list[Message] = []
    archive = store.archive(store.sessions.create(title="conversation 0").conversation)
    for row, one in enumerate(Archive(size).messages(), 1):
        batch.append(one)
        if len(batch) == BATCH or row == size:
            archive.extend(batch)
            batch = []
        if row % PER_CONVERSATION == 0 and row < size:
            archive = store.archive(store.sessions.create(title=f"conversation {row}").conversation)
    return store


@cache
def _vocabulary() -> tuple[str, ...]:
    """Words that can be spoken, the common ones first."""
    chance = random.Random(0)
    made = dict.fromkeys("".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(VOCABULARY))
    return (*PLAIN, *made)


@cache
def _lexicon() -> tuple[str, ...]:
    """Chinese words, and the marks between them."""
    chance = random.Random(0)
    characters = [chr(code) for code in chance.sample(range(0x4E00, 0x9000), 2_500) if chr(code) not in RESERVED]
    made = ("".join(chance.choices(characters, cum_weights=_sums(len(characters)), k=2)) for _ in range(LEXICON))
    return ("的", "，", "了", "。", *dict.fromkeys(made))


@cache
def _sums(length: int) -> tuple[float, ...]:
    """Cumulated weights as in a language: a word's share falls with its rank."""
    return tuple(accumulate(1 / (rank + 3) for rank in range(length)))

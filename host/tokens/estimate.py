"""How many tokens a text has, without a vocabulary: an estimate that knows scripts, words, digits and punctuation.

Every byte becomes the letter of its class, and the string of classes is cut the way o200k cuts a text before it looks
into its vocabulary: words with the mark or blank before them, three digits, punctuation, line ends. Equal shapes cost the
same: what such pieces cost on average. Han and kana are read character by character, because pairs of them are tokens.

The costs were fitted (ridge regression towards the measured mean of each shape) on English prose and manual pages,
Python, JavaScript, C, JSON, listings, logs, base64, hex, Chinese, Japanese, Korean, German, French, Spanish, Russian and
Ukrainian. The total of a source outside the fit was off by at most 2.0 % in English, 4.1 % in code, 2.4 % in JSON, 1.6 %
in base64 and hex, 3.3 % in Japanese, 2.1 % in traditional Chinese, 6.1 % in Chinese (the others 2.7 %), 3.9 % in ls and
find, 5.3 % in package lists, 7 % in test output. Those sources were looked at while features were chosen.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from functools import lru_cache

from host.tokens.han import KNOWN, PAIRS

WHOLE_CHARS = 32_768  # longer texts are sampled: their estimate no longer depends on their length
SAMPLES = 64
SAMPLE_CHARS = WHOLE_CHARS // SAMPLES
LONGEST_WORD = 80  # a longer piece is a run: what words cost says nothing about it

_CONTINUATION = bytes(range(0x80, 0xC0))
_CLASSES: dict[str, bytes] = {
    "l": string.ascii_lowercase.encode(),
    "U": string.ascii_uppercase.encode(),
    "d": string.digits.encode(),
    "s": b" ",
    "T": b"\t",
    "n": b"\r\n",
    "/": b"/",
    "x": bytes(range(0xC0, 0xCC)),  # accents
    "r": bytes(range(0xCC, 0xD4)),  # Greek, Cyrillic
    "a": bytes(range(0xD4, 0xE0)),  # Hebrew, Arabic
    "t": bytes((0xE0, 0xE1)),  # Indic scripts, Thai
    "y": bytes((0xE2,)),  # symbols, typographic punctuation
    "k": bytes((0xE3,)),  # kana, CJK punctuation
    "h": bytes(range(0xE4, 0xEA)),  # Han
    "g": bytes(range(0xEA, 0xEE)),  # Hangul
    "f": bytes((0xEE, 0xEF)),  # full width forms
    "e": bytes(range(0xF0, 0xF8)),  # emoji, rare scripts
}
_PIECE = re.compile(
    rb"[sTp/]?U*[lx]+|[sTp/]?U+|[sTp/]?r+|d{1,3}|s?[p/]+n*|[sT]*n[nsT]*n|[sT]*n|[sT]+(?![^sT])|[sT]+(?=[sT])|[sT](?![rahgkte])"
)
_ENCODED = re.compile(rb"[lUd]{20,}")  # with small and capital letters and digits: base64 or the like
_CJK = re.compile("[\u3040-\u30ff\u4e00-\u9fff]+")

# Tokens of a word by what stands before it (blank, mark, slash, nothing) and its case; one column per length from 1 on.
_WORDS: dict[tuple[str, str], tuple[float, ...]] = {
    ("s", "lower"): (1.20, 0.64, 1.11, 0.87, 1.22, 1.08, 1.17, 0.73, 1.17, 1.02, 1.37, 1.41, 1.43, 1.92),
    ("p", "lower"): (0.98, 0.74, 1.41, 1.25, 1.21, 0.99, 0.66, 1.36, 1.63, 1.99, 2.03, 2.44, 2.62, 3.27),
    ("/", "lower"): (0.85, 1.56, 1.11, 1.34, 1.98, 1.69, 1.66, 2.17, 1.80, 1.99, 2.83, 2.62, 2.67, 2.60),
    ("", "lower"): (1.13, 0.80, 1.06, 0.88, 1.41, 1.15, 1.07, 1.63, 1.41, 3.86, 2.13, 2.52, 2.36, 3.32),
    ("s", "Capital"): (0.00, 0.97, 1.94, 1.03, 1.48, 1.08, 1.23, 1.40, 1.55, 1.97, 1.91, 2.65, 2.46, 3.58),
    ("p", "Capital"): (0.00, 1.35, 1.51, 1.66, 2.00, 2.05, 2.15, 2.15, 2.76, 2.28, 2.75, 3.13, 2.87, 4.36),
    ("/", "Capital"): (0.00, 1.92, 1.98, 1.84, 1.08, 2.25, 2.27, 2.38, 2.42, 3.46, 3.17, 5.00, 2.00, 2.25),
    ("", "Capital"): (0.00, 1.47, 1.25, 1.08, 1.09, 1.27, 1.11, 1.24, 1.50, 1.40, 1.88, 2.01, 1.92, 3.60),
    ("s", "UPPER"): (0.71, 0.96, 0.77, 1.50, 2.03, 1.71, 1.80, 2.01, 2.68),
    ("p", "UPPER"): (1.61, 1.68, 2.03, 1.62, 1.73, 1.47, 1.69, 2.35, 2.55),
    ("/", "UPPER"): (0.85, 1.85, 2.06, 2.07, 2.45, 2.17, 1.73, 3.28, 4.08),
    ("", "UPPER"): (1.49, 1.04, 1.54, 1.61, 1.67, 1.97, 2.11, 2.44, 3.34),
}
_MIXED = {"s": 2.06, "p": 2.60, "/": 2.76, "": 2.32}  # several capitals and then small letters: HTTPServer, and most of base64
_MIXED_LETTER = 0.157
_LONGER_UPPER = -0.344  # each letter beyond the last column
_LONGER_LOWER = 0.069
_LONGEST = 9  # letters beyond the last column that still count
_RUNS = {b"lxU": 0.42, b"r": 0.6, b"n": 0.06, b"sT": 0.01, b"p/": 0.05}
"""Runs that no language has, tokens a character: of letters, line ends, blanks, marks; one letter over and over has fewer."""
_DIGITS = (1.067, 1.235, 1.033)
# Tokens of punctuation with and without a blank before it; one column per length, the last one for everything longer.
_MARKS: dict[bool, tuple[float, ...]] = {
    False: (0.94, 1.13, 1.01, 1.88, 2.16, 2.96),
    True: (0.74, 0.64, 1.25, 2.09, 2.65, 2.64),
}
_MARKS_LINE_END = 0.129
_CYRILLIC = (
    0.84,
    0.93,
    0.80,
    1.78,
    1.36,
    1.96,
    2.05,
    2.07,
    2.04,
    1.87,
    2.30,
    2.01,
)  # Greek too; one column per length, 8 % below documentation: what people say has simpler words
_LONGER_MARKS = 0.153
_LONGEST_MARKS = 64
_LINE_END = 1.377
_LINE_END_BLANK = -0.147  # several of them, or with blanks between, are one token
_BLANKS = 1.156
_ENCODED_CHAR = 0.118
_BORDERS: dict[bytes, float] = {  # words broken up inside cost more or less than their parts
    b"lU": -0.304,  # a capital inside a word
    b"dl": -0.184,
    b"ld": 0.091,
    b"dU": -0.252,
    b"Ud": -0.239,
}
_SCRIPTS: dict[bytes, float] = {
    b"x": 1.320,  # accents
    b"a": 0.290,  # Hebrew, Arabic
    b"t": 0.490,  # Indic scripts, Thai
    b"y": 0.258,  # symbols, typographic punctuation
    b"g": 0.696,  # Hangul
    b"f": 0.630,  # full width punctuation
    b"fn": -2.969,  # a line's end goes with the full stop before it
    b"kn": 0.117,
    b"hk": -0.639,
    b"kh": 0.759,
    b"e": 2.222,  # emoji, rare scripts
}
_UKRAINIAN = "іїєґІЇЄ"  # words with these are rarer than Russian ones
_UKRAINIAN_LETTER = 1.174
_RUN = 0.300  # the first character of a run may go with what stands before it
_PAIR = 0.727
_PAIR_AFTER_PAIR = 0.576
_KANA = 0.860
_HAN = 1.035
_RARE_HAN = 2.095


def _class_table() -> bytes:
    table = bytearray(b"p" * 256)
    for letter, members in _CLASSES.items():
        for byte in members:
            table[byte] = ord(letter)
    return bytes(table)


_TABLE = _class_table()


def estimate_text(text: str) -> int:
    """Tokens of a text, about 5 % of o200k's count per kind of text; never less than 1 for a text that is not empty."""
    if not text:
        return 0
    sample = sample_of(text)
    tokens = _weigh(sample) * len(text) / len(sample)
    return max(1, round(tokens))


def sample_of(text: str) -> str:
    """The text itself, or evenly spread windows of a long one, in order."""
    if len(text) <= WHOLE_CHARS:
        return text
    stride = (len(text) - SAMPLE_CHARS) / (SAMPLES - 1)
    starts = (round(index * stride) for index in range(SAMPLES))
    return "".join(text[start : start + SAMPLE_CHARS] for start in starts)


def _weigh(text: str) -> float:
    classes = text.encode("utf-8", "surrogatepass").translate(_TABLE, _CONTINUATION)
    tokens = sum(count * _piece(piece) for piece, count in Counter(_PIECE.findall(classes)).items())
    tokens += _weighted(classes, _BORDERS) + _ENCODED_CHAR * _encoded_chars(classes)
    if text.isascii():
        return tokens
    ukrainian = sum(map(text.count, _UKRAINIAN))
    return tokens + _weighted(classes, _SCRIPTS) + _UKRAINIAN_LETTER * ukrainian + sum(map(_run, _CJK.findall(text)))


def _weighted(classes: bytes, weights: dict[bytes, float]) -> float:
    return sum(weight * classes.count(pattern) for pattern, weight in weights.items())


def _encoded_chars(classes: bytes) -> int:
    return sum(len(run) for run in _ENCODED.findall(classes) if b"d" in run and b"U" in run and b"l" in run)


@lru_cache(maxsize=4_096)
def _piece(piece: bytes) -> float:
    if len(piece) > LONGEST_WORD:
        return len(piece) * next(cost for marks, cost in _RUNS.items() if piece[-1:] in marks)
    if piece[-1:] in b"lxU":
        return _word(piece)
    if piece[-1:] == b"r":
        return _CYRILLIC[min(len(piece.lstrip(b"sTp/")), len(_CYRILLIC)) - 1]
    if piece[:1] == b"d":
        return _DIGITS[len(piece) - 1]
    if piece.strip(b"sTn"):
        return _marks(piece)
    if b"n" in piece:
        return _LINE_END + (_LINE_END_BLANK if len(piece) > 1 else 0.0)
    return _BLANKS


def _word(piece: bytes) -> float:
    before = piece[:1].decode() if piece[:1] in b"sTp/" else ""
    letters = piece[len(before) :]
    before = before.replace("T", "p")
    small = len(letters.lstrip(b"U"))
    capitals = len(letters) - small
    if small and capitals > 1:
        return _MIXED[before] + _MIXED_LETTER * len(letters)
    case = "UPPER" if not small else "Capital" if capitals else "lower"
    row = _WORDS[before, case]
    beyond = max(0, (len(letters) if case == "UPPER" else small) - len(row))
    further = _LONGER_UPPER * beyond if case == "UPPER" else _LONGER_LOWER * min(beyond, _LONGEST)
    return row[min(len(letters), len(row)) - 1] + further


def _marks(piece: bytes) -> float:
    marks = piece.strip(b"sn")
    row = _MARKS[piece[:1] == b"s"]
    line_end = _MARKS_LINE_END if piece[-1:] == b"n" else 0.0
    return row[min(len(marks), len(row)) - 1] + _LONGER_MARKS * min(max(0, len(marks) - len(row)), _LONGEST_MARKS) + line_end


def _run(run: str) -> float:
    """Tokens of a run of Han and kana: pairs from left to right, the rest alone."""
    tokens, at, after_pair = _RUN, 0, False
    while at < len(run):
        is_pair = run[at : at + 2] in PAIRS
        if is_pair:
            tokens += _PAIR + (_PAIR_AFTER_PAIR if after_pair else 0.0)
        else:
            tokens += _alone(run[at])
        at += 2 if is_pair else 1
        after_pair = is_pair
    return tokens


def _alone(character: str) -> float:
    if character < "\u4e00":
        return _KANA
    return _HAN if character in KNOWN else _RARE_HAN

"""The third pass: what is written down literally (in backticks, brackets, quotes, as a flag) and the names of failures."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.messages.facts.fact import FactKind
from host.messages.facts.lines import Found, Lines
from host.messages.facts.sentences import TICKED

LOOKBACK = 28
"""Characters before a text in double quotes that may say that it is a text of a screen."""

# fmt: off
SCREEN = re.compile(
    r"(?i)(?:\b(?:says?|said|reads?|shows?|labell?ed|label|text|titled?|named?|called|button|header|heading|message|headline|caption|"
        r"word|string|wording|subject|field|tab|menu|it|to|be|with|prefix|suffix)"
    r"|显示|写|叫|改成|改为|按钮|标题|文案|名为|提示|字样|用)[ :：]{0,2}$"
)
FAILURES: tuple[tuple[str, str], ...] = (
    ("Error|Exception|Fault|Timeout", r"(?<![A-Za-z0-9_])[A-Z][A-Za-z0-9_]*+(?:(?<=[a-z]Error)|(?<=[A-Z]Error)|(?<=[A-Za-z]Exception)|"
        r"(?<=[a-z]Fault)|(?<=[a-z]Timeout))"),
    ("HTTP", r"HTTP(?:/\d(?:\.\d)?)? \d{3}\b"),
    ("exit ", r"exit (?:code|status) (?!0\b)\d{1,3}\b"),
    ("status", r"status[ =:]{1,2}\d{3}\b"),
    (": (", r"(?<![a-z])[a-z]{2,12}: \(\d{1,3}\)"),
    ("FATAL|PANIC|OOMKilled|NXDOMAIN|SERVFAIL", r"FATAL|PANIC|OOMKilled|NXDOMAIN|SERVFAIL"),
    ("SIG", r"SIG(?:KILL|TERM|SEGV)"),
    ("BackOff", r"(?:Crash|Image)\w{1,5}BackOff"),
    ("Segmentation", r"Segmentation fault"),
    ("onnection ", r"[Cc]onnection (?:refused|reset(?: by peer)?|timed out)"),
    ("ermission ", r"[Pp]ermission denied"),
    ("o such file", r"[Nn]o such file or directory"),
    ("ut of memory", r"[Oo]ut of memory"),
    ("npm ERR!", r"npm ERR!"),
    ("quota ex", r"[Dd]isk quota exceeded"),
    ("No space", r"No space left on device"),
    ("already in use", r"[Aa]ddress already in use"),
)
"""Per kind of failure: words of which one is surely there, and the whole."""
FAILURES_BY_WORD = tuple((word, re.compile(whole)) for words, whole in FAILURES for word in words.split("|"))
# fmt: on
BRACKETED = re.compile(r"「([^「」\n]{1,60})」|『([^『』\n]{1,60})』")
QUOTE = r"""(?<![\w=\[{(:,\\"].)(?:(?<=")([^"\n]{2,80})"|(?<=“)([^”\n]{1,80})”)(?![\w:"])"""
DOUBLE, CURLY = re.compile(f'"{QUOTE}'), re.compile(f'["“]{QUOTE}')
SINGLE = re.compile(r"'(?<![\w'].)([\w:./*@#-]{2,60})'(?!\w)")
FLAG = re.compile(r"--(?<![^\s`\"'(（，、]--)[a-z][a-z0-9-]+(?:=[^\s`\"',;)]{1,60})?")
SHOUTED = re.compile(r"[A-Z](?<=[a-z,] [A-Z])[A-Z]{6,19}(?=[ ,.;]|$)", re.MULTILINE)
LITERALS = (("`", TICKED), ("「", BRACKETED), ("『", BRACKETED), ("--", FLAG), ("", SHOUTED))
"""What can be meant literally as it is written, by the mark that it surely has."""
NO_SCREEN = frozenset("([{,;.)]}>|/\\-")
"""Signs right before a quote that no word leads to it over: most quotes of records and code are told by one."""


def in_literals(text: str, lines: Lines) -> Iterator[Found]:
    """What is quoted as itself, not for irony and not as speech, and the failures of a text."""
    for mark, pattern in LITERALS:
        if mark in text:
            yield from [(FactKind.quoted, *_inside(match)) for match in pattern.finditer(text)]
    if '"' in text or "“" in text:
        quotes = (CURLY if "“" in text else DOUBLE).finditer(text)
        yield from [(FactKind.quoted, *_inside(match)) for match in quotes if _is_of_a_screen(text, match.start())]
    if "'" in text:
        yield from [(FactKind.quoted, *_inside(match)) for match in SINGLE.finditer(text) if lines.is_prose(match.start())]
    for pattern in dict.fromkeys([pattern for word, pattern in FAILURES_BY_WORD if word in text]):
        yield from [(FactKind.error, *match.span()) for match in pattern.finditer(text)]


def _inside(match: re.Match[str]) -> tuple[int, int]:
    return match.span(match.lastindex or 0)


def _is_of_a_screen(text: str, start: int) -> bool:
    before = text[max(0, start - LOOKBACK) : start]
    return before[-1:] not in NO_SCREEN and SCREEN.search(before) is not None

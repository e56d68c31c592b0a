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
FAILURES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple((tuple(words.split("|")), re.compile(pattern)) for words, pattern in (
    ("Error|Exception|Fault|Timeout", r"(?<![A-Za-z0-9_])[A-Z][A-Za-z0-9_]*+(?:(?<=[a-z]Error)|(?<=[A-Z]Error)|(?<=[A-Za-z]Exception)|"
        r"(?<=[a-z]Fault)|(?<=[a-z]Timeout))"),
    ("HTTP", r"HTTP(?:/\d(?:\.\d)?)? \d{3}\b"),
    ("exit ", r"exit (?:code|status) (?!0\b)\d{1,3}\b"),
    ("status", r"status[ =:]{1,2}\d{3}\b"),
    (": (", r"(?<![a-z])[a-z]{2,12}: \(\d{1,3}\)"),
    ("FATAL|PANIC|OOMKilled|SIGKILL|SIGTERM|SIGSEGV|LoopBackOff|PullBackOff|NXDOMAIN|SERVFAIL|Segmentation",
        r"FATAL|PANIC|OOMKilled|SIG(?:KILL|TERM|SEGV)|(?:Crash|Image)\w{1,5}BackOff|NXDOMAIN|SERVFAIL|Segmentation fault"),
    ("onnection |ermission |o such file|ut of memory|npm ERR!|quota ex|No space|already in use",
        r"[Cc]onnection (?:refused|reset(?: by peer)?|timed out)|[Pp]ermission denied|[Nn]o such file or directory|[Oo]ut of memory|"
            r"npm ERR!|"
        r"[Dd]isk quota exceeded|No space left on device|[Aa]ddress already in use"),
))
"""Per kind of failure: words of which one is surely there, and the whole."""
# fmt: on
BRACKETED = re.compile(r"「([^「」\n]{1,60})」|『([^『』\n]{1,60})』")
DOUBLE = re.compile(r"""["“](?<![\w=\[{(:,\\"].)(?:(?<=")([^"\n]{2,80})"|(?<=“)([^”\n]{1,80})”)(?![\w:"])""")
SINGLE = re.compile(r"'(?<![\w'].)([\w:./*@#-]{2,60})'(?!\w)")
FLAG = re.compile(r"--(?<![^\s`\"'(（，、]--)[a-z][a-z0-9-]+(?:=[^\s`\"',;)]{1,60})?")
SHOUTED = re.compile(r"[A-Z](?<=[a-z,] [A-Z])[A-Z]{6,19}(?=[ ,.;]|$)", re.MULTILINE)


def in_literals(text: str) -> Iterator[Found]:
    """What is quoted as itself, not for irony and not as speech, and the failures of a text."""
    for pattern, marks in ((TICKED, "`"), (BRACKETED, "「『"), (FLAG, "-"), (SHOUTED, "")):
        if not marks or any(mark in text for mark in marks):
            yield from ((FactKind.quoted, *_inside(match)) for match in pattern.finditer(text))
    if '"' in text or "“" in text:
        yield from ((FactKind.quoted, *_inside(match)) for match in DOUBLE.finditer(text) if _is_of_a_screen(text, match.start()))
    if "'" in text:
        lines = Lines(text)
        yield from ((FactKind.quoted, *_inside(match)) for match in SINGLE.finditer(text) if lines.is_prose(match.start()))
    for words, pattern in FAILURES:
        if any(word in text for word in words):
            yield from ((FactKind.error, *match.span()) for match in pattern.finditer(text))


def _inside(match: re.Match[str]) -> tuple[int, int]:
    return match.span(match.lastindex or 0)


def _is_of_a_screen(text: str, start: int) -> bool:
    return SCREEN.search(text[max(0, start - LOOKBACK) : start]) is not None

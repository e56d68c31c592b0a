"""The fourth pass: failures, by their well-known names and by what is said of them after the word for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from host.messages.facts.fact import FactKind
from host.messages.facts.lines import Found

# fmt: off
FAILURES: tuple[tuple[str, str], ...] = (
    ("Error|Exception|Fault|Timeout", r"(?<![A-Za-z0-9_])[A-Z][A-Za-z0-9_]*+(?:(?<=[a-z]Error)|(?<=[A-Z]Error)|(?<=[A-Za-z]Exception)|"
        r"(?<=[a-z]Fault)|(?<=[a-z]Timeout))"),
    ("rror |rrno |RROR ", r"(?<![A-Za-z])(?:[Ee]rror|ERROR|errno|Errno) -?\d{1,6}\b"),
    ("E", r"E(?<![A-Za-z0-9_]E)(?:CONN|TIME|NOENT|ACC|ADDR|PERM|EXIST|HOST|PIPE|NOSPC|INVAL|BUSY|MFILE|NOMEM)[A-Z]{0,10}\b"),
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
SAID_END = re.compile(
    r"[.;!。]?(?=\n|\Z)|[.;](?=\s)|[\"”」，。、|]|\\n|,\s(?=(?:what|why|how|and|but|so|then|any|is|can|do|i|it)\b)"
)
"""Where what a failure says ends: with its sentence, its line or its quotes."""
MESSAGES: tuple[tuple[str, str], ...] = (
    ("rror", r"rror[\])\"']{0,2}(?:\s\d{1,5})?\s?[:：]\s{0,2}[\"'“]?"),
    ("RROR", r"RROR\]?[:：]?\s{1,3}[\"'“]?"),
    ("xception:", r"xception:\s"),
    ("atal:", r"atal:\s"),
    ("ATAL", r"ATAL\]?:?\s{1,3}"),
    ("anic:", r"anic:\s"),
    ("ailed:", r"ailed:\s"),
    ("E: ", r"E:(?<![^\s]E:)\s"),
    ("!!", r"!!(?<![\w!?]!!)\s?(?=[A-Za-z])"),
    ("! ", r"!(?<![^\n]!) "),
    ("エラー", r"エラー(?:は|が|：|:|で)?\s?[「\"']?(?=[A-Za-z])"),
    ("错", r"错(?:误|是|为|：|:){0,3}\s?[「“\"']?(?=[A-Za-z])"),
)
"""Per word for a failure: what leads from it to what it says."""
MESSAGES_BY_WORD = tuple((word, re.compile(form)) for word, form in MESSAGES)
PHRASE = re.compile(r"[A-Z](?:(?<=[a-z,:はが错误] [A-Z])|(?<=[ (]['\"“「‘][A-Z])|(?<=[\u3040-\u9fff][A-Z]))[a-z]+(?: [A-Za-z]+){1,6}")
FAILING_WORDS = (
    "out not no too timed timeout failed failure refused denied lost invalid missing unable cannot unknown broken closed exceeded "
    "full unexpected illegal overflow bad reset unreachable mismatch expired aborted rejected undefined unsupported already "
    "corrupt corrupted stalled"
)
FAILING = frozenset(FAILING_WORDS.split())
"""Words of which a phrase that names a failure has one."""
AFTER_WORDS = (
    "all again when while as and but every came comes come is was after on if so error errors whenever now each then which that since "
    "did does appears appear shows show for because even just or before still once right at happens means pops i we you it what why how"
)
AFTER_PHRASE = frozenset(AFTER_WORDS.split())
"""Words that go on from such a phrase."""
TOLD_AS = re.compile(
    r"(?i)\b(?:errors?|gets?|got|getting|says?|saying|with|throws?|raises?|prints?|logs?|stops?|message|died|dies|fails?|complains?"
    r"|see|seeing|gives?|gave|warning)\b[ :,'\"“‘]*$"
)
CALLED = re.compile(r"(?m:^|(?<=[.!?]\s))([A-Z][a-z]+(?: [\w-]+){1,6}) (?:is|was|are) (?:the|an?|my|that) (?:\w+ )?error")
CALLED_HINT = re.compile(r" (?:is|was|are) (?:the|an?|my|that) (?:\w+ )?error")
NO_SAYING = frozenset({"", *" \n\t\"'“「{[(|"})
"""What nothing that is said begins with: after it comes data."""
SHORTEST, LONGEST = 3, 160
"""Characters of what a failure says."""
LOOKBACK = 24
"""Characters before a phrase that may say that it is one of a failure."""
# fmt: on


def in_failures(text: str) -> Iterator[Found]:
    """The failures of a text: names, what follows them, and phrases in prose that are said of one."""
    for pattern in dict.fromkeys([pattern for word, pattern in FAILURES_BY_WORD if word in text]):
        yield from [(FactKind.error, *match.span()) for match in pattern.finditer(text)]
    for word, pattern in MESSAGES_BY_WORD:
        if word in text:
            yield from _said_after(pattern, text)
    if " error" in text and CALLED_HINT.search(text):
        yield from [(FactKind.error, *match.span(1)) for match in CALLED.finditer(text)]
    for phrase in PHRASE.finditer(text):
        start, said = phrase.start(), _said_in(phrase[0])
        if said and (not text[start - 2 : start].isascii() or TOLD_AS.search(text, max(0, start - LOOKBACK), start)):
            yield FactKind.error, start, start + len(said)


def _said_after(lead: re.Pattern[str], text: str) -> Iterator[Found]:
    done = 0
    for led in lead.finditer(text):
        start = led.end()
        if start < done or text[start : start + 1] in NO_SAYING:
            continue
        stop = SAID_END.search(text, start, min(len(text), start + LONGEST))
        done = stop.start() if stop else start + LONGEST
        if done - start >= SHORTEST and stop:
            yield FactKind.error, start, done


def _said_in(phrase: str) -> str:
    """The part of a phrase that names a failure; empty where it names none."""
    said = " ".join(takewhile(lambda word: word.lower() not in AFTER_PHRASE, phrase.split(" ")))
    return said if " " in said and not FAILING.isdisjoint(said.lower().split(" ")) else ""

"""The third pass: what is written down literally (in backticks, brackets, quotes, as a flag) and the names of failures."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.messages.facts.fact import FactKind
from host.messages.facts.lines import KEY_ENDS, Found, Lines
from host.messages.facts.sentences import TICKED

LOOKBACK = 28
"""Characters before a text in double quotes that may say that it is a text of a screen."""

# fmt: off
SCREEN = re.compile(
    r"(?i)(?:\b(?:(?<!\bi )(?<!he )(?<!they )(?:says?|reads?|shows?)|labell?ed|label|text|titled?|named?|called|button|header|heading|"
        r"message|headline|caption|word|string|wording|subject|field|tab|menu|song|book|film|password|name|code|to|be|with|prefix|suffix|"
        r"(?:call|name|label|rename|make) (?:it|them|this))(?: is| was| are)?"
    r"|显示|写|叫|改成|改为|按钮|标题|文案|名为|提示|字样|用|为|是)[ :：]{0,2}$"
)
FAILURES: tuple[tuple[str, str], ...] = (
    ("Error|Exception|Fault|Timeout", r"(?<![A-Za-z0-9_])[A-Z][A-Za-z0-9_]*+(?:(?<=[a-z]Error)|(?<=[A-Z]Error)|(?<=[A-Za-z]Exception)|"
        r"(?<=[a-z]Fault)|(?<=[a-z]Timeout))"),
    ("rror |rrno |RROR ", r"(?<![A-Za-z])(?:[Ee]rror|ERROR|errno|Errno) -?\d{1,6}\b"),
    ("ECONN|ETIME|ENOENT|EACC|EADDR|EPERM|EEXIST|EHOST|EPIPE|ENOSPC|EINVAL|EBUSY|EMFILE|ENOMEM", r"\bE[A-Z]{3,14}\b"),
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
CAPITAL = re.compile(
    r"""[A-Z] (?: (?P<hump> (?<=[a-z][A-Z]) (?=[A-Za-z]) )
    | (?P<letter> (?<=\ [A-Z]) (?=[\s.,;:!?)]|$) )
    | (?P<shouted> (?<=[a-z,]\ [A-Z]) [A-Z]{6,19} (?=[ ,.;]|$) )
    | (?P<failure> (?:(?<=\bE:\ [A-Z])|(?<=rror:\ [A-Z])|(?<=ROR:\ [A-Z])|(?<=led:\ [A-Z])|(?<=tal:\ [A-Z])) [A-Z]{3,11} (?=\ |$) ) )""",
    re.MULTILINE | re.VERBOSE,
)
"""A capital that says something: a hump in a name, a letter by itself, the first of a shouted word, of what a failure is."""
BRACKETED = re.compile(r"「([^「」\n]{1,60})」(?!と(?:[言話聞思叫]|い[いうわっ]))|『([^『』\n]{1,60})』")
QUOTE = r"""(?<![A-Za-z0-9_=\[{(:,\\"].)(?:(?<=")([^"\n]{2,80})"|(?<=“)([^”\n]{1,80})”)(?![\w:"])"""
DOUBLE, CURLY = re.compile(f'"{QUOTE}'), re.compile(f'["“]{QUOTE}')
SINGLE = re.compile(r"'(?<![\w'].)([\w:./*@#-]{2,60})'(?!\w)")
FLAG = re.compile(r"--(?<![^\s`\"'(（，、]--)[a-z][a-z0-9-]+(?:=[^\s`\"',;)]{1,60})?")
SHORT_FLAG = re.compile(r"-(?<=[\s(`\"'，、]-)(?:[A-Z][A-Za-z0-9]{1,20}(?:=[^\s`\"',;)]{1,60})?|[a-z]{1,3}\d\w{0,12})(?![\w-])")
LITERALS = (("`", TICKED), ("「", BRACKETED), ("『", BRACKETED), ("--", FLAG), (" -", SHORT_FLAG))
"""What can be meant literally as it is written, by the mark that it surely has."""
HUMPED = re.compile(r"[A-Za-z0-9_]+")
BRANDS_WORDS = (
    "JavaScript TypeScript CoffeeScript GitHub GitLab YouTube LinkedIn WhatsApp PayPal LaTeX BibTeX PowerPoint OpenAI OpenSSL OpenBSD "
    "ChatGPT DeepSeek DeepMind MySQL PostgreSQL MongoDB MariaDB CentOS NodeJS NextJS ReactJS VueJS WebRTC "
    "DynamoDB NoSQL GraphQL WordPress BitBucket StackOverflow DevOps MacBook "
    "FaceTime AirPods AirDrop PlayStation FreeBSD NetBSD NumPy SciPy PyTorch TensorFlow OpenStreetMap CloudFront CloudWatch "
    "TikTok FedEx WiFi McDonald PyPI PyCharm IntelliJ WebStorm VMware VirtualBox "
    "iPhone iPad iPod iCloud iMac iTunes iMessage eBay eBook eBooks eMail macOS iOS watchOS tvOS LinkedIn "
    "TripAdvisor AirBnB BlueSky OneDrive "
    "SharePoint DuckDuckGo SoundCloud HubSpot SalesForce QuickBooks CircleCI DocuSign PhD MasterCard WebSocket WebSockets"
)
BRANDS = frozenset(BRANDS_WORDS.split())
"""Names that everybody writes with humps; others with such are names of things in code."""
LETTERED_WORDS = (
    "menu plan option variant model type class group team gate hall room row seat block wing track side list tier level rev revision grade "
    "size building house platform exit zone section terminal route version vitamin hepatitis part annex appendix exhibit schedule slot "
    "lane shelf box case court table entrance stage site arm cohort sample bus channel port choice candidate item rack panel unit"
)
LETTERED = frozenset(LETTERED_WORDS.split())
LONGEST_NAME, SHORTEST_NAME = 60, 5
"""Characters of a name with humps; shorter ones are formulas ("NaCl")."""
PARTS = frozenset("./@#_-:$\\<")
PARTS_AFTER = frozenset("./@(-:=[?")
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
    yield from _by_capitals(text, lines)


def _by_capitals(text: str, lines: Lines) -> Iterator[Found]:
    """Names with humps (``onClose``, ``SlowDown``) in prose, lettered ones ("menu B"), words that are shouted or name a failure."""
    last = 0
    for capital in CAPITAL.finditer(text):
        start, end = capital.span()
        if capital["hump"] is not None:
            if start >= last:
                first, last = _humped(text, start, last)
                if _is_of_code(text, first, last) and lines.is_prose(first):
                    yield FactKind.quoted, first, last
        elif capital["letter"] is not None:
            word = text[max(0, start - LOOKBACK) : start - 1].rpartition(" ")[2].lstrip("([\"'`*")
            if word.lower() in LETTERED:
                yield FactKind.id, start - 1 - len(word), end
        else:
            yield FactKind.error if capital["failure"] else FactKind.quoted, start, end


def _humped(text: str, hump: int, least: int) -> tuple[int, int]:
    """The span of the word around a hump."""
    start, least = hump, max(least, hump - LONGEST_NAME)
    while start > least and text[start - 1].isascii() and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    word = HUMPED.match(text, start)
    return start, word.end() if word else hump + 1


def _is_of_code(text: str, start: int, end: int) -> bool:
    """Whether a word with humps is the name of something in code, and stands by itself."""
    if not SHORTEST_NAME <= end - start <= LONGEST_NAME or text[start:end].removesuffix("s") in BRANDS or not text[start].isalpha():
        return False
    is_part = text[start - 1 : start] in PARTS or text[end : end + 1] in PARTS_AFTER or text.startswith(KEY_ENDS, end)
    return not is_part


def _inside(match: re.Match[str]) -> tuple[int, int]:
    return match.span(match.lastindex or 0)


def _is_of_a_screen(text: str, start: int) -> bool:
    before = text[max(0, start - LOOKBACK) : start]
    return before[-1:] not in NO_SCREEN and SCREEN.search(before) is not None

"""The third pass: what is written down literally (in backticks, brackets, quotes, as a flag)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.messages.facts.fact import FactKind
from host.messages.facts.lines import KEY_ENDS, Found, Lines
from host.messages.facts.sentences import TICKED

LOOKBACK = 28
"""Characters before a text in double quotes that may say that it is a text of a screen."""

# fmt: off
TEXT_WORDS = (
    "says say reads read shows show labelled labeled label text title titled name named names called button header heading message "
    "headline caption word string wording subject field tab menu song book film password code to be with prefix suffix literal "
    "literally phrase slogan motto greeting tooltip placeholder footer tag comment note line entry value album exactly replace type "
    "enter print display lautet heißt heisst intitulé intitulée appelé appelée llamado llamada titulado titulada "
)
SCREEN_WORDS = frozenset(TEXT_WORDS.split())
"""Words before a quote that say that it is a text of its own."""
COPULAS = frozenset({"is", "was", "are", "to", "as"})
SPEAKERS = frozenset({"i", "he", "they", "she", "we"})
SPEECH = frozenset({"say", "says", "read", "reads", "show", "shows"})
BEFORE_ORDER = frozenset({"to", "please", "and", "then", "just"})
PRONOUNS = frozenset({"it", "them", "this"})
NAMING_VERBS = frozenset({"call", "name", "label", "rename", "make", "sign"})
SIGN_WORDS = "sign label title text headline banner message subject button slogan name error warning"
SIGN_OF = frozenset(SIGN_WORDS.split())
NAMING = frozenset({"name", "call", "rename", "title", "label", "entitle"})
LATIN = re.compile(r"[^\W\d_]+")
CJK_SCREEN = re.compile(r"(?:显示|写|叫|改成|改为|按钮|标题|文案|名为|提示|字样|用"
    r"|为|是|报错|错误|题目|名称|口号)[ :：]{0,2}$")
# fmt: on
CAPITAL = re.compile(
    r"""[A-Z] (?: (?P<hump> (?<=[a-z][A-Z]) (?=[A-Za-z]) )
    | (?P<letter> (?<=\ [A-Z]) (?=[\s.,;:!?)]|$) )
    | (?P<word> (?<=[ :：="'“「はが是为][A-Z]) [A-Z0-9]{2,15} (?![\w./:@=(-]) )
    | (?P<shouted> (?<=[a-z,]\ [A-Z]) [A-Z]{6,19} (?=[ ,.;]|$) )
    | (?P<failure> (?:(?<=\bE:\ [A-Z])|(?<=rror:\ [A-Z])|(?<=ROR:\ [A-Z])|(?<=led:\ [A-Z])|(?<=tal:\ [A-Z])) [A-Z]{3,11} (?=\ |$) ) )""",
    re.MULTILINE | re.VERBOSE,
)
"""A capital that says something: a hump in a name, a letter by itself, the first of a shouted word, of what a failure is."""
CODE_WORD = re.compile(
    r"(?i)(?:\b(?:pass(?:word|phrase|code)|code|(?:code|safe|pass)[ -]?(?:word|name)|keyword|name|named|called|callsign|labell?ed|label"
    r"|tag|tagged|marked|channel|ticker|symbol)"
    r"(?: is| was| to| be| now|[:=])*|(?:密码|口令|暗号|代号|合言葉|パスワード"
    r"|コード(?:名|ネーム)?|名前|名)(?:は|是|为|が|：|:)?)[ \"'“「]{0,3}$"
)
"""What leads to a short word in capitals that is meant as it is."""
CODE_WORD_ENDINGS = (
    "word phrase code name ed sign label tag channel ticker symbol is was to be now : = 码 令 号 葉 ド ム 名 前 は 是 为 が ："
)
CODE_WORD_ENDS = tuple(CODE_WORD_ENDINGS.split(" "))
"""How that ends."""
BRACKETED = re.compile(r"「([^「」\n]{1,60})」(?!と(?:[言話聞思叫]|い[いうわっ]))|『([^『』\n]{1,60})』|《([^《》\n]{1,60})》")
QUOTE = r"""(?<![A-Za-z0-9_=\[{(:,\\"].)(?:(?<=")([^"\n]{2,80})"|(?<=“)([^”\n]{1,80})”)(?![\w:"])"""
DOUBLE, CURLY = re.compile(f'"{QUOTE}'), re.compile(f"“{QUOTE}")
SINGLE = re.compile(r"'(?<![\w'].)([\w:./*@#-]{2,60})'(?!\w)")
SINGLE_WORDS = re.compile(r"'(?<![\w'].)([A-Za-z][^'\n]{0,60} [^'\n]{0,60}[^'\s])'(?!\w)")
LOW = re.compile(r"„([^„“”\n]{1,80})[“”]")
FLAG = re.compile(r"--(?<![^\s`\"'(（，、]--)[a-z][a-z0-9-]+(?:=[^\s`\"',;)]{1,60})?")
SHORT_FLAG = re.compile(r"-(?<=[\s(`\"'，、]-)(?:[A-Z][A-Za-z0-9]{1,20}(?:=[^\s`\"',;)]{1,60})?|[a-z]{1,3}\d\w{0,12})(?![\w-])")
LITERALS = (("`", TICKED), ("「", BRACKETED), ("『", BRACKETED), ("《", BRACKETED), ("--", FLAG), (" -", SHORT_FLAG))
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
    """What is quoted as itself, not for irony and not as speech, and words that are meant as they are written."""
    for mark, pattern in LITERALS:
        if mark in text:
            yield from [(FactKind.quoted, *_inside(match)) for match in pattern.finditer(text)]
    for mark, pattern in (('"', DOUBLE), ("“", CURLY), ("„", LOW)):
        if mark in text:
            quotes = pattern.finditer(text)
            yield from [(FactKind.quoted, *_inside(match)) for match in quotes if _is_of_a_screen(text, match.start())]
    if "'" in text:
        yield from [(FactKind.quoted, *_inside(match)) for match in SINGLE.finditer(text) if lines.is_prose(match.start())]
        singles = SINGLE_WORDS.finditer(text)
        yield from [(FactKind.quoted, *_inside(match)) for match in singles if _is_of_a_screen(text, match.start())]
    yield from _by_capitals(text, lines)


def _by_capitals(text: str, lines: Lines) -> Iterator[Found]:
    """Names with humps (``onClose``, ``SlowDown``) in prose, lettered ones ("menu B"), words that are shouted or name a failure."""
    last = 0
    for capital in CAPITAL.finditer(text):
        start, end = capital.span()
        group = capital.lastgroup
        if group == "hump":
            if start >= last:
                first, last = _humped(text, start, last)
                if _is_of_code(text, first, last) and lines.is_prose(first):
                    yield FactKind.quoted, first, last
        elif group == "letter":
            word = text[max(0, start - LOOKBACK) : start - 1].rpartition(" ")[2].lstrip("([\"'`*")
            if word.lower() in LETTERED:
                yield FactKind.id, start - 1 - len(word), end
        elif group == "word":
            if _is_code_word(text, start):
                yield FactKind.quoted, start, end
        else:
            yield FactKind.error if group == "failure" else FactKind.quoted, start, end


def _is_code_word(text: str, start: int) -> bool:
    first = max(0, start - LOOKBACK)
    lead = text[first:start].rstrip(" \"'“「").lower()
    return lead.endswith(CODE_WORD_ENDS) and CODE_WORD.search(text, first, start) is not None


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
    """Whether the words before a quote lead to a text of a screen, a name or a literal rather than to speech or irony."""
    before = text[max(0, start - LOOKBACK) : start]
    if before[-1:] in NO_SCREEN:
        return False
    if not before.isascii() and CJK_SCREEN.search(before):
        return True
    bare = before.rstrip(" :")
    words = LATIN.findall(bare.lower())
    if not words or not bare.lower().endswith(words[-1]):
        return False
    return _leads_to_text(words) or (before.rstrip().endswith(":") and not SIGN_OF.isdisjoint(words[-4:]))


def _leads_to_text(words: list[str]) -> bool:
    if len(words) > 1 and words[-1] in SPEECH and words[-2] in SPEAKERS:
        return False
    last = words[-2] if len(words) > 1 and words[-1] in COPULAS and words[-2] in SCREEN_WORDS else words[-1]
    if last in SCREEN_WORDS:
        return True
    *earlier, pronoun = [word for word in words if word not in COPULAS] or [""]
    is_named = pronoun in PRONOUNS and bool(earlier) and earlier[-1] in NAMING_VERBS
    is_ordered = words[-1] == "write" and (len(words) == 1 or words[-2] in BEFORE_ORDER)
    return is_named or is_ordered or not NAMING.isdisjoint(words[-4:-1])

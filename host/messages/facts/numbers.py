"""The second pass: numbers, by what follows them (a unit, a month, a zone) and by the words before them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.messages.facts.fact import FactKind
from host.messages.facts.lines import Found, Lines

LONGEST = 60
"""Characters of a number with its unit; a longer one is data."""

LOOKBACK = 28
"""Characters before a number that may say what it is."""

# fmt: off
UNITS = (
    r"ms|milliseconds?|µs|us|ns|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|years?|"
    r"%|per\s?cent|percent|[kKMGTP]i?B|[KMGTP]i|bytes?|[KMGT]|k|bit|bits|kbps|mbps|Mbit/s|Gbit/s|"
    r"EUR|USD|GBP|CHF|JPY|CNY|KRW|euros?|dollars?|pounds?|cents?|€|\$|£|¥|"
    r"px|pt|dpi|fps|Hz|kHz|MHz|GHz|V|mV|A|mA|mAh|Ah|W|kW|kWh|Wh|°C|°F|K|km|m|cm|mm|nm|kg|g|mg|l|ml|ppm|dB|"
    r"characters?|chars?|tokens?|rows?|requests?/s|req/s|rps|qps|connections?|replicas?|retries|workers?|threads?|cores?|nights?|rpm|"
        r"cycles?"
)
CJK_UNITS = (
    "毫秒|秒钟?|分钟|分間|分|小时|时间|時間|天|日間|日以内|周|週間|个月|か月|ヶ月|年間|欧元|美元|人民币|元|円|ドル|ユーロ|块|万|兆|字节|バイト|字符|文字|字|"
    "条|件|行|次|回|度|号|人|台|本|个副本|副本|个并发|倍|页|頁|枚|ページ|パーセント|百分点|米|公里|公斤|キロ|メートル|グラム|世代|接続"
)
MONTHS = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|"
        r"Dec(?:ember)?)\b"
)
ZONES = r"UTC|GMT|CEST|CET|JST|CST|PST|PDT|EST|EDT|BST|IST|MSK"
NUMBER = re.compile(
    rf"""
    [0-9](?<![A-Za-z0-9_.:/#-][0-9]) [0-9]*+ (?:[.,:'_][0-9]++)*+
    (?: (?P<date> \s?年\s?\d{{1,2}}\s?月(?:\s?\d{{1,2}}\s?[日号])?
                    (?:\s?(?:午前|午後|上午|下午|晚上)?\s?\d{{1,2}}(?:[:：]\d\d|[时時点](?:\d{{1,2}}分|半)?))?

                | \s?月\s?\d{{1,2}}\s?[日号]?
                    (?: [^\S\n]?(?:午前|午後|上午|下午|晚上|凌晨|夜)?\s?\d{{1,2}}(?:(?::\d\d){{1,2}}|[时時点](?:\d{{1,2}}分|半)?))?
                | (?<=\d)[时時点](?:\d{{1,2}}分|半|整)?(?!间|間)
                | (?:st|nd|rd|th)? \s (?:of\s)? {MONTHS} (?:,?\s(?:20\d\d|19\d\d)\b)? (?:,?\s(?:at\s)?\d{{1,2}}:\d\d)?
                | \s? (?:am|pm|a\.m\.|p\.m\.|o['’]clock)(?![A-Za-z]) | [^\S\n]?(?:{ZONES})\b )
      | (?P<rate> [ ][A-Za-z]{{2,20}} (?:[ ](?:a|an|per|each)[ ]|/) (?:second|sec|minute|min|hour|day|week|month|s|h|night|person)\b )

      | (?P<unit> [^\S\n]? (?:(?:{UNITS})(?![A-Za-z0-9_])
                    (?:[ ]?(?:per|a|an|/)[ ]?(?:second|minute|hour|day|week|month|night|person|s|min|h)\b)?
      | {CJK_UNITS}) )
      | )""",
    re.VERBOSE,
)
MONTH_NAMES_WORDS = (
    "Jan January Feb February Mar March Apr April May June Jun July Jul Aug August Sep Sept September Oct October Nov November Dec "
    "December"
)
MONTH_NAMES = frozenset(MONTH_NAMES_WORDS.split())
DAY = re.compile(r"(?:st|nd|rd|th)?\b(?:,\s\d{4})?(?:,?\s(?:at\s)?\d{1,2}:\d\d(?::\d\d)?)?")
PRODUCTS_WORDS = (
    "Python Node node node.js PostgreSQL Postgres MySQL MariaDB Redis SQLite MongoDB Kafka iOS iPadOS Android Ubuntu Debian Fedora "
    "Alpine Java JDK Go Ruby Rails Django Xcode macOS Windows Swift Kotlin TypeScript React Vue Angular Chrome Firefox Safari "
    "Kubernetes Docker nginx PHP Gradle Rust Spring Terraform Elasticsearch Linux kernel API version Version release Release build "
    "Build tag"
)
PRODUCTS = frozenset(PRODUCTS_WORDS.split())
NO_NAME_WORDS = (
    "HTTP AND OR IN AT TO OF LIMIT PORT TOP ERR GET PUT POST THE FOR ON IS BY NO SET ADD EUR USD GBP JPY CHF AM PM UTC OK ID IF"
)
NO_NAME = frozenset(NO_NAME_WORDS.split())
VERSION_BEFORE = ("版本", "版本号", "版本是", "バージョン", "バージョンは")
PLACES = frozenset({"room", "hall", "gate", "platform", "seat", "bay", "dock", "pier", "track", "stand", "table"})
CURRENCIES = "€$£¥"
CRON = re.compile(r"[\d*](?<![^\s\"'`=(].)[\d*/,-]{0,12} (?:[\d*][\d*/,-]{0,12} ){3}[\d*A-Z][\dA-Z*/,-]{0,12}(?![^\s\"'`).,;])")
STATED_WORDS = (
    "to of at is are be from than use using set port ports limit session pid process status code return returns returned answer answers "
    "answered default above below batch batches size ttl ticket order room line number row step "
    "with and or by stay stays exactly channel gate "
    "seat table account customer invoice run job only got gets max min maximum minimum need needs every into on"
)
STATED = frozenset(STATED_WORDS.split())
STATED_BEFORE = (
    "端口", "改成", "改为", "返回", "换成", "用", "是", "到", "为", "号", "的", "ポート", "は", "を",
    "番号", "设成", "设为", "调到", ",", "，", "、", "：", "(", "（",
)
SET_TO = re.compile(
    r"(?i)(?:\b(?:(?:set|raised?|lower(?:ed)?|changed?|increased?|reduced?|up|down|back|cut|limited|capped) (?:\w+ ){0,2}to|at (?:most|"
        r"least)|(?:no )?more than|"
    r"limit(?: of| is| to)?|batch(?:es)? of|groups of|default|[a-z]+[A-Z]\w* (?:is|goes to|=|to)|goes to|above|below|under|over|"
        r"maximum(?: of| is)?|minimum(?: of| is)?|instead of|rather than|make it|code|gate|platform|room|table|seat|channel)"
    r"|改成|改为|设为|调到|换成|最多|至少|不超过|上限(?:是|为)?|下限(?:是|为)?|上限は?|最大|最小|号线)[ :=]{0,2}$"
)
PORT = re.compile(r"(?i)(?:\bports?|_port|端口|ポート(?:番号)?|\blisten(?:s|ing)?(?: on)?)[\"'\s:=は是为を]{0,4}(?:号|is |to |on )?[\"']?$")
SETTING = re.compile(r"\b(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+|\w*(?:timeout|ttl|limit|retries|replicas|interval|max_\w+|pool_size|"
    r"batch\w*))[\"']?\s{0,2}[:=]\s{0,2}[\"']?$")
NAMING = frozenset("[€$£¥")
"""What stands between a number and a word that makes it a value, besides a blank; a word in Han or kana stands right before it."""
FIRST_HAN = "\u2e80"
LONGEST_PORT = 5
SETTING_WORDS = ("_", "timeout", "ttl", "limit", "retries", "replicas", "interval", "batch")
SET_ENDS = (
    "to", "most", "least", "than", "limit", "of", "default", "is", "above", "below", "under", "over", "maximum", "minimum", "it", "code",
    "gate", "platform", "room", "table", "seat", "channel",
    "成", "为", "到", "多", "少", "过", "限", "是", "は", "大", "小", "线",
)
# fmt: on
"""What the words of ``SET_TO`` end with in prose."""
PORT_HINTS = ("ort", "ORT", "isten", "端口", "ポート")
AMOUNT = re.compile(r"\d{1,3}(?:[,.]\d{3})*[.,]\d{2}|\d{1,3}(?:,\d{3})+|\d+\.\d+")
KIND_BY_SUFFIX = {"date": FactKind.date, "unit": FactKind.quantity, "rate": FactKind.quantity}


def in_numbers(text: str, lines: Lines) -> Iterator[Found]:
    """The values among the numbers of a text, rising; cron lines last."""
    ports = [hint for hint in PORT_HINTS if hint in text]
    for match in NUMBER.finditer(text):
        start, end = match.span()
        if end - start > LONGEST:
            continue
        beside, suffix = text[start - 1 : start], match.lastgroup
        may_be_named = text[start - 2 : start - 1].isalpha() if beside == " " else (beside in NAMING or beside >= FIRST_HAN)
        if may_be_named and (named := _named(text, match, beside)):
            yield named
        elif suffix:
            yield KIND_BY_SUFFIX[suffix], start, end
        elif kind := _kind_of_bare(text, start, end, lines, ports):
            yield kind, start, end
    if "* *" in text:
        yield from ((FactKind.quoted, *match.span()) for match in CRON.finditer(text))


def _named(text: str, match: re.Match[str], beside: str) -> Found | None:
    """A number that the word before it makes a value: money, a version, a day, a room, a train, a process."""
    start, end = match.span()
    before = text[max(0, start - LOOKBACK) : start]
    if beside == "[":
        return (FactKind.id, start, end) if before[-2:-1].isalpha() and text.startswith("]", end) and end - start > 1 else None
    if beside in CURRENCIES:
        return None if before[-2:-1].isalnum() else (FactKind.quantity, start - 1, end)
    if match.lastgroup is None and before.rstrip().endswith(VERSION_BEFORE):
        return FactKind.version, start, end
    return _after_word(text, match, before.split()) if beside == " " else None


def _after_word(text: str, match: re.Match[str], words: list[str]) -> Found | None:
    start, end = match.span()
    word, number = words[-1].lstrip("([\"'`*"), match[0]
    first, is_bare = start - 1 - len(word), match.lastgroup is None
    if word in MONTH_NAMES and len(number) <= 2 and (day := DAY.match(text, end)):
        return FactKind.date, first, day.end()
    if not is_bare:
        return None
    if word in PRODUCTS and ":" not in number:
        return FactKind.version, first, end
    if word.lower() in PLACES:
        return FactKind.id, start, end
    if word.istitle() and len(words) > 1 and words[-2].lower() in PLACES:
        return FactKind.id, first, end
    is_label = 2 <= len(word) <= 4 and word.isupper() and word not in NO_NAME
    return (FactKind.id, first, end) if is_label and number.isdigit() and 2 <= len(number) <= 5 else None


def _kind_of_bare(text: str, start: int, end: int, lines: Lines, ports: list[str]) -> FactKind | None:
    after = text[end : end + 1]
    if after and (after in "_-/@" or (after.isascii() and after.isalpha())):
        return None
    before = text[max(0, start - LOOKBACK) : start]
    may_be_port = bool(ports) and end - start <= LONGEST_PORT and any(map(before.__contains__, ports))
    may_be_set = before.rstrip(" \"'").endswith((":", "=")) and any(map(before.__contains__, SETTING_WORDS))
    if not (may_be_port or may_be_set or lines.is_prose(start)):
        return None
    number = text[start:end]
    if ":" in number:
        return None
    if may_be_port and number.isdigit() and len(number) > 1 and PORT.search(before):
        return FactKind.address
    if may_be_set and SETTING.search(before):
        return FactKind.quantity
    if not lines.is_prose(start):
        return None
    is_value = _is_stated(number, before, text[end : end + 2]) if number.isdigit() else AMOUNT.fullmatch(number)
    return FactKind.quantity if is_value else None


def _is_stated(number: str, before: str, after: str) -> bool:
    """Whether prose gives a whole number as a setting or a name; counts in passing and years are none."""
    if len(number) < 3 or (len(number) == 4 and number.startswith(("19", "20"))):
        return before.rstrip(" :=").lower().endswith(SET_ENDS) and SET_TO.search(before) is not None
    if len(number) > 3 or not after.strip(" \n)"):
        return True
    bare = before.rstrip(" :=#：")
    return bare.endswith(STATED_BEFORE) or bare[bare.rfind(" ") + 1 :].lower() in STATED

"""The second pass: numbers, by what follows them (a unit, a month, a zone) and by the words before them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.messages.facts.fact import FactKind
from host.messages.facts.lines import Found, Lines
from host.messages.facts.units import (
    CJK_UNITS,
    COUNTED,
    LABELS,
    NO_NAME,
    NO_NOUN,
    ORDINALS,
    PLACES,
    PRODUCTS,
    SET_ENDS,
    SET_TO,
    ZONES,
    is_month,
    is_unit,
    may_be_noun,
)

LONGEST = 60
"""Characters of a number with its unit; a longer one is data."""

LOOKBACK = 28
"""Characters before a number that may say what it is."""

# fmt: off
NUMBER = re.compile(
    rf"""
    [0-9] (?<![A-Za-z0-9_./#][0-9]) (?<![^"']:[0-9]) (?<![A-Za-z0-9_]-[0-9]) [0-9]*+ (?:[.,:'_][0-9]++)*+
    (?: (?:[ ]?[x×*][ ]?[0-9]++(?:[.,][0-9]++)*+)++ | [-–~〜～][0-9]++(?:[.,][0-9]++)*+(?![\w-]) | /[0-9]++(?![\w/.]) )?+
    (?: (?=[ ]?[年月时時点])
        (?P<date> [ ]?年[ ]?\d{{1,2}}[ ]?月(?:[ ]?\d{{1,2}}[ ]?[日号])?
                    (?:[ ]?(?:午前|午後|上午|下午|晚上)?[ ]?\d{{1,2}}(?:[:：]\d\d|[时時点](?:\d{{1,2}}分|半)?))?
                | [ ]?月[ ]?の?\d{{1,2}}[ ]?[日号]?
                    (?:[ ]?(?:午前|午後|上午|下午|晚上|凌晨|夜)?[ ]?\d{{1,2}}(?:(?::\d\d){{1,2}}|[时時点](?:\d{{1,2}}分|半)?))?
                | (?<=\d)[ ]?[时時点](?:\d{{1,2}}分|半|整)?(?!间|間) )
      | (?P<unit> [ ]? (?: (?:[%‰℃℉€£¥￥$₩₹]|°[ ]?[CF]?) (?![A-Za-z0-9_]) | (?:{CJK_UNITS}) (?!半) ))
      | )""",
    re.VERBOSE,
)
AFTER = re.compile(
    r"""(?P<gap>[ \u00a0]?) (?: (?P<clock> (?:am|pm|AM|PM|a\.m\.|p\.m\.|o['’]clock) (?![A-Za-z]) )
    | (?P<word> [^\W\d_]{1,20} (?:/[^\W\d_]{1,8}(?![^\W\d_]))? [²³]? ) (?![\w'’]) )""",
    re.VERBOSE,
)
ANY_UNIT = re.compile(r"[ \u00a0]?([A-Za-zµμΩ°][A-Za-zµμΩ°/²³]{0,11}\d?)(?![\w'’(=-])")
"""What follows a number with a sign is its unit, known or not."""
CASED_UNIT = re.compile(r"(?=.{2,6}\Z)(?:[a-z]+[A-Z][A-Za-z]*|[A-Z][a-z]*[A-Z]+[a-z]*)")
"""A word of mixed case right after a number is a unit too."""
MONTH_AFTER = re.compile(r"(?:st|nd|rd|th|er|\.|º)?[ \u00a0](?:of |de )?([^\W\d_]{3,10})\b(?:\.(?=,? (?:20|19)\d\d\b| \d{1,2}:\d\d))?")
CLOCK_AFTER = re.compile(r"(?:,? (?:20|19)\d\d\b)?(?:,? (?:at |um |à )?\d{1,2}:\d\d(?::\d\d)?)?")
DAY = re.compile(r"(?:st|nd|rd|th)?\b(?:,\s\d{4})?(?:,?\s(?:at\s)?\d{1,2}:\d\d(?::\d\d)?)?")
RATE = re.compile(r" ?(?:/|\b(?:a|an|per|each|every|pro|par|por)\b) ?"
    r"(?:second|sec|minute|min|hour|day|week|month|year|s|h|night|person|head|guest|people|lane|page|user"
    r"|Tag|Person|jour|cycle|personne|día)\b")
BLANKS = " \u00a0"
RATE_STARTS = ("/", " per", " a ", " each")
ENDS_NOUN = re.compile(r"[ ]*(?:[.,;:!?)\n]|$|(?:and|per|a|each|of|for|at|on|in|with)\b)")
ORDINAL_ENDS = frozenset({"st", "nd", "rd", "th"})
ENDS_DAY = re.compile(r"[.,;!?)\n]|$| (?:at|by|to|and|until|or|instead)\b")
DECADE_AFTER = ("the ", "his ", "her ", "my ")
PLURAL_AFTER = re.compile(r" ([a-z]{3,20}s)\b")
VERSION_BEFORE = ("版本", "版本号", "版本是", "バージョン", "バージョンは")
CURRENCIES = "€$£¥￥"
CRON = re.compile(r"[\d*](?<![^\s\"'`=(].)[\d*/,-]{0,12} (?:[\d*][\d*/,-]{0,12} ){3}[\d*A-Z][\dA-Z*/,-]{0,12}(?![^\s\"'`).,;])")
OF_SOME = re.compile(r" (?:out )?of (?:\d|the\b|th[eo]se\b|them\b|us\b|you\b|my\b|our\b)")
OF = (" of ", " out ")
OF_MORE = re.compile(r"\d (?:out )?of $")
COUNTED_AFTER = re.compile(rf" (?:{'|'.join(sorted(COUNTED))})\b")
FEW_OF = frozenset("个つ")
MARK_ENDS = (". ", ") ", "、", ".)", "．", ":", "-", "→")
SAYINGS = frozenset({"24/7", "50/50", "50-50"})
STATUS, OF_STATUS = re.compile(r"[45]\d\d"), re.compile(r" (?:errors?|responses?|replies|results?|issues?|problems?)\b")
"""A status that a server answers with, not a count."""
EMPHATIC = ("100%", "100 %")
EMPHASIS = re.compile(r" (?:sure|certain|agreed?|right|yes|true|fine|positive|clear|convinced|correct)\b")
PORT = re.compile(r"(?i)(?:\bports?|_port|端口|ポート(?:番号)?|\blisten(?:s|ing)?(?: on)?)[\"'\s:=は是为を]{0,4}(?:号|is |to |on )?[\"']?$")
SETTING = re.compile(r"\b(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+[\"']?\s{0,2}[:=]?|\w*(?:timeout|ttl|limit|retries|replicas|interval|max_\w+|"
    r"pool_size|batch\w*)[\"']?\s{0,2}[:=])\s{0,2}[\"']?$")
NAMING = frozenset("[€$£¥￥")
"""What stands between a number and a word that makes it a value, besides a blank; a word in Han or kana stands right before it."""
FIRST_HAN = "\u2e80"
LONGEST_PORT = LONGEST_DAY = 5
ENDS_FIELD = frozenset(":=\"")
SETTING_WORDS = ("_", "timeout", "ttl", "limit", "retries", "replicas", "interval", "batch")
PORT_HINTS = ("ort", "ORT", "isten", "端口", "ポート")
SHORTEST_ID, SURELY_ID = 6, 8
"""Digits from which the value of a field is no counter, and from which a number of any record is an id."""
TAKEN = ("seconds", "elapsed", "duration", "took", "time", "_ms", "_s")
"""How the fields end in which a recorder writes how long something took."""
SHORTEST_AMOUNT = 4
"""Digits from which a number of a record behind a name is a value of it."""
SETTING_SIGNS = " \t:=|\"'()-−+"
NO_NAME_SIGN = re.compile(r"[\"',(\[{=:|]")
RECORDER = re.compile(
    r"(?i)byte|size|line|col|count|length|offset|pid|token|elapsed|seconds|duration|took|time|exit|index|position|_ms|_s$"
    r"|^(?:in|at|of|ms|id|to|by|ran)$"
)
"""Names of what the writer of a record counts for itself."""
MEASURED = re.compile(r"(?:\d+\.\d+|\d+,\d\d)(?:[-–~]\d+[.,]\d+)?")
"""A decimal number, or a span of two."""
SIGNS = "-−+±"
BEFORE_SIGN = " (=:\t\"'`,、（"
RATIO = re.compile(r"\d{1,3}(?:\.\d+)?:\d{1,6}")
PHONE = re.compile(r"\+\d{1,3}(?:[ -]?\(?\d{2,7}\)?){2,5}")
IBAN = re.compile(r"[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
# fmt: on


def in_numbers(text: str, lines: Lines) -> Iterator[Found]:
    """The values among the numbers of a text, rising; telephone numbers and cron lines last."""
    ports = [hint for hint in PORT_HINTS if hint in text]
    done = 0
    for match in NUMBER.finditer(text):
        start, end = match.span()
        if start >= done and end - start <= LONGEST and (found := _read(text, match, lines, ports)):
            done = found[2]
            yield found
    if "+" in text:
        yield from ((FactKind.id, *match.span()) for match in PHONE.finditer(text))
    if "* *" in text:
        yield from ((FactKind.quoted, *match.span()) for match in CRON.finditer(text))


def _read(text: str, match: re.Match[str], lines: Lines, ports: list[str]) -> Found | None:
    start, end = match.span()
    beside = text[start - 1 : start]
    may_be_named = text[start - 2 : start - 1].isalnum() if beside == " " else (beside in NAMING or beside >= FIRST_HAN)
    if may_be_named and (named := _named(text, match, beside)):
        return named
    is_signed = beside != "" and beside in SIGNS
    if is_signed and (start := _with_sign(text, start)) < 0:
        return None
    if match.lastgroup == "date":
        return FactKind.date, start, end
    if match.lastgroup == "unit":
        rate, is_idle = RATE.match(text, end), match[0] in EMPHATIC and EMPHASIS.match(text, end)
        return None if is_idle else (FactKind.quantity, start, rate.end() if rate else end)
    if _may_go_on_in_words(text, end) and (found := _by_word_after(text, start, end)):
        return found
    if is_signed and (unit := ANY_UNIT.match(text, end)) and unit[1].lower() not in NO_NOUN:
        return FactKind.quantity, start, unit.end()
    return _bare(text, start, end, lines, ports)


def _with_sign(text: str, start: int) -> int:
    """Where a number begins with its sign, or with the one Han before a hyphen; -1 where it goes on from something else."""
    before = text[start - 2 : start - 1]
    if not before or before in BEFORE_SIGN or before == "\n":
        return start - 1
    return start - 2 if text[start - 1] == "-" and before >= FIRST_HAN else (start if text[start - 1] in "+±" else -1)


def _may_go_on_in_words(text: str, end: int) -> bool:
    """Whether a word stands behind a number, or behind the point of an ordinal."""
    after = text[end : end + 1]
    if after == ".":
        end, after = end + 1, text[end + 1 : end + 2]
    return after.isalpha() or (after in BLANKS and text[end + 1 : end + 2].isalpha())


def _by_word_after(text: str, start: int, end: int) -> Found | None:
    """A number by the word that follows: a month, a time of day, a zone, a unit."""
    after = AFTER.match(text, end)
    if after and after["word"] in ORDINAL_ENDS and not after["gap"] and ENDS_DAY.match(text, after.end()):
        return FactKind.date, start, after.end()
    if after is None or after["clock"]:
        if after:
            return FactKind.date, start, after.end()
        return _day_of_month(text, start, end) if text[end : end + 1] == "." else None
    word = after["word"]
    if word in ZONES:
        return FactKind.date, start, after.end()
    if is_unit(word):
        if word == "s" and not after["gap"] and text[max(0, start - 4) : start].endswith(DECADE_AFTER):
            return None
        rate = RATE.match(text, after.end())
        return FactKind.quantity, start, rate.end() if rate else after.end()
    return _day_of_month(text, start, end)


def _day_of_month(text: str, start: int, end: int) -> Found | None:
    month = MONTH_AFTER.match(text, end) if end - start <= LONGEST_DAY else None
    if month is None or not is_month(month[1]):
        return None
    clock = CLOCK_AFTER.match(text, month.end())
    return FactKind.date, start, clock.end() if clock else month.end()


def _named(text: str, match: re.Match[str], beside: str) -> Found | None:
    """A number that the word before it makes a value: money, a version, a day, a room, a train, a process."""
    start, end = match.span()
    if beside == " " and not text[start - 2].isalpha():  # groups of digits: only those of an account have a name before them
        iban = IBAN.match(text, start - 5) if text[start - 5 : start - 3].isupper() else None
        return (FactKind.id, *iban.span()) if iban else None
    before = text[max(0, start - LOOKBACK) : start]
    if beside == "[":
        return (FactKind.id, start, end) if before[-2:-1].isalpha() and text.startswith("]", end) and end - start > 1 else None
    if beside in CURRENCIES:
        return None if before[-2:-1].isalnum() and before[-2] < FIRST_HAN else (FactKind.quantity, start - 1, _end_of_money(text, end))
    if match.lastgroup is None and before.rstrip().endswith(VERSION_BEFORE):
        return FactKind.version, start, end
    return _after_word(text, match, before.rsplit(None, 2)) if beside == " " else None


def _end_of_money(text: str, end: int) -> int:
    return end + 1 if text[end : end + 1] in tuple("kKmM") and not text[end + 1 : end + 2].isalnum() else end


def _after_word(text: str, match: re.Match[str], words: list[str]) -> Found | None:
    start, end = match.span()
    word, number = words[-1].lstrip("([\"'`*"), match[0]
    first, is_bare = start - 1 - len(word), match.lastgroup is None
    if word and len(number) <= 2 and is_month(word, is_before_day=True) and (day := DAY.match(text, end)):
        return FactKind.date, first, day.end()
    if len(number) == 4 and number.startswith(("19", "20")) and is_month(word):
        return FactKind.date, first, end
    if not is_bare:
        return None
    if word in PRODUCTS and ":" not in number:
        return FactKind.version, first, end
    if word.lower() in PLACES:
        return FactKind.id, start, end
    if word.istitle() and len(words) > 1 and words[-2].lower() in PLACES:
        return FactKind.id, first, end
    is_label = 2 <= len(word) <= 6 and word.isupper() and (len(word) <= 4 or "-" in word) and word not in NO_NAME
    is_named = (is_label and number.isdigit() and 2 <= len(number) <= 5) or word in LABELS
    return (FactKind.id, first, end) if is_named else None


def _bare(text: str, start: int, end: int, lines: Lines, ports: list[str]) -> Found | None:
    """A number without unit: a port, a setting or the value of a field anywhere; in prose all but those counted in passing."""
    if text.startswith(RATE_STARTS, end) and (rate := RATE.match(text, end)):
        return FactKind.quantity, start, rate.end()
    if _goes_on(text, end):
        return None
    before = text[max(0, start - LOOKBACK) : start]
    if kind := _kind_in_record(text[start:end], before, text[end : end + 1], ports):
        return kind, start, end
    if lines.is_prose(start):
        return None if _is_in_passing(text, start, end, before) else (FactKind.quantity, start, _end_with_noun(text, start, end))
    number = text[start:end]
    if number.isdigit():
        if len(number) >= SURELY_ID:
            return FactKind.id, start, end
        return (FactKind.quantity, start, end) if len(number) >= SHORTEST_AMOUNT and _has_name(before) else None
    return (FactKind.quantity, start, end) if MEASURED.fullmatch(number) and not _is_of_recorder(before) else None


def _goes_on(text: str, end: int) -> bool:
    """Whether a number is only the beginning of something, or the number of a line."""
    after = text[end : end + 1]
    is_letter = after.isascii() and after.isalpha()
    return is_letter or (after != "" and after in "_/@|→") or (after == "-" and text[end + 1 : end + 2].isalnum())


def _kind_in_record(number: str, before: str, after: str, ports: list[str]) -> FactKind | None:
    if ports and number.isdigit() and 2 <= len(number) <= LONGEST_PORT and _is_port(before, ports):
        return FactKind.address
    is_set = ":" not in number and ((before.rstrip(" ")[-1:] in ENDS_FIELD and _is_field(number, before, after)) or _is_setting(before))
    return FactKind.quantity if is_set else None


def _is_port(before: str, ports: list[str]) -> bool:
    """Whether a word for a port leads to a number: it stands around the last place of one of its hints."""
    hinted = [place for hint in ports if (place := before.rfind(hint)) >= 0]
    return bool(hinted) and PORT.search(before, max(0, min(hinted) - len("_p"))) is not None


def _is_field(number: str, before: str, after: str) -> bool:
    """Whether a number is a value of a record that its writer took for a text (``"34580"``) or set (``loss=0.41``)."""
    if before.rstrip(" ").endswith('":'):
        return len(number) >= SHORTEST_ID or ("." in number and not before.rstrip('": ').endswith(TAKEN))
    if before.endswith('"'):
        return after == '"' and len(number) > 2 and before[:-1].rstrip().endswith(":")
    return len(number) > 1 and before.endswith("=") and before[-2:-1].isalnum()


def _has_name(before: str) -> bool:
    """Whether a name stands right before the number of a record, other than that of a counter of its writer."""
    name = _name_before(before)
    return name != "" and not name[-1].isdigit() and not RECORDER.search(name)


def _is_of_recorder(before: str) -> bool:
    return RECORDER.search(_name_before(before)) is not None


def _name_before(before: str) -> str:
    """The word that a record puts before a number, over signs that set it and quotes."""
    words = before.rstrip(SETTING_SIGNS).split()
    return NO_NAME_SIGN.split(words[-1])[-1] if words else ""


def _is_setting(before: str) -> bool:
    """Whether the name of a setting stands before a number, with a sign that sets it or as a name in capitals."""
    lead = before.rstrip(" \"'\t")[-1:]
    may_be = lead and (lead in ":=" or lead.isupper() or lead.isdigit()) and any(map(before.__contains__, SETTING_WORDS))
    return bool(may_be) and SETTING.search(before) is not None


def _is_in_passing(text: str, start: int, end: int, before: str) -> bool:
    """Whether a number in prose only counts: "3 of 5", "9 passed", "step 2", the mark of a list."""
    number, after = text[start:end], text[end : end + LOOKBACK]
    if ":" in number and not RATIO.fullmatch(number):
        return True
    is_part = (after.startswith(OF) and OF_SOME.match(after)) or (before.endswith(("of ", "of \n")) and OF_MORE.search(before))
    if number in SAYINGS or is_part:
        return True
    words = before.rsplit(None, 2)
    lead = before.rstrip(" \t*#/")
    if len(number) <= 2 and after.startswith(MARK_ENDS) and (not lead or lead.endswith("\n")):
        return True
    if len(number) <= 2 and words and words[-1].lower().lstrip("(*") in ORDINALS:
        return True
    if before.endswith("(") and after.startswith(")") and len(words) > 1 and words[-2] in COUNTED:
        return True
    if STATUS.fullmatch(number) and OF_STATUS.match(after):
        return False
    counted = after.lstrip(" ")[:1]
    is_counted = counted in FEW_OF or (counted.isalpha() and COUNTED_AFTER.match(after) is not None)
    return is_counted and not (before.rstrip(" :=").lower().endswith(SET_ENDS) and SET_TO.search(before))


def _end_with_noun(text: str, start: int, end: int) -> int:
    """Where a number with the noun that it counts ends ("40 epochs", "90 seated, ..."), in the language of the line or none."""
    if text[end : end + 1] not in BLANKS:
        return end
    after = AFTER.match(text, end)
    word = after["word"] if after and after["gap"] else None
    if after is None or not word:
        return end
    if not word.islower():
        return after.end() if CASED_UNIT.fullmatch(word) else end
    if not text[start:end].replace(",", "").isdigit() or not may_be_noun(word):
        return end
    if rate := RATE.match(text, after.end()):
        return rate.end()
    if word.endswith("s") or ENDS_NOUN.match(text, after.end()):
        return after.end()
    plural = PLURAL_AFTER.match(text, after.end())
    return plural.end() if plural and may_be_noun(plural[1]) else end

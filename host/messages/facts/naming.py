"""The fifth pass: what is said to be a name (a title, a table, a room, a train), commands of a markup, and settings as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.messages.facts.fact import FactKind
from host.messages.facts.lines import Found
from host.messages.facts.units import NO_NOUN

# fmt: off
TITLE = re.compile(
    r"[题标书片名店队项歌副代叫取命](?:(?:目名?|题|名|称|字|标题|号)(?:是|叫|为|改成|定为|[：:])|(?<=名)叫|(?<=叫)做|(?<=取)名|(?<=命)名为)\s?"
    r"(?!什么|怎么|何|啥|不)[“‘「『《]?([^\s，。、,.;；!?！？「」『』《》“”\"'\n]{2,40})"
)
JAPANESE_TITLE = re.compile(
    r"[タ題名件曲テ店書](?:イトル|名|前|称|ーマ)は\s?[「『]?"
    r"([^\s、。「」『』\n]{2,30}?)(?=\s|[、。」』\n]|です|でした|に(?:し|変|決)|で(?:お願|いい|す)|と(?:し|いい)|だ(?:[。よ]|$)|$)"
)
CHANNEL = re.compile(r"#[\w-]{0,20}[\u3040-\u9fff][\w-]{0,20}")
BUILDING = re.compile(r"[楼座栋馆厦院棟]\s?[A-Z]?-?\d{2,4}(?:\s?(?:会议室|教室|室|号|房))?(?![\d年月])")
BUILT = re.compile(r"(?:[\u4e00-\u9fff]{1,4}|[A-Z]\s?)$")
NUMBERED = re.compile(
    r"[0-9](?<![0-9.:][0-9])[0-9]{0,3}\s?(?:(?P<room>会议室|教室|会議室|研究室|講義室|病室|号房|房间)|号(?![室車線館棟])|便|次航班|航班|次)"
)
VEHICLE = re.compile(
    r"(?:[ァ-ヶー]{2,8}|(?:のぞみ|ひかり|こだま|さくら|みずほ|はやぶさ|やまびこ|かがやき|はくたか|つばめ|つばさ|こまち|あずさ|しなの|くろしお|ひたち)"
    r"|[A-Z]{2,3}|全日空|日航|[GDCZTK])\s?$"
)
"""A train, a flight: what stands before its number."""
LOOKBACK = 10
"""Characters before a number that can be the name that it belongs to."""
TABLE_NAME = (
    r"(?<![\w-]KIND) (?!(?:looks?|shows?|gets?|grew|grows|takes?|lists?|names?|joins?|manners|legs?|cloth|of|row|data|design|service)\b)"
    r"([a-z][a-z0-9_]{2,40})(?=[.,;:)]|$|\n| (?:is|are|has|have|and|or|in|from|to|into|gets?|must|should|may|needs?|will|with|without"
    r"|after|before|by|for"
    r"|exists|does|was|holds|contains|stays?|can)\b)"
)
TABLES = tuple(
    (f"{kind} ", re.compile(kind + TABLE_NAME.replace("KIND", kind)))
    for kind in ("table", "column", "schema", "database", "collection", "view", "tables", "columns")
)
"""Per word for what holds rows: the name that stands behind it."""
COMMAND = re.compile(r"\\(?<![^\s({$\[\u3000-\u9fff`,]\\)([A-Za-z@]{2,24}\*?)(?![\w\\:/])(?:(?:\[[^\]\n]{0,40}\])?\{([^{}\s]{3,60})\})?")
ENTRY = re.compile(r"@[a-z]{3,20}\{([\w:.-]{3,60}),")
REFERS = re.compile(r"(?:[a-z]*cite[a-z]*|[a-z]*ref|label|input|include|includegraphics|usepackage|documentclass|bibliography\w*)\*?")
"""Commands of a markup whose argument is a name."""
SETTING = re.compile(
    r"\n[ \t]*+(?:export |set |- )?(?P<whole>(?P<name>[A-Za-z_][\w.-]{1,40})(?: ?= ?|: )[\"']?(?P<value>[^\s,;{}()\[\]\"'=|]{1,60}"
    r"(?: (?:[kKMG]i?B|ms|s|m|min|V|A|mm|Hz|kHz|MHz|%))?)[\"']?)(?=[ \t]*(?:#[^\n]*)?(?:\n|\Z))",
)
"""A line that is one setting."""
SWITCHES = frozenset({"true", "false", "on", "off", "yes", "no"})
OF_CODE = re.compile(r".*[a-z0-9][_.-][a-z0-9]", re.IGNORECASE)
# fmt: on


def in_names(text: str) -> Iterator[Found]:
    """What is said to be a name, in three languages, and settings as a whole."""
    if "=" in text or ": " in text:
        settings = filter(_is_exact, SETTING.finditer(f"\n{text}"))
        yield from [(FactKind.quoted, setting.start("whole") - 1, setting.end("whole") - 1) for setting in settings]
    if "\\" in text:
        yield from _of_markup(text)
    if not text.isascii():
        yield from _in_cjk(text)
    for kind, pattern in TABLES:
        if kind in text:
            yield from [(FactKind.quoted, *named.span(1)) for named in pattern.finditer(text) if named[1] not in NO_NOUN]
    if "@" in text:
        yield from [(FactKind.id, *entry.span(1)) for entry in ENTRY.finditer(text)]


def _is_exact(setting: re.Match[str]) -> bool:
    """Whether a line sets a number or a switch, or a name of code to anything."""
    value = setting["value"]
    return any(map(str.isdigit, value)) or value.lower() in SWITCHES or OF_CODE.match(setting["name"]) is not None


def _in_cjk(text: str) -> Iterator[Found]:
    if "#" in text:
        yield from [(FactKind.id, *channel.span()) for channel in CHANNEL.finditer(text)]
    for pattern in (TITLE, JAPANESE_TITLE):
        yield from [(FactKind.quoted, *title.span(1)) for title in pattern.finditer(text)]
    for room in BUILDING.finditer(text):
        built = BUILT.search(text, max(0, room.start() - LOOKBACK), room.start())
        yield FactKind.id, built.start() if built else room.start(), room.end()
    for numbered in NUMBERED.finditer(text):
        start, end = numbered.span()
        if numbered["room"]:
            yield FactKind.id, start, end
        elif named := VEHICLE.search(text, max(0, start - LOOKBACK), start):
            yield FactKind.id, named.start(), end


def _of_markup(text: str) -> Iterator[Found]:
    for command in COMMAND.finditer(text):
        yield FactKind.quoted, command.start(), command.end(1)
        if command[2] and REFERS.fullmatch(command[1]):
            yield FactKind.quoted, *command.span(2)

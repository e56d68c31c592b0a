"""Secrets that have a name: assignments, configuration keys, JSON fields, form bodies, query strings, options."""

from __future__ import annotations

import re

from host.messages.secret_values import MASK, has_digit, is_place, looks_random, mask, names, says_nothing, stands_for_another

Find = re.Match[str]

NAME_WORDS = (b"token", b"secret", b"passw", b"passphrase", b"pwd", b"credential", b"auth", b"apikey", b"accesskey", b"privatekey")
SHORT_PASS = (b"pass=", b"pass:")

NAME = r"""(?i:
    api[_-]?key | (?:access|private)[_-]?key | secret(?:[_-]?(?:access[_-]?)?key(?:[_-]?base)?)? | token
  | passw(?:or)?d | passphrase | (?<![a-z])pwd | (?<=[_-])pass | credentials? | (?<![a-z])auth
)"""
OPAQUE = re.compile(r"(?i)pass|pwd|secret(?![_-]?(?:access|key))|credential")  # chosen by people: any word can be one
BEFORE = re.compile(r"[\w.-]{0,64}$")
IN_URL = re.compile(r"(?:[?&][\w.\[\]%+~-]{0,64}|://[\w.~-]{0,64}|\S#[\w-]{0,64})$")
SYMBOL = re.compile(r"[^\w'.-]")
SHORTEST = 4  # characters; less in running text is a number of something
CLOSING = ".:!?)]}>*"  # punctuation that ends a sentence or a call, not a secret

NAMED = rf"""
    (?P<name>{NAME}) (?:[_-]?(?:(?i:value)|[0-9]{{1,3}}))?
    (?P<sep> [\\"'`\])*]{{0,8}} [ \t]{{0,8}}
        (?: :[ ]{{0,2}}[\w.\[\]|?]{{1,40}}[ ]=(?!=) | := | => | =(?![=~]) | :(?![:/]) )
        \*{{0,2}} [ \t]{{0,8}} (?:[fbruFBRU]{{1,2}}(?=["']))? )
    (?:
        (?P<escape>\\+["']) (?P<nested>(?:[^\\\r\n]|(?!(?P=escape))\\++[^\r\n])++)
      | (?P<quote>["'`]) (?P<quoted>(?:(?!(?P=quote))[^\\\r\n]|\\[^\r\n])++)
      | (?P<bare>(?:<[^<>\s]{{1,64}}> | [^\s"'`\\&,;<|] | \\(?![nrtu"'`\\/]) | [,;](?!\s|$|[\w.-]{{1,64}}\s?[=:]))++)
    )"""

BODY = r"""(?<![^\s"'`]) [\w.%+\[\]-]{1,64}=[^\s&"'`?]*+ (?: &[\w.%+\[\]-]{1,64}=[^\s&"'`]*+ )++"""
FIELD = re.compile(rf"(?:(?<=^)|(?<=&))[^=&]*?(?P<name>{NAME})[_-]?\d{{0,3}}=(?P<value>[^&]+)", re.VERBOSE)

OPTION = rf"""--(?<!---)(?:[a-z0-9]{{1,20}}-){{0,3}}(?P<name>{NAME})[ ]{{1,2}}(?P<value>[^\s"'`\\,;<>|&-][^\s"'`\\,;<>|&]*+)"""

QUERY = r"""[?&](?P<name>[\w.\[\]-]{1,64})=(?P<value>[^\s&#"'`<>\\]++)"""
QUERY_SECRET = re.compile(
    rf"""{NAME} (?:[_-]?[0-9]{{1,3}})?\]?$ | (?i:(?:^|[_-])(?:key|sig|signature|code|jwt|session|sid|ticket|sas))$""", re.VERBOSE
)


def with_value(find: Find, group: str, new: str) -> str:
    """What was found, with one group of it replaced."""
    start, end = (at - find.start() for at in find.span(group))
    return find[0][:start] + new + find[0][end:]


def lookback(find: Find) -> str:
    """The characters in front of what was found, a name's length of them."""
    return find.string[max(0, find.start() - 66) : find.start()]


def without_named(find: Find) -> str:
    """An assignment, a configuration key or a JSON field, with its value masked if that is a secret."""
    if IN_URL.search(lookback(find)):
        return find[0]
    group = next(each for each in ("nested", "quoted", "bare") if find[each] is not None)
    value = find[group] if group != "bare" else find[group].rstrip(CLOSING) or find[group]
    before = BEFORE.search(lookback(find))
    name = (before[0] if before else "") + find["name"]
    kept = stands_for_another(find[group]) or stands_for_another(value) or says_nothing(value) or names(value, name) or is_place(value)
    if kept or not (_bare_is_secret if group == "bare" else _quoted_is_secret)(find, value):
        return find[0]
    shown = MASK if group == "bare" or OPAQUE.search(find["name"]) else mask(value)
    return with_value(find, group, shown + find[group][len(value) :])


def _quoted_is_secret(find: Find, value: str) -> bool:
    if any(map(str.isspace, value)):
        return bool(OPAQUE.search(find["name"])) and has_digit(value)  # a sentence otherwise
    if OPAQUE.search(find["name"]) or (_is_constant(find) and not value.isdigit()):
        return True
    return looks_random(value) or (len(value) >= SHORTEST and has_digit(value) and not value.isdigit())


def _bare_is_secret(find: Find, value: str) -> bool:
    if _is_constant(find):
        return bool(OPAQUE.search(find["name"])) or not value.isdigit()
    if find.string[find.end() : find.end() + 1] == "<":  # a generic type
        return False
    if not OPAQUE.search(find["name"]):
        return looks_random(value)
    in_call = find.string[find.end() : find.end() + 1] == "," or find["bare"].endswith(")")
    if not in_call and (find["sep"] == "=" or _is_alone(find)):
        return True
    return len(value) >= SHORTEST and (has_digit(value) or bool(SYMBOL.search(value)))


def _is_constant(find: Find) -> bool:
    """Whether it is written as in an environment: ``NAME=value``."""
    return find["name"].isupper() and find["sep"] == "="


def _is_alone(find: Find) -> bool:
    """Whether name and value are all of their line: ``key: value`` at any depth, ``key = value`` at its left edge."""
    line = find.string.rfind("\n", 0, find.start()) + 1
    before, after = find.string[line : find.start()], find.string[find.end() : find.end() + 2]
    edge = r"[\w.-]*" if "=" in find["sep"] else r"[\s>*-]*[\w.-]*"
    return len(before) <= 80 and bool(re.fullmatch(edge, before)) and (not after.strip(" \t\r") or after[0] in "\r\n" or after[1:2] == "#")


def without_form_fields(find: Find) -> str:
    """A form body (``a=1&password=x``) with its secret fields masked."""
    return FIELD.sub(_without_field, find[0])


def _without_field(find: Find) -> str:
    return find[0] if stands_for_another(find["value"]) or find["value"].isdigit() else with_value(find, "value", MASK)


def without_option(find: Find) -> str:
    """A command line's option (``--password hunter2``) with its value masked."""
    value = find["value"]
    kept = stands_for_another(value) or says_nothing(value) or is_place(value)
    opaque = OPAQUE.search(find["name"])
    return find[0] if kept or not (opaque or looks_random(value)) else with_value(find, "value", MASK)


def without_parameter(find: Find) -> str:
    """A URL's query parameter with its value masked where its name is a secret's."""
    secret = QUERY_SECRET.search(find["name"]) and not stands_for_another(find["value"])
    return with_value(find, "value", MASK) if secret else find[0]

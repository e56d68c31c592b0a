"""Secrets that have a name: assignments, configuration keys, JSON fields, form fields, query strings, options."""

from __future__ import annotations

import re

from host.messages.secret_values import MASK, has_digit, has_letter, is_place, looks_random, mask, names, says_nothing, stands_for_another

Find = re.Match[str]

NAMES: dict[bytes, str] = {
    b"token": r"[tT](?i:oken)",
    b"secret": r"[sS](?i:ecret(?:[_-]?(?:access[_-]?)?key(?:[_-]?base)?)?)",
    b"passw": r"[pP](?i:assw(?:or)?d)",
    b"passphrase": r"[pP](?i:assphrase)",
    b"pass=": r"[pP](?i:ass(?<=[_-]pass))",
    b"pwd": r"[pP](?i:wd(?<![a-z]pwd))",
    b"credential": r"[cC](?i:redentials?)",
    b"auth": r"[aA](?i:uth(?<![a-z]auth))",
    b"apikey": r"[aA](?i:pi[_-]?key)",
    b"accesskey": r"[aA](?i:ccess[_-]?key)",
    b"privatekey": r"[pP](?i:rivate[_-]?key)",
}
"""What the names of secrets end in: the word of the folded text that gives it away, and how it is written."""

NAME = "|".join(NAMES.values())
OPAQUE = re.compile(r"(?i)pass|pwd|secret(?![_-]?(?:access|key))|credential")  # chosen by people: any word can be one
IN_NAMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-[]%+~"
LEFT_EDGE, INDENTED = re.compile(r"(?:^|\n)[\w.-]*$"), re.compile(r"(?:^|\n)[\s>*-]*[\w.-]*$")
LINE_ENDS = re.compile(r"[ \t]{0,8}(?:$|[\r\n]|[ \t]#)")
SYMBOL = re.compile(r"[^\w'.-]")
SHORTEST = 4  # characters; less in running text is a number of something
CLOSING = ".:!?)]}>*"  # punctuation that ends a sentence or a call, not a secret

VALUE = r"""
    (?:[_-]?(?:(?i:value)|[0-9]{1,3}))?
    (?P<sep> [\\"'`\])*]{0,8} [ \t]{0,8}
        (?: :[ ]{0,2}[\w.\[\]|?]{1,40}[ ]=(?!=) | := | => | =(?![=~]) | :(?![:/]) )
        \*{0,2} [ \t]{0,8} (?:[fbruFBRU]{1,2}(?=["']))? )
    (?:
        (?P<escape>\\+["']) (?P<nested>(?:[^\\\r\n]|(?!(?P=escape))\\++[^\r\n])++)
      | (?P<quote>["'`]) (?P<quoted>(?:(?!(?P=quote))[^\\\r\n]|\\[^\r\n])++)
      | (?P<bare>(?:<[^<>\s]{1,64}> | [^\s"'`\\&,;<|] | \\(?![nrtu"'`\\/]) | [,;](?!\s|$|[\w.-]{1,64}\s?[=:]))++)
    )"""

FORM_FIELD = rf"""&[\w.%+\[\]-]{{0,64}}?(?P<name>{NAME})(?:[_-]?[0-9]{{1,3}})?\]?=(?P<value>[^\s&"'`\\]++)"""
FIELD_BEGINS = re.compile(r"[^\s\"'`]*$")
FORM_REACH = 512  # characters; further back no URL is looked for

OPTION = rf"""--(?<!---)(?:[a-z0-9]{{1,20}}-){{0,3}}(?P<name>{NAME})[ ]{{1,2}}(?P<value>[^\s"'`\\,;<>|&-][^\s"'`\\,;<>|&]*+)"""

QUERY = r"""[?&](?P<name>[\w.\[\]-]{1,64})=(?P<value>[^\s&#"'`<>\\]++)"""
QUERY_SECRET = re.compile(
    rf"""(?:{NAME}) (?:[_-]?[0-9]{{1,3}})?\]?$ | (?i:(?:^|[_-])(?:key|sig|signature|code|jwt|session|sid|ticket|sas))$""", re.VERBOSE
)


def named(word: bytes) -> str:
    """The pattern of an assignment, a configuration key or a JSON field whose name ends in the word."""
    return f"(?P<name>{NAMES[word]}) {VALUE}"


def with_value(find: Find, group: str, new: str) -> str:
    """What was found, with one group of it replaced."""
    start, end = (at - find.start() for at in find.span(group))
    return find[0][:start] + new + find[0][end:]


def lookback(find: Find) -> str:
    """The characters in front of what was found, a name's length of them."""
    return find.string[max(0, find.start() - 66) : find.start()]


def without_named(find: Find) -> str:
    """An assignment, a configuration key or a JSON field, with its value masked if that is a secret."""
    before = lookback(find)
    lead = before.rstrip(IN_NAMES)
    if lead.endswith(("?", "&", "://")) or (lead.endswith("#") and not lead[-2:-1].isspace() and len(lead) > 1):
        return find[0]  # URLs have rows of their own
    group = next(each for each in ("nested", "quoted", "bare") if find[each] is not None)
    value = find[group] if group != "bare" else find[group].rstrip(CLOSING) or find[group]
    name = before[len(lead) :] + find["name"]
    kept = stands_for_another(find[group]) or stands_for_another(value) or says_nothing(value) or names(value, name) or is_place(value)
    if kept or not (_bare_is_secret if group == "bare" else _quoted_is_secret)(find, value):
        return find[0]
    shown = MASK if group == "bare" or OPAQUE.search(find["name"]) else mask(value)
    return with_value(find, group, shown + find[group][len(value) :])


def _quoted_is_secret(find: Find, value: str) -> bool:
    if any(map(str.isspace, value)):
        return bool(OPAQUE.search(find["name"])) and has_digit(value)  # a sentence otherwise
    if OPAQUE.search(find["name"]) or (_is_constant(find) and has_letter(value)):
        return True
    return looks_random(value) or (len(value) >= SHORTEST and has_digit(value) and has_letter(value))


def _bare_is_secret(find: Find, value: str) -> bool:
    after = find.string[find.end() : find.end() + 1]
    if find["sep"] == "=" and after == "&":  # the first field of a form body
        return not value.isdigit()
    if _is_constant(find):
        return bool(OPAQUE.search(find["name"])) or has_letter(value)
    if after == "<" or not OPAQUE.search(find["name"]):
        return after != "<" and looks_random(value)  # what goes on with "<" is a generic type
    in_call = after == "," or find["bare"].endswith(")")
    if not in_call and (find["sep"] == "=" or _is_alone(find)):
        return True
    return len(value) >= SHORTEST and (has_digit(value) or bool(SYMBOL.search(value)))


def _is_constant(find: Find) -> bool:
    """Whether it is written as in an environment: ``NAME=value``."""
    return find["name"].isupper() and find["sep"] == "="


def _is_alone(find: Find) -> bool:
    """Whether name and value are all of their line: ``key: value`` at any depth, ``key = value`` at its left edge."""
    before = find.string[max(0, find.start() - 80) : find.start()]
    edge = LEFT_EDGE if "=" in find["sep"] else INDENTED
    return bool(edge.search(before) and LINE_ENDS.match(find.string, find.end())) and (len(before) < 80 or "\n" in before)


def without_form_field(find: Find) -> str:
    """A later field of a form body (``a=1&password=x``) with its value masked; in a URL it stays."""
    start = max(0, find.start() - FORM_REACH)
    begun = FIELD_BEGINS.search(find.string, start, find.start())
    body = begun[0] if begun else ""
    kept = "://" in body or "?" in body or stands_for_another(find["value"]) or find["value"].isdigit()
    return find[0] if kept else with_value(find, "value", MASK)


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

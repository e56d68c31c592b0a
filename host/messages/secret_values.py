"""Telling a secret from what only stands where one could: a reference, a placeholder, a type, a count, a version."""

from __future__ import annotations

import re

MASK = "***"
SHOW_FROM = 18  # characters; a shorter secret shows nothing of itself (hermes.md 18.1)
SHOWN_START, SHOWN_END = 6, 4

RANDOM_FROM = 8  # characters; fewer say nothing about how they were made

_MASKED = re.compile(r"\*+|.{6}\.\.\..{4}|\[REDACTED[^\]]*\]?", re.DOTALL)

_REFERENCE = re.compile(
    r"""
      [$%]?\{.*                                  # ${VAR}, {key}, {{ key }}, %{key}
    | .*\{[^{}]*\}.*                             # text with a gap for a value
    | \$(?:\(.*|[A-Za-z_]\w*)                    # $(command), $VAR
    | %(?:s|\(\w+\)s|\w+%)                       # %s, %(key)s, %VAR%
    | [&*]?[A-Za-z_][\w.]*[(\[].*                # os.getenv('X'), Optional[str]
    | (?:self|this|os|process|config|settings|args|options|env|secrets|var|local|params|request|data)\??\.[\w.?\[\]]+
    | [A-Za-z_]+(?:(?:\??\.|->|::)[A-Za-z_]+)+   # attribute.of.a.thing
    | .*://.*                                    # URLs have rows of their own
    """,
    re.VERBOSE | re.DOTALL,
)

_PLACEHOLDER = re.compile(
    r"""
      <.* | \[.* | \(.* | \.{2,}.* | …+ | [xX•.*_-]+
    | .*(?:\.\.\.|…)                             # cut off on purpose
    | (?:your|insert|enter|paste|replace|change|fake|dummy|example|sample)(?:[-_ ].*|me)
    | .*[-_ ](?:here|goes[-_ ]here|placeholder)
    | .*redacted.* | (?:placeholder|hidden|changeme|example|dummy|todo|tbd)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)

# fmt: off
_WORDS = frozenset({
    "none", "null", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "ok", "empty", "unset", "set", "any", "unknown",
    "str", "string", "text", "int", "integer", "number", "bool", "boolean", "bytes", "object", "secretstr", "char", "varchar", "uuid",
    "required", "optional", "missing", "invalid", "incorrect", "wrong", "expired", "valid", "failed", "needed", "mandatory", "default",
    "basic", "bearer", "digest", "apikey", "oauth", "oauth2", "jwt", "sso", "saml", "ldap", "new", "await", "return", "lambda", "not",
    "the", "a", "an", "is", "must", "should", "for", "to", "of", "and", "or", "in", "it", "this", "that", "use", "see", "if", "with",
})
# fmt: on

_SPELT = re.compile(r"[A-Za-z0-9]")
_DIGIT = re.compile(r"[0-9]")
_MADE = re.compile(r".*(?:[0-9]|[A-Za-z]{16}).*|[A-Za-z+/=_.-]+", re.DOTALL)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T_ ]\d\d.*)?")
_PATH = re.compile(r"(?:~|\.{0,2}|[A-Za-z]:)[/\\][\w.-]{0,32}(?:[/\\][\w.-]{1,32})*[/\\]?|[\w-]{1,32}(?:/[\w-]{1,32})*\.[a-z]{2,4}")
_TYPE = re.compile(r"[A-Z][a-z]+(?:[A-Z][a-z]+)+\??|[A-Z][a-z]*Str(?:ing)?")
_BREAKS = re.compile(r"[-_./:@,]")
# a word of up to 15 letters, a name in CamelCase, either with a number; or a number
_READABLE = re.compile(r"(?:[A-Z]?[a-z]{1,15}(?:[A-Z]{1,4}[a-z]{2,})*[A-Z]{0,4}|[A-Z]{1,15}|v)?[0-9]{0,3}|[0-9]{1,4}|[0-9]+")


def mask(secret: str) -> str:
    """What is shown instead: nothing of a short secret, the ends of a long one. A masked secret stays as it is."""
    if is_masked(secret):
        return secret
    return MASK if len(secret) < SHOW_FROM else f"{secret[:SHOWN_START]}...{secret[-SHOWN_END:]}"


def is_masked(value: str) -> bool:
    """Whether the value is what ``mask`` gives, or somebody else's mask."""
    return bool(_MASKED.fullmatch(value))


def stands_for_another(value: str) -> bool:
    """Whether the value is masked, a placeholder, or an expression that fetches the secret from elsewhere."""
    return is_masked(value) or bool(_REFERENCE.fullmatch(value) or _PLACEHOLDER.fullmatch(value))


def says_nothing(value: str) -> bool:
    """Whether the value is a type, a truth value or another word of code and prose that is nobody's secret."""
    return value.casefold() in _WORDS or bool(_TYPE.fullmatch(value)) or not _SPELT.search(value)


def is_place(value: str) -> bool:
    """Whether the value is a path or a file's name."""
    return bool(_PATH.fullmatch(value))


def names(value: str, name: str) -> bool:
    """Whether the value only repeats its name: ``token=token``, ``API_KEY = "api_key"``."""
    return _BREAKS.sub("", value).casefold() in _BREAKS.sub("", name).casefold()


def has_digit(value: str) -> bool:
    """Whether any digit is in it."""
    return bool(_DIGIT.search(value))


def has_letter(value: str) -> bool:
    """Whether any letter is in it: what has none is a number, a version, a date."""
    return any(map(str.isalpha, value))


def looks_random(value: str) -> bool:
    """Whether the value looks generated: no word, name, number, version, date or path, and not a label made of such."""
    if len(value) < RANDOM_FROM or not _MADE.fullmatch(value) or any(map(str.isspace, value)) or _DATE.fullmatch(value) or is_place(value):
        return False
    return not all(_READABLE.fullmatch(piece) for piece in _BREAKS.split(value))

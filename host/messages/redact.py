"""Masking secrets in text that leaves the conversation: for a summary model, a log, a notice (hermes.md 18.1).

``table()`` is applied row by row. A row first looks for what no secret of its kind can do without; text that holds
nothing of it costs a few fast searches and no more. All patterns are linear: a repetition is bounded, possessive, or
ends at the character that begins the next attempt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from host.messages.secret_fields import (
    FORM_FIELD,
    NAMES,
    OPTION,
    QUERY,
    Find,
    lookback,
    named,
    with_value,
    without_form_field,
    without_named,
    without_option,
    without_parameter,
)
from host.messages.secret_values import MASK, has_digit, looks_random, mask, says_nothing, stands_for_another

FOLD = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")
FOLDED_AWAY = b" _-"  # "API key", "api_key", "Api-Key" and "apiKey" are one word

PASSES = 5  # a mask can change what the text around it looks like; two are the rule


@dataclass(frozen=True)
class Row:
    """One kind of secret: where to look closer, what it looks like, what is put in its place."""

    kind: str
    word: bytes  # what is surely in the folded text (small letters; no spaces, dashes, underscores)
    hints: tuple[re.Pattern[str], ...]  # one of these quick patterns finds something; none: no matter
    pattern: re.Pattern[str]
    replace: Callable[[Find], str]
    on_request: bool = False  # part of the URL-credential redaction

    def apply(self, text: str, folded: bytes) -> str:
        """The text with secrets of this kind masked."""
        if self.word not in folded:
            return text
        if self.hints and not any(hint.search(text) for hint in self.hints):
            return text
        return self.pattern.sub(self.replace, text)


def redact(text: str, *, url_credentials: bool = False, force: bool = False, enabled: bool = True) -> str:
    """The text with its secrets masked: short ones by ``***``, long ones down to their first 6 and last 4 characters.

    Values of passwords, secrets and bare assignments show nothing. Passwords and query strings in URLs pass unless
    ``url_credentials``; those of databases never do. ``enabled`` is ``security.redact_secrets``; ``force`` ignores it.
    References (``${VAR}``, ``os.getenv(...)``, ``{key}``), placeholders (``<API_KEY>``, ``your-key-here``) and plain
    numbers stay. Redacting twice changes nothing.
    """
    if not (enabled or force):
        return text
    for _ in range(PASSES):
        before, text = text, _masked_once(text, url_credentials)
        if text == before:
            break
    return text


def _masked_once(text: str, url_credentials: bool) -> str:
    folded = text.encode("ascii", "ignore").translate(FOLD, FOLDED_AWAY)
    for row in table():
        if url_credentials or not row.on_request:
            text = row.apply(text, folded)
    return text


def _behind(words: Iterable[str]) -> str:
    """A pattern that one of the words ends here."""
    return f"(?:{'|'.join(f'(?<={re.escape(word)})' for word in words)})"


# --- known prefixes ----------------------------------------------------------------------------------------------

WORDLIKE = r"[A-Za-z0-9_-]"
# what follows a prefix, and the prefixes; after many of them a dash or underscore makes an ordinary name
# fmt: off
PREFIXES: tuple[tuple[str, str], ...] = (
    (r"[A-Za-z0-9]{16,}+",
     "ghp_ gho_ ghu_ ghs_ ghr_ hf_ r8_ npm_ gsk_ xai- ntn_ fc- fw- fw_ fal_ key- dop_v1_ doo_v1_ shpat_ shpss_ shpca_ rubygems_ "
     "dckr_pat_ lin_api_ pul- sgp_ sbp_ sk_live_ sk_test_ rk_live_ rk_test_ whsec_ tvly- pplx- am_ m0- AKIA ASIA"),
    (rf"{WORDLIKE}{{10,}}+",
     "sk- github_pat_ xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- pypi- glpat- nvapi- GOCSPX- sq0csp- sq0atp- AIza"),
    (rf"{WORDLIKE}{{16,}}+(?:\.{WORDLIKE}++)*+",
     "SG. hvs. ya29."),
)
# fmt: on
# the characters that prefixes end in, and what a key goes on with: the cheapest look that most other text fails
PIVOTS = {"-": "(?=[A-Za-z0-9][A-Za-z0-9_-]{9})", "_": "(?=[A-Za-z0-9]{16})", ".": "(?=[A-Za-z0-9])"}


def _known_keys() -> re.Pattern[str]:
    kinds = "|".join(f"(?:{'|'.join(map(re.escape, prefixes.split()))}){body}" for body, prefixes in PREFIXES)
    # the letter of an escaped line break, as in JSON, is no part of the word
    return re.compile(rf"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))(?:{kinds})")


def _known_prefixes() -> tuple[re.Pattern[str], ...]:
    """Patterns that find a prefix by its last character, which is rarer than its first, and look back from there."""
    every = [prefix for _, prefixes in PREFIXES for prefix in prefixes.split()]
    whole = [prefix for prefix in every if prefix[-1] not in PIVOTS]
    return (*(_found_by(pivot, every) for pivot in PIVOTS), re.compile("|".join(whole)))


def _found_by(pivot: str, prefixes: Iterable[str]) -> re.Pattern[str]:
    ending = (prefix for prefix in prefixes if prefix[-1] == pivot)
    return re.compile(rf"{re.escape(pivot)}{PIVOTS[pivot]}{_behind(ending)}")


def _masked_key(find: Find) -> str:
    key: str = find[0]
    return mask(key) if has_digit(key[3:]) or re.search(r"[A-Za-z0-9]{16}", key) else key  # sk-learn-contrib is none


# --- headers -----------------------------------------------------------------------------------------------------

# fmt: off
SCHEMES = frozenset({
    "bearer", "basic", "token", "digest", "negotiate", "apikey", "api-key", "key",
    "bot", "oauth", "jwt", "ssws", "hawk", "ntlm", "aws4-hmac-sha256", "googlelogin",
})
# fmt: on

AUTHORIZATION = r"""
    (?i:authorization) [\\"'`\])]{0,6} [ \t]{0,4}
    (?: [:=](?![=:]) | => | ,(?=[ ]?[fbru]?[\\"']) ) [ \t]{0,4} (?:[fbruFBRU]{1,2}(?=["']))? [\\"'`]{0,4}
    (?: (?P<scheme>[A-Za-z][\w-]{1,30}) [ ]{1,4} )? (?P<value>[^\s"'`\\,;<>]++)"""


def _unauthorized(find: Find) -> str:
    value = find["value"]
    kept = stands_for_another(value) or says_nothing(value) or value.casefold() in SCHEMES
    known = (find["scheme"] or "").casefold() in SCHEMES
    return find[0] if kept or not (known or looks_random(value)) else with_value(find, "value", mask(value))


HEADERS = "api-key auth-token access-token api-token private-token session-token security-token subscription-key client-secret"
# found by the colon, which is rarer than the letters before it
KEY_HEADER = rf""":(?i:{_behind(f"{name}:" for name in HEADERS.split())}) [ ]{{0,4}} (?P<value>[^\s"'`\\,;<>|]++)"""


def _masked_header(find: Find) -> str:
    value = find["value"]
    return find[0] if stands_for_another(value) or says_nothing(value) or value.isdigit() else with_value(find, "value", mask(value))


def _masked_value(find: Find) -> str:
    value = find["value"]
    return find[0] if stands_for_another(value) or not looks_random(value) else with_value(find, "value", mask(value))


# --- keys, URLs, bodies, numbers ---------------------------------------------------------------------------------

PRIVATE_KEY = r"""
    -----BEGIN[ ](?:[A-Z0-9]+[ ]){0,4}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
    (?: (?:[^-]|-(?!----))*+ -----END[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
      | (?: (?:[\s"'+,|>]|\\+[nrt])++ (?: (?:Proc-Type|DEK-Info|Version|Comment):[^\r\n\\]*+ | [A-Za-z0-9+/=]{16,}+ ) )*+
        (?: (?:\s|\\+[nrt])*+ [A-Za-z0-9+/=]{1,76}+ (?=\s*+(?:\.\.\.|…|["'\[]|\Z)) )?
    )"""

# fmt: off
DATABASES = (
    "postgres", "postgresql", "mysql", "mariadb", "mongodb", "mongodb+srv", "redis", "rediss", "amqp", "amqps", "mssql", "sqlserver",
    "oracle", "clickhouse", "cockroachdb", "snowflake", "cassandra", "neo4j", "bolt", "ldap", "ldaps", "smtp",
)
# fmt: on
SCHEME_BEFORE = re.compile(rf"(?i)(?:{'|'.join(map(re.escape, DATABASES))})(?:\+[a-z0-9]{{1,20}})?$")
USERINFO = r"""://[^\s/@:"'`<>\\]{0,256}:(?P<value>[^\s/"'`<>\\]+)@(?=[\w\[{$%-])"""


def _without_database_password(find: Find) -> str:
    return _without_password(find) if SCHEME_BEFORE.search(lookback(find)) else find[0]


def _without_password(find: Find) -> str:
    return find[0] if stands_for_another(find["value"]) else with_value(find, "value", MASK)


def _without_user_token(find: Find) -> str:
    return with_value(find, "value", MASK) if looks_random(find["value"]) else find[0]


def _without_phone(find: Find) -> str:
    return f"{find[0][:4]}****{find[0][-4:]}"


def _row(kind: str, pattern: str, replace: Callable[[Find], str], *, word: bytes = b"", on_request: bool = False) -> Row:
    return Row(kind, word, (), re.compile(pattern, re.VERBOSE | re.ASCII), replace, on_request)


@cache
def table() -> tuple[Row, ...]:
    """The kinds of secrets in the order in which they are masked; built when first wanted, which takes a moment."""
    return (
        _row("private key", PRIVATE_KEY, lambda find: "[REDACTED PRIVATE KEY]", word=b"privatekey"),
        Row("known prefix", b"", _known_prefixes(), _known_keys(), _masked_key),
        _row("authorization header", AUTHORIZATION, _unauthorized, word=b"authorization"),
        _row("bearer token", r"[bB](?i:earer)[ ]{1,4}(?P<value>[A-Za-z0-9._~+/=-]{16,}+)", _masked_value, word=b"bearer"),
        _row("key header", KEY_HEADER, _masked_header),
        *(_row(f"named {word.decode()}", named(word), without_named, word=word) for word in NAMES),
        _row("option", OPTION, without_option),
        _row("form field", FORM_FIELD, without_form_field),
        _row("Telegram token", r":(?=[A-Za-z0-9_-]{35})(?<=[0-9]{8}:)(?P<value>[A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])", _without_password),
        _row("database URL", USERINFO, _without_database_password, word=b"@"),
        _row("token in a URL", r"://(?P<value>[A-Za-z0-9_-]{8,256}+)@", _without_user_token, word=b"@"),
        _row("JWT", r"eyJ(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]{4,}+)++", lambda find: mask(find[0]), word=b"eyj"),
        _row("phone", r"\+(?<![\w/+.-]\+)[1-9][0-9]{7,14}(?![\w+/=]|[.-][0-9])", _without_phone),
        _row("password in a URL", USERINFO, _without_password, word=b"@", on_request=True),
        _row("query string", QUERY, without_parameter, on_request=True),
    )

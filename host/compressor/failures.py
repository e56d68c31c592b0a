"""What kind of failure kept a summary from being written, whoever raised it (hermes.md 10.1)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from host.compressor.faults import UnusableAnswer
from host.errors import CtxhostError
from host.provider.bodies import words_of
from host.provider.errors import EmptyReply, QuotaUsedUp, ServiceError
from host.provider.refusals.limits import too_long
from host.provider.refusals.numbers import as_window

SHOWN = 220  # characters of an error that is remembered


class Failure(StrEnum):
    """The kinds that ``POLICY`` tells apart; the text is what a user reads."""

    NO_MODEL = "no model is configured"
    ACCESS = "access denied"
    QUOTA = "quota used up"
    MODEL_MISSING = "no such model"
    TIMEOUT = "no answer in time"
    GATEWAY = "gateway timeout"
    RATE_LIMIT = "rate limit"
    SERVER = "server error"
    UNREADABLE = "unreadable answer"
    CONNECTION = "no connection"
    UNUSABLE = "unusable answer"
    TOO_LONG = "too long for the model"
    BAD_REQUEST = "bad request"
    OTHER = "other"


@dataclass(frozen=True)
class Signs:
    """What can be seen of an error. ``words`` are small letters, ``types`` its class and the classes under it."""

    error: BaseException
    status: int | None
    words: str
    types: str

    def say(self, pattern: re.Pattern[str]) -> bool:
        """Whether the words hold the pattern."""
        return pattern.search(self.words) is not None


def failure_of(error: BaseException) -> Failure:
    """The kind of failure. Words decide before the status where services disagree about the status."""
    signs = signs_of(error)
    return next((kind for kind, shows in SIGNS if shows(signs)), Failure.OTHER)


def shown_error(error: BaseException, mask: Callable[[str], str]) -> str:
    """The error for a report: one line of at most 220 characters, without secrets."""
    what = error.what if isinstance(error, CtxhostError) else str(error)
    line = " ".join(mask(what).split()) or type(error).__name__
    return line if len(line) <= SHOWN else line[: SHOWN - 3] + "..."


def stated_limit(error: BaseException) -> int | None:
    """The window in tokens that a refusal names, None where it names none."""
    refusal = too_long(error)
    return as_window(refusal.limit if refusal is not None and refusal.limit else _limit_in(signs_of(error).words))


def signs_of(error: BaseException) -> Signs:
    """Status, words and type names of an error; a service's error speaks through its detail, not through our sentence on it."""
    said = [error.detail] if isinstance(error, ServiceError) else [str(error), words_of(getattr(error, "body", None))]
    types = " ".join(base.__name__ for base in type(error).__mro__)
    words = " ".join(filter(None, said)).casefold()
    return Signs(error, _status_of(error, words), words, types.casefold())


def _status_of(error: BaseException, words: str) -> int | None:
    response = getattr(error, "response", None)
    candidates = (getattr(error, "status_code", None), getattr(error, "status", None), getattr(response, "status_code", None))
    given = next((status for status in candidates if isinstance(status, int) and 100 <= status < 600), None)
    named = STATUS.search(words) if given is None else None
    return int(named[1]) if named else given


def _limit_in(words: str) -> int | None:
    found = next((match for pattern in STATED if (match := pattern.search(words))), None)
    return int(re.sub(r"\D", "", found["limit"])) if found else None


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


STATUS = re.compile(r"\b(?:http(?:/[\d.]+)?|status(?: code)?|error code)[ :=]{1,3}([45]\d\d)\b")
NUMBER = r"(?P<limit>\d[\d,_]{2,})"
STATED = (
    re.compile(rf"> ?{NUMBER}(?: tokens?)? maximum"),
    re.compile(rf"(?:maximum context length|context (?:window|length|size|limit)|max_model_len|n_ctx|maximum)\D{{0,40}}?{NUMBER}"),
    re.compile(rf"limit (?:of|is|:) ?{NUMBER}"),
)
NO_MODEL = _words("no llm provider configured", "needs a model and none is configured")
QUOTA = _words("insufficient_quota", "quota[ _]exceeded", "exceeded your current quota", "out of (?:funds|credits?|extra usage)")
KEY_MISSING = _words("no api key", "needs an api key and none is set")
MISSING = _words("model_not_found", "model .{0,80}does not exist", "no available channel", "no such model", "unknown model")
TOO_LONG = _words(
    r"context[ _](?:length|size|window)(?! must)",
    "maximum context",
    "prompt(?: is|:)? too long",
    "input is too long",
    "exceeds (?:the )?max(?:imum number of input tokens|_model_len)",
    "too many (?:input )?tokens",
    "reduce the length",
    "max(?:imum)? input tokens?",
    "request entity too large",
    "payload too large",
    "上下文长度|超过最大长度",
)
TIMED_OUT = _words(r"time[ds]?[ -]?out")
UNREADABLE = _words("expecting value", "jsondecodeerror")
DISCONNECTED = _words(
    r"connection (?:refused|reset|error|aborted|closed|was closed|lost)",
    r"name (?:or service )?not known|name resolution|getaddrinfo",
    "no route to host|network is unreachable|host is unreachable",
    "server disconnected|peer closed|ended prematurely|incomplete chunked read|unexpected eof|broken pipe",
)
TOO_LONG_STATUS = frozenset({None, 400, 413, 422, 500, 502, 503, 529})


def _label_is(*labels: str) -> Callable[[Signs], bool]:
    return lambda signs: isinstance(signs.error, ServiceError) and signs.error.label in labels


def _is_too_long(signs: Signs) -> bool:
    if signs.status == 413 or too_long(signs.error) is not None:
        return True
    return signs.status in TOO_LONG_STATUS and signs.say(TOO_LONG)


def _status_in(*statuses: int) -> Callable[[Signs], bool]:
    return lambda signs: signs.status in statuses


def _status_from(least: int, most: int) -> Callable[[Signs], bool]:
    return lambda signs: signs.status is not None and least <= signs.status <= most


def _type_has(*names: str) -> Callable[[Signs], bool]:
    return lambda signs: any(name in signs.types for name in names)


def _either(*tests: Callable[[Signs], bool]) -> Callable[[Signs], bool]:
    return lambda signs: any(test(signs) for test in tests)


SIGNS: tuple[tuple[Failure, Callable[[Signs], bool]], ...] = (
    (Failure.UNUSABLE, lambda signs: isinstance(signs.error, UnusableAnswer | EmptyReply)),
    (Failure.NO_MODEL, lambda signs: signs.say(NO_MODEL)),
    (
        Failure.QUOTA,
        lambda signs: isinstance(signs.error, QuotaUsedUp) or signs.say(QUOTA),
    ),  # some services say it with 429, which else passes by itself
    (Failure.RATE_LIMIT, _either(_status_in(429), _label_is("rate_limit"))),
    (Failure.TOO_LONG, _is_too_long),
    (Failure.ACCESS, _either(_status_in(401, 402, 403), _label_is("auth", "billing"), lambda signs: signs.say(KEY_MISSING))),
    (Failure.MODEL_MISSING, _either(_status_in(404), _label_is("not_found"), lambda signs: signs.say(MISSING))),
    (Failure.GATEWAY, _status_in(408, 502, 504)),
    (Failure.SERVER, _either(_status_from(500, 599), _label_is("server"))),
    (Failure.BAD_REQUEST, _either(_status_from(400, 499), _label_is("bad_request"))),
    (Failure.UNREADABLE, _either(_label_is("malformed"), _type_has("jsondecodeerror"), lambda signs: signs.say(UNREADABLE))),
    (Failure.TIMEOUT, _either(_label_is("timeout"), _type_has("timeout"), lambda signs: signs.say(TIMED_OUT))),
    (
        Failure.CONNECTION,
        _either(
            _label_is("connection"),
            _type_has("connection", "dns", "ssl", "protocolerror", "transporterror", "gaierror"),
            lambda signs: signs.say(DISCONNECTED),
        ),
    ),
)
"""Kind -> how it is seen, first match wins."""

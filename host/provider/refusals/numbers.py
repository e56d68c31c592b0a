"""The numbers that a refusal names."""

from __future__ import annotations

import re

from host.provider.refusals.vocabulary import CEILING

LEAST, MOST = 1_024, 10_000_000  # tokens; what is outside is no model's window
DIGITS = r"(\d[\d,_]*(?:\.\d+)?\s?[kKmM]?)"
NUMBER = rf"{DIGITS}\b"
ASKED_FOR = re.compile(r"\bmax_length\b", re.IGNORECASE)  # the numbers are of an answer that was asked for
OF_TOKENS = r"(?!\s?(?:bytes|[kmg]i?b\b|characters|字符|seconds|px|pixels|%))"
FEW = 256  # tokens; smaller numbers beside a length are names and numbers of errors
SCALES = {"k": 1_000, "m": 1_000_000}


def _patterns(*texts: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(text.replace("N#", NUMBER), re.IGNORECASE) for text in texts)


OWN_WINDOW = _patterns(r"\bn_ctx[\"']?\s*[:=]\s*N#")
LIMIT = _patterns(
    r"exceeds? context limit:\s*\d+\s*\+\s*\d+\s*>\s*N#",
    r"\btokens?\s*>\s*N#\s*max",
    r"\(\s*[\d,_]+\s*>\s*N#\s*\)",
    r"max(?:imum)? (?:(?:context|prompt|input|model|sequence)[ _])+(?:length|size|window|len|tokens?)(?![a-z]| by\b)\D{0,40}?N#",
    r"max_(?:model|seq)_len(?![a-z]| by\b)\D{0,40}?N#",
    r"token limit\W{1,4}N#",
    r"max_input_len\W{1,4}N#",
    r"max(?:imum)? (?:allowed )?length\W{1,3}N#",
    r"max(?:imum)? size\W{1,3}N# tokens",
    r"(?:less|fewer) than N# tokens",
    r"\btokens?,? (?:max|limit)(?:imum)?\W{1,3}N#",
    r"(?:supports?|accepts?) (?:only )?(?:up to|at most) N#",
    r"tokens?\b[^\n]{0,60}(?:cannot exceed|limit is|window of) N#",
    r"input length should be \[\s*\d+\s*,\s*N#\s*\]",
    r"exceeds? the (?:\w+ )?(?:limit|maximum|max) (?:of|is) N#",
    r"context[ _](?:window|length|limit|size)(?![a-z]| by\b)\D{0,40}?N#(?! tokens? (?:over|in the))",
    r"maximum number of (?:input )?tokens (?:allowed )?\D{0,12}N#",
    r"configured limit of N#",
    r"while (?:the )?limit is N#",
    r"`inputs` tokens \+ `max_new_tokens` must be <= N#",
    r"N#(?: tokens?)? (?:maximum|max)\b(?: context)?",
    r"context_length_exceeded\W{1,4}N#",
    r"(?:window|limit|maximum|max) (?:of|is) N# tokens",
    r"(?:最大长度|上下文长度|最大上下文)\D{0,12}N#",
)
SENT = _patterns(
    r"exceeds? context limit:\s*N#\s*\+",
    r"\(N# in the messages",
    r"(?:prompt|input) (?:contains|has) (?:at least )?N#(?: input)? tokens",
    r"too long: N# tokens",
    r"token count of N#",
    r"N# tokens from the input",
    r"request has N# input tokens",
    r"(?:input|prompt) (?:length )?\(N#(?: tokens)?\)",
    r"received N#(?!\s?bytes)",
    r"(?:input|prompt) \((?:total )?length N#",
    r"(?:requested|number of) tokens \(N#",
    r"\(\s*N#\s*>\s*\d",
    r"prompt_tokens\W{1,2}N#",
    r"too long \(N# tokens",
    r"token count is N#",
    r"N# (?:tokens )?(?:were|was) (?:given|sent)",
    r"\bN# tokens,? limit",
    r"keep the first N# tokens",
    r"tokens\. given: N#",
    r"\(requested:? N#\)",
    r"too long: N#",
    r"(?:prompt has|request tokens) N#",
    r"\bn_prompt_tokens\W{1,4}N#",
    r"\bn_keep\W{1,4}N#",
    r"input token count (?:of )?\(?N#",
    r"current length is N#",
    r"given: N# `inputs`",
    r"total length N#",
    r"(?:resulted in|requires (?:approximately )?|request contains|requested (?:about )?|contains) ?N# (?:input )?tokens",
    r"you (?:sent|supplied|provided) N# (?:input )?tokens",
    r"request \(N# tokens",
    r"prompt \(N# tokens",
)
PARTS = re.compile(r"([\d,_]+) (?:of (?:text|tool|image|audio) input|in (?:the|your) (?:messages|functions|prompt|tools))", re.IGNORECASE)
RESERVE = _patterns(
    r"context limit:\s*\d+\s*\+\s*N#",
    r"N# in the (?:completion|output)",
    r"requested N# output tokens",
    r"N# (?:tokens )?for the completion",
    r"is too large: N#\. This",
    r"and N# `max_new_tokens`",
)
EXCESS = _patterns(r"(?:exceed(?:s|ed)?|over)[^.\n]{0,50}? by N# tokens")
AVAILABLE = _patterns(
    r"available_tokens:\s*N#",
    r"max_(?:completion_|output_|new_)?tokens\b[^\n]{0,60}?\[\s*\d+\s*,\s*N#\s*\]",
    r"expected a value (?:<=|less than or equal to|at most) N#",
    r"max_(?:completion_|output_|new_)?tokens[^\n>]{0,20}>\s*N#, which is the maximum",
    r"supports at most N# completion tokens",
    r"max_(?:completion_|output_|new_)?tokens\W{1,4}(?:must be (?:less than or equal to|at most)|is limited [^\d\n]{0,30})\W{0,3}N#",
    r"maximum tokens you requested exceeds? the model limit of N#",
)
NEXT_TO_CEILING = _patterns(rf"{CEILING}[^\d\n]{{0,24}}(?<!by )N#{OF_TOKENS}", r"\[\s*\d+\s*,\s*N#\s*\]")
COUNT = re.compile(
    rf"(?<![a-z\d_.,-])(?<!by )(?<!#){DIGITS}(?!\d)(?![a-z\d_.-]*[a-z_]){OF_TOKENS}",
    re.IGNORECASE,
)
CHARACTERS = _patterns(r"prompt contains (?:at least )?N# characters")
BUDGET, REQUESTED = _patterns(r"\blimit:? N#"), _patterns(r"\brequested:? N#")
MESSAGE = re.compile(r"\bmessages?\.?\[?(\d{1,7})\]?(?=[.:])", re.IGNORECASE)
WAIT = re.compile(r"(?:try again|retry) (?:in|after) ([\d.]+)\s?(ms|s|m)?|retryDelay\W+([\d.]+)s", re.IGNORECASE)
ERROR_NUMBER = re.compile(r"limit\s*\(\d{4}\)", re.IGNORECASE)  # a service's number for the error, which is no count
CHARS_A_TOKEN = 3


def number(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    """The number that the first matching pattern finds: 1,000, 1_000, 128k and 131072.0 are numbers."""
    found = next(filter(None, (pattern.search(text) for pattern in patterns)), None)
    return _read(found[1]) if found else None


def as_window(tokens: int | None) -> int | None:
    """The number, where it may be a model's window."""
    return tokens if tokens is not None and LEAST <= tokens <= MOST else None


def limit_in(text: str) -> int | None:
    """The window of the model in tokens, where the text states it."""
    text = ERROR_NUMBER.sub("limit", text)
    own = number(OWN_WINDOW, text)
    if own:
        return own
    return next(filter(None, (as_window(number((pattern,), text)) for pattern in LIMIT)), None)


def pair_in(text: str) -> tuple[int | None, int | None]:
    """The limit and what was sent where a text names just two counts: what passes a limit is the larger one."""
    if ASKED_FOR.search(text):
        return None, None
    text = ERROR_NUMBER.sub("limit", text)
    counts = {count for found in COUNT.findall(text) if (count := _read(found)) is not None and count >= FEW}
    if len(counts) != 2:
        return None, None
    limit, sent = sorted(counts)
    return as_window(limit), sent


def ceiling_in(text: str) -> int | None:
    """The measure that stands beside the words of a limit."""
    return number(NEXT_TO_CEILING, ERROR_NUMBER.sub("limit", text))


def window_in(text: str) -> int | None:
    """The measure beside the words of a limit, where it may be a window."""
    return as_window(ceiling_in(text))


def sent_in(text: str) -> int | None:
    """The tokens that the service counted in the input, the sum where it names parts."""
    parts = [_read(each) for each in dict.fromkeys(PARTS.findall(text))]
    return sum(each for each in parts if each) or number(SENT, text)


def available_in(text: str) -> int | None:
    """The longest answer that there is room for, where the text tells."""
    if (told := number(AVAILABLE, text)) is not None:
        return told
    limit = limit_in(text)
    characters = number(CHARACTERS, text)
    sent = characters // CHARS_A_TOKEN if characters else sent_in(text)
    if limit is None or sent is None or (characters is None and number(RESERVE, text) is None):
        return None
    return limit - sent if limit > sent else None


def message_in(text: str) -> int | None:
    """The index of the message that a text objects to, as the service counts: some take system messages from the list first."""
    found = MESSAGE.search(text)
    return int(found[1]) if found else None


def wait_in(text: str) -> float | None:
    """The seconds after which a text wants to be asked again."""
    found = WAIT.search(text)
    try:
        return float(found[1] or found[3]) * {"ms": 0.001, "m": 60.0}.get((found[2] or "").lower(), 1.0) if found else None
    except ValueError:
        return None


def _read(text: str) -> int | None:
    plain = re.sub(r"[,_\s]", "", text.casefold())
    scale = SCALES.get(plain[-1:], 1)
    try:
        return int(float(plain.rstrip("km")) * scale)
    except (ValueError, OverflowError):
        return None

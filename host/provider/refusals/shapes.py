"""The one table of how services word a refusal."""

from __future__ import annotations

import re
from dataclasses import dataclass

from host.provider.refusals import vocabulary as say
from host.provider.refusals.kinds import Kind
from host.provider.refusals.vocabulary import all_of

ANY: frozenset[int | None] = frozenset()
TIMEOUTS = (408, 504, 522, 524, 599)
REFUSED: frozenset[int | None] = frozenset({None, 400, 413, 422, 424})
FAILED: frozenset[int | None] = frozenset({None, 400, 413, 422, 424, 500, 502, 503, 529})


@dataclass(frozen=True)
class Shape:
    """A row: the kind, what the words are about, the statuses it comes with (empty: any), and names that are enough alone.

    ``unless``: words that show that it is about something else.
    """

    kind: Kind
    words: str
    statuses: frozenset[int | None] = ANY
    codes: frozenset[str] = frozenset()
    unless: str = ""

    def takes(self, status: int | None, codes: frozenset[str], text: str) -> bool:
        """Whether a refusal is of this shape. A name needs no status: it says what is meant."""
        if self.codes & codes:
            return True
        if not self.words or (self.statuses and status not in self.statuses):
            return False
        return bool(_found(self.words, text)) and not (self.unless and _found(self.unless, text))


def _found(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE)


LENGTH = (
    r"(?:context(?:_length|_window|_size)?|prompt|input|sequence|token|tokens|window|max_model_len|max_seq_len|inputs|history|conversation"
    r"|messages?)"
)
TOO_MUCH = (
    r"(?:exceed\w*|(?<!took )too (?:long|large|many|big)|longer than|larger than|(?:greater|more) than(?! (?:zero|one|two|\d{1,2})\b)"
    r"|over (?:the )?(?:max|limit)|beyond(?! our)|"
    r"does ?n[o']t fit|not fit|overflow\w*|surpass\w*|truncat\w+)"
)
CAP = r"(?:max_(?:completion_|output_|new_)?tokens|maxOutputTokens|(?:output|completion) tokens?)"

SHAPES: tuple[Shape, ...] = (
    Shape(Kind.LONG_CONTEXT_TIER, r"(?s)extra usage.{0,400}long.context|long.context.{0,400}extra usage", frozenset({None, 429})),
    Shape(Kind.LONG_CONTEXT_BETA, r"long.context beta.*(?:not (?:yet )?available|not enabled|incompatible)", frozenset({None, 400, 403})),
    Shape(
        Kind.TOOL_CONTENT,
        r"^text is not set$|tool (?:message|result|content)\w*[^\n]*(?:must be (?:a )?(?:string|text)|only supports? text)"
        r"|(?:image|multimodal|list)[^\n]{0,60}(?:not supported|unsupported|not allowed)[^\n]{0,40}\btool\b",
        REFUSED,
    ),
    Shape(
        Kind.PAYLOAD_TOO_LARGE,
        r"too many images|at most \d+ images?\b|(?:limit|max(?:imum)?)(?: of| is)? \d+ images\b"
        r"|\b\d+ images\b[^\n]{0,30}\b(?:exceed|maximum|limit)|(?:number of|allowed) images"
        r"|\b(?:messages|input)\W{0,3}\d+\W{1,3}content[^\n]{0,20}string too long"
        r"|\b(?:messages|input)\b\W{1,4}(?:array too long|list should have at most)|too many messages",
        REFUSED,
    ),
    Shape(
        Kind.IMAGE_TOO_LARGE,
        r"\bimages?\b[^\n]{0,60}?\b(?:exceeds?|too (?:large|big)|larger than|over the)\b"
        r"|\b(?:exceeds?|too (?:large|big)|maximum|max)\b[^\n]{0,60}?\bimage(?: file)? (?:size|dimensions?|bytes)\b"
        rf"|{all_of(say.IMAGE, say.FINE)}",
        REFUSED,
        unless=r"too long|过长|context (?:length|window|size|limit)"
        rf"|\btokens?\b[^\n.]{{0,40}}{TOO_MUCH}|{TOO_MUCH}[^\n.]{{0,40}}\btokens?\b",
    ),
    Shape(
        Kind.FORMAT,
        r"(?:unsupported|unknown|unrecognized|unexpected|extra)[ _](?:parameter|argument|field|keyword|inputs)"
        r"|encrypted content|extra inputs are not permitted|is not supported with this model",
        frozenset({None, 400, 422}),
    ),
    Shape(
        Kind.PAIRING,
        rf"{all_of(say.CALL, say.RESULT, say.ORDER)}|no tool (?:output|call)\b[^\n]{{0,20}}\bfound"
        r"|tool_use[^\n]*without[^\n]*tool_result|tool_call_ids?[^\n]*(?:did not have|not found|no matching)"
        r"|unexpected `?tool_use_id|must be (?:followed by|a response to)[^\n]*tool"
        r"|function response parts|function (?:call|response) turn|not the same number of function calls"
        r"|missing tool (?:responses?|results?|outputs?)"
        r"|unexpected role\b[^\n]{0,60}\btool\b|tool_?results?`? blocks",
        REFUSED,
    ),
    Shape(Kind.SERVER_ERROR, r"(?:returned|received) an empty (?:response|reply|completion)|empty response from"),
    Shape(
        Kind.SERVER_RESOURCE,
        r"out of memory|\bOOM\b|cuda error|insufficient memory|not enough (?:gpu |system )?memory|free memory"
        r"|more system memory|memory (?:ceiling|guard|limit)|failed to allocate|kv.cache\b[^\n]{0,20}(?:full|exhausted)"
        r"|(?:space|slots?)[^\n]{0,20}kv.cache|attempting to allocate"
        r"|memory (?:is )?(?:exhausted|full)|\bvram\b|显存不足|内存不足",
        FAILED,
    ),
    Shape(
        Kind.OVER_RATE_BUDGET,
        r"(?s)request too large.{0,400}(?:per min|\bTPM\b)|per min(?:ute)?.{0,400}\bmust be reduced"
        rf"|{all_of(say.ONE, say.TOKENS, say.PACE, say.OVER)}",
        frozenset({None, 400, 413, 429}),
    ),
    Shape(
        Kind.RATE_LIMIT,
        r"resource_exhausted|resource has been exhausted|usage limit|quotametric|free_tier_",
        frozenset({None, 429}),
        frozenset({"resource_exhausted"}),
    ),
    Shape(
        Kind.BILLING,
        r"credit balance|insufficient[ _](?:credit|balance|fund|quota)|payment required|exceeded your current quota"
        r"|credits? (?:is |are |was |were )?(?:depleted|exhausted|used up)|spending limit"
        r"|not[ _]enough[ _](?:balance|credit|funds)|budget has been exceeded|top.up"
        r"|余额不足|额度(?:不足|失败|已用)|剩余额度|欠费|充值|arrearage",
        frozenset({None, 400, 402, 403, 429}),
        frozenset({"insufficient_quota", "billing_hard_limit_reached", "budget_exceeded", "insufficient_user_quota", "not_enough_balance"}),
    ),
    Shape(
        Kind.RATE_LIMIT,
        r"throttl|rate.?limit|too many requests|per (?:minute|day|hour|second)\b|\b[TR]P[MD]\b|wait before trying|限流|请求过于频繁"
        rf"|{say.PACE}",
        unless=r"context_length_exceeded|maximum context length",
    ),
    Shape(
        Kind.OUTPUT_CAP,
        rf"{CAP}\b[^\n]{{0,60}}(?:must be|should be|valid range|supported range|not valid|expected|at most|too large|limited"
        r"|available_tokens)"
        rf"|{all_of(say.WRITTEN, say.CEILED)}|\bmaximum tokens you requested"
        rf"|{CAP}\W{{1,4}}[\d,_]+\s*>\s*(?:context_window|[\d,_]+,? which is the max)"
        rf"|supports at most [\d,_]+ (?:completion|output) tokens|available_tokens:",
        frozenset({None, 400, 416, 422}),
        unless=r"`?inputs`? tokens \+|prompt (?:is )?too long|context length is"
        rf"|{all_of(say.WRITTEN, say.READ)}",
    ),
    Shape(
        Kind.CONTEXT_OVERFLOW,
        rf"\b{LENGTH}\b[^\n]{{0,90}}\b{TOO_MUCH}|\b{TOO_MUCH}[^\n]{{0,60}}\b{LENGTH}\b",
        FAILED,
        frozenset(
            {
                "context_length_exceeded",
                "exceed_context_size_error",
                "max_tokens_exceeded",
                "context_window_exceeded",
                "model_context_window_exceeded",
                "contextwindowexceedederror",
            }
        ),
        unless=rf"payload|entity|(?:string|array) too long|{say.ASIDE}",
    ),
    Shape(
        Kind.CONTEXT_OVERFLOW,
        r"maximum (?:context|prompt|model) length|reduce the length|context (?:length|size|window) (?:is|of|limit|full|holds)"
        r"|`inputs` tokens \+ `max_new_tokens`|largest known context limit|max_model_len|n_ctx_slot|slot context|token limit"
        r"|contextwindowexceeded|input token[^\n]{0,60}supports? up to|accepts? (?:at most|up to) [\d,_]+ (?:input )?tokens"
        r"|input length should be|tokens\b[^\n]{0,40}\blimit is"
        r"|while (?:the )?limit is|maximum number of (?:input )?tokens|max(?:imum)? length exceeded|(?:less|fewer) than [\d,_]+ tokens",
        FAILED | {403},
        unless=say.ASIDE,
    ),
    Shape(
        Kind.CONTEXT_OVERFLOW,
        r"(?:超过|超出|超长)[^\n]{0,20}(?:长度|上下文|token)|(?:长度|上下文|token)[^\n]{0,20}(?:超过|超出|过长|超限)",
        FAILED,
    ),
    Shape(
        Kind.CONTEXT_OVERFLOW,
        rf"{all_of(say.ASKED, say.TOKENS, say.OVER)}|{all_of(say.READ, say.TOO_LONG)}"
        rf"|{all_of(say.WINDOW, say.OVER)}|{all_of(say.WINDOW, say.TOKENS, say.COUNT)}",
        FAILED,
        unless=say.ELSEWHERE,
    ),
    Shape(
        Kind.PAYLOAD_TOO_LARGE,
        r"(?:request )?(?:entity|payload|body)[^\n]{0,30}(?:too large|exceeds)|error code: 413|request_too_large"
        rf"|{all_of(say.BODY, say.OVER)}",
    ),
    Shape(Kind.SERVER_ERROR, r"overloaded|server (?:is )?busy|at capacity", frozenset({None, 400, 500, 502, 503, 529})),
    Shape(
        Kind.AUTH,
        r"invalid (?:api )?key|incorrect api key|api.?key (?:is |has )?(?:not valid|invalid|expired|missing)"
        r"|no (?:api key|(?:auth )?credentials) found|unauthorized|authentication",
        frozenset({None, 400, 401, 403}),
    ),
    Shape(
        Kind.NETWORK,
        r"\b(?:ssl|tls)\b[^\n]*alert|certificate\W?verify|certificate (?:has|is|was) |self.signed cert|timed? ?out"
        r"|deadline exceeded|\b(?:etimedout|econnrefused|econnaborted|enotfound|eai_again)\b|connection refused",
        frozenset({None, *TIMEOUTS}),
    ),
)
"""The first row that takes a refusal says its kind.

Order: refusals that speak of tokens and windows by the way (tiers, pictures, parameters, pairing, memory, budgets) stand before those
that mean them; a cap on the answer before the window; names and words before what only a status says. One text, or the list of messages
or pictures, that is too long is counted in characters or entries, which says nothing of a window in tokens: that is PAYLOAD_TOO_LARGE;
where it is a tool's name or an id, FORMAT.
"""

BY_STATUS: dict[int, Kind] = {
    401: Kind.AUTH,
    402: Kind.BILLING,
    403: Kind.AUTH,
    413: Kind.PAYLOAD_TOO_LARGE,
    429: Kind.RATE_LIMIT,
    **dict.fromkeys(TIMEOUTS, Kind.NETWORK),
}
"""What a status says where no row does; the other 4xx are FORMAT, 5xx SERVER_ERROR."""

DISCONNECTED = re.compile(
    r"server disconnected|peer closed connection|connection reset|econnreset|connection was closed|network connection lost|unexpected eof"
    r"|incomplete (?:chunked )?read|remoteprotocolerror",
    re.IGNORECASE,
)

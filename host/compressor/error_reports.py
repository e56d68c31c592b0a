"""Answers that are nothing but the error report of a service which a gateway sent as a normal answer."""

from __future__ import annotations

import re

from host.compressor.unwrapping import json_object

SHORT = 300  # characters of a report in plain words
PAGE = re.compile(r"(?:<\?xml[^>]{0,200}\?>\s*)?<(?:!doctype html|html|head|center|error(?:response)?)\b", re.IGNORECASE)
ENVELOPE = frozenset(
    {
        *("error", "errors", "error_code", "error_message", "error_type", "message", "msg", "detail", "details", "description"),
        *("code", "status", "status_code", "statuscode", "type", "title", "reason", "success", "ok", "object", "param", "instance"),
        *("request_id", "requestid", "trace_id", "traceid", "timestamp", "path", "hint", "help", "retry_after", "id", "provider"),
    }
)
"""Keys of an object that reports an error; one with any other key is something else."""
SAYS = frozenset({"error", "errors", "error_message", "detail"})
TELLS_WITH_A_STATUS = frozenset({"message", "msg", "title", "description", "reason"})
STATUS = frozenset({"code", "status", "status_code", "statuscode", "error_code", "success", "ok"})
REPR = re.compile(r"\{\s*'(?:error|detail)'\s*:.*\}", re.DOTALL)  # an object as Python prints it

NAMES = (
    "bad request|unauthori[sz]ed|payment required|forbidden|not found|request time-?out|too many requests|internal (?:server )?error"
    "|not implemented|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|site is overloaded|overloaded(?:_error)?"
)
ORIGIN = "(?:api|fatal|internal|server|unexpected|unknown|upstream|network|stream|provider|connection)"
LABEL = rf"(?:{ORIGIN} )*(?:http(?:/[\d.]+)?|(?:error|status)(?: code)?)[ :]{{1,2}}"
AUTHOR = "(?:server|service|model|engine|upstream|system|provider)s?"
REPORTS = (
    rf"(?:{LABEL}|error[ :]+)?(?:[45]\d\d[ :\-–—.]{{0,3}})?(?:{NAMES})\b.{{0,60}}",
    rf"{LABEL}(?:[45]\d\d\b|\d{{3,4}}\s*\Z)",
    rf"(?:an? )?(?:{ORIGIN} )*error[:!.]?\s*\Z",
    rf"(?:an? )?(?:{ORIGIN} )*error (?:generating|creating|calling|while|during|processing|communicating|occurred|fetching)\b",
    rf"(?:an? )?(?:{ORIGIN} )*error from (?:the )?(?:api|{AUTHOR})\b",
    r"(?:api |request |token )?(?:rate|usage|request)[ _-]?limit\w* (?:was |has been |is )?(?:exceeded|reached|hit)\b",
    r"you (?:have|'ve) (?:exceeded|reached) (?:your|the)\b.{0,60}(?:limit|quota)",
    r"(?:quota|credits?|balance)\b.{0,30}(?:exceeded|exhausted|insufficient|too low)|insufficient (?:quota|credit|balance|fund)",
    r"(?:invalid|incorrect|missing|no) api[ _]?key",
    rf"(?:the |this |our )?{AUTHOR} (?:(?:is|are) (?:currently |temporarily )?(?:busy|overloaded|unavailable|down)|had an error)\b",
    rf"(?:the |this |our )?{AUTHOR} (?:connect error|timed? ?out|request timeout)|no healthy upstream",
    r"(?:the )?(?:request|connection|operation|stream)\b.{0,20}(?:timed out|was aborted|refused|reset by peer|failed)[.!]?\s*\Z",
    r"something went wrong\b|failed to (?:generate|create|fetch|connect|get a response)\b|unable to (?:connect|reach)\b",
    r"[^\n]{0,160}(?:please (?:try again|retry|wait)\b.{0,60}|(?:try again|retry) later[.!]?)\s*\Z",
    "(?:系统|服务器?|服務器?|伺服器|请求|請求|接口)(?:内部)?(?:错误|錯誤|异常|異常|繁忙|超时|超時|过于频繁|過於頻繁|失败|失敗|不可用|忙)",
    ".{0,30}(?:请|請)?(?:稍后|稍後)(?:再试|再試|重试|重試)",
    "(?:サーバー?|内部|システム)(?:内部)?(?:エラー|が混み)|.{0,30}(?:しばらくしてから|後でもう一度|のちほど)",
)
"""How services begin a report in plain words."""

REPORT = re.compile("|".join(f"(?:{report})" for report in REPORTS), re.IGNORECASE)
LABELLED = re.compile(r"(?:data:\s*|\[|\(|\*{1,2}|⚠️?\s*|❌\s*|errors?[:!]\**\s*)*+", re.IGNORECASE)
"""What may stand before a report."""


def is_error_document(text: str) -> bool:
    """Whether a text is an error page, or an object that says what went wrong and nothing else."""
    document = text.removeprefix("data:").strip()
    return PAGE.match(document) is not None or REPR.fullmatch(document) is not None or _is_error_object(json_object(document))


def is_error_sentence(text: str) -> bool:
    """Whether a text begins as services report an error in words; a longer one tells of an error rather than reporting it."""
    label = LABELLED.match(text)
    said = text[label.end() :] if label is not None else text
    return len(text) <= SHORT and (REPORT.match(text) is not None or REPORT.match(said) is not None)


def _is_error_object(given: dict[str, object]) -> bool:
    keys = frozenset(key.casefold() for key in given)
    if not keys or not keys <= ENVELOPE:
        return False
    return bool(keys & SAYS) or bool(keys & TELLS_WITH_A_STATUS and keys & STATUS)

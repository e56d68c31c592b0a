"""What the user is told about compactions (seed 10.3, hermes.md 17)."""

from __future__ import annotations

import re

from host.engine.idle import Reason
from host.engine.report import Report
from host.errors import CtxhostError
from host.messages.redact import redact
from host.provider.refusals.kinds import Kind

OFTEN = 2  # compactions after which a summary of summaries begins to blur

DISABLED = (
    "Context overflow and auto-compaction is disabled (compression.enabled: false). Compress by hand (/compress), start a fresh session "
    "(/new), choose a model with a larger window, or set compression.enabled: true."
)
CAPPED = (
    "the service does not give answers as long as it was asked for, and shortening the conversation would not help: lower model.max_tokens"
)
OUT_OF_MEMORY = (
    "the model's server has too little memory for this request; free some there, or load the model with a smaller context. "
    "The conversation is unchanged"
)

AGAIN = "Run /compress (or `ctxhost sessions compress`) to retry, or /new to start a fresh session."
LASTING = re.compile(r"\bquota\b|\bHTTP 40[123]\b|API key|paid first|billing", re.IGNORECASE)
"""Errors after which another try fails as well, until the user does something about them."""

LESS = "start a fresh session (/new), send less at once, or choose a model with a larger window"
KEY = "check the key in the environment variable that model.api_key_env names, and that it may use this model"
ADVICE = {
    Kind.CONTEXT_OVERFLOW: LESS,
    Kind.SILENT_OVERFLOW: LESS,
    Kind.PAYLOAD_TOO_LARGE: "start a fresh session (/new), send smaller files, or choose a service that takes larger requests",
    Kind.OVER_RATE_BUDGET: "start a fresh session (/new), lower model.max_tokens, or choose a plan with a larger budget per minute",
    Kind.OUTPUT_CAP: "lower model.max_tokens",
    Kind.IMAGE_TOO_LARGE: "send a smaller picture, or none",
    Kind.TOOL_CONTENT: "choose a model that takes pictures from tools",
    Kind.PAIRING: "go on in a fresh session (/new) or with another model (/model); every message stays archived as it is",
    Kind.SERVER_RESOURCE: "start a shorter conversation (/new), or run the model on a larger machine",
    Kind.AUTH: KEY,
    Kind.BILLING: "see to plan and billing of the account, or choose another model",
    Kind.RATE_LIMIT: "wait a moment and go on; nothing of the conversation is lost",
}
"""What a user can do about a refusal that could not be mended; kinds that say too little are left out."""

NO_TOOLS = re.compile(
    r"(?:does ?n[o']t|not) support (?:tools?\b|tool.(?:use|call)|function.call)|tool.(?:use|choice|calls?|calling)\b[^\n]{0,40}"
    r"(?:not (?:supported|enabled|available)|requires)|no endpoints found that support tool",
    re.IGNORECASE,
)
TOOLLESS = "choose a model that calls tools, start its server with tool calling enabled, or offer it no tools (plugins.enabled)"

SKIPPED = {
    Reason.INEFFECTIVE: "Compression skipped — last 2 compressions saved <10% each, or left the window over its threshold{}. "
    "Compress by hand with a topic (/compress TOPIC), or start a fresh session (/new).",
    Reason.SUMMARIES_FAILED: "Compression skipped — the last summaries failed{}. See to the summary model "
    "(auxiliary.compression in config.yaml), then compress by hand (/compress).",
}
"""Reasons that last until the user does something; {} is for the detail."""


def words_of_abort(report: Report) -> str:
    """The window was left as it is because no summary could be had."""
    lasting = bool(LASTING.search(report.error))
    then = "See to that first, or start a fresh session (/new)." if lasting else AGAIN
    return (
        f"Compression aborted: {shown(report.error) or 'the summary model failed'}. No messages were dropped, the conversation goes on "
        f"unchanged. {then}"
    )


def words_of_report(report: Report, *, archived: bool = True) -> list[str]:
    """What an engine says went wrong with a compaction that happened all the same. ``archived``: what left can be looked up."""
    told = []
    if report.fallback_used:
        dropped = f"the {report.dropped:,} messages that were" if report.dropped else "what was"
        told.append(
            f"Compression summary failed: {shown(report.error) or 'no summary came'}. Notes made without a model stand for {dropped} "
            f"dropped from the window{'; `ctxhost grep` finds every word' if archived else ''}."
        )
    elif report.failed_model:
        why = f" ({shown(report.error)})" if report.error else ""
        other = repr(report.answered_by) if report.answered_by else "another model"
        told.append(
            f"Configured compression model {report.failed_model!r} failed{why}. Recovered with {other}; "
            "check auxiliary.compression.model in config.yaml."
        )
    return told


def words_of_loss(lost: int, *, archived: bool = True) -> list[str]:
    """Messages left the window and nothing stands for them."""
    warning = f"messages left the window without a summary that stands for them ({lost})" + (
        "; `ctxhost grep` finds them" if archived else ""
    )
    return [warning] if lost else []


def words_of_count(times: int) -> list[str]:
    """A conversation was compacted so often. Not each time: at 2, 4, 8 and so on."""
    is_told = times >= OFTEN and not times & (times - 1)
    return [f"Session compressed {times} times — accuracy may degrade. Consider /new to start fresh."] if is_told else []


def words_of_overfull(size: int, limit: int, engine: str, *, automatic: bool) -> str:
    """A window is given out that the model will hardly take."""
    over = f"the window holds about {size:,} tokens, the model takes {limit:,}"
    if automatic:
        return f"{over}: engine {engine!r} left it so"
    return (
        f"Context overflow and auto-compaction is disabled (compression.enabled: false): {over}. "
        "Compress by hand (/compress), start a fresh session (/new), or set compression.enabled: true."
    )


def advice_on(kind: Kind, error: BaseException | None) -> str:
    """What the user can do about a refusal; empty where nobody knows."""
    if kind is Kind.FORMAT and error is not None and NO_TOOLS.search(str(error)):
        return TOOLLESS
    return ADVICE.get(kind, "")


def words_of_error(error: BaseException | None) -> str:
    """What a service said, as it may be shown, without the advice of an error of ours."""
    if error is None:
        return "it said nothing"
    return shown(error.what if isinstance(error, CtxhostError) else str(error))


def shown(error: str) -> str:
    """An error as it may be shown: on one line, without secrets and without the stop at its end."""
    return redact(" ".join(error.split()), force=True).rstrip(".")

"""Why a service says that an answer ended, and what that means for a summary (hermes.md 10.1)."""

from __future__ import annotations

import re

from host.compressor.faults import Fault, Finding

COMPLETE = frozenset(
    {
        *("stop", "stopped", "stop_sequence", "stop_token", "stop_str", "eos", "eos_token", "end_of_text", "end_of_sequence", "word"),
        *("end", "end_turn", "complete", "completed", "finish", "finished", "done", "success", "succeeded", "normal"),
        *("", "none", "null", "unknown", "unspecified"),  # the service says nothing
    }
)
"""Reasons that say, or do not deny, that the end is there."""

WORDS: dict[Finding, tuple[str, ...]] = {
    (Fault.CUT_OFF, "it ended at the output limit"): (
        *("length", "max_length", "max_tokens", "max_output_tokens", "max_token", "max_tokens_exceeded", "max_completion_tokens"),
        *("token_limit", "output_limit", "limit", "error_limit", "incomplete", "not_finished", "stop_limit", "truncated"),
    ),
    (Fault.CUT_OFF, "it ended where the model's window was full"): (
        *("model_context_window_exceeded", "model_length", "context", "context_length", "context_length_exceeded", "context_limit"),
    ),
    (Fault.REFUSED, "a filter or the model itself kept it back"): (
        *("refusal", "content_filter", "content_filtered", "safety", "image_safety", "recitation", "prohibited_content", "blocklist"),
        *("sensitive", "spii", "language", "blocked", "error_toxic", "guardrail_intervened", "model_armor", "moderation"),
    ),
    (Fault.TOOL_CALL, "it asked for a tool, which is not run"): (
        *("tool_calls", "tool_call", "tool_use", "tool_execution", "function_call", "function_calls", "unexpected_tool_call"),
        *("malformed_function_call", "malformed_tool_use", "too_many_tool_calls"),
    ),
    (Fault.BROKEN_OFF, "the service failed while it was written"): (
        *("error", "failed", "failure", "network_error", "insufficient_system_resource", "malformed_model_output", "malformed_response"),
        *("repetition", "missing_thought_signature"),
    ),
    (Fault.BROKEN_OFF, "it was stopped before its end"): (
        *("abort", "aborted", "cancelled", "canceled", "user_cancel", "timeout", "time_limit", "pause_turn", "paused", "in_progress"),
        *("interrupted", "preempted", "load", "unload"),
    ),
}
"""What is wrong -> the reasons that say so."""


def _plain(reason: str) -> str:
    """A reason without the ways to write it: ``FinishReason.MAX_TOKENS``, ``maxTokens`` and ``max-tokens`` are one."""
    letters = re.sub(r"[^a-z0-9]", "", reason.casefold())
    return letters.removeprefix("finishreason").removeprefix("stopreason")


_COMPLETE = frozenset(map(_plain, COMPLETE))
_FINDINGS = {_plain(reason): finding for finding, reasons in WORDS.items() for reason in reasons}


def unfinished(reason: str | None) -> Finding | None:
    """What is wrong with an answer that ended for this reason; None for a complete one, or where the service gives no reason.

    A reason that nobody knows is none for taking the answer as complete.
    """
    plain = _plain(reason or "")
    if plain in _COMPLETE:
        return None
    return _FINDINGS.get(plain, (Fault.BROKEN_OFF, f"it ended with {str(reason)[:40]!r}, which does not say that it is complete"))

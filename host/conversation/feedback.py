"""What the user reads after a compaction by hand, and before one (hermes.md 12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from host.conversation.conversation import Conversation
from host.conversation.manual import CompressArguments, too_few
from host.conversation.preview import Preview
from host.conversation.wording import shown
from host.engine.idle import Reason
from host.engine.outcome import Outcome
from host.engine.report import Report
from host.pipeline.settle import IDLE

DENSER = "fewer messages may still count more tokens where their summary is dense"
AGGRESSIVE = "--aggressive is not there: the budgets of the summary follow the window"


@dataclass(frozen=True)
class Feedback:
    """A headline, the tokens, and a note where something is to be said. ``noop``: the window stayed as it was."""

    headline: str
    token_line: str
    note: str | None = None
    noop: bool = False
    aborted: bool = False
    fallback_used: bool = False

    def lines(self) -> list[str]:
        """For a terminal."""
        note = self.note or (IDLE.rule if self.noop else None)
        return [self.headline, self.token_line, *([f"Note: {note}"] if note else [])]


def feedback(outcome: Outcome) -> Feedback:
    """The outcome in words."""
    aborted, noop = outcome.reason is Reason.ABORTED, outcome.refused is not None
    fallback = outcome.report.fallback_used and not noop
    return Feedback(
        headline=_headline(outcome, aborted=aborted, noop=noop, fallback=fallback),
        token_line=_token_line(outcome, noop=noop),
        note=_note(outcome, aborted=aborted, noop=noop, fallback=fallback),
        noop=noop,
        aborted=aborted,
        fallback_used=fallback,
    )


def compact_by_hand(
    conversation: Conversation, asked: CompressArguments, more: Callable[[Preview], Iterable[str]] = lambda preview: ()
) -> Iterator[str]:
    """Compact as it was asked for, or preview it, and say what came of it; ``more`` is what else is to be said of a preview."""
    if (few := too_few(len(conversation.catch_up().messages))) is not None:
        yield f"Not enough conversation to compress: {few.detail}."
    elif asked.preview:
        preview = conversation.preview(asked.focus, keep=asked.keep)
        yield from preview_lines(preview)
        yield from more(preview)
    elif asked.aggressive:
        yield f"{AGGRESSIVE}."
    else:
        yield from feedback(conversation.compact(asked.focus, keep=asked.keep)).lines()


def preview_lines(preview: Preview) -> Iterator[str]:
    """A preview in words, without what would leave and without the draft."""
    yield "Preview — no changes made."
    total = preview.messages_before
    if preview.idle is not None:
        yield f"Would compress nothing of {total:,} messages (~{preview.before:,} tokens in the window): {preview.idle}."
    else:
        yield (
            f"Would compress {preview.given:,} of {total:,} messages (~{preview.before:,} → ~{preview.after:,} tokens, "
            f"{preview.messages_after:,} messages); {len(preview.leaving):,} would leave the window."
        )
    if preview.kept:
        yield f"Boundary: the last {preview.keep} exchanges ({preview.kept:,} messages) would stay as they are."
    elif preview.keep is not None:
        yield f"Boundary: nothing stands before the last {preview.keep} exchanges; the whole conversation would be compacted."
    if preview.focus:
        yield f"Focus: {preview.focus}"
    if _is_broken(preview.report):
        yield f"The summary failed: {shown(preview.report.error) or 'no summary came'}."
    yield "Run it again without --preview to apply it."


def _headline(outcome: Outcome, *, aborted: bool, noop: bool, fallback: bool) -> str:
    if aborted:
        return f"Compression aborted: {outcome.messages_before:,} messages preserved"
    if noop:
        return f"No changes from compression: {outcome.messages_before:,} messages"
    words = "Compressed with fallback" if fallback else "Compressed"
    return f"{words}: {outcome.messages_before:,} → {outcome.messages_after:,} messages"


def _token_line(outcome: Outcome, *, noop: bool) -> str:
    if noop or outcome.before == outcome.after:
        return f"Approx request size: ~{outcome.before:,} tokens (unchanged)"
    return f"Approx request size: ~{outcome.before:,} → ~{outcome.after:,} tokens"


def _note(outcome: Outcome, *, aborted: bool, noop: bool, fallback: bool) -> str | None:
    reason = f" Reason: {shown(outcome.report.error)}" if outcome.report.error else ""
    if aborted:
        return f"no summary could be made and no message was removed.{reason}"
    if fallback:
        return f"no summary could be made; notes made without a model stand for {outcome.report.dropped:,} removed messages.{reason}"
    if noop and outcome.refused != IDLE.rule:
        return shown(outcome.refused or "")
    return DENSER if outcome.after > outcome.before else None


def _is_broken(report: Report) -> bool:
    return report.aborted or report.fallback_used

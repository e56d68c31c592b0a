"""What the user of a chat platform is told beside the answer; everything else is for whoever runs the gateway."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from host.conversation.wording import shown
from host.engine.idle import Reason
from host.engine.outcome import Outcome

BUSY = "An earlier message is still being answered. This one was not taken; please send it again."
TAKEN = "This message was taken before."
NO_ANSWER = "No answer came: {}. Your message is kept; the next one asks again for both."
FAILED = "No answer came: {}."
NEARLY_FULL = "This conversation nearly fills what the model can read at once. /new begins a new one; this one stays in the archive."
ABORTED = "Earlier messages could not be summarised ({}). None was dropped. /compress tries again, /new begins a new conversation."
FALLBACK = "Earlier messages could not be summarised ({}). Short notes stand for them now; every word stays in the archive."
CUT = "The answer is cut: it reached the longest that one may be."
BEGUN = "A new conversation begins; the old one stays in the archive."
NEARLY = 0.95  # of the window, in spite of hygiene (hermes.md 13)


def notice_of(event: object) -> str:
    """What an event says to the user, blank for nothing."""
    words = NOTICES.get(type(event).__name__)
    return words(event) if words is not None else ""


def _compacted(event: Any) -> str:
    outcome: Outcome = event.outcome
    why = shown(outcome.report.error) or "the summary model did not answer"
    if outcome.reason is Reason.ABORTED:
        return ABORTED.format(why)
    return FALLBACK.format(why) if outcome.report.fallback_used and outcome.refused is None else ""


NOTICES: Mapping[str, Callable[[Any], str]] = {
    "Answered": lambda event: CUT if event.is_cut else "",
    "Compacted": _compacted,
    "Switched": lambda event: f"{event.model} answers: {shown(event.why)}.",
}
"""Event -> its words; the events that are not named here have none."""

"""What an engine says about its last compaction; shown to the user, never believed by the host."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Report:
    """The outcome in an engine's own words. ``dropped`` counts messages that left the window without a model's summary.

    ``error`` is what went wrong, without secrets; ``failed_model`` a summary model that failed, and ``answered_by`` the one that wrote the
    summary in its place.
    """

    made_progress: bool = False
    aborted: bool = False
    fallback_used: bool = False
    dropped: int = 0
    note: str = ""
    error: str = ""
    failed_model: str = ""
    answered_by: str = ""

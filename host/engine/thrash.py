"""Whether compactions help: a pause where they do not, and estimates that wait for the provider's count (seed 8.2; hermes.md 4.5, 11).

A compaction is *without effect* where it found nothing to do, saved less than a tenth, or left a window that the provider counts
at the threshold or above. After two in a row the automatic ones pause until something changes: a count with a tenth of the
threshold free, a window grown by a quarter, a newest request or tool group so much smaller that a tenth of the window may go,
another model, or a compaction by hand that helps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

INEFFECTIVE_LIMIT = 2  # in a row (seed 8.2)
STREAK_LIMIT = 2  # compactions in a row whose summary was made without a model because models failed (hermes.md 11)
LEAST_SAVING = 0.10  # share of the window that a compaction has to save
ROOM_AGAIN = 0.90  # of the threshold; a count below it says that the window is another one than the one nothing helped
GROWN = 1.25  # times what was left: of what came since, a tenth can be saved
TOLERANCE, TOLERANCE_SHARE = 4_096, 0.05  # tokens, share of the threshold: what an estimate may grow before it counts (hermes.md 4.5)


@dataclass(frozen=True)
class Effect:
    """What is known of the last compactions; tokens are those of whole requests, as the host estimates or the provider counts them."""

    ineffective: int = 0  # without effect, in a row
    streak: int = 0  # summaries without a model because models failed, in a row
    saved: float | None = None  # share that the last one saved, until the next count judges it
    waiting: bool = False  # the provider has not counted since
    left: int = 0  # estimate of what the last one left
    stays: int = 0  # of that, what no compaction takes away: prompt, tools, newest request and newest group
    real: int = 0  # the provider's last count
    fitting: int = 0  # the highest estimate whose real count was below the threshold

    @property
    def is_paused(self) -> bool:
        """Whether automatic compactions would be in vain."""
        return self.ineffective >= INEFFECTIVE_LIMIT

    def after_compaction(self, *, saved: float, left: int, without_model: bool, stays: int = 0) -> Effect:
        """A compaction was made; the next count judges it."""
        streak = self.streak + 1 if without_model else 0
        return replace(self, saved=saved, left=left, stays=stays, waiting=True, streak=streak)

    def after_nothing(self, size: int, stays: int = 0) -> Effect:
        """An automatic compaction found nothing to do in a window of that many tokens."""
        return replace(self, ineffective=self.ineffective + 1, left=size, stays=stays)

    def after_count(self, prompt: int | None, threshold: int) -> Effect:
        """The provider counted the window, or answered without a count (None): either ends the wait and the judgement."""
        judged = replace(self, ineffective=self._judged(prompt, threshold), saved=None, waiting=False)
        if prompt is None:
            return judged
        fitting = 0 if prompt >= threshold else self.left if self.waiting and self.left else self.fitting
        return replace(judged, real=prompt, fitting=fitting)

    def _judged(self, prompt: int | None, threshold: int) -> int:
        if self.saved is not None:
            still_over = prompt is not None and prompt >= threshold
            return self.ineffective + 1 if still_over or self.saved < LEAST_SAVING else 0
        return 0 if prompt is not None and prompt < threshold * ROOM_AGAIN else self.ineffective

    def has_outgrown(self, tokens: int) -> bool:
        """Whether so much came since the last compaction that the next one finds something."""
        return 0 < self.left * GROWN <= tokens

    def has_come_loose(self, tokens: int, stays: int) -> bool:
        """Whether a tenth of the window may go now that had to stay at the last compaction; ``stays`` are the tokens that still do."""
        return self.stays > 0 and self.stays - stays >= tokens * LEAST_SAVING

    def waits(self, rough: int, tolerance: int) -> bool:
        """Whether an estimate at the threshold is what the last compaction left: the provider's count says what that is worth."""
        return self.waiting and rough - self.left <= tolerance

    def defers(self, rough: int, threshold: int, tolerance: int) -> bool:
        """Whether the provider's count, which was below the threshold, is better than this estimate at or above it."""
        if self.waiting:
            return self.waits(rough, tolerance)
        baseline = self.fitting or self.left
        return 0 < self.real < threshold and baseline > 0 and rough - baseline <= tolerance


def tolerance_of(threshold: int, limit: int) -> int:
    """Tokens by which an estimate may grow while it waits; at most half of what is left up to ``limit``, the end of the window."""
    return min(max(TOLERANCE, int(threshold * TOLERANCE_SHARE)), max(0, limit - threshold) // 2)

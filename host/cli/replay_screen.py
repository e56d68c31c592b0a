"""What a replay shows: a first line, a bar, a line per compaction, a closing table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from host.cli.model_lines import cost_of, dollars
from host.formats import mended_text

if TYPE_CHECKING:
    from host.app import Session
    from host.engine.outcome import Outcome
    from host.formats import Transcript
    from host.loop.replay import Call, Replayed
    from host.provider.prices import Price

CHART_COLUMNS = 60
LEVELS = " ▁▂▃▄▅▆▇█"
SHOWN_CALLS = 5  # of a kind of trouble; --json has all


class Screen:
    """The output of one replay; nothing at all where ``quiet``."""

    def __init__(self, *, color: bool, quiet: bool) -> None:
        self._out = Console(no_color=not color, highlight=False, quiet=quiet, soft_wrap=True)
        self._bar = Console(stderr=True, no_color=not color, quiet=quiet)
        self._compactions = 0
        self._shown = 0  # warnings

    def begin(self, transcript: Transcript, session: Session, left: int) -> None:
        """What is replayed, under what, in which window."""
        title, model, used = transcript.title, session.model, session.resolution
        self._line(f"[bold]{_plain(title)}[/] ({transcript.source}): {len(transcript.messages):,} messages", markup=True)
        self._line(f"engine {used.used} ({used.source}), window {model.window:,} tokens ({model.source})")
        if left:
            self._line(f"the file holds {left} more; --pick all runs them all")
        if transcript.mended:
            self._line(f"mended: {mended_text(transcript.mended)}")
        for notice in session.notices:
            self._line(f"note: {notice}")
        for warning in session.warnings:
            self._line(f"[yellow]warning:[/] {_plain(warning)}", markup=True)
        self._shown = len(session.warnings)

    @contextmanager
    def progress(self, total: int) -> Iterator[Callable[[int, int], None]]:
        """A bar on standard error while the replay runs."""
        columns = (TextColumn("replaying"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=self._bar, transient=True, disable=self._bar.quiet or not self._bar.is_terminal) as bar:
            task = bar.add_task("", total=total)
            yield lambda done, total: bar.update(task, completed=done)

    def compaction(self, outcome: Outcome) -> None:
        """One line per compaction."""
        if outcome.refused is not None:
            return
        self._compactions += 1
        share = outcome.saved / outcome.before if outcome.before else 0
        self._line(
            f"  #{self._compactions} {outcome.trigger} at message {outcome.row:,}: {outcome.before:,} -> {outcome.after:,} tokens "
            f"(saved {share:.0%}), {outcome.messages_before:,} -> {outcome.messages_after:,} messages, "
            f"{outcome.kept:,} kept as they were, {outcome.seconds * 1000:,.0f} ms"
        )

    def end(self, session: Session, result: Replayed) -> None:
        """The closing table, and every call that was not as it should be."""
        for warning in dict.fromkeys(session.warnings[self._shown :]):
            self._line(f"[yellow]warning:[/] {_plain(warning)}", markup=True)
        for name, value in closing_table(result, session.model.price).items():
            self._line(f"[dim]{name:<18}[/] {value}", markup=True)
        self._line(f"window at each call, limit {result.window:,}:")
        self._line(f"  {chart(result)}")
        for line in trouble(result):
            self._line(line)

    def _line(self, text: str, *, markup: bool = False) -> None:
        shown = "".join(char if char.isprintable() else "?" for char in text)
        try:
            self._out.print(shown, markup=markup, emoji=False)
        except (BrokenPipeError, SystemExit):  # rich leaves when the reader has; the replay and its --out are wanted all the same
            self._out.quiet = True


def closing_table(result: Replayed, price: Price | None = None) -> dict[str, str]:
    """In and out, compactions, peak, tokens sent with and without the engine, and what they cost where that is known."""
    saved = 1 - result.sent / result.sent_without if result.sent_without else 0
    cost = cost_of(price, result)
    return {
        "messages in, out": f"{result.messages_in:,} -> {result.messages_out:,}",
        "tokens in, out": f"{result.tokens_in:,} -> {result.tokens_out:,}",
        "compactions": f"{len(result.compactions):,}",
        "peak window": f"{result.peak:,} of {result.window:,} tokens (threshold {result.threshold:,})",
        "tokens sent": f"{result.sent:,} in {len(result.calls):,} calls; {result.sent_without:,} without an engine ({saved:.0%} saved)",
        **({"cost of these": f"{dollars(cost[0])}; {dollars(cost[1])} without an engine; caching not counted"} if cost else {}),
        "verdict": "every call legal and within the window" if result.is_fine and not result.impossible else "see below",
    }


def chart(result: Replayed) -> str:
    """How full the window was, call by call; ! marks one over it."""
    calls = result.calls
    size = max(1, -(-len(calls) // CHART_COLUMNS))
    peaks = [max(call.tokens for call in calls[at : at + size]) for at in range(0, len(calls), size)]
    return "".join("!" if peak > result.window else LEVELS[round(peak / result.window * (len(LEVELS) - 1))] for peak in peaks)


def trouble(result: Replayed) -> Iterator[str]:
    """What was wrong, call by call, with the arithmetic."""
    yield from _some("illegal or incomplete windows", [_broken(call) for call in result.broken])
    yield from _some(
        "windows that were too full", [f"call {c.index}: {c.tokens:,} tokens; needed {c.irreducible}" for c in result.overfull]
    )
    late = [f"message {o.row}: {o.after:,} tokens, threshold {result.threshold:,}" for o in result.unfinished]
    yield from _some("compactions that ended over the threshold", late)
    yield from _some("calls that no compaction can make fit", [f"call {c.index}: {c.irreducible}" for c in result.impossible])


def _broken(call: Call) -> str:
    return f"call {call.index}: " + "; ".join([*map(str, call.found), *(f"{what} is not in it" for what in call.lost)])


def _some(title: str, lines: list[str]) -> Iterator[str]:
    if not lines:
        return
    yield f"{title}: {len(lines)}"
    yield from (f"  {line}" for line in lines[:SHOWN_CALLS])
    if len(lines) > SHOWN_CALLS:
        yield f"  and {len(lines) - SHOWN_CALLS} more (--json has them all)"


def _plain(text: str) -> str:
    return escape(text)

"""``ctxhost grep``: every message that was ever archived, found again."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from host.cli.config import say_json
from host.cli.globals import Globals
from host.cli.options import json_option
from host.cli.store_opening import opened, replay_option

if TYPE_CHECKING:
    from host.store.protocols import Store
    from host.store.query import Page, Query

ROLES = ("user", "assistant", "tool", "system", "developer", "function")
MOST, MOST_BESIDE = 1_000_000, 10_000  # hits on a page, messages on each side of one
MODES = ("auto", "literal", "words", "regex", "ranked")  # of host.store.query.Mode, not imported for a help page


@dataclass(frozen=True)
class Asked:
    """The command line as it was typed."""

    pattern: str
    mode: str
    session: str | None
    session_only: bool
    role: str | None
    tool: str | None
    since: datetime | None
    before: datetime | None
    limit: int
    cursor: str | None
    context: int
    replay: str | None


def moment(context: click.Context, parameter: click.Parameter, text: str | None) -> datetime | None:
    """A time option, in UTC: a cursor is bound to it."""
    if text is None:
        return None
    from host.store.moments import moment_of

    return moment_of(text, datetime.now(UTC)).astimezone(UTC)


def named(context: click.Context, parameter: click.Parameter, name: str | None) -> str | None:
    """The name that an option narrows the search to; an empty one would narrow nothing."""
    if name is not None and not name.strip():
        raise click.BadParameter("it is empty; name one, or leave it out", context, parameter)
    return name


@click.command()
@click.argument("pattern")
@click.option("--mode", type=click.Choice(MODES), default="auto", show_default=True, help="How PATTERN is meant.")
@click.option("--session", metavar="ID", help="Only the conversation that this session belongs to.")
@click.option("--session-only", is_flag=True, help="With --session: only this session, none that it goes on from or in.")
@click.option(
    "--role", type=click.Choice(ROLES, case_sensitive=False), metavar="R", help=f"Only messages of this role: {', '.join(ROLES)}."
)
@click.option("--tool", metavar="T", callback=named, help="Only calls and results of this tool.")
@click.option("--since", metavar="T", callback=moment, help="Only messages from this time on.")
@click.option("--before", metavar="T", callback=moment, help="Only messages before this time.")
@click.option("--limit", type=click.IntRange(1, MOST), default=20, show_default=True, metavar="N", help="How many hits.")
@click.option("--cursor", metavar="C", help="Go on where the page before ended.")
@click.option("--context", type=click.IntRange(0, MOST_BESIDE), default=0, metavar="N", help="Messages to show on each side of a hit.")
@click.option("--explain", is_flag=True, help="Say how the search was done.")
@replay_option
@json_option
@click.pass_obj
def grep(settings: Globals, /, as_json: bool, explain: bool, **typed: object) -> int:
    """Search every archived message for PATTERN, newest first.

    auto takes quoted text, punctuation and CJK literally, and else looks for all words in one message; where that finds
    nothing it looks wider and says so. Case counts in regex alone. T is a date or time (local time where it names no zone),
    or yesterday, or an age: 15m, 2h, 3d, 1w, 2mo, 1y.

    Piped, each hit is one line: id, time, role, title and text with tabs between. Exit status 1 without a hit.
    """
    asked = Asked(**typed)  # type: ignore[arg-type]  # click has checked them
    with opened(settings, asked.replay) as store:
        page = store.search.find(query_of(asked, store))
    if as_json:
        from host.cli.store_hits import page_json

        say_json(page_json(page))
    else:
        for line in lines(page, asked, settings, explain=explain):
            click.echo(line)
    return 0 if page.hits else 1


def query_of(asked: Asked, store: Store) -> Query:
    """The question to the archive. UsageError for a limit to a session that is not named."""
    from host.errors import UsageError
    from host.store.query import Mode, Query

    if asked.session_only and asked.session is None:
        raise UsageError("--session-only says nothing without --session", "name the session: --session ID")
    session = store.sessions.find(asked.session) if asked.session is not None else None
    return Query(
        text=asked.pattern,
        mode=Mode(asked.mode),
        conversation=session.conversation if session else None,
        sessions=(session.id,) if session and asked.session_only else (),
        role=asked.role,
        tool=asked.tool,
        since=asked.since,
        before=asked.before,
        limit=asked.limit,
        cursor=asked.cursor,
        context=asked.context,
    )


def lines(page: Page, asked: Asked, settings: Globals, *, explain: bool) -> Iterator[str]:
    """The hits, then whether that is all, then how to go on."""
    from host.cli.store_hits import COLORED, UNCOLORED, pipe_lines, terminal_lines

    if sys.stdout.isatty():
        yield from terminal_lines(page.hits, COLORED if settings.color else UNCOLORED, shutil.get_terminal_size().columns)
    else:
        yield from pipe_lines(page.hits)
    yield from closing(page, asked, settings, explain=explain)


def closing(page: Page, asked: Asked, settings: Globals, *, explain: bool) -> Iterator[str]:
    """How far the search got, in lines that ``grep -v '^--'`` takes away."""
    from host.cli.store_text import counted, plain

    tried = " after ".join(reversed([str(mode) for mode in page.tried])) or str(page.mode)
    yield f"-- {counted(len(page.hits), 'hit')} ({tried}); {plain(page.scanned)}"
    yield from (f"-- {plain(notice)}" for notice in page.notices)
    if explain:
        yield from (f"-- plan: {plain(step)}" for step in page.plan)
    if page.cursor is not None:
        yield f"-- more: {settings.command(*next_words(asked, page.cursor))}"


def next_words(asked: Asked, cursor: str) -> list[str]:
    """What to type for the next page. Ages have become times, for the cursor is bound to them."""
    options = {
        "--mode": asked.mode if asked.mode != "auto" else None,
        "--session": asked.session,
        "--session-only": asked.session_only,
        "--role": asked.role,
        "--tool": asked.tool,
        "--since": asked.since and asked.since.isoformat(),
        "--before": asked.before and asked.before.isoformat(),
        "--limit": asked.limit if asked.limit != 20 else None,
        "--context": asked.context or None,
        "--replay": asked.replay,
        "--cursor": cursor,
    }
    typed = [word for name, value in options.items() if value for word in ([name] if value is True else [name, str(value)])]
    return ["grep", *typed, "--", asked.pattern]

"""``ctxhost replay``: a recorded conversation run again under an engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from host.cli.globals import Globals
from host.cli.options import engine_option, window_option
from host.cli.paths import named_file, named_path

if TYPE_CHECKING:
    from host.app import Session
    from host.formats import Transcript
    from host.loop.replay import Replayed
    from host.store.sqlite.store import SqliteStore


@click.command()
@click.argument("file", required=False, type=click.Path(), callback=named_path)
@engine_option
@window_option
@click.option("--format", "format_name", metavar="NAME", help="Format of FILE, where it is not recognised.")
@click.option("--pick", metavar="N|TITLE|all", help="Which conversation of a file that holds several (default: the first).")
@click.option("--latest", type=click.Choice(["claude-code", "codex"]), help="Replay this client's newest session instead of FILE.")
@click.option("--out", type=click.Path(), callback=named_file, metavar="FILE", help="Write the last window as OpenAI messages.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.pass_obj
def replay(
    settings: Globals,
    file: Path | None,
    engine: str | None,
    window: int | None,
    format_name: str | None,
    pick: str | None,
    latest: str | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Run the recorded conversation in FILE under an engine.

    Each recorded reply is a model call: the window that would be sent then is counted and judged. No reply is asked for; a
    configured model is asked for summaries. FILE may be a pipe; - is standard input. Formats: OpenAI messages (JSON, JSONL,
    {messages} lines, {traj} lists, request bodies), SWE-agent .traj, Claude Code and Codex sessions.

    Exit status 1 if a window was illegal, incomplete or fuller than it had to be.
    """
    from host.app import open_replay
    from host.formats import check_writable

    path = file_to_read(file, latest)
    if out is not None:
        check_writable(out, recording=path)
    chosen, left = chosen_transcripts(path, format_name, pick)
    with open_replay(settings.home, path.stem) as (name, store):
        runs = [replay_one(settings, store, transcript, engine, window, quiet=as_json, left=left) for transcript in chosen]
        store.search.catch_up()
    if out is not None:
        write_windows(out, chosen, [result for _, result in runs])
    status = 0 if all(result.is_fine for _, result in runs) else 1
    if as_json:
        click.echo(json.dumps({**as_object(path, chosen, runs), "replay": name}, ensure_ascii=False, indent=2))
        return status
    if out is not None:
        click.echo(f"wrote {out}")
    look = settings.command("grep", "PATTERN", "--replay", name)
    click.echo(f"every message is archived; look for what left the window:  {look}")
    return status


def file_to_read(file: Path | None, latest: str | None) -> Path:
    """FILE, or the newest session of a client."""
    from host.errors import UsageError
    from host.formats import latest as newest_session

    if (file is None) == (latest is None):
        raise UsageError("give either a FILE or --latest CLIENT", "for example: ctxhost replay examples/claude-code.jsonl --window 8000")
    return file if file is not None else newest_session(str(latest), Path.home())


def chosen_transcripts(path: Path, format_name: str | None, pick: str | None) -> tuple[list[Transcript], int]:
    """The conversations to run, and how many more the file holds."""
    from host import formats

    found = formats.read(path, format=format_name)
    chosen = formats.pick(found, pick or "1")
    return chosen, 0 if pick else len(found) - len(chosen)


def replay_one(
    settings: Globals, store: SqliteStore, transcript: Transcript, engine: str | None, window: int | None, *, quiet: bool, left: int = 0
) -> tuple[Session, Replayed]:
    """Run one conversation, and show it unless ``quiet``."""
    from host.app import open_session
    from host.cli.replay_screen import Screen
    from host.loop.replay import replay as run

    screen = Screen(color=settings.color, quiet=quiet)
    kept = store.sessions.create(source="replay", about={"title": transcript.title, "format": transcript.source})
    recorded = (transcript.model, transcript.window)
    session = open_session(settings, store, kept, engine=engine, window=window, recorded=recorded, watch=screen.compaction)
    screen.begin(transcript, session, left)
    with screen.progress(len(transcript.messages)) as progress:
        result = run(
            session.conversation,
            transcript.messages,
            transcript.tools,
            count=session.count.messages,
            compactions=session.outcomes,
            progress=progress,
        )
    screen.end(session, result)
    return session, result


def write_windows(out: Path, transcripts: Sequence[Transcript], results: Sequence[Replayed]) -> None:
    """The last window of each conversation: one as a message list, several as lines of {messages}."""
    from host.formats import write_dialogues, write_openai

    if len(results) == 1:
        write_openai(out, results[0].final)
    else:
        write_dialogues(out, [(t.title, r.final) for t, r in zip(transcripts, results, strict=True)])


def as_object(path: Path, transcripts: Sequence[Transcript], runs: Sequence[tuple[Session, Replayed]]) -> dict[str, Any]:
    """All figures of a command."""
    return {
        "file": str(path),
        "fine": all(result.is_fine for _, result in runs),
        "conversations": [
            {"title": transcript.title, "format": transcript.source, "mended": dict(transcript.mended), **figures(session, result)}
            for transcript, (session, result) in zip(transcripts, runs, strict=True)
        ],
    }


def figures(session: Session, result: Replayed) -> dict[str, Any]:
    """The figures of one conversation; tokens are exact counts, cost is in dollars, null where the price is not known."""
    from host.cli.model_lines import cost_as_json

    return {
        **session.resolution.as_json(),
        "warnings": session.warnings,
        "notices": session.notices,
        "model": session.model.name or None,
        "window": result.window,
        "window_source": session.model.source,
        "window_is_guessed": session.model.window_is_guessed,
        "threshold": result.threshold,
        "messages_in": result.messages_in,
        "messages_out": result.messages_out,
        "tokens_in": result.tokens_in,
        "tokens_out": result.tokens_out,
        "peak_window": result.peak,
        "tokens_sent": result.sent,
        "tokens_sent_without_engine": result.sent_without,
        "cost": cost_as_json(session.model.price, result),
        "fine": result.is_fine,
        "violations": [str(violation) for call in result.broken for violation in call.found],
        "impossible_calls": [{"index": call.index, "arithmetic": str(call.irreducible)} for call in result.impossible],
        "over_threshold": [{"row": outcome.row, "tokens": outcome.after} for outcome in result.unfinished],
        "compactions": [outcome.as_json() for outcome in result.compactions],
        "calls": [
            {
                "index": call.index,
                "messages": call.messages,
                "tokens": call.tokens,
                "tokens_without_engine": call.recorded_tokens,
                "irreducible": call.irreducible.total,
                "violations": [str(violation) for violation in call.found],
                "lost": list(call.lost),
            }
            for call in result.calls
        ],
    }

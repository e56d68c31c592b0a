"""``ctxhost sessions compress``: a compaction by hand, of an archived conversation or of a recorded one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from host.cli.config import say_json
from host.cli.globals import Globals
from host.cli.options import engine_option, json_option, window_option
from host.cli.paths import named_file
from host.cli.store_opening import opened

if TYPE_CHECKING:
    from host.app import Session
    from host.conversation.feedback import Feedback
    from host.conversation.manual import CompressArguments
    from host.conversation.preview import Preview
    from host.engine.idle import Idle
    from host.engine.outcome import Outcome
    from host.store.protocols import FileStore
    from host.store.values import Session as Kept

DONE, NOTHING, FAILED = 0, 1, 3
MOST_KEPT = 100
RECORDINGS = (".json", ".jsonl")


@click.command("compress")
@click.argument("name", metavar="ID|FILE")
@click.argument("words", metavar="[FOCUS]...", nargs=-1)
@click.option("--preview", "--dry-run", "--dryrun", "preview", is_flag=True, help="Only say what would go and what would stand for it.")
@click.option("-k", "--keep", type=click.IntRange(1, MOST_KEPT), metavar="N", help="Keep the last N exchanges as they are.")
@click.option("--aggressive", is_flag=True, hidden=True)
@engine_option
@window_option
@click.option("--out", type=click.Path(), callback=named_file, metavar="FILE", help="Write the compacted window as OpenAI messages.")
@json_option
@click.pass_obj
def compress_command(
    settings: Globals,
    name: str,
    words: tuple[str, ...],
    preview: bool,
    keep: int | None,
    aggressive: bool,
    engine: str | None,
    window: int | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Compact a conversation now, whatever its threshold says.

    ID is an archived session. FILE is a recorded conversation in any format that `replay` reads, with a path separator in it or
    .json or .jsonl at its end: nothing of it is archived. FOCUS names a topic that the summary keeps in detail; `here 3` keeps the
    last three exchanges as they are, as --keep does. The configured summary model is asked, for a preview too.

    Exit status 1 if nothing was compacted, 3 if no summary could be had.
    """
    asked = arguments_of(words, preview=preview, keep=keep, aggressive=aggressive)
    refuse_together(asked.preview, out, name)
    with taken(settings, name, engine, window) as subject:
        if not as_json:
            click.echo(f"{subject.label}: {len(subject.session.conversation.view.messages):,} messages")
        if asked.preview:
            return previewed(subject, asked, as_json)
        status = compressed(subject, asked, as_json)
        if out is not None and status == DONE:
            write(out, subject, quiet=as_json)
        return status


@dataclass(frozen=True)
class Subject:
    """What is compacted."""

    kind: str  # "session" or "file"
    name: str
    label: str
    session: Session


def arguments_of(words: tuple[str, ...], *, preview: bool, keep: int | None, aggressive: bool) -> CompressArguments:
    """Options and words together. UsageError where they ask for different numbers of exchanges, or for what is not there."""
    from host.conversation.feedback import AGGRESSIVE
    from host.conversation.manual import CompressArguments, parse_compress_arguments
    from host.errors import UsageError

    said = parse_compress_arguments(" ".join(words))
    if keep is not None and said.keep not in (None, keep):
        raise UsageError(f"--keep {keep} and `here {said.keep}` ask for different numbers of exchanges", "leave one of them out")
    asked = CompressArguments(said.focus, keep or said.keep, preview or said.preview, aggressive or said.aggressive)
    if asked.aggressive and not asked.preview:
        raise UsageError(AGGRESSIVE, "leave it out, or name a topic to keep in detail")
    return asked


def refuse_together(preview: bool, out: Path | None, name: str) -> None:
    """UsageError for --out where nothing is to be written, or where nothing can be."""
    from host.errors import UsageError
    from host.formats import check_writable

    if out is None:
        return
    if preview:
        raise UsageError("a preview writes nothing, and --out names a file to write", "leave one of them out")
    check_writable(out, recording=Path(name) if is_file(name) else None)


def is_file(name: str) -> bool:
    """Whether a name is written like a path, and there is a file."""
    return is_path(name) and os.path.exists(name)  # noqa: PTH110 never raises


def is_path(name: str) -> bool:
    """Whether a name is written like that of a recording."""
    return os.sep in name or name.lower().endswith(RECORDINGS)


@contextmanager
def taken(settings: Globals, name: str, engine: str | None, window: int | None) -> Iterator[Subject]:
    """The conversation in a file, or an archived one."""
    with from_file(settings, Path(name), engine, window) if is_file(name) else from_archive(settings, name, engine, window) as subject:
        try:
            yield subject
        finally:
            subject.session.conversation.close()


@contextmanager
def from_archive(settings: Globals, name: str, engine: str | None, window: int | None) -> Iterator[Subject]:
    """The conversation that a session belongs to."""
    from host.app import open_session
    from host.cli.store_text import plain

    with opened(settings) as store:
        kept = _found(store, name)
        session = open_session(settings, store, kept, engine=engine, window=window, warn=_say_warning)
        title = f" {plain(kept.title)!r}" if kept.title else ""
        yield Subject("session", kept.id, f"session {kept.id}{title}", session)
        store.search.catch_up()


@contextmanager
def from_file(settings: Globals, path: Path, engine: str | None, window: int | None) -> Iterator[Subject]:
    """The first conversation of a recording, in a store that ends with the command."""
    from host import formats
    from host.app import open_session
    from host.cli.store_text import plain
    from host.store.memory import MemoryStore

    found = formats.read(path)
    (transcript,) = formats.pick(found, "1")
    if len(found) > 1:
        click.echo(f"note: {plain(str(path))} holds {len(found) - 1:,} more conversations; the first is taken", err=True)
    store = MemoryStore()
    kept = store.sessions.create(source="compress")
    store.archive(kept.conversation).extend(list(transcript.messages))
    recorded = (transcript.model, transcript.window)
    session = open_session(settings, store, kept, engine=engine, window=window, recorded=recorded, warn=_say_warning)
    yield Subject("file", str(path), f"file {plain(str(path))} ({transcript.source})", session)


def previewed(subject: Subject, asked: CompressArguments, as_json: bool) -> int:
    """Show what would be done."""
    from host.cli.store_text import fitted
    from host.conversation.feedback import AGGRESSIVE, preview_lines

    if (few := _too_few(subject)) is not None:
        return _say_too_few(subject, few, as_json)
    preview = subject.session.conversation.preview(asked.focus, keep=asked.keep)
    if as_json:
        say_json(preview_json(subject, preview))
    else:
        for line in [
            *([f"Note: {AGGRESSIVE}."] if asked.aggressive else []),
            *preview_lines(preview),
            *map(fitted, leaving_lines(preview)),
        ]:
            click.echo(line)
    return DONE if preview.idle is None else status_of(preview.idle.reason.name, preview.report.error)


def compressed(subject: Subject, asked: CompressArguments, as_json: bool) -> int:
    """Compact, and say what became of it."""
    from host.conversation.feedback import feedback

    if (few := _too_few(subject)) is not None:
        return _say_too_few(subject, few, as_json)
    outcome = subject.session.conversation.compact(asked.focus, keep=asked.keep)
    words = feedback(outcome)
    if as_json:
        say_json(outcome_json(subject, outcome, words))
    else:
        is_told = any(outcome.report.error in warning for warning in subject.session.warnings) if outcome.report.error else False
        for line in (replace(words, note=None) if is_told else words).lines():  # the warning said it all, where it came up
            click.echo(line)
    return status_of(outcome.reason.name if outcome.reason else "", outcome.report.error)


def write(out: Path, subject: Subject, *, quiet: bool) -> None:
    """The window as it is now."""
    from host.formats import write_openai

    write_openai(out, list(subject.session.conversation.view.messages))
    if not quiet:
        click.echo(f"wrote {out}")


def status_of(reason: str, error: str) -> int:
    """Exit status of a compaction that did not happen for this reason; "" for one that did."""
    from host.engine.idle import Reason

    if not reason:
        return DONE
    return FAILED if reason == Reason.ABORTED.name and error else NOTHING


def leaving_lines(preview: Preview) -> Iterator[str]:
    """What would leave the window, and the draft of what would stand for it."""
    from host.cli.store_text import aligned, first_words, plain

    if preview.leaving:
        yield ""
        rows = [(f"{each.row or '-'}", str(each.message.get("role")), each.kind, first_words(each.message)) for each in preview.leaving]
        yield from aligned([("POSITION", "ROLE", "KIND", "WORDS"), *rows], right=[0])
    if preview.draft:
        yield ""
        yield "Draft of the summary:"
        yield from (plain(line) for line in preview.draft.splitlines())


def outcome_json(subject: Subject, outcome: Outcome, words: Feedback) -> dict[str, Any]:
    """A compaction for scripts."""
    return {
        subject.kind: subject.name,
        "applied": outcome.refused is None,
        **outcome.as_json(),
        "reason": outcome.reason.name.lower() if outcome.reason else None,
        "refused": outcome.refused,
        "headline": words.headline,
        "note": words.note,
        "report": asdict(outcome.report),
        "warnings": subject.session.warnings,
    }


def preview_json(subject: Subject, preview: Preview) -> dict[str, Any]:
    """A preview for scripts."""
    from host.cli.store_text import first_words

    leaving = [
        {"position": each.row, "role": each.message.get("role"), "kind": str(each.kind), "words": first_words(each.message)}
        for each in preview.leaving
    ]
    return {
        subject.kind: subject.name,
        "applied": False,
        "tokens_before": preview.before,
        "tokens_after": preview.after,
        "messages_before": preview.messages_before,
        "messages_after": preview.messages_after,
        "given": preview.given,
        "kept": preview.kept,
        "keep": preview.keep,
        "focus": preview.focus,
        "covers": [[span.start, span.stop - 1] for span in preview.covers],
        "leaving": leaving,
        "draft": preview.draft,
        "reason": preview.idle.reason.name.lower() if preview.idle else None,
        "refused": str(preview.idle) if preview.idle else None,
        "report": asdict(preview.report),
        "warnings": subject.session.warnings,
    }


def _found(store: FileStore, name: str) -> Kept:
    """The session of that name; UsageError where a file was meant."""
    from host.errors import NoSuchSession, UsageError

    try:
        return store.sessions.find(name)
    except NoSuchSession as unknown:
        if is_path(name):
            raise UsageError(f"there is no file {name!r}, and no session of that name", "name a recording, or a session's id") from unknown
        if os.path.isfile(name):  # noqa: PTH113 never raises
            raise UsageError(f"no session is called {name!r}", f"for the file of that name write {os.path.join('.', name)}") from unknown  # noqa: PTH118
        raise


def _too_few(subject: Subject) -> Idle | None:
    from host.conversation.manual import too_few

    return too_few(len(subject.session.conversation.view.messages))


def _say_too_few(subject: Subject, few: Idle, as_json: bool) -> int:
    if as_json:
        say_json({subject.kind: subject.name, "applied": False, "reason": few.reason.name.lower(), "refused": few.detail})
    else:
        click.echo(f"Not enough conversation to compress: {few.detail}.")
    return NOTHING


def _say_warning(text: str) -> None:
    click.echo(f"warning: {text}", err=True)

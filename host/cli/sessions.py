"""``ctxhost sessions``: what is archived, what the model sees of it, and taking a compaction back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from host.cli.compressing import compress_command
from host.cli.config import say_json
from host.cli.globals import Globals
from host.cli.options import json_option
from host.cli.paths import named_file
from host.cli.receipts import pin_command, receipt_command
from host.cli.store_opening import confirmed, opened, replay_option, yes_option
from host.cli.windows import diff_command, undo_command, view_command

if TYPE_CHECKING:
    from host.store.protocols import Store
    from host.store.values import Row, Session

LISTED, MOST = 20, 1_000_000
UNWRAPPED = 10_000  # columns: in a pipe nothing is wrapped or cut
FORMATS = ("openai", "jsonl", "dialogues")  # keys of host.formats.exporting.EXPORTS, not imported for a help page


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def sessions(context: click.Context, as_json: bool) -> None:
    """Sessions: list, show, export, look at the window, compress, undo, receipts, pins. Without a command: list.

    ID is a session's id, a unique beginning of one, a title, or `last`.
    """
    context.default_map = {command: {"as_json": as_json} for command in sessions.commands}
    if context.invoked_subcommand is None:
        context.invoke(list_command, as_json=as_json)


@sessions.command("list")
@click.option("--limit", type=click.IntRange(1, MOST), default=LISTED, show_default=True, metavar="N", help="How many to list.")
@click.option("--all", "everything", is_flag=True, help="List all of them.")
@replay_option
@json_option
@click.pass_obj
def list_command(settings: Globals, limit: int, everything: bool, replay: str | None, as_json: bool) -> None:
    """List sessions, the ones with the newest message first."""
    from host.cli.store_opening import NoArchive
    from host.cli.store_sessions import latest_of, list_lines, session_json
    from host.cli.store_text import fitted

    try:
        with opened(settings, replay) as store:
            found = store.sessions.listed(limit=None if everything else limit + 1)
            listed = [(each, latest_of(store.archive(each.conversation), each)) for each in (found if everything else found[:limit])]
    except NoArchive as nothing:
        click.echo("[]" if as_json else f"no sessions: {nothing.what}")
        return
    if as_json:
        say_json([session_json(each, latest) for each, latest in listed])
        return
    for line in list_lines(listed) if listed else ["no sessions yet"]:
        click.echo(fitted(line))
    if len(found) > len(listed):
        click.echo("there are more; --all lists them, --limit N as many as you want")


@sessions.command("show")
@click.argument("session_id", metavar="ID")
@replay_option
@json_option
@click.pass_obj
def show_command(settings: Globals, session_id: str, replay: str | None, as_json: bool) -> None:
    """Show all that is known of a session.

    Its conversation, its messages, why it was not compacted when that was last considered, how the last compaction went where no
    summary could be had, for how long no model is asked, and the versions of its window with what made them.
    """
    from host.cli.store_sessions import known, show_json, show_lines
    from host.cli.windows import is_automatic

    with opened(settings, replay) as store:
        found = known(store, store.sessions.find(session_id), is_automatic=is_automatic(settings))
    if as_json:
        say_json(show_json(found))
        return
    for line in show_lines(found):
        click.echo(line)


@sessions.command("tree")
@click.argument("session_id", metavar="[ID]", required=False)
@replay_option
@json_option
@click.pass_obj
def tree_command(settings: Globals, session_id: str | None, replay: str | None, as_json: bool) -> None:
    """Draw how the sessions of a conversation follow each other.

    Without ID, of every conversation. Sessions whose compaction was taken back are marked.
    """
    from host.cli.store_sessions import session_json, trees

    with opened(settings, replay) as store:
        if session_id is None:
            newest_first = dict.fromkeys(each.conversation for each in store.sessions.listed())
        else:
            newest_first = {store.sessions.find(session_id).conversation: None}
        families = [store.sessions.listed(conversation=conversation) for conversation in newest_first]
    if as_json:
        say_json([[session_json(each, None) for each in family] for family in families])
        return
    from rich.console import Console

    width = None if sys.stdout.isatty() else UNWRAPPED
    console = Console(no_color=not settings.color, highlight=False, width=width)
    for family in families:
        for tree in trees(family):
            console.print(tree)


@sessions.command("rename")
@click.argument("session_id", metavar="ID")
@click.argument("title")
@json_option
@click.pass_obj
def rename_command(settings: Globals, session_id: str, title: str, as_json: bool) -> None:
    """Give a session the title TITLE; an empty one takes the title away."""
    with opened(settings) as store:
        refuse_unusable(title, store)
        renamed = store.sessions.rename(store.sessions.find(session_id).id, title)
    words = f"is called {renamed.title!r}" if renamed.title else "has no title"
    _say_session(renamed, f"{renamed.id} {words}", as_json)


@sessions.command("end")
@click.argument("session_id", metavar="ID")
@click.option("--reason", default="ended", show_default=True, help="Why it ends.")
@json_option
@click.pass_obj
def end_command(settings: Globals, session_id: str, reason: str, as_json: bool) -> None:
    """End a session; nothing is erased.

    Of a session that has ended already the first reason stays.
    """
    from host.cli.store_text import local, plain
    from host.errors import UsageError
    from host.store.values import COMPRESSION, UNDONE

    if reason in (COMPRESSION, UNDONE):
        raise UsageError(f"{reason!r} is the reason that a compaction writes", "give another --reason")
    with opened(settings) as store:
        before = store.sessions.find(session_id)
        ended = store.sessions.end(before.id, reason)
    words = "had ended already" if before.ended else "ended"
    _say_session(ended, f"{ended.id} {words}: {plain(ended.end_reason or '')}, {local(ended.ended)}", as_json)


@sessions.command("delete")
@click.argument("session_id", metavar="ID")
@yes_option
@json_option
@click.pass_obj
def delete_command(settings: Globals, session_id: str, yes: bool, as_json: bool) -> int:
    """Erase a conversation for good, with all its sessions.

    ID is any session of it; all its messages and windows go. `archive forget` erases single messages instead. Says first what
    would go, then asks; with --json it asks nothing, and erases only with --yes. Exit status 1 if you say no.
    """
    from host.cli.store_text import counted, plain

    with opened(settings) as store:
        conversation = store.sessions.find(session_id).conversation
        family = store.sessions.listed(conversation=conversation)
        size = counted(sum(each.messages for each in family), "message")
        titles = ", ".join(repr(plain(each.title)) for each in family if each.title)
        named = f"conversation {conversation}" + (f" ({titles})" if titles else "")
        question = f"erase {named} whole, {counted(len(family), 'session')} with {size}, for good?"
        agreed = yes or (not as_json and confirmed(question, yes=False))
        messages = store.sessions.delete(conversation) if agreed else sum(each.messages for each in family)
        unfinished = store.admin.unfinished() if agreed else None
        own = {conversation, family[0].about.get("session", conversation)}
        chains = [each.id for each in store.sessions.listed() if each.about.get("side_chain_of") in own]
    if as_json:
        erased = {"applied": agreed, "conversation": conversation, "sessions": [each.id for each in family], "messages": messages}
        say_json({**erased, "side_chains_left": chains, "unfinished": unfinished})
        return 1 if unfinished else 0
    click.echo(f"erased {named}: {counted(messages, 'message')}" if agreed else "nothing was erased", err=not agreed)
    if agreed and chains:
        click.echo(f"its side chains are conversations of their own and stay: {', '.join(map(plain, chains))}")
    if unfinished:
        click.echo(f"{plain(unfinished)}; `ctxhost archive repair` finishes it", err=True)
    return 0 if agreed and not unfinished else 1


@sessions.command("export")
@click.argument("session_id", metavar="ID")
@click.option("--format", "format_name", type=click.Choice(FORMATS), default="openai", show_default=True, help="How to write it.")
@click.option("--out", type=click.Path(), callback=named_file, metavar="FILE", help="Write FILE instead of standard output.")
@click.option("--force", is_flag=True, help="Replace FILE where it exists.")
@click.option("--versions", is_flag=True, help="Every version of every message, in the order in which they were archived.")
@click.option("--session-only", is_flag=True, help="Only what was archived in this session, not the whole conversation.")
@replay_option
@click.pass_obj
def export_command(
    settings: Globals,
    session_id: str,
    format_name: str,
    out: Path | None,
    force: bool,
    versions: bool,
    session_only: bool,
    replay: str | None,
) -> None:
    """Write a conversation as it was archived, byte for byte.

    The newest version of every message, in order. openai is a JSON list of messages, jsonl a message a line, dialogues one
    object with `id` and `messages`. `ctxhost replay` reads all three.
    """
    from host.cli.store_text import counted
    from host.formats import check_writable
    from host.formats.exporting import EXPORTS, harmless
    from host.formats.writing import write_text

    if out is not None:
        _refuse_existing(out, force)
        check_writable(out)
    with opened(settings, replay) as store:
        session = store.sessions.find(session_id)
        chosen = exported(store, session, versions=versions, session_only=session_only)
    messages = [row.message for row in chosen if row.message is not None]
    text = EXPORTS[format_name](session.title or session.id, messages)
    if out is None:
        click.echo(harmless(text) if sys.stdout.isatty() else text, nl=False)
    else:
        write_text(out, text)
        click.echo(f"wrote {out}: {counted(len(messages), 'message')}", err=True)
    damaged = sum(row.damaged for row in chosen)
    if forgotten := len(chosen) - len(messages) - damaged:
        click.echo(f"{counted(forgotten, 'message')} not in it: erased by `ctxhost archive forget`", err=True)
    if damaged:
        click.echo(f"{counted(damaged, 'message')} not in it: damaged, `ctxhost archive verify` names what is wrong", err=True)


for command in (view_command, diff_command, undo_command, receipt_command, pin_command, compress_command):
    sessions.add_command(command)


def exported(store: Store, session: Session, *, versions: bool, session_only: bool) -> list[Row]:
    """The rows to write; those that were forgotten or are damaged have no message.

    A message belongs to the session in which it was said first, a version to the one in which it was archived.
    """
    archive = store.archive(session.conversation)
    rows = list(archive.rows()) if versions else archive.current()
    said = [(row.position if versions else row.place, row) for row in rows]
    return [row for at, row in said if not session_only or any(at in span for span in session.rows)]


def refuse_unusable(title: str, store: Store) -> None:
    """UsageError for a title that would name something else than its session, or nothing."""
    from host.cli.store_text import plain
    from host.errors import UsageError
    from host.store.titles import LAST, clean_title

    cleaned = clean_title(title)
    if any("\ud800" <= char <= "\udfff" for char in title):
        raise UsageError(f"the title {plain(title)!r} is no text in this terminal's encoding", "type another one")
    if cleaned is None and title.strip():
        raise UsageError(
            f"the title {plain(title)!r} holds nothing that can be seen", "type another one; an empty one takes the title away"
        )
    if cleaned == LAST:
        raise UsageError(f"{LAST!r} names the session with the newest message, no session can be called so", "type another title")
    if cleaned is not None and _is_id(cleaned, store):
        raise UsageError(f"{cleaned!r} is the id of a session, none can be called so", "type another title")


def _is_id(name: str, store: Store) -> bool:
    from host.errors import NoSuchSession

    try:
        store.sessions.get(name)
    except NoSuchSession:
        return False
    return True


def _refuse_existing(out: Path, force: bool) -> None:
    from host.errors import UsageError

    if out.is_file() and not force:
        raise UsageError(f"{out} is there already", "--force replaces it")


def _say_session(session: Session, words: str, as_json: bool) -> None:
    from host.cli.store_sessions import session_json

    say_json(session_json(session, None)) if as_json else click.echo(words)

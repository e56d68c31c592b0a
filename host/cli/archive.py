"""``ctxhost archive``: check the archive, copy it, erase from it, mend it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from host.cli.config import say_json
from host.cli.globals import Globals
from host.cli.options import json_option
from host.cli.paths import named_file, named_path
from host.cli.store_opening import NoArchive, opened, watched, yes_option
from host.errors import NoSuchSession, UsageError

if TYPE_CHECKING:
    from host.store.care import Forget, Verified
    from host.store.sqlite.everywhere import Everywhere

MOST_DIGITS = 18  # of a position
MESSAGE_ID = re.compile(r"(\d{8}_\d{6}_[0-9a-f]{6}|last):(\d+)")
RECORDED_ID = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{3,99}):(\d+)")  # of an imported session, or a text such as localhost:8080


@click.group()
def archive() -> None:
    """Look after the archive: check it, copy it, erase from it, mend it."""


@archive.command("verify")
@click.option("--prove", is_flag=True, help="Say of every message whether the window shows it, covers it, or why it does not.")
@json_option
@click.pass_obj
def verify_command(settings: Globals, prove: bool, as_json: bool) -> int:
    """Read everything and check it.

    Digests, large strings, windows, the search index. Exit status 1 if something is wrong; `archive repair` salvages what a
    damaged file still holds. What `archive forget` erased is not wrong.
    """
    from host.cli.store_care import verified_json, verified_lines

    found = verified(settings, prove=prove)
    if as_json:
        say_json(verified_json(found))
    else:
        for line in verified_lines(found):
            click.echo(line)
    return 0 if found.is_clean else 1


@archive.command("backup")
@click.argument("file", required=False, type=click.Path(), callback=named_file)
@json_option
@click.pass_obj
def backup_command(settings: Globals, file: Path | None, as_json: bool) -> None:
    """Copy the archive to FILE while others may go on writing.

    Default: a new file in the home folder's backups. The copy is an archive by itself; a file that exists is never overwritten.
    """
    from host.cli.store_text import sized

    if file is not None:
        check_new(file)
    with opened(settings) as store, watched(settings) as progress:
        made = store.admin.backup(file or free_name(settings.home / "backups"), progress=progress)
    size = made.stat().st_size
    say_json({"file": str(made), "bytes": size}) if as_json else click.echo(f"wrote {made} ({sized(size)})")


@archive.command("forget")
@click.argument("pattern", metavar="PATTERN|ID:POSITION")
@click.option("--text", "is_text", is_flag=True, help="PATTERN is a text, whatever it looks like.")
@yes_option
@json_option
@click.pass_obj
def forget_command(settings: Globals, pattern: str, is_text: bool, yes: bool, as_json: bool) -> int:
    """Erase every message that holds a text, or one message.

    A text is found as `ctxhost grep --mode literal` finds it, in the archives of replays too; one message is named by the id that
    grep prints, or as last:17. All that was made from them goes too: versions, summaries, engine notes, titles, index entries. Shows
    first what would go, then asks; with --json it asks nothing, and erases only with --yes.

    The same content is refused when it comes again. Only a message named by its id may be said again, where it is no more than
    a word, or said elsewhere in the conversation too. An earlier erasure whose bytes could not be taken out of the file, for a full
    disk or a process that reads it, is finished too. Exit status 1 if nothing holds it, you say no, or bytes are left in the file.
    """
    from host.cli.forgetting import carried_out
    from host.cli.store_care import plan_lines

    with looked_for(settings, pattern, is_text=is_text) as planned:
        for line in () if as_json else plan_lines(planned):
            click.echo(line)
        done = carried_out(settings, planned, yes=yes, asks=not as_json)
    if as_json:
        say_json(done.as_json())
        return done.status(asked=False)
    for line in done.lines():
        click.echo(line)
    for line in done.complaints():
        click.echo(line, err=True)
    return done.status(asked=True)


@archive.command("expire")
@click.option("--older-than", "age", required=True, metavar="AGE", help="90d, 12w, 6m (months of 30 days) or 1y.")
@click.option("--yes", is_flag=True, help="Erase them.")
@json_option
@click.pass_obj
def expire_command(settings: Globals, age: str, yes: bool, as_json: bool) -> None:
    """Erase conversations in which nothing happened for long.

    Whole ones, never a part, and never one that is being compacted. Without --yes it only says which. The archives of replays are
    left alone.
    """
    from host.cli.store_care import expiry_lines
    from host.cli.store_times import age_of

    older_than: timedelta = age_of(age)
    with opened(settings) as store, watched(settings) as progress:
        gone = store.admin.expire(older_than, apply=yes, progress=progress)
        lines = [] if as_json else list(expiry_lines(gone, store))
    if as_json:
        say_json(gone.as_json())
        return
    for line in lines:
        click.echo(line)


@archive.command("repair")
@click.argument("file", required=False, type=click.Path(), callback=named_path)
@json_option
@click.pass_obj
def repair_command(settings: Globals, file: Path | None, as_json: bool) -> int:
    """Salvage what can be read of a damaged archive.

    FILE is the home folder's archive where none is named. No process may have it open, and none can write to it meanwhile. A
    copy of a damaged file is kept in `backups` beside it; a sound one is left as it is. Where only the search index is damaged the
    messages are not touched. A repair that was cut short is finished by the next, and so is an erasure. Exit status 1 if
    something is lost, changed or still wrong.
    """
    from host.app import archive_of
    from host.cli.store_care import repaired_json, repaired_lines
    from host.store.sqlite.care.repair import repair
    from host.store.sqlite.store import facts_to_keep

    path = file or archive_of(settings.home)
    if file is None and not path.exists():
        raise NoArchive(settings)
    with watched(settings) as progress:
        done = repair(path, facts=facts_to_keep, progress=progress)
    if as_json:
        say_json(repaired_json(done))
    else:
        for line in repaired_lines(path, done):
            click.echo(line)
    return 0 if done.is_whole else 1


def check_new(file: Path) -> None:
    """UsageError where a new file of this name could not be written; nothing is made."""
    from host.formats import check_writable

    if file.is_file():
        raise UsageError(f"{file} is there already", "name another file; a backup never overwrites one")
    check_writable(file)


def free_name(folder: Path) -> Path:
    """A name for a backup that no file has; those of one second are numbered."""
    stem = f"archive-{datetime.now():%Y%m%d-%H%M%S}"
    names = (f"{stem}.db", *(f"{stem}-{number}.db" for number in range(2, 1_000)))
    return next(folder / name for name in names if not (folder / name).exists())


def verified(settings: Globals, *, prove: bool) -> Verified:
    """The result of the check; a file too damaged to be opened is a finding."""
    from host.app import archive_of
    from host.errors import DamagedStore
    from host.store.care import Finding, Verified

    try:
        with opened(settings) as store, watched(settings) as progress:
            return store.admin.verify(prove=prove, progress=progress)
    except DamagedStore as error:
        return Verified((Finding(str(archive_of(settings.home)), error.what), Finding("what to do", error.advice)))


@contextmanager
def looked_for(settings: Globals, pattern: str, *, is_text: bool) -> Iterator[Everywhere]:
    """What would go from the archives of the home folder; nothing is written. NoArchive where there is none."""
    from host.cli.store_text import plain
    from host.store.sqlite.everywhere import looked_everywhere, stores_under

    if not any(stores_under(settings.home)):
        raise NoArchive(settings)
    what = wanted(settings, pattern, is_text=is_text)
    with ExitStack() as stack:
        with watched(settings) as progress:
            planned = stack.enter_context(looked_everywhere(settings.home, what, progress=progress))
        for path, why in planned.unopened if what.text is not None else ():
            click.echo(f"not looked into, delete it where it may hold the text: {path.parent}: {plain(why)}", err=True)
        yield planned


def recorded_id(settings: Globals, pattern: str) -> re.Match[str] | None:
    """An id with a position, if the archive has a session of exactly this id."""
    from host.app import archive_of

    found = RECORDED_ID.fullmatch(pattern)
    if found is None or not archive_of(settings.home).exists():
        return None
    with opened(settings) as store, suppress(NoSuchSession):
        store.sessions.get(found[1])
        return found
    return None


def wanted(settings: Globals, pattern: str, *, is_text: bool) -> Forget:
    """What is to be forgotten: a message where the pattern is an id with a position, else a text."""
    from host.store.care import Forget

    found = None if is_text else MESSAGE_ID.fullmatch(pattern) or recorded_id(settings, pattern)
    if found is None:
        return Forget(text=pattern)
    session, position = found[1], found[2]
    if len(position) > MOST_DIGITS:
        raise UsageError(f"no conversation has a position {position[:MOST_DIGITS]}…", "`ctxhost grep` prints ids as they are")
    if session == "last":  # of the home's own archive: each has one
        with opened(settings) as store:
            session = store.sessions.find(session).id
    return Forget(conversation=session, position=int(position))

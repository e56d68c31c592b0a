"""``ctxhost engines``: which engines there are, and whether one of them works."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from host.cli.options import json_option

if TYPE_CHECKING:
    from host.cli.globals import Globals
    from host.discovery import Listing, Make, Places

HEADINGS = ("", "ENGINE", "SOURCE", "PATH", "NOTES")


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def engines(context: click.Context, as_json: bool) -> None:
    """Engines: list them, check one. Without a command: list."""
    context.default_map = {command: {"as_json": as_json} for command in engines.commands}
    if context.invoked_subcommand is None:
        context.invoke(list_command, as_json=as_json)


@engines.command("list")
@json_option
@click.pass_obj
def list_command(settings: Globals, as_json: bool) -> None:
    """List every engine: name, source, path, what it hides, why one cannot load.

    Nothing is imported. The one that context.engine names is marked with *.
    """
    from host.app import engine_places

    show_engines(engine_places(settings), as_json=as_json)


@engines.command("check")
@click.argument("name")
@json_option
@click.pass_obj
def check_command(settings: Globals, name: str, as_json: bool) -> None:
    """Load the engine NAME as a conversation would, and say what happens.

    Exit status 1 if it cannot be used; with -v its traceback is shown.
    """
    from host.app import engine_maker, engine_places

    works = show_check(name, engine_places(settings), engine_maker(settings, name), as_json=as_json, verbose=settings.verbose)
    click.get_current_context().exit(0 if works else 1)


def show_engines(places: Places, *, as_json: bool) -> None:
    """Print what there is."""
    from host.discovery import list_engines

    listings = list_engines(places)
    if as_json:
        click.echo(json.dumps([listing.as_json() for listing in listings], indent=2))
        return
    print_listings(listings)
    if not any(listing.configured for listing in listings):
        click.echo(unlisted(places.configured, listings), err=True)


def show_check(name: str, places: Places, make: Make, *, as_json: bool, verbose: bool) -> bool:
    """Load an engine, print what came of it, and give back whether it works."""
    from host.discovery import resolve
    from host.errors import PluginError

    try:
        resolution = resolve(name, places, make, on_missing="error", on_error="error")
    except PluginError as error:
        facts: dict[str, object] = {
            "engine_requested": name,
            "engine_used": None,
            "engine_source": None,
            "reason": error.what,
            "warnings": [],
        }
        click.echo(json.dumps(facts, indent=2) if as_json else str(error), err=not as_json)
        if verbose:
            click.echo("".join(traceback.format_exception(error)), err=True)
        return False
    remarks = [*resolution.warnings, *resolution.notices]
    facts = {**resolution.as_json(), "warnings": remarks}
    lines = [f"engine {resolution.used!r} works: {resolution.source}", *remarks]
    click.echo(json.dumps(facts, indent=2) if as_json else "\n".join(lines))
    return True


def print_listings(listings: Sequence[Listing]) -> None:
    """A table on a terminal, aligned plain text elsewhere."""
    if not sys.stdout.isatty():
        click.echo("\n".join(plain_lines(listings)))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="")
    for heading in HEADINGS:
        table.add_column(heading, overflow="fold")
    for row in rows(listings):
        table.add_row(*row)
    Console(markup=False, highlight=False).print(table)


def plain_lines(listings: Sequence[Listing]) -> list[str]:
    """The table as lines of text, columns aligned, nothing wrapped or cut."""
    table = [HEADINGS, *rows(listings)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def rows(listings: Sequence[Listing]) -> list[tuple[str, str, str, str, str]]:
    """One row of the table for each engine."""
    from host.discovery.names import printable

    return [("*" if each.configured else "", printable(each.name), each.source, each.path or "-", notes(each)) for each in listings]


def notes(listing: Listing) -> str:
    """What else is to be said about an engine, trouble first."""
    parts = (
        listing.cannot_load and f"cannot load: {listing.cannot_load}",
        listing.shadows and f"hides {', '.join(listing.shadows)}",
        listing.shadowed_by and f"hidden by {listing.shadowed_by}",
        listing.description,
    )
    return "; ".join(part for part in parts if part)


def unlisted(configured: str, listings: Sequence[Listing]) -> str:
    """That the configured engine is not among the listed ones, and which of them may be meant."""
    from host.discovery import nearest_name

    near = nearest_name(configured, (listing.name for listing in listings if not listing.cannot_load))
    hint = f"; did you mean {near!r}?" if near else ""
    return f"context.engine is {configured!r}, of which none here can be used{hint}"

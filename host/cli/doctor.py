"""``ctxhost doctor``: whether everything is in place, a line each."""

from __future__ import annotations

import click

from host.cli.config import say_json
from host.cli.globals import Globals
from host.cli.options import json_option


@click.command()
@json_option
@click.pass_obj
def doctor(settings: Globals, as_json: bool) -> int:
    """Look whether home folder, archive, search, configuration and engine are in order. Nothing is changed or made.

    Each line is ok, warning or error; with an error the exit status is 1.
    """
    from host.cli.store_checks import Level, Patient, examined
    from host.cli.store_text import aligned, plain

    remarks = list(examined(Patient(settings)))
    broken = any(remark.level is Level.ERROR for _, remark in remarks)
    if as_json:
        lines = [{"subject": subject, "level": str(each.level), "text": each.text, "advice": each.advice} for subject, each in remarks]
        say_json({"ok": not broken, "checks": lines})
        return 1 if broken else 0
    for line in aligned(
        (str(each.level), subject, plain(each.text + (f"; {each.advice}" if each.advice else ""))) for subject, each in remarks
    ):
        click.echo(line)
    return 1 if broken else 0

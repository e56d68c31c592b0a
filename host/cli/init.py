"""``ctxhost init``: a first config.yaml."""

from __future__ import annotations

from pathlib import Path

import click

from host.cli.globals import Globals


@click.command()
@click.option("--here", is_flag=True, help="Write ./config.yaml, for this folder only.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.pass_obj
def init(settings: Globals, here: bool, force: bool) -> None:
    """Write a commented config.yaml and say what to do next."""
    from host.config.template import FOR_HOME, FOR_PROJECT
    from host.config.writing import write_whole
    from host.errors import UsageError

    path = Path.cwd() / "config.yaml" if here else settings.config_file or settings.home / "config.yaml"
    if path.exists() and not force:
        raise UsageError(f"{path} is there already", "`ctxhost init --force` replaces it; `ctxhost config set KEY VALUE` changes one value")
    write_whole(path, FOR_PROJECT if here else FOR_HOME)
    click.echo(f"wrote {path}")
    click.echo("next: `ctxhost demo` shows a compaction, `ctxhost config show` the thresholds for your model")

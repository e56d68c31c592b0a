"""``ctxhost config``: what is in force and why, change a value, trust a project."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from host.cli.globals import Globals
from host.cli.options import json_option

if TYPE_CHECKING:
    from host.app import Model
    from host.config import Loaded, Trusted
    from host.config.figures import Figure

LABELS = {
    "window": "window",
    "reserve": "kept for the answer",
    "threshold": "compact at",
    "tail": "tail",
    "soft_ceiling": "tail, at most",
    "summary": "summary, at most",
}
GUESS = "  (from a guess)"


@click.group()
def config() -> None:
    """Configuration: show, check, change, trust."""


@config.command("show")
@click.option("--origin", is_flag=True, help="Say where each value comes from, and which files were looked at.")
@json_option
@click.pass_obj
def show_command(settings: Globals, origin: bool, as_json: bool) -> None:
    """Print the values in force and the thresholds they come to for the model."""
    from host.app import main_model
    from host.config.figures import figures
    from host.tokens.budgets import budgets

    loaded = loaded_here(settings)
    model = main_model(loaded)
    resolved = figures(loaded, budgets, model)
    if as_json:
        say_json(_shown_as_json(loaded, model, resolved))
        return
    _warn(loaded.warnings)
    _show(loaded, model, resolved, origin)


@config.command("check")
@json_option
@click.pass_obj
def check_command(settings: Globals, as_json: bool) -> None:
    """Check the configuration and name every problem. Exit status 2 if there is one.

    Settings of engines are checked when their engine is loaded: `ctxhost engines check NAME`.
    """
    from host.config import unchecked_engines
    from host.config.reading import printable
    from host.errors import ConfigError

    try:
        loaded = loaded_here(settings)
    except ConfigError as error:
        if not as_json:
            raise
        problems = [{"where": each.where, "key": each.key, "expected": each.expected, "nearest": each.nearest} for each in error.problems]
        say_json({"ok": False, "problems": problems, "warnings": [], "unchecked": []})
        click.get_current_context().exit(error.exit_status)
    unchecked = unchecked_engines(loaded)
    if as_json:
        say_json({"ok": True, "problems": [], "warnings": loaded.warnings, "unchecked": unchecked})
        return
    _warn(loaded.warnings)
    for use in loaded.files:
        click.echo(use)
    if unchecked:
        click.echo(f"not checked: the settings of {printable(', '.join(unchecked))}; `ctxhost engines check NAME` checks them")
    click.echo("no problems")


@config.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("key")
@click.argument("value")
@click.option("--here", is_flag=True, help="Change ./config.yaml instead of the home folder's.")
@click.pass_obj
def set_command(settings: Globals, key: str, value: str, here: bool) -> None:
    """Set KEY (such as compression.threshold) to VALUE; lists as [a, b]. Comments stay."""
    from host.config.editing import set_value

    path = Path.cwd() / "config.yaml" if here else settings.config_file or settings.home / "config.yaml"
    set_value(path, key, value)
    click.echo(f"{path}: {key} is set")
    _say_if_hidden(settings, key, path)


@config.command("schema")
@json_option
def schema_command(as_json: bool) -> None:
    """List every key: what it expects, its default, what it means. With --json, a JSON Schema for editors."""
    from host.config import Config
    from host.config.showing import reference_rows, written_default

    if as_json:
        say_json(Config.model_json_schema())
        return
    for row in reference_rows():
        default = f", default {written_default(row)}" if written_default(row) else ""
        click.echo(f"{row.key}: {row.expects}{default}\n    {row.description}")


@config.command("trust")
@click.argument("path", type=click.Path(path_type=Path), default=Path())
@click.option("--revoke", is_flag=True, help="Trust the folder no longer.")
@click.option("--list", "listing", is_flag=True, help="List the folders you trust.")
@json_option
@click.pass_obj
def trust_command(settings: Globals, path: Path, revoke: bool, listing: bool, as_json: bool) -> None:
    """Trust the project in PATH (default: this folder): its config.yaml and plugins/context_engine as they are now.

    A change of these files asks again.
    """
    from host.config import trust, trusted_projects, untrust

    project = _project_folder(path)
    if listing:
        _list_trusted(trusted_projects(settings.home), settings.home, as_json=as_json)
    elif revoke:
        found = untrust(project, settings.home)
        _answer({"project": str(project), "revoked": found}, f"{project}: {'no longer trusted' if found else 'was not trusted'}", as_json)
    else:
        now = trust(project, settings.home)
        _answer({"project": str(now.project), "since": now.since}, f"{now.project}: trusted until one of its files changes", as_json)


def loaded_here(settings: Globals) -> Loaded:
    """The configuration for this folder and environment."""
    from host.config import load_here

    return load_here(settings.config_file, settings.home)


def say_json(document: Any) -> None:
    """Print as JSON; characters outside ASCII are escaped, so that any terminal takes them."""
    click.echo(json.dumps(document, indent=2))


def _shown_as_json(loaded: Loaded, model: Model, resolved: Sequence[Figure]) -> dict[str, Any]:
    from host.cli.model_lines import model_as_json, summary_models_as_json
    from host.config.showing import effective

    return {
        "values": effective(loaded),
        "origins": {key: {"kind": origin.kind, "where": origin.where} for key, origin in loaded.origins.items()},
        "budgets": {figure.name: {"tokens": figure.tokens, "because": figure.because, "guessed": figure.is_guessed} for figure in resolved},
        "model": model_as_json(model),
        "summary_models": summary_models_as_json(loaded, model),
        "files": [{"path": str(use.path), "used": use.used, "reason": use.reason} for use in loaded.files],
        "warnings": loaded.warnings,
    }


def _show(loaded: Loaded, model: Model, resolved: Sequence[Figure], origin: bool) -> None:
    from host.cli.model_lines import price_line, summary_model_lines
    from host.config.showing import as_lines

    for line in as_lines(loaded, origins=origin):
        click.echo(line)
    click.echo("\n# resolved for the model, in tokens")
    for figure in resolved:
        marked = GUESS if figure.is_guessed and figure.name != "window" else ""
        click.echo(f"# {LABELS[figure.name]:<19}{figure.tokens:>10,}  {figure.because}{marked}")
    for line in (price_line(model), *summary_model_lines(loaded, model)):
        click.echo(f"# {line}")
    if origin:
        click.echo("\n# files")
        for use in loaded.files:
            click.echo(f"# {use}")


def _say_if_hidden(settings: Globals, key: str, path: Path) -> None:
    from host.errors import ConfigError

    try:
        origin = loaded_here(settings).origins.get(key)
    except ConfigError as error:  # the value is written; what else is wrong is only mentioned
        _warn([f"the configuration has other problems: {error.problems[0]}"])
        return
    if origin is not None and (origin.kind == "default" or origin.source != str(path)):
        _warn([f"not in force here: {key} comes from {origin}"])


def _project_folder(path: Path) -> Path:
    from host.errors import UsageError

    folder = path.expanduser()
    folder = (folder.parent if folder.is_file() else folder).resolve()
    if not folder.is_dir():
        raise UsageError(f"{path} is no folder", "name the folder that holds config.yaml or plugins/context_engine")
    return folder


def _list_trusted(known: Sequence[Trusted], home: Path, *, as_json: bool) -> None:
    from host.config import is_trusted

    rows = [{"project": str(each.project), "since": each.since, "unchanged": is_trusted(each.project, home)} for each in known]
    if as_json:
        say_json(rows)
        return
    for row in rows:
        click.echo(f"{row['project']}  since {row['since']}{'' if row['unchanged'] else '  changed since: trust it again'}")
    if not rows:
        click.echo("no folder is trusted")


def _answer(facts: dict[str, Any], words: str, as_json: bool) -> None:
    if as_json:
        say_json(facts)
    else:
        click.echo(words)


def _warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)

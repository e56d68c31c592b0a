"""Paths as they are typed."""

from __future__ import annotations

import os
from pathlib import Path

import click

from host.errors import UsageError


def named_path(context: click.Context, parameter: click.Parameter, name: str | None) -> Path | None:
    """The path of a parameter. An empty one is a mistake, such as a shell variable that is not set."""
    if name == "":
        raise UsageError(f"the path given as {parameter.get_error_hint(context)} is empty", "name a file or folder, or leave it out")
    return None if name is None else Path(name)


def named_file(context: click.Context, parameter: click.Parameter, name: str | None) -> Path | None:
    """The path of a file to write. One that ends like a folder's is a mistake: as a file it would have another name."""
    if name is not None and name.endswith(os.sep):
        raise UsageError(f"{name} cannot be written: it names a folder", "name a file in a folder that exists and may be written")
    return named_path(context, parameter, name)

"""The effective configuration as text: what ``config show`` and ``config schema`` print, and the reference in the docs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from host.config.fields import FieldRow, fields_of
from host.config.layers import leaves
from host.config.loader import Loaded
from host.config.models import ENGINES, Config
from host.config.reading import dotted, printable

MASK = "***"
USERINFO = re.compile(r"(?<=://)[^/@\s]+(?=@)")
SECRET_PARAMETER = re.compile(r"(?i)([?&][^=&\s]*(?:key|token|secret|password|sig)[^=&\s]*=)[^&\s]+")
SECRET_NAME = re.compile(r"(?i)(^|_)(key|token|secret|password|authorization|api_key)$")
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
NOT_PLAIN = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
ORIGIN_COLUMN = 40


def effective(loaded: Loaded) -> dict[str, Any]:
    """Every value in force, secrets masked."""
    shown = _masked(loaded.config.model_dump())
    return dict(shown)


def as_lines(loaded: Loaded, *, origins: bool = False) -> Iterator[str]:
    """The values in the form of a config.yaml, each with where it came from if asked."""
    return _lines(effective(loaded), loaded, origins, ())


def reference_rows(model: type[BaseModel] = Config) -> list[FieldRow]:
    """The keys that a user can write, in order, with one row for the settings of engines."""
    rows = [row for row in fields_of(model).values() if "[]" not in row.key]
    return [FieldRow(f"{ENGINES}.NAME", row.type, "a mapping", "", row.description) if row.key == ENGINES else row for row in rows]


def written_default(row: FieldRow) -> str:
    """The default as it would stand in the file."""
    return "" if row.default == "" else flow(row.default)


def markdown_reference() -> str:
    """The reference of all keys as a table for the docs."""
    head = ["| key | value | default | from a project's file | meaning |", "|---|---|---|---|---|"]
    return "\n".join([*head, *map(_table_row, reference_rows()), ""])


def flow(value: Any) -> str:
    """A value in one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in NOT_PLAIN:
        return value
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return printable(json.dumps(value, ensure_ascii=False))


def masked_text(text: str) -> str:
    """Addresses without the user, password or key that may stand in them."""
    return SECRET_PARAMETER.sub(rf"\g<1>{MASK}", USERINFO.sub(MASK, text))


def _lines(tree: Mapping[str, Any], loaded: Loaded, origins: bool, path: tuple[str, ...]) -> Iterator[str]:
    whole = {key for key, _ in leaves(tree, fields_of(Config), path)}
    for key, value in tree.items():
        here = (*path, key)
        indent = "  " * len(path)
        if here not in whole and isinstance(value, dict):
            yield f"{indent}{flow(key)}:"
            yield from _lines(value, loaded, origins, here)
            continue
        line = f"{indent}{flow(key)}: {flow(value)}"
        origin = loaded.origins.get(dotted(here), "default")
        yield f"{line:<{ORIGIN_COLUMN}} # {origin}" if origins else line


def _masked(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _masked(entry, str(key)) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(entry, name) for entry in value]
    if isinstance(value, str):
        return MASK if value and SECRET_NAME.search(name) else masked_text(value)
    return value


def _table_row(row: FieldRow) -> str:
    counts = "numbers and switches at once" if row.key == f"{ENGINES}.NAME" else "after trust" if row.needs_trust else "at once"
    return f"| `{row.key}` | {row.expects} | {_code(written_default(row))} | {counts} | {row.description} |"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""

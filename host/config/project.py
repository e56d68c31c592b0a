"""``./config.yaml``: whose it is, and what of it counts before the user trusts the folder."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host.config.fields import RENAMED, FieldRow, nearest_of
from host.config.layers import Layer, leaves, without
from host.config.models import ENGINES, CompressionSection, ContextSection
from host.config.reading import MAX_BYTES, Document, KeyPath, dotted, read_bytes
from host.config.trust import PLUGIN_FOLDER

OURS = {"context": list(ContextSection.model_fields), "compression": list(CompressionSection.model_fields)}
"""The sections by which a file is known to be for ctxhost, and their keys."""

MENTIONED = re.compile(r"""(context|compression)["']?\s*:""")
AT_THE_TOP = re.compile(r"""^["']?(context|compression)["']?[ \t]*:([ \t]|$)""", re.MULTILINE)
PLAIN_NAME = re.compile(r"\w[\w-]*")
DOCUMENT_MARK = re.compile(r"(---|\.\.\.)(\s|$)")
TEMPLATE = re.compile(r"\{\{|\{%")
FOREIGN_TAG = "the tag "

SOMEBODY_ELSES = "somebody else's file: it has no top-level context: or compression:"


@dataclass(frozen=True)
class Foreign:
    """A file that is not for ctxhost; ``doubtful`` where it has one of our keys and the user may want to know."""

    why: str
    doubtful: bool = False


def look(path: Path) -> Document | Foreign:
    """Read a project's file if it is for ctxhost, else say why it is not. Never raises: it may be anything."""
    try:
        if not path.is_file():
            return Foreign("is no regular file" if path.exists() else "does not exist")
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        return Foreign(f"cannot be read: {error.strerror or error}")
    text = raw.decode("utf-8-sig", "replace")
    if not MENTIONED.search(text):
        return Foreign(SOMEBODY_ELSES)
    if len(raw) > MAX_BYTES:
        return Foreign(f"longer than {MAX_BYTES:,} bytes: no configuration of ctxhost")
    document = read_bytes(raw, str(path))
    return document if document.problems == () and _has_our_section(document.tree) else _whose(document, text)


def _whose(document: Document, text: str) -> Document | Foreign:
    """Decide about a file that is not simply ours: most of the world's ``config.yaml`` end here."""
    tree = document.tree
    at_the_top = any(key in tree for key in OURS) if isinstance(tree, dict) and tree else bool(AT_THE_TOP.search(text))
    if not at_the_top:
        return Foreign(SOMEBODY_ELSES)
    for applies, why in (
        (_holds_several(text), "somebody else's file: it holds several documents"),
        (TEMPLATE.search(text), "somebody else's file: it is a template"),
        (any(FOREIGN_TAG in problem.expected for problem in document.problems), "somebody else's file: it uses tags of another program"),
        (isinstance(tree, dict) and tree and not _has_our_section(tree), f"somebody else's file: {_unlike_ours(tree)}"),
    ):
        if applies:
            return Foreign(why, doubtful=True)
    return document


def _holds_several(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return any(map(DOCUMENT_MARK.match, lines[1:]))


def _has_our_section(tree: Any) -> bool:
    return isinstance(tree, dict) and any(section in tree and _reads_like(tree[section], section) for section in OURS)


def _reads_like(value: Any, section: str) -> bool:
    """Whether a mapping is empty or more of its keys are ours than not, if misspelt or under their former names."""
    if not isinstance(value, dict | None):
        return False
    ours = sum(bool(nearest_of(key, OURS[section])) or f"{section}.{key}" in RENAMED for key in value or ())
    return not value or 2 * ours > len(value)


def _unlike_ours(tree: Any) -> str:
    mappings = [section for section in OURS if isinstance(tree, dict) and isinstance(tree.get(section), dict)]
    return f"most keys under its {mappings[0]}: are not ctxhost's" if mappings else "its context: or compression: is no mapping"


def untrusted_part(layer: Layer, fields: Mapping[str, FieldRow]) -> tuple[Layer, list[KeyPath]]:
    """What counts of an untrusted project's file, and the settings that were left out."""
    dropped = [path for path, value in leaves(layer.tree, fields) if _needs_trust(path, value, fields)]
    origins = {path: origin for path, origin in layer.origins.items() if not any(path[: len(out)] == out for out in dropped)}
    return Layer(without(layer.tree, set(dropped)), origins), dropped


def dropped_warning(dropped: Iterable[KeyPath], layer: Layer, project: Path) -> str:
    """One line that names what was left out of a project's file, where, and how to accept it."""
    named = ", ".join(f"{dotted(path)} (line {layer.origin(path).line})" for path in dropped)
    return f"{project / 'config.yaml'}: not used before you trust this folder: {named}; `{trust_command(project)}` accepts it"


def trust_command(project: Path) -> str:
    """What to type to trust a folder."""
    return f"ctxhost config trust {shlex.quote(str(project))}"


def names_own_plugin(layer: Layer, project: Path) -> bool:
    """Whether the file asks for an engine that lies in the same, untrusted, folder."""
    context = layer.tree.get("context")
    name = context.get("engine") if isinstance(context, dict) else None
    return isinstance(name, str) and bool(PLAIN_NAME.fullmatch(name)) and (project / PLUGIN_FOLDER / name).is_dir()


def _needs_trust(path: KeyPath, value: Any, fields: Mapping[str, FieldRow]) -> bool:
    if path[0] == ENGINES:
        return _holds_text(value)  # any text could be a command, an address or a path; which, only the engine knows
    row = fields.get(dotted(path))
    return row is not None and row.needs_trust


def _holds_text(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_text, value.values()))
    return any(map(_holds_text, value)) if isinstance(value, list) else isinstance(value, str)

"""What engines there are, told without importing one."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from host.discovery.claims import ENTRY_POINT_SOURCE, Claim
from host.discovery.doors import all_claims
from host.discovery.loading import INIT
from host.discovery.names import printable
from host.discovery.places import Places

MANIFEST = "plugin.yaml"


@dataclass(frozen=True)
class Listing:
    """One engine as ``ctxhost engines`` shows it."""

    name: str
    source: str
    path: str | None
    description: str
    configured: bool  # whether `context.engine` means this one
    shadows: tuple[str, ...]  # others of this name, which it hides
    shadowed_by: str | None
    cannot_load: str | None  # as far as one can tell without importing it

    def as_json(self) -> dict[str, Any]:
        """The facts for ``--json``."""
        return asdict(self)


def list_engines(places: Places) -> list[Listing]:
    """Every engine at every door, by name; of one name, the one that would be used comes first."""
    claims = all_claims(places)
    return [_listing(claim, [c for c in claims if c.name == claim.name], places) for claim in sorted(claims, key=lambda c: c.name)]


def _listing(claim: Claim, namesakes: Sequence[Claim], places: Places) -> Listing:
    standing = [other for other in namesakes if other.passed_over is None]
    first = bool(standing) and claim is standing[0]
    path, missing = _place(claim)
    return Listing(
        name=claim.name,
        source=_source(claim),
        path=path,
        description=_description(claim.path),
        configured=first and claim.name == places.configured,
        shadows=tuple(other.label for other in standing[1:]) if first else (),
        shadowed_by=standing[0].label if standing and not first and claim in standing else None,
        cannot_load=claim.passed_over or missing or _syntax_error(claim.path),
    )


def _source(claim: Claim) -> str:
    return claim.source if claim.path or claim.source == claim.owner else f"{claim.source} of {claim.owner}"


def _place(claim: Claim) -> tuple[str | None, str | None]:
    """Where the claim's code lies, and why it is not there."""
    if claim.path is not None:
        return printable(str(claim.path)), None
    if claim.source != ENTRY_POINT_SOURCE:
        return None, None
    top = claim.target.partition(":")[0].partition(".")[0].strip()
    try:
        spec = find_spec(top)  # a top-level module is found without importing anything
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return None, f"its module {claim.target!r} is not installed"
    return printable(spec.origin or next(iter(spec.submodule_search_locations or ()), "")) or None, None


def _syntax_error(folder: Path | None) -> str | None:
    if folder is None:
        return None
    try:
        source = (folder / INIT).read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except SyntaxError as error:
        return printable(f"syntax error in {folder / INIT}:{error.lineno}: {error.msg}")
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return printable(f"{folder / INIT} cannot be read: {error}")
    return None


def _description(folder: Path | None) -> str:
    """The line ``description`` of an optional plugin.yaml."""
    if folder is None or not (folder / MANIFEST).is_file():
        return ""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        manifest = YAML(typ="safe", pure=True).load((folder / MANIFEST).read_text("utf-8-sig"))
    except (YAMLError, OSError, ValueError, RecursionError) as error:
        return printable(f"({MANIFEST} cannot be read: {str(error).splitlines()[0]})")
    text = manifest.get("description") if isinstance(manifest, dict) else None
    return printable(text) if isinstance(text, str) else ""

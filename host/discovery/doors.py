"""The three doors through which an engine comes in, in the order of the seed (2.1)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from host.discovery.claims import BUILT_IN_SOURCE, Claim, built_in_claims, directory_claims, registered_claims
from host.discovery.names import is_safe, printable
from host.discovery.places import BUILT_IN, Places
from host.hookspecs import PROJECT


def folders_in_words(places: Places) -> list[str]:
    """The search folders, and what is the matter with one of them."""
    looked = [_folder_in_words(str(folder)) for _, folder in places.folders()]
    if places.untrusted is not None:
        looked.append(f"not in {printable(str(places.untrusted))}, which `ctxhost config trust` has not allowed")
    return looked


@dataclass(frozen=True)
class Door:
    """A way in. Its ``claims`` import nothing as long as no name is wanted."""

    name: str
    what: str
    claims: Callable[[Places, str | None], Iterator[Claim]]
    looked_in: Callable[[Places], list[str]]


DOORS: tuple[Door, ...] = (
    Door(
        "directory",
        "a folder named like the engine: bundled, in the home folder, in `plugins.paths`, in a trusted project",
        directory_claims,
        folders_in_words,
    ),
    Door(
        "registered",
        f"an entry point of group `{PROJECT}` named like the engine, a plugin of `plugins.enabled`, a plugin handed over in the process",
        registered_claims,
        lambda places: [f"entry points of group {PROJECT}"],
    ),
    Door("built-in", "what ctxhost brings along", built_in_claims, lambda places: ["built-in engines"]),
)
"""Who comes first has the name; only that of the built-in compressor cannot be taken."""


def all_claims(places: Places, wanted: str | None = None) -> list[Claim]:
    """Every claim, those of one name in the order of precedence; without a wanted name nothing is imported."""
    claims = [_allowed(claim, places) for door in DOORS for claim in door.claims(places, wanted)]
    return sorted(claims, key=lambda claim: claim.name == BUILT_IN and claim.source != BUILT_IN_SOURCE)


def looked_in(places: Places) -> list[str]:
    """Where a name is looked for, in words."""
    return [place for door in DOORS for place in door.looked_in(places)]


def _allowed(claim: Claim, places: Places) -> Claim:
    if claim.passed_over or claim.source == BUILT_IN_SOURCE:
        return claim
    if not is_safe(claim.name):
        return replace(claim, passed_over="its name is not allowed")
    if places.disables(claim.name, claim.owner):
        return replace(claim, passed_over="it is disabled in plugins.disabled")
    return claim


def _folder_in_words(folder: str) -> str:
    closed = os.path.exists(folder) and not os.access(folder, os.R_OK | os.X_OK)  # noqa: PTH110 Path.exists raises where this answers
    return f"{printable(folder)} (cannot be read)" if closed else printable(folder)

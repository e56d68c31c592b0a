"""Where cache markers go: hermes.md 14."""

from __future__ import annotations

from copy import deepcopy

from host.provider.caching import MARKER, Layout, mark
from tests.golden.reading import Driver, Golden


def marked(case: Golden) -> None:
    given = deepcopy(case.input["messages"])
    layout = Layout.NATIVE if case.input["native"] else Layout.ENVELOPE
    assert mark(given, layout, case.input["ttl"]) == case.output
    assert given == case.input["messages"]


def marked_places(case: Golden) -> None:
    for layout in Layout:
        found = mark(case.input["messages"], layout)
        assert [index for index, message in enumerate(found) if MARKER in str(message)] == case.output


DRIVERS: dict[str, Driver] = {
    "cache_envelope_*": marked,
    "cache_native_*": marked,
    "cache_no_system": marked_places,
    "cache_empty": marked_places,
}

"""Facts: the exact values and the user's rules in a message, which of them still hold, and their text for a window."""

from __future__ import annotations

from host.messages.facts.block import block
from host.messages.facts.constraints import constraints_in, rules_in
from host.messages.facts.fact import Fact, FactKind, Told, decoded, encoded, kept
from host.messages.facts.reading import facts_of, told
from host.messages.facts.supersession import Live, current
from host.messages.facts.values import values_in

__all__ = [
    "Fact",
    "FactKind",
    "Live",
    "Told",
    "block",
    "constraints_in",
    "current",
    "decoded",
    "encoded",
    "facts_of",
    "kept",
    "rules_in",
    "told",
    "values_in",
]

"""The exact values in a text: what a person would copy rather than say in other words."""

from __future__ import annotations

from itertools import chain

from host.messages.facts.fact import Fact, FactKind
from host.messages.facts.failures import in_failures
from host.messages.facts.lines import Lines
from host.messages.facts.literals import in_literals
from host.messages.facts.naming import in_names
from host.messages.facts.numbers import in_numbers
from host.messages.facts.remembered import remembered
from host.messages.facts.tokens import in_tokens


@remembered
def values_in(text: str) -> list[Fact]:
    """The exact values of a text, rising; each span once, a value inside another may be given too.

    Paths, URLs, addresses, versions, quantities, ids, hashes, quoted literals, variables, errors, e-mail addresses, dates.
    Five passes, each linear in the length of the text; where two read the same span, the earlier one says its kind. A weak
    candidate (a bare number, a plain name) counts in prose and where it stands as a value of a record.
    """
    lines = Lines(text)
    found: dict[tuple[int, int], FactKind] = {}
    passes = in_tokens(text, lines), in_numbers(text, lines), in_literals(text, lines), in_failures(text), in_names(text)
    for kind, start, end in chain.from_iterable(passes):
        found.setdefault((start, end), kind)
    return [Fact(found[span], *span, text[span[0] : span[1]]) for span in sorted(found)]

"""Which keywords a call may carry: engines written for an older host lack some of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

ALWAYS = "current_tokens"  # what every signature has had from the beginning
ONLY_IF_NOT_EMPTY = "memory_context"


def accepted_keywords(compress: Callable[..., object], offered: Mapping[str, object]) -> dict[str, object]:
    """The keywords that ``compress`` takes, read from its signature (hermes.md 1.4).

    ``**kwargs`` takes all; a signature that cannot be read is given ``current_tokens`` alone; an empty ``memory_context`` is
    left out. The signature decides before the call: an engine keeps state, so a call is never tried twice.
    """
    worth = {name: value for name, value in offered.items() if value or name != ONLY_IF_NOT_EMPTY}
    try:
        parameters = inspect.signature(compress).parameters.values()
    except (TypeError, ValueError):
        return {name: value for name, value in worth.items() if name == ALWAYS}
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return worth
    named = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    return {name: value for name, value in worth.items() if name in named}

"""A glance at the bytes of a message that tells most of those that cannot match, before they are decoded."""

from __future__ import annotations

import re
from collections.abc import Callable

from host.store.searching.needs import AllOf, AnyOf, Holds, Need

PLAIN = re.compile(r"[a-z0-9 _:;()<>=~!?#$%^&*@\[\]{}|'+.`-]+")  # never escaped in JSON, and no comma: base64 is cut out behind one
OF_NUMBERS = frozenset("0123456789.+-einfa")  # numbers are spelt anew when they are read: 1E5, Infinity
MayMatch = Callable[[bytes], bool]


def presumption(need: Need | None) -> MayMatch:
    """Whether the canonical bytes of a message may hold what is needed. False is certain.

    Other letters may fold to ASCII, and an escape may stand for any: such bytes always may.
    """
    holds = _holds(need)
    return lambda body: not body.isascii() or b"\\u" in body or holds(body.lower())


def _holds(need: Need | None) -> MayMatch:
    match need:
        case Holds(text):
            pieces = [piece for piece in PLAIN.findall(text) if not OF_NUMBERS.issuperset(piece)]
            longest = max(pieces, key=len, default="").encode()
            return lambda body: longest in body
        case AllOf(parts):
            each = [_holds(part) for part in parts]
            return lambda body: all(holds(body) for holds in each)
        case AnyOf(parts):
            some = [_holds(part) for part in parts]
            return lambda body: any(holds(body) for holds in some)
    return lambda body: True

"""Names that are no text, such as paths whose bytes are no UTF-8, as text and back."""

from __future__ import annotations

import os
import re

SPELLED_OUT = re.compile(r"\\u(d[89a-f][0-9a-f]{2})")


def spelled(name: str | os.PathLike[str]) -> str:
    """A path, chain or key as text; lone surrogates, by which Python holds bytes that are no UTF-8, are spelled out."""
    return os.fspath(name).encode("utf-8", "backslashreplace").decode("utf-8")


def unspelled(text: str) -> str:
    """The name that is spelled so. A path that has such a spelling in its very name has to be tried as it stands first."""
    return SPELLED_OUT.sub(lambda found: chr(int(found[1], 16)), text)

"""One thing under several names: a path from the root, from the project, with a mark before it, by its file's name alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

ALIKE = 64
"""Files of one name that are held against each other; what more are called like says little."""

BEFORE_PATHS = re.compile(r"^(?:@(?!/)|~/)")


def groups_of(values: Iterable[tuple[str, bool]]) -> list[list[str]]:
    """Texts by what they name, in their order; of each it is told whether it is a path.

    A path without a root that is the end of just one longer one is another spelling of it.
    """
    groups: dict[str, list[str]] = {}
    for text, name in _named(list(values)):
        groups.setdefault(name, []).append(text)
    return list(groups.values())


def is_part(text: str, longer: str) -> bool:
    """Whether a text stands in a longer one, or is it, as whole words; what begins at the root does not begin amid a path."""
    at = longer.find(text)
    while at >= 0:
        before, after = longer[at - 1 : at] if at else "", longer[at + len(text) : at + len(text) + 1]
        if not (_is_word(before) and (_is_word(text[0]) or text[0] == "/")) and not (_is_word(after) and _is_word(text[-1])):
            return True
        at = longer.find(text, at + 1)
    return False


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def _named(values: list[tuple[str, bool]]) -> list[tuple[str, str]]:
    """Each text with the longest spelling of what it names."""
    bare = {text: BEFORE_PATHS.sub("", text, count=1).rstrip("/") if is_path else "" for text, is_path in values}
    longest: defaultdict[str, list[str]] = defaultdict(list)  # file name -> the longest spellings of paths that end in it
    full: dict[str, str] = {}
    for path in sorted(set(bare.values()), key=len, reverse=True):
        alike = longest[path.rpartition("/")[2]]
        owners = [other for other in alike if other.endswith("/" + path)] if not path.startswith("/") else []
        full[path] = owners[0] if len(owners) == 1 else path
        if not owners and len(alike) < ALIKE:
            alike.append(path)
    return [(text, "path " + full[bare[text]] if bare[text] else "value " + text) for text, _ in values]

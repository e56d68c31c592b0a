"""Headings in an answer: ours however they are marked, and those of a model that translated them."""

from __future__ import annotations

import re

from host.compressor.template import Section, heading_of

STRIP = "#*_: \t0123456789.)"
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
OTHER = re.compile(r"#{2,6}[ \t]*[^\W_#].{0,79}|\*\*[^*\n]{1,60}\*\*[:：]?|\*\*[^*\n]{1,60}[:：]\*\*")
INLINE = re.compile(r"(?:\*\*|__)(?P<name>[^*_:\n]{1,60})(?::(?:\*\*|__)|(?:\*\*|__):)[ \t]*(?P<said>\S.*)")
NAMES = {section.value.casefold(): section for section in Section}


def section_named(name: str) -> Section | None:
    """The section of this name, whether or not it is written as a heading: ``key_decisions`` is one of them."""
    return NAMES.get(" ".join(name.strip(STRIP).casefold().replace("_", " ").split()))


def known_heading(line: str) -> Section | None:
    """The section that a line is the heading of: marked by ``#``, stars, a number, or a colon at its end."""
    line = line.strip()
    is_marked = line[:1] in ("#", "*", "_") or line[:1].isdigit() or line.endswith((":", "："))
    return section_named(line.rstrip("：")) if line and is_marked else None


def is_heading(line: str) -> bool:
    """Whether a line is a heading: one of ours, or any that is marked by two or more ``#`` or is bold as a whole."""
    return known_heading(line) is not None or OTHER.fullmatch(line.strip()) is not None


def has_headings(text: str) -> bool:
    """Whether a text has headings of its own, in whatever language; what stands in a block of code is none."""
    return any(map(known_heading, text.splitlines())) or any(map(is_heading, FENCED.sub("", text).splitlines()))


def with_plain_headings(text: str) -> str:
    """The text with our headings as ``## Name`` where a model numbered them or made them bold; code stays as it is."""
    lines, in_code = [], False
    for line in text.split("\n"):
        in_code ^= line.lstrip().startswith(("```", "~~~"))
        lines.append(line if in_code else _plain(line))
    return "\n".join(lines)


def _plain(line: str) -> str:
    if line[:1].isspace() or heading_of(line) is not None:
        return line
    if (section := known_heading(line)) is not None:
        return f"## {section}"
    inline = INLINE.fullmatch(line)
    section = section_named(inline["name"]) if inline is not None else None
    return f"## {section}\n{inline['said']}" if inline is not None and section is not None else line

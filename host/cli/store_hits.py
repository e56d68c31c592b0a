"""Hits of a search as they are printed: two lines each for people, one line each for a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from host.cli.store_text import clipped, local, plain
from host.messages.types import JSON
from host.store.query import Hit, Line, Page

BOLD, DIM, OFF = "\x1b[1;31m", "\x1b[2m", "\x1b[0m"
INDENT = "    "


@dataclass(frozen=True)
class Marks:
    """What is put around matches, and around what is said beside them."""

    match: tuple[str, str] = ("", "")
    aside: tuple[str, str] = ("", "")

    def beside(self, text: str) -> str:
        """A text that is not the hit itself."""
        return f"{self.aside[0]}{text}{self.aside[1]}"


COLORED = Marks((BOLD, OFF), (DIM, OFF))
UNCOLORED = Marks(("«", "»"))
BARE = Marks()  # a pipe: what was written can be found in it as it was written


def marked(hit: Hit, marks: Marks) -> str:
    """The excerpt on one line with its matches marked."""
    out, end = [], 0
    for start, stop in hit.spans:
        out += [plain(hit.excerpt[end:start]), marks.match[0], plain(hit.excerpt[start:stop]), marks.match[1]]
        end = stop
    return "".join([*out, plain(hit.excerpt[end:])]).strip()


def terminal_lines(hits: Sequence[Hit], marks: Marks, width: int) -> Iterator[str]:
    """Where and when, then the words; a blank line where context stands between the hits."""
    for hit in hits:
        yield marks.beside("  ".join([hit.id, local(hit.time), speaker(hit), plain(hit.title or ""), *remarks(hit)]).rstrip())
        yield from (marks.beside(clipped(f"{INDENT}{beside(line)}", width)) for line in hit.before)
        yield f"{INDENT}{marked(hit, marks)}"
        yield from (marks.beside(clipped(f"{INDENT}{beside(line)}", width)) for line in hit.after)
        if hit.before or hit.after:
            yield ""


def pipe_lines(hits: Sequence[Hit]) -> Iterator[str]:
    """Columns with tabs between: id, time, role, title, text. Messages beside a hit have no time; ``--`` stands between groups."""
    for number, hit in enumerate(hits):
        grouped = bool(hit.before or hit.after)
        if grouped and number:
            yield "--"
        title = plain(hit.title or "")
        for line in hit.before:
            yield "\t".join([f"{hit.conversation}:{line.position}", "", plain(line.role), title, plain(line.text)])
        yield "\t".join([hit.id, local(hit.time), speaker(hit), title, marked(hit, BARE)])
        for line in hit.after:
            yield "\t".join([f"{hit.conversation}:{line.position}", "", plain(line.role), title, plain(line.text)])


def speaker(hit: Hit) -> str:
    """The role, with the tools that were called or answered."""
    tools = ", ".join(hit.tool.splitlines())
    return plain(f"{hit.role} ({tools})" if tools else hit.role)


def remarks(hit: Hit) -> list[str]:
    """What else is to be said about a hit."""
    score = [f"score {hit.score:.2f}"] if hit.score is not None else []
    return [*score, *(["an older version"] if hit.superseded else [])]


def beside(line: Line) -> str:
    """A message beside a hit."""
    return f"{line.position}  {plain(line.role)}: {plain(line.text)}"


def page_json(page: Page) -> JSON:
    """A page for scripts."""
    return {
        "hits": [hit.as_json() for hit in page.hits],
        "mode": str(page.mode),
        "tried": [str(mode) for mode in page.tried],
        "scanned": page.scanned,
        "complete": page.complete,
        "cursor": page.cursor,
        "notices": list(page.notices),
        "plan": list(page.plan),
    }

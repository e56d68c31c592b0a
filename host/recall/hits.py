"""Hits as an answer of bounded size: excerpts get shorter, then fewer hits stand on a page."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import islice

from host.messages.types import JSON
from host.recall.answers import as_text
from host.recall.boundary import ALL
from host.store.query import Hit, Mode, Page
from host.store.searching.excerpts import CUT, excerpt

ANSWER_TOKENS = 2_000
WIDTHS = (240, 160, 100)  # characters of an excerpt, the widest that fits is taken
LONGEST_TOOLS, LONGEST_TITLE, LONGEST_NOTICE = 100, 60, 300  # characters
MOST_NOTICES = 6
MOST_OF_NEXT, MOST_OF_NEXT_RANKED = 1_200, 500
"""Tokens of the arguments for the next page. The cursor of ranked pages grows: after about a hundred hits there is none."""

END_OF_RANKED = "ranked pages end here, there are more hits: name what you look for more closely, narrow it with since, or use mode words"
NO_ROOM = "there are more hits, but beside so long a query no room for `next`: search for a part of it"
MORE_FIT_NOT = "only {} hits fit into one answer; `next` goes on behind them"
FILTERS = ("role", "tool", "since", "before")


@dataclass(frozen=True)
class Telling:
    """How the pages of one search are told. ``asked`` are the arguments that were given, ``where`` says what is searched."""

    asked: JSON
    where: str
    notices: tuple[str, ...]
    may_widen: bool
    count: Callable[[str], int]

    def told(self, page: Page, left_out: Collection[Hit] = ()) -> JSON | int:
        """The page without the hits that are left out, or how many of its first hits would fit."""
        for width in WIDTHS:
            told = self._answer(page, [shown(hit, width) for hit in page.hits if hit not in left_out])
            if self.count(as_text(told)) <= ANSWER_TOKENS or (width == WIDTHS[-1] and len(page.hits) <= 1):
                return told
        return self._fitting(page, left_out)

    def _fitting(self, page: Page, left_out: Collection[Hit]) -> int:
        """How many of the first hits fit with the shortest excerpts, fewer than there are and at least one."""
        spent, most = self.count(as_text(self._answer(page, []))), len(page.hits) - 1
        for number, hit in enumerate(islice(page.hits, most)):
            spent += 0 if hit in left_out else self.count(as_text(shown(hit, WIDTHS[-1]))) + 1
            if spent > ANSWER_TOKENS:
                return max(1, number)
        return most

    def _answer(self, page: Page, hits: list[JSON]) -> JSON:
        following = self._following(page)
        notices = [*self.notices, *page.notices]
        if page.hits and len(page.hits) < self.asked.get("limit", len(page.hits)) and following is not None:
            notices.append(MORE_FIT_NOT.format(len(page.hits)))
        if page.cursor is not None and following is None:
            notices.append(END_OF_RANKED if page.mode is Mode.RANKED else NO_ROOM)
        told: JSON = {"hits": hits, "mode": str(page.mode), "searched": f"{self.where}: {page.scanned}", "complete": page.complete}
        if following is not None:
            told["next"] = following
        if not page.hits:
            told["next_step"] = self._next_step(page)
        return told | ({"notices": [cut(notice, LONGEST_NOTICE) for notice in notices[:MOST_NOTICES]]} if notices else {})

    def _following(self, page: Page) -> JSON | None:
        """The arguments of the next page, ready to be sent; None where there is none, or no room for them."""
        if page.cursor is None:
            return None
        following = {**self.asked, "cursor": page.cursor}
        most = MOST_OF_NEXT_RANKED if page.mode is Mode.RANKED else MOST_OF_NEXT
        return following if self.count(as_text(following)) <= most else None

    def _next_step(self, page: Page) -> str:
        """What to try where nothing was found."""
        filters = [name for name in FILTERS if name in self.asked]
        steps = {
            f"leave out {', '.join(filters)}": bool(filters),
            "mode ranked finds messages with any of the words": page.mode is not Mode.RANKED,
            "use fewer or other words, or a part of a word with mode literal": page.mode is Mode.RANKED,
            f"scope {ALL} searches everything": self.may_widen and self.asked.get("scope") != ALL,
        }
        return "; ".join(step for step, applies in steps.items() if applies)


def shown(hit: Hit, width: int) -> JSON:
    """A hit with an excerpt of at most this many characters around its first match."""
    piece, _ = excerpt(hit.excerpt, hit.spans, width) if len(hit.excerpt) > width + 2 * len(CUT) else (hit.excerpt, ())
    told = {
        "message": hit.id,
        "time": f"{hit.time:%Y-%m-%dT%H:%M:%SZ}",
        "role": cut(hit.role, LONGEST_TITLE),
        "tool": cut(", ".join(hit.tool.splitlines()), LONGEST_TOOLS),
        "session": hit.session,
        "title": cut(hit.title or "", LONGEST_TITLE),
        "excerpt": piece,
        "superseded": hit.superseded,
        "open": {"message": hit.id},
    }
    return {name: value for name, value in told.items() if value not in ("", False) or name == "excerpt"}


def cut(text: str, longest: int) -> str:
    """The text, or its beginning."""
    return text if len(text) <= longest else text[:longest] + CUT

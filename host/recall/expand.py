"""``lcm_expand``: one message, or a range of them, to the last character."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from host.messages.types import JSON
from host.recall.answers import Wrong, as_text
from host.recall.arguments import Arguments, flag, optional, text, whole
from host.recall.boundary import Reach
from host.recall.fields import fields_of
from host.recall.paging import Beginning, Opening, head_role
from host.recall.references import Reference, reference_in
from host.recall.versions import newest_by_place
from host.store.protocols import Archive, Store

LEAST_TOKENS, MOST_TOKENS, DEFAULT_TOKENS = 300, 8_000, 2_000
CURSOR = re.compile(
    r"(?P<id>.{1,200}):(?P<first>\d{1,15})-(?P<until>\d{1,15})@(?P<at>\d{1,15})\.(?P<field>\d{1,9})\.(?P<character>\d{1,15})(?P<raw>r?)"
)
CURSOR_FORM = "the `cursor` in `next` of the page before, unchanged; or leave it out and give `message`"
LEFT_OUT = "base64 data was left out; with raw: true it is given too"
ENVELOPE = 80  # tokens of what stands around the messages
MARGIN = 8  # tokens


def reference(value: Any, info: ValidationInfo) -> Reference:
    """A message, however it is written."""
    found = reference_in(value)
    if found is None:
        raise ValueError("the `message` of a hit: SESSION:POSITION")
    return found


def last_position(value: Any, info: ValidationInfo) -> int:
    """The end of a range: a position, or a whole reference."""
    found = reference_in(value)
    if found is None or (found.until or found.first) is None:
        raise ValueError("the last position, a whole number")
    return found.until or found.first or 0


class Expand(Arguments):
    """The arguments of ``lcm_expand``."""

    example: ClassVar[JSON] = {"message": "20261130_160000_ab12cd:12", "until": 14}

    message: Annotated[Reference | None, BeforeValidator(optional(reference))] = Field(
        None, description="SESSION:POSITION, as a hit of lcm_grep gives it in `open`"
    )
    until: Annotated[int | None, BeforeValidator(optional(last_position))] = Field(
        None, description="last position, to open a range that begins at `message`"
    )
    max_tokens: Annotated[int, BeforeValidator(optional(whole(LEAST_TOKENS, MOST_TOKENS), DEFAULT_TOKENS))] = Field(
        DEFAULT_TOKENS, description=f"size of one page, {LEAST_TOKENS} to {MOST_TOKENS} (default {DEFAULT_TOKENS})"
    )
    cursor: Annotated[str | None, BeforeValidator(optional(text))] = Field(
        None, description="the `cursor` in `next` of the page before, to read on; needs no other argument"
    )
    raw: Annotated[bool, BeforeValidator(optional(flag, False))] = Field(False, description="true: base64 data of images and files too")

    @model_validator(mode="before")
    @classmethod
    def of_a_hit(cls, given: Any) -> Any:
        """A hit of lcm_grep, handed over whole, means what its ``open`` says."""
        opened = given.get("open") if isinstance(given, dict) else None
        return opened if isinstance(opened, dict) else given


@dataclass(frozen=True)
class Opened:
    """What is opened, and where this page of it begins."""

    conversation: str
    first: int
    until: int
    start: Beginning
    raw: bool = False

    def cursor(self, place: Beginning) -> str:
        """The same from another place on, as text."""
        raw = "r" if self.raw else ""
        return f"{self.conversation}:{self.first}-{self.until}@{place.position}.{place.field}.{place.character}{raw}"


@dataclass(frozen=True)
class Expanding:
    """Opens messages of a store within reach."""

    store: Store
    reach: Reach
    count: Callable[[str], int]

    def answered(self, asked: Expand, notices: list[str]) -> JSON:
        """A page. Wrong for a message that is not there or not within reach."""
        opened = self._continued(asked.cursor) if asked.cursor is not None else self._begun(asked, notices)
        room = asked.max_tokens - ENVELOPE
        while True:
            told = self._page(opened, room, asked, notices)
            over = self.count(as_text(told)) - asked.max_tokens
            if over <= 0 or room <= 0:
                return told
            room -= over + MARGIN

    def _page(self, opened: Opened, room: int, asked: Expand, notices: list[str]) -> JSON:
        archive = self.store.archive(opened.conversation)
        opening = Opening(room, self.count, opened.raw)
        following = opening.fill(archive.rows(opened.start.position, opened.until), opened.start)
        lines = [*notices, *([LEFT_OUT] if any("left_out" in one for told in opening.told for one in told.get("fields", ())) else [])]
        told = {"messages": self._with_newer(archive, opening.told, opened), "complete": following is None}
        if following is None:
            told |= _neighbours(opened, archive.range()[1])
        else:
            size = {} if asked.max_tokens == DEFAULT_TOKENS else {"max_tokens": asked.max_tokens}
            told["next"] = {"cursor": opened.cursor(following), **size}
        return told | ({"notices": lines} if lines else {})

    def _begun(self, asked: Expand, notices: list[str]) -> Opened:
        if asked.message is None:
            raise Wrong("message", None, "SESSION:POSITION, as a hit of lcm_grep gives it in `open`", "the argument 'message' is missing")
        conversation = self._conversation(asked.message.id)
        last = self.store.archive(conversation).range()[1]
        first, until = asked.message.first, asked.until or asked.message.until
        if first is None or not 1 <= first <= last:
            there = f"{conversation}:POSITION with a position from 1 to {last:,}" if last else "another session: this one has no messages"
            what = "the reference names no position" if first is None else f"there is no position {str(first)[:20]}"
            raise Wrong("message", f"{conversation}:{first or ''}", there, what)
        notices += _read_as(first, until, last, asked.message.more)
        first, until = sorted((first, min(until or first, last)))
        return Opened(conversation, first, until, Beginning(first), asked.raw)

    def _continued(self, cursor: str) -> Opened:
        found = CURSOR.fullmatch(cursor.strip().strip("\"'`"))
        if found is None:
            raise Wrong("cursor", cursor, CURSOR_FORM)
        conversation = self._conversation(found["id"], "cursor")
        first, until, at = (int(found[name]) for name in ("first", "until", "at"))
        opened = Opened(conversation, first, until, Beginning(at, int(found["field"]), int(found["character"])), bool(found["raw"]))
        archive = self.store.archive(conversation)
        if not (1 <= first <= at <= until <= archive.range()[1] and _is_in(opened.start, archive, raw=opened.raw)):
            raise Wrong("cursor", cursor, CURSOR_FORM, "the cursor points to where nothing is")
        return opened

    def _conversation(self, name: str | None, where: str = "message") -> str:
        if name is not None:
            return self.reach.session(name, where).conversation
        if self.reach.conversation is None:
            raise Wrong(where, name, "SESSION:POSITION, as a hit of lcm_grep gives it in `open`", "the reference names no session")
        return self.reach.conversation

    def _with_newer(self, archive: Archive, told: list[JSON], opened: Opened) -> list[JSON]:
        """The messages, with the reference of the newest version beside each older one."""
        if not any("superseded" in one for one in told):
            return told
        places = archive.places()
        newest = newest_by_place((place, position) for position, place in places.items())
        return [{**one, "newest": _newest(one, places, newest)} if "superseded" in one else one for one in told]


def _newest(one: JSON, places: dict[int, int], newest: dict[int, int]) -> str:
    conversation, _, position = str(one["message"]).rpartition(":")
    place = places.get(int(position), int(position))
    return f"{conversation}:{newest.get(place, place)}"


def _read_as(first: int, until: int | None, last: int, more: str) -> Iterator[str]:
    """What of a reference was not taken as it is written."""
    if more:
        yield f"{more!r} behind the position was passed over: one message or one range is opened at a time"
    if until is not None and until < first:
        yield f"{first} to {until} was read as {until} to {first}"
    if until is not None and until > last:
        yield f"the last position is {last:,}"


def _is_in(start: Beginning, archive: Archive, *, raw: bool) -> bool:
    """Whether a page can begin there; in a message that was erased since, everywhere."""
    for row in archive.rows(start.position, start.position):
        if row.message is None or not (start.field or start.character):
            return True
        fields = fields_of(row.message, head_role(row), raw=raw)
        return start.field < len(fields) and start.character <= len(fields[start.field].text)
    return False


def _neighbours(opened: Opened, last: int) -> JSON:
    before = {"before": f"{opened.conversation}:{opened.first - 1}"} if opened.first > 1 else {}
    return before | ({"after": f"{opened.conversation}:{opened.until + 1}"} if opened.until < last else {})

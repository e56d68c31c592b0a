"""Codex tells most messages twice, as an item and as an event: what tells a repetition, whichever of both comes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from host.formats.assembly import Assembly, AssistantTurn, parts_of
from host.formats.codex import add_item, said_in
from host.formats.content import readable
from host.formats.feeds.drafting import Added, Drafting, newest
from host.formats.feeds.events import MAIN
from host.formats.loose import keyed, listed
from host.messages.types import JSON, Message

ROLES = ("user", "assistant")  # that events speak for
ITEMS = 20  # between an item and its event there are only the items of the same turn
MESSAGES = 100  # at hand; older ones are asked for


class Spot(NamedTuple):
    """Where a text stands: the key of its message, and which of its parts."""

    key: str
    start: int
    end: int


@dataclass
class Near:
    """Of one role the newest event whose text no item held yet, and the items since the event before."""

    event: Spot | None = None
    items: list[Spot] = field(default_factory=list)


class Echoes:
    """The messages of a rollout that may be told a second time."""

    def __init__(self, drafting: Drafting, known: Callable[[str], Message | None], state: JSON) -> None:
        """Begin, or go on from the ``state`` of an earlier reading; ``known`` gives a message of that by its key."""
        self._drafting = drafting
        self._known = known
        self._told: dict[str, Message] = {}
        self._near = {role: _near(keyed(state.get(role))) for role in ROLES}

    def state(self) -> JSON:
        """Keys and places of what may be repeated."""
        return {
            role: {"event": list(near.event) if near.event else None, "items": [list(spot) for spot in near.items]}
            for role, near in self._near.items()
        }

    def forget(self) -> None:
        """Nothing that was said before may be repeated from here on."""
        self._near = {role: Near() for role in ROLES}

    def remember(self, added: Sequence[Added]) -> None:
        """Keep the newest version of what was said, as long as it may be asked for."""
        for one in added:
            self._told.pop(one.key, None)
            self._told[one.key] = one.message
        if len(self._told) > 2 * MESSAGES:
            asked = {spot.key for near in self._near.values() for spot in (*near.items, *filter(None, [near.event]))}
            asked.update(newest(self._told, MESSAGES))
            self._told = {key: message for key, message in self._told.items() if key in asked}

    def item(self, key: str, item: JSON) -> list[Added]:
        """What a message item adds: the text of a recent event is said under the event's key, grown to the whole item."""
        role = str(item.get("role"))
        if role not in ROLES:
            return self._drafting.added(MAIN, key, partial(add_item, item=item))
        near = self._near[role]
        before = self._message(near.event.key) if near.event else None
        if near.event and before and _text(before, near.event) in said_in(item):
            added, spot = self._grown(near.event, before, item)
            near.event = None
        else:
            added, spot = self._said(key, item)
        near.items = newest([*near.items, spot], ITEMS)
        return added

    def event(self, key: str, item: JSON) -> list[Added]:
        """What an event adds, given as the item that it may repeat: nothing where one since the event before holds its text."""
        near, said = self._near[str(item["role"])], said_in(item)
        is_held = any(self._holds(spot, said) for spot in near.items)
        near.event, near.items = None, []
        if is_held:
            return []
        added, near.event = self._said(key, item)
        return added

    def _said(self, key: str, item: JSON) -> tuple[list[Added], Spot]:
        added = self._drafting.added(MAIN, key, partial(add_item, item=item))
        answer = self._drafting.opened(MAIN)
        if answer is None:  # the user's, a message of its own
            return added, Spot(key, 0, len(parts_of(added[0].message)))
        end = len(answer.turn.parts)
        return added, Spot(answer.key, end - len(parts_of(_alone(item))), end)

    def _grown(self, spot: Spot, before: Message, item: JSON) -> tuple[list[Added], Spot]:
        """An event's message with the item in the place of its text."""
        grown = _alone(item)
        parts = parts_of(grown)
        if item["role"] == "assistant":
            answer = self._drafting.opened(MAIN)
            turn = answer.turn if answer is not None and answer.key == spot.key else AssistantTurn.of(before)
            turn.parts[spot.start : spot.end] = parts
            grown = turn.message()
        added = [] if grown == before else [Added(spot.key, grown, is_new=False)]
        return added, Spot(spot.key, spot.start, spot.start + len(parts))

    def _holds(self, spot: Spot, text: str) -> bool:
        message = self._message(spot.key)
        return message is not None and text in _text(message, spot)

    def _message(self, key: str) -> Message | None:
        return self._told[key] if key in self._told else self._known(key)


def _near(state: JSON) -> Near:
    event = listed(state.get("event"))
    return Near(Spot(*event) if event else None, [Spot(*spot) for spot in listed(state.get("items"))])


def _text(message: Message, spot: Spot) -> str:
    return "\n".join(readable(parts_of(message)[spot.start : spot.end])).strip()


def _alone(item: JSON) -> Message:
    """A message item as the message that it is by itself."""
    assembly = Assembly()
    add_item(assembly, item)
    nothing: Message = {"role": "assistant", "content": []}
    return next(iter(assembly.messages()), nothing)

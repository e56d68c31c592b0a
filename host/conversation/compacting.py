"""One compaction: the engine rewrites, settle judges, the view is published or stays."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from host.conversation.engine_door import Broken, EngineDoor
from host.conversation.heard import Heard
from host.conversation.inbox import Inbox
from host.conversation.shelf import NotNow, Shelf
from host.conversation.triggers import Trigger
from host.conversation.view import View, as_json, published
from host.engine.services import Services
from host.errors import StoreError
from host.messages.reading import is_system
from host.messages.types import Message
from host.pipeline.exact import Exact
from host.pipeline.settle import IDLE, Refused, Settled, settle
from host.store.values import Lease, Publication


class Compaction:
    """The engine's side of a conversation. ``keep_exact`` tokens are for the block of exact values, 0 for none."""

    def __init__(self, door: EngineDoor, services: Services, shelf: Shelf, inbox: Inbox, *, keep_exact: int) -> None:
        self._door = door
        self._services = services
        self._shelf = shelf
        self._inbox = inbox
        self._heard = Heard(shelf.archive)
        self._keep_exact = keep_exact

    def of(self, view: View, messages: list[Message], tokens: int, trigger: Trigger, focus: str | None) -> tuple[View, Settled | Refused]:
        """The next view under the lease, and what was settled; whatever stands in the way is told, and the view stays.

        Where another process was first, its view comes back with the refusal.
        """
        counters = self._door.counters()
        try:
            with self._shelf.right_to_compact(self._door.warn_once) as lease:
                self._inbox.refuse_backlog()
                if (news := self._inbox.news(view)) is not None:
                    return news, self._stays("the conversation is not compacted now: another process went on with it first")
                settled = self._settled(view, messages, tokens, trigger, focus)
                if isinstance(settled, Settled) and self._is_in_vain(settled):
                    self._door.take_back(counters)
                    return view, self._stays("the newest messages alone do not fit the window, and leaving the others out would not help")
                if isinstance(settled, Settled):
                    self._tell_lost(settled)
                    return self._published(view, settled, trigger, lease), settled
                return view, settled
        except NotNow as reason:
            return view, self._stays(f"the conversation is not compacted now: {reason}")
        except StoreError as error:
            self._door.take_back(counters)
            return view, self._stays(f"the compacted window was not kept and the old one stays: {error.what}")

    def _is_in_vain(self, settled: Settled) -> bool:
        """Whether messages would be left out for a newest message that is larger than the window by itself."""
        facts, count = self._services.facts, self._services.count.messages
        limit = facts.window - facts.output_reserve - facts.tools
        if not settled.receipt.lost or settled.receipt.after <= limit:
            return False
        return count(list(takewhile(is_system, settled.messages))) <= limit // 2  # a prompt that large stays, and every window is too full

    def _stays(self, why: str) -> Refused:
        self._shelf.state.pending = None
        self._door.warn_once(why)
        return Refused(why)

    def _settled(self, view: View, messages: list[Message], tokens: int, trigger: Trigger, focus: str | None) -> Settled | Refused:
        """What the host makes of the engine's answer; a refusal is told unless there was just nothing to do."""
        given = list(messages)
        try:
            returned = self._door.compress(given, tokens, focus, force=trigger.force)
        except Broken as error:
            settled: Settled | Refused = Refused(str(error))
        else:
            settled = IDLE if returned is given else self._judged(view, given, returned)
        if settled is IDLE:
            self._shelf.state.flush()
        elif isinstance(settled, Refused):
            self._shelf.state.pending = None
            self._door.refuse(settled.rule)
        return settled

    def _judged(self, view: View, given: list[Message], returned: object) -> Settled | Refused:
        return settle(view.ledger, returned, count=self._services.count.messages, given=given, exact=self._exact())

    def _exact(self) -> Exact | None:
        if not self._keep_exact:
            return None
        threshold = self._door.threshold(self._services.facts.window)
        return Exact(self._heard.holding(), self._keep_exact, threshold, self._services.count.text)

    def _published(self, view: View, settled: Settled, trigger: Trigger, lease: Lease | None) -> View:
        new = published(view, settled)
        if self._shelf.views is None:
            return new
        publication = Publication(
            ledger=settled.ledger,
            upto=view.rows,
            engine=self._shelf.state.engine,
            trigger=trigger.name,
            receipt=as_json(settled.receipt),
            state=self._shelf.state.pending,
            rotate=self._shelf.rotate,
        )
        old = self._shelf.session
        kept = self._shelf.views.publish(publication, expected=view.version, lease=lease)
        self._shelf.state.pending = None
        self._door.tell_boundary(kept.session, old)
        return replace(new, version=kept.version)

    def _tell_lost(self, settled: Settled) -> None:
        if settled.receipt.lost:
            gone = sum(map(len, settled.receipt.lost))
            self._door.warn_once(f"messages left the window without a summary that stands for them ({gone}); `ctxhost grep` finds them")

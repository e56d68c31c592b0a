"""One compaction: the engine rewrites, settle judges, the view is published or stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from host.conversation.engine_door import Broken, EngineDoor
from host.conversation.engine_memory import EngineMemory
from host.conversation.heard import Heard
from host.conversation.idleness import Idleness
from host.conversation.inbox import Inbox
from host.conversation.partial import Part, part_of
from host.conversation.pinning import Pinning
from host.conversation.preview import Preview, preview_of, untouched
from host.conversation.shelf import NotNow, Shelf
from host.conversation.triggers import PREFLIGHT, Trigger
from host.conversation.verdict import Verdict, Wish
from host.conversation.view import View, as_json, published
from host.conversation.wording import shown, words_of_abort, words_of_count, words_of_loss, words_of_report
from host.engine.idle import Idle, Reason
from host.engine.services import Services
from host.errors import StoreError
from host.messages.reading import is_system
from host.messages.types import Message
from host.pipeline.exact import Exact
from host.pipeline.pinned import Pinned, joined
from host.pipeline.settle import IDLE, Refused, Settled, render, settle
from host.store.values import Lease, Publication

Memory = Callable[[Sequence[Message], str], str]
"""What memory plugins say to messages that are about to leave the window of a session; empty where they say nothing."""

OnSwitch = Callable[[str, str, bool, int], None]
"""Hears of a published compaction: the session that goes on, the one before it (empty where it is the same), whether it is the
same, and how often the conversation was compacted."""

NO_ROOM = "the newest messages alone do not fit the window, and leaving the others out would not help"
TOO_SHORT = "what stands before the exchanges to keep is shorter than a summary of it"
IN_VAIN = Verdict(idle=Idle(Reason.NOTHING_TO_COMPRESS, NO_ROOM), undone=True)
WAITING = "another process compacts this conversation; waiting"
KEPT_SUMMARY = "the exchanges to keep hold the summary, what stands before them is compacted already"


@dataclass(frozen=True)
class Before:
    """What an engine knew before a compaction: its counters, and its document where that was not written yet."""

    counters: EngineMemory
    pending: dict[str, Any] | None


class Compaction:
    """The engine's side of a conversation. ``keep_exact`` tokens are for the block of exact values, 0 for none."""

    def __init__(
        self,
        door: EngineDoor,
        services: Services,
        shelf: Shelf,
        inbox: Inbox,
        *,
        keep_exact: int = 0,
        memory: Memory | None = None,
        on_switch: OnSwitch | None = None,
    ) -> None:
        self._door = door
        self._services = services
        self._shelf = shelf
        self._inbox = inbox
        self._heard = Heard(shelf.archive, services.mask)
        self.pinning = Pinning(shelf, services, door.warn_once)
        self.idleness = Idleness(shelf.notes, door.warn_once)
        self._keep_exact = keep_exact
        self._memory = memory
        self._on_switch = on_switch
        self._times = 0

    def of(self, view: View, messages: list[Message], tokens: int, wish: Wish) -> tuple[View, Verdict]:
        """The next view under the lease, and what was settled; whatever stands in the way is told, and the view stays.

        Where another process was first, its view comes back with the refusal.
        """
        before = Before(self._door.counters(self._services), self._shelf.state.pending)
        try:
            waiting = self._waiting if self._is_needed(tokens, wish.trigger) else None
            with self._shelf.right_to_compact(self._door.warn_once, waiting) as lease:
                self._inbox.refuse_backlog()
                if (news := self._inbox.news(view)) is not None:
                    return news, self._not_now("the conversation is not compacted now: another process went on with it first", before)
                verdict = self._tried(view, messages, tokens, wish)
                if verdict.settled is not None and self._is_in_vain(verdict.settled):
                    verdict = IN_VAIN
                if verdict.undone:
                    self._undo(before, None if wish.trigger.force else tokens)
                if verdict.settled is None:
                    return view, self._left(verdict)
                old = self._shelf.session
                new = self._published(view, verdict.settled, wish.trigger, lease)
                self.pinning.tell_left(new.ledger)
                told = self._done(verdict)
                self._tell_switch(old)
                return new, told
        except NotNow as reason:
            return view, self._not_now(f"the conversation is not compacted now: {reason}", before)
        except KeyboardInterrupt:
            self._undo(before)
            raise
        except StoreError as error:
            self._undo(before)
            return view, self._not_now(f"the compacted window was not kept and the old one stays: {error.what}", before)

    def pinned(self, view: View) -> list[Message]:
        """The pinned messages of a window."""
        return [entry.message for entry in self.pinning.pinned(view.ledger).shown_in(view.ledger).entries]

    def preview(self, view: View, messages: list[Message], tokens: int, wish: Wish, measure: Callable[[list[Message]], int]) -> Preview:
        """What ``of`` would come to now; window, engine and store stay as they are. ``measure`` tells the tokens of a request."""
        with self._door.untouched(self._services), untouched(self._services, self._shelf):
            verdict = self._tried(view, messages, tokens, wish)
            if verdict.settled is not None and self._is_in_vain(verdict.settled):
                verdict = IN_VAIN
            return preview_of(view.ledger, messages, wish, verdict, measure)

    def _is_needed(self, tokens: int, trigger: Trigger) -> bool:
        """Whether the next request is refused without a compaction, by this process or another."""
        facts = self._services.facts
        return trigger.refused or (trigger is PREFLIGHT and tokens > facts.usable - facts.output_reserve)

    def _waiting(self, seconds: float) -> None:
        """Another process compacts the conversation; an interrupt passes through here."""
        lasts = int(self._shelf.lease_seconds)
        self._services.progress(min(int(seconds), lasts), lasts, WAITING)

    def _tried(self, view: View, messages: list[Message], tokens: int, wish: Wish) -> Verdict:
        """What the host makes of the engine's answer. Nothing is published, kept or told."""
        pinned = self.pinning.pinned(view.ledger)
        seen = pinned.shown_in(view.ledger)
        apart = joined(view.ledger, seen)  # no summary is merged into a pin that the engine gets
        part = part_of(apart, messages if apart is view.ledger else render(apart), wish.keep)
        if part is None:
            return Verdict(idle=Idle(Reason.NOTHING_TO_COMPRESS, KEPT_SUMMARY))
        self._services.pins = tuple(entry.message for entry in seen.entries)
        try:
            returned = self._rewritten(part, tokens, wish)
        except Broken as error:
            return Verdict(idle=Idle(Reason.NOT_FOLLOWED, str(error)), undone=True)
        report, undone = self._door.report(), returned is not part.given
        if report.aborted:
            return Verdict(idle=Idle(Reason.ABORTED, shown(report.error)), report=report, undone=undone)
        settled = self._judged(view, part, returned, pinned) if undone else IDLE
        if isinstance(settled, Settled):
            return Verdict(settled, report=report)
        if not settled.is_worthless and self._is_no_shorter(part, returned):
            return Verdict(idle=Idle(Reason.NOTHING_TO_COMPRESS, TOO_SHORT), report=report, undone=undone)
        reason = Reason.NOTHING_TO_COMPRESS if settled.is_worthless else Reason.NOT_FOLLOWED
        return Verdict(idle=Idle(reason, settled.rule), report=report, undone=undone)

    def _rewritten(self, part: Part, tokens: int, wish: Wish) -> object:
        """The engine's answer for its part, after memory plugins saw it. Raises Broken."""
        memory = self._memory(part.given, self._shelf.session) if self._memory is not None else ""
        facts = self._services.facts
        size = max(tokens, facts.usable - facts.output_reserve + 1) if wish.trigger.refused else tokens
        asked = max(0, size - self._services.count.messages(part.kept))
        return self._door.compress(part.given, asked, wish.focus, force=wish.trigger.force, memory=memory, services=self._services)

    def _is_no_shorter(self, part: Part, returned: object) -> bool:
        """Whether the part before kept exchanges is no shorter for being summarised; no engine can tell what stands behind its part."""
        if not part.kept or not isinstance(returned, list) or not all(isinstance(message, dict) for message in returned):
            return False
        return self._services.count.messages(returned) >= self._services.count.messages(part.given)

    def _is_in_vain(self, settled: Settled) -> bool:
        """Whether messages would be left out for a newest message that is larger than the window by itself."""
        facts, count = self._services.facts, self._services.count.messages
        limit = facts.window - facts.output_reserve - facts.tools
        if not settled.receipt.lost or settled.receipt.after <= limit:
            return False
        return count(list(takewhile(is_system, settled.messages))) <= limit // 2  # a prompt that large stays, and every window is too full

    def _not_now(self, why: str, before: Before) -> Verdict:
        """Another process or the store stands in the way; of the engine's document only what it learnt is written."""
        self._door.warn_once(why)
        idle = Idle(Reason.NOT_NOW, why)
        if self._shelf.state.pending != before.pending:
            return self._left(Verdict(idle=idle))
        self.idleness.note(idle)
        return Verdict(idle=idle)

    def _undo(self, before: Before, tokens: int | None = None) -> None:
        """The engine and its document as they were, but for what it learnt of models that fail.

        ``tokens`` are those of an automatic compaction that came to nothing, which an engine may count.
        """
        self._shelf.state.pending = before.pending
        self._door.take_back(before.counters, tokens)

    def _left(self, verdict: Verdict) -> Verdict:
        """The window stays, and what is to be said of it is said."""
        self._shelf.keep_state()
        self.idleness.note(verdict.idle)
        if verdict is IN_VAIN:
            self._door.warn_once(NO_ROOM)
        if verdict.idle is not None and verdict.idle.reason is Reason.NOT_FOLLOWED:
            self._door.refuse(verdict.idle.detail)
        if verdict.report.aborted:
            self._door.warn_once(words_of_abort(verdict.report))
        return verdict

    def _done(self, verdict: Verdict) -> Verdict:
        """The compacted window is kept: what went wrong on the way, what is lost, and how often that was done, is told."""
        self.idleness.note(None)
        self._times = max(self._times + 1, self._door.times_compacted())
        archived = self._shelf.sessions is not None
        lost = sum(map(len, verdict.settled.receipt.lost)) if verdict.settled is not None else 0
        for warning in (*words_of_report(verdict.report, archived=archived), *words_of_loss(lost, archived=archived)):
            self._door.warn_once(warning)
        for warning in words_of_count(self._times):
            self._door.warn(warning)
        return verdict

    def _judged(self, view: View, part: Part, returned: object, pinned: Pinned) -> Settled | Refused:
        return settle(
            view.ledger,
            part.with_rewritten(returned),
            count=self._services.count.messages,
            given=part.whole,
            pins=pinned.entries,
            places=pinned.places,
            limit=self.pinning.limit,
            exact=self._exact(),
        )

    def _exact(self) -> Exact | None:
        if not self._keep_exact:
            return None
        threshold = self._door.threshold(self._services.facts.usable)
        return Exact(self._heard.holding(), self._keep_exact, threshold, self._services.count.text)

    def _tell_switch(self, old: str) -> None:
        if self._on_switch is not None:
            session = self._shelf.session
            self._on_switch(session, old if session != old else "", session == old, self._times)

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
            rotate=self._shelf.rotate and not trigger.in_place,
        )
        old = self._shelf.session
        kept = self._shelf.views.publish(publication, expected=view.version, lease=lease)
        self._shelf.state.pending = None
        self._door.tell_boundary(kept.session, old)
        return replace(new, version=kept.version)

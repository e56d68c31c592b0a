"""Refused requests: classified, mended where that is possible, at most three times between two answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from host.conversation.asked import share_of_pictures
from host.conversation.ceilings import LEAST_CEILING, Limits
from host.conversation.considered import ATTEMPTS
from host.conversation.current import Current
from host.conversation.refused import Refused, arithmetic
from host.conversation.remedies import REMEDIES, SPARE
from host.conversation.retrying import GiveUp, Retry
from host.conversation.shelf import Shelf
from host.conversation.wording import advice_on
from host.messages.types import Message, Reply, Usage
from host.provider.refusals import classifier
from host.provider.refusals.classifier import Refusal, Sent
from host.provider.refusals.kinds import Kind

NOT_BELIEVED = (
    "the service counted {:,} tokens where about {:,} were sent, which is not believed: it may have cut the beginning off; "
    "set model.context_length to what the model really takes"
)

MOST_OFF = 4  # times the estimate
PICTURES = 0.1  # of the bytes; a request with more was refused for them, and its tokens say nothing
TELLING = 1_000  # tokens of a request from which on its count says how a service counts


class Refusals:
    """``learn`` hears a limit that a service stated once a request within it was answered. No request is sent twice unchanged."""

    def __init__(self, current: Current, shelf: Shelf, *, warn: Callable[[str], None], learn: Callable[[int], None]) -> None:
        self._current = current
        self._shelf = shelf
        self._warn = warn
        self._learn = learn
        self._limits = Limits(current, shelf.notes)
        self._stated: int | None = None
        self._seen = Counter[Kind]()  # since the last answer
        self._ratio = 0.0  # the service's tokens for one of ours, the most that it ever counted; 0 for unknown

    def of(self, error: BaseException, max_tokens: int | None) -> Retry | GiveUp:
        """What becomes of a request that was refused with this error."""
        return self._remedied(classifier.classify(error, self._sent(max_tokens)), error, max_tokens)

    def of_reply(self, reply: Reply) -> Retry | GiveUp | None:
        """What becomes of a request whose answer shows that it was too long; None for one that counts."""
        refusal = classifier.classify_reply(reply, self._sent(None, least=self._uncut()))
        if refusal is None:
            self.answered(reply.usage)
            return None
        if refusal.kind is Kind.SILENT_TRUNCATION:
            self._disbelieve(reply.usage)
            self._current.gauge.forget()  # earlier requests may have been cut as well, and their counts believed
            self._take(None)
            return None
        return self._remedied(refusal, None, None)

    def answered(self, usage: Usage | None) -> Usage | None:
        """A request was answered: the count is taken and given back, None where it is impossible. Attempts begin anew."""
        believed = usage if self._is_possible(usage) else None
        if usage is not None and believed is None:
            self._disbelieve(usage)
        if usage is None or believed is not None:
            self._accepted(believed)
        self._take(believed)
        return believed

    def begin(self) -> None:
        """Another request, or another model: attempts begin anew."""
        self._current.attempts, self._current.is_trial = 0, False
        self._seen.clear()

    def forget(self) -> None:
        """Another model: nothing that the old one's service stated is remembered, but what was known of this one before."""
        self.begin()
        self._stated, self._ratio = None, 0.0
        self._limits.apply()

    def _take(self, usage: Usage | None) -> None:
        self.begin()
        if self._stated is not None:
            self._learn(self._stated)
            self._stated = None
        self._current.gauge.record(usage, self._messages(), self._current.asked.tools)
        self._current.take_usage(usage)

    def _accepted(self, usage: Usage | None) -> None:
        """A request was taken as a whole, as far as anybody can tell."""
        messages, tools, gauge = self._messages(), self._current.asked.tools, self._current.gauge
        counted = usage.prompt if usage is not None else 0
        if counted > 0 and (ours := gauge.estimate(messages, tools)) >= TELLING:
            self._ratio = max(self._ratio, counted / ours)
        self._limits.answered(counted if counted > 0 else gauge.measure(messages, tools))

    def _uncut(self) -> int:
        """What the service would count for the whole request, had it read all: what it counted for the last ones may be a part."""
        return round(min(self._ratio or 1.0, 1.0) * self._current.gauge.estimate(self._messages(), self._current.asked.tools))

    def _remedied(self, refusal: Refusal, error: BaseException | None, max_tokens: int | None) -> Retry | GiveUp:
        current, remedy = self._current, REMEDIES[refusal.kind]
        refused = Refused(refusal, error, max_tokens, self._seen[refusal.kind], current, self._shelf)
        self._seen[refusal.kind] += 1
        if remedy.bounds:
            self._heed(refused, stated=remedy.stated)
        else:
            self._limits.refused_for_another_reason()
        answer = self._mended(refused)
        return answer if isinstance(answer, Retry) else replace(answer, advice=answer.advice or advice_on(refusal.kind, error))

    def _mended(self, refused: Refused) -> Retry | GiveUp:
        current, remedy = self._current, REMEDIES[refused.refusal.kind]
        if current.attempts >= ATTEMPTS:
            return GiveUp(f"{current.attempts} attempts to shorten the request did not help: {arithmetic(current)}")
        current.attempts += 1
        answer = remedy.do(refused)
        if isinstance(answer, Retry) and not remedy.resends and self._is_unchanged(answer, refused.max_tokens):
            return GiveUp(f"the same request would be refused again: {arithmetic(current)}")
        return answer

    def _heed(self, refused: Refused, *, stated: bool) -> None:
        """Keep what follows below the limit that the service stated, or else below what it refused."""
        refusal, current = refused.refusal, self._current
        current.is_trial = False
        counted = bool(stated and refusal.sent and self._is_near(Usage(refusal.sent)))
        if counted:
            current.gauge.record(Usage(refusal.sent or 0), self._messages(), current.asked.tools)
        tokens, cap = current.estimate(), refused.max_tokens or current.services.facts.output_reserve
        limit = self._limit_in(refusal, counted=counted)
        if stated and limit and self._limits.believes(limit, tokens + (refusal.reserve or cap), counted=counted):
            if current.adopt(limit):
                self._stated = limit
                self._limits.stated()
            if self._stated == limit or counted:
                return
        if self._is_of_length(refusal, tokens):
            most = limit - cap - SPARE if refusal.kind is Kind.OVER_RATE_BUDGET else tokens - (refusal.over or tokens)
            self._limits.refused(tokens, refused.times, most if LEAST_CEILING <= most < tokens else None, is_guess=refused.is_guess)
            current.is_trial = True

    @staticmethod
    def _limit_in(refusal: Refusal, *, counted: bool) -> int:
        """The limit that is stated, or follows from the excess; 0 where neither is. The excess alone is no limit."""
        if refusal.limit and (refusal.sent is not None or refusal.limit != refusal.over):
            return refusal.limit
        return refusal.sent - refusal.over if counted and refusal.sent and refusal.over else 0

    def _is_of_length(self, refusal: Refusal, tokens: int) -> bool:
        """Whether a request with fewer tokens passes, where neither its pictures nor the answer that it asks for are what is too much."""
        if refusal.kind is Kind.PAYLOAD_TOO_LARGE:
            return share_of_pictures(self._messages()) <= PICTURES
        if refusal.kind is Kind.OVER_RATE_BUDGET:
            return tokens > (refusal.limit or 0) - SPARE
        return refusal.available is None

    def _is_unchanged(self, answer: Retry, max_tokens: int | None) -> bool:
        return answer.max_tokens in (None, max_tokens) and self._current.request() == self._current.asked.messages

    def _is_possible(self, usage: Usage | None) -> bool:
        return usage is None or self._current.gauge.believes(usage, self._messages(), self._current.asked.tools)

    def _is_near(self, counted: Usage) -> bool:
        """Whether a refusal's own figure can be that of the window; some count the answer in, or quote an example."""
        return self._is_possible(counted) and counted.prompt <= MOST_OFF * self._current.estimate()

    def _disbelieve(self, usage: Usage | None) -> None:
        if usage is not None:
            self._warn(NOT_BELIEVED.format(usage.prompt, self._current.gauge.estimate(self._messages(), self._current.asked.tools)))

    def _messages(self) -> list[Message]:
        sent = self._current.asked.messages
        return self._current.messages if sent is None else list(sent)

    def _sent(self, max_tokens: int | None, *, least: int = 0) -> Sent:
        current, messages = self._current, self._messages()
        accepted = self._limits.taken.accepted or int(any(message.get("role") == "assistant" for message in messages))
        return Sent(max(least, current.estimate()), current.services.facts.window, len(messages), max_tokens, accepted)

"""Refused requests: classified, mended where that is possible, at most three times between two answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from host.conversation.considered import ATTEMPTS
from host.conversation.current import Current
from host.conversation.refusal import GiveUp, Retry
from host.conversation.refused import Refused, arithmetic
from host.conversation.remedies import LEAST_WINDOW, REMEDIES
from host.conversation.shelf import Shelf
from host.messages.types import Message, Reply, Usage
from host.provider import classifier
from host.provider.classifier import Refusal, Sent
from host.provider.kinds import Kind

NOT_BELIEVED = (
    "the service counted {:,} tokens where about {:,} were sent, which is not believed: it may have cut the beginning off; "
    "set model.context_length to what the model really takes"
)

MOST_OFF = 4  # times the estimate


class Refusals:
    """``learn`` hears a limit that a service stated once a request within it was answered. No request is sent twice unchanged."""

    def __init__(self, current: Current, shelf: Shelf, *, warn: Callable[[str], None], learn: Callable[[int], None]) -> None:
        self._current = current
        self._shelf = shelf
        self._warn = warn
        self._learn = learn
        self._stated: int | None = None
        self._seen = Counter[Kind]()  # since the last answer

    def of(self, error: BaseException, max_tokens: int | None) -> Retry | GiveUp:
        """What becomes of a request that was refused with this error."""
        return self._remedied(classifier.classify(error, self._sent(max_tokens)), error, max_tokens)

    def of_reply(self, reply: Reply) -> Retry | GiveUp | None:
        """What becomes of a request whose answer shows that it was too long; None for one that counts."""
        refusal = classifier.classify_reply(reply, self._sent(None))
        if refusal is None:
            self.answered(reply.usage)
            return None
        if refusal.kind is Kind.SILENT_TRUNCATION:
            self._disbelieve(reply.usage)
            self.answered(None)
            return None
        return self._remedied(refusal, None, None)

    def answered(self, usage: Usage | None) -> Usage | None:
        """A request was answered: the count is taken and given back, None where it is impossible. Attempts begin anew."""
        self.begin()
        if self._stated is not None:
            self._learn(self._stated)
            self._stated = None
        believed = usage if self._is_possible(usage) else None
        if usage is not None and believed is None:
            self._disbelieve(usage)
        self._current.gauge.record(believed, self._messages(), self._current.asked.tools)
        self._current.take_usage(believed)
        return believed

    def begin(self) -> None:
        """Another request, or another model: attempts begin anew."""
        self._current.attempts = 0
        self._seen.clear()

    def forget(self) -> None:
        """Another model: nothing that the old one's service stated is remembered."""
        self.begin()
        self._stated = None

    def _remedied(self, refusal: Refusal, error: BaseException | None, max_tokens: int | None) -> Retry | GiveUp:
        current, remedy = self._current, REMEDIES[refusal.kind]
        refused = Refused(refusal, error, max_tokens, self._seen[refusal.kind], current, self._shelf)
        self._seen[refusal.kind] += 1
        if remedy.stated and refusal.sent and self._is_near(counted := Usage(refusal.sent)):
            current.gauge.record(counted, self._messages(), current.asked.tools)
        if remedy.stated and refusal.limit and refusal.limit >= LEAST_WINDOW and current.adopt(refusal.limit):
            self._stated = refusal.limit
        if current.attempts >= ATTEMPTS:
            return GiveUp(f"{current.attempts} attempts to shorten the request did not help: {arithmetic(current)}")
        current.attempts += 1
        answer = remedy.do(refused)
        if isinstance(answer, Retry) and not remedy.resends and self._is_unchanged(answer, max_tokens):
            return GiveUp(f"the same request would be refused again: {arithmetic(current)}")
        return answer

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

    def _sent(self, max_tokens: int | None) -> Sent:
        current = self._current
        return Sent(current.estimate(), current.services.facts.window, len(self._messages()), max_tokens)

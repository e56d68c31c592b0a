"""A model call that survives what providers do: refusals, empty answers, a model that is gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from host.conversation.conversation import Conversation
from host.conversation.retrying import GiveUp, Retry
from host.conversation.wording import words_of_error
from host.errors import ProviderError
from host.loop.cache import CacheTally
from host.loop.events import Event, Retrying, Said, Switched, Thought, Warned
from host.loop.interrupting import Stop
from host.loop.models import AgentModel, Models
from host.messages.reading import calls_of, has_words, text_of
from host.messages.types import Reply, ToolSchema
from host.provider.ask import service_of
from host.provider.errors import BadRequest, EmptyReply, ServerFailed, ServiceError
from host.provider.provider import Delta

ATTEMPTS = 12  # of one request to one model: more than all remedies of the conversation take together
WORDLESS = "the model answered without a word"


class AskedTooOften(ProviderError):
    """Every remedy was tried, and the model still does not answer."""

    def __init__(self, model: str, why: str) -> None:
        super().__init__(f"{model or 'the model'} was asked {ATTEMPTS} times for one answer: {why}", "wait a while, or set another model")


class TooLarge(ProviderError):
    """What no compaction takes out of the request is far larger than the model's window: it was not sent."""

    def __init__(self, model: str, why: str) -> None:
        super().__init__(
            f"the request was not sent to {model or 'the model'}: {why}",
            "send less at once, or set model.context_length if the model takes more",
        )


class Asking:
    """Asks the current model, does what the conversation says about a refusal, and goes on to the next model.

    ``heard`` holds the text of the answer that is coming in, piece by piece; ``replies`` counts those of the turn, ``cache`` what was
    read from the provider's cache.
    """

    def __init__(self, conversation: Conversation, models: Models, stop: Stop, tell: Callable[[Event], None], *, stream: bool) -> None:
        self.models = models
        self.heard: list[str] = []
        self.replies = 0
        self.cache = CacheTally(models.current.price)
        self._conversation = conversation
        self._stop = stop
        self._tell = tell
        self._stream = stream
        self._counted = conversation.view.version  # of the window of which the provider gave counts last

    def begin(self) -> None:
        """A new turn: it asks the main model again, whatever failed before."""
        self.replies = 0
        self.heard.clear()
        if (main := self.models.back(self._conversation.services.facts)) is not None:
            self._conversation.use_model(main.facts)

    def lead(self, main: AgentModel) -> None:
        """Go on with another main model."""
        self.models.lead(main, self._conversation.services.facts)
        self._conversation.use_model(main.facts)

    def reply(self, tools: Sequence[ToolSchema]) -> Reply:
        """The next message, of the first model that answers. Raises ProviderError where none does."""
        while True:
            try:
                reply = self._reply(tools)
                self.replies += 1
                return reply
            except ProviderError as error:
                self.heard.clear()  # it is no answer, and an interrupt must not keep it as one
                if (other := self.models.next(self._conversation.services.facts)) is None:
                    raise
                self._conversation.use_model(other.facts)
                self._tell(Switched(other.name, error.what))

    def _reply(self, tools: Sequence[ToolSchema]) -> Reply:
        """The reply of the current model, asked again as long as the conversation knows a remedy, once for an empty one."""
        again, was_empty = Retry(""), False
        for _ in range(ATTEMPTS):
            cap = again.max_tokens or self.models.current.max_tokens
            try:
                answer = self._attempt(self.models.current, tools, cap)
            except EmptyReply:
                if was_empty:
                    raise
                answer, was_empty = Retry(WORDLESS, max_tokens=cap), True
            if isinstance(answer, Reply):
                return answer
            again = answer
            if again.stays and again.max_tokens:
                self.models.cap(again.max_tokens)
            self.heard.clear()
            self._tell(Retrying(again.why, again.wait))
            self._stop.wait(again.wait)
        raise AskedTooOften(self.models.current.name, again.why)

    def _attempt(self, model: AgentModel, tools: Sequence[ToolSchema], max_tokens: int | None) -> Reply | Retry:
        """One request: the reply, or how to ask again. Raises what nothing can be done about."""
        self._stop.check()
        window = self._conversation.window(tools)
        if (why := self._conversation.impossible()) is not None:
            raise TooLarge(model.name, why)
        self.heard.clear()
        self._stop.check()
        try:
            reply = model.provider.ask(window, tools=tools, max_tokens=max_tokens, on_delta=self._hear if self._stream else None)
        except EmptyReply:
            raise
        except ServiceError as error:
            remedy = self._conversation.refused(error, max_tokens=max_tokens)
            if isinstance(remedy, Retry):
                return remedy
            _give_reason(error, remedy)
            raise
        if not self._stream:
            self.heard.append(text_of(reply.message))  # an interrupt keeps what was said
        self._stop.check()
        return self._judged(reply, model)

    def _judged(self, reply: Reply, model: AgentModel) -> Reply | Retry:
        verdict = self._conversation.answered(reply)
        if isinstance(verdict, Retry):
            return verdict
        if isinstance(verdict, GiveUp):
            self._tell(Warned(verdict.why))
        self._count(reply)
        if not (has_words(reply.message) or calls_of(reply.message) or reply.message.get("refusal")):
            raise EmptyReply(
                service_of(model.provider, model.name or "the model"), f"finish_reason {reply.finish_reason}" if reply.finish_reason else ""
            )
        return reply

    def _count(self, reply: Reply) -> None:
        version = self._conversation.view.version
        self.cache = replace(self.cache, price=self.models.current.price).after(reply.usage, version != self._counted)
        if reply.usage is not None:
            self._counted = version

    def _hear(self, delta: Delta) -> None:
        """A piece of the answer came in; what is raised here ends the call."""
        self._stop.check()
        if delta.text:
            self.heard.append(delta.text)
            self._tell(Said(delta.text))
        if delta.reasoning:
            self._tell(Thought(delta.reasoning))


def _give_reason(error: ServiceError, verdict: GiveUp) -> None:
    """Put the conversation's own reason among the error's advice, unless it only repeats the service's words.

    Where an error's class knows no better than what is usual, the conversation's advice stands for its own.
    """
    if verdict.advice and isinstance(error, BadRequest | ServerFailed):
        error.advice = verdict.advice
    if verdict.why not in error.advice and words_of_error(error) not in verdict.why:
        error.advice = "\n".join(filter(None, [error.advice, verdict.why]))

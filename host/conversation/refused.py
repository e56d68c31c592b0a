"""A request that a service did not take, as a remedy sees it."""

from __future__ import annotations

from dataclasses import dataclass

from host.conversation.asked import Asked
from host.conversation.current import Current
from host.conversation.shelf import Shelf
from host.messages.reading import is_system
from host.provider.refusals.classifier import Refusal, Sent, classify


@dataclass(frozen=True)
class Refused:
    """The refusal, the error that it came as, the cap on the answer, and the window that it is about.

    ``times``: how often a request was refused for this before, since the last answer.
    """

    refusal: Refusal
    error: BaseException | None
    max_tokens: int | None
    times: int
    current: Current
    shelf: Shelf

    @property
    def asked(self) -> Asked:
        """What was sent."""
        return self.current.asked

    @property
    def is_guess(self) -> bool:
        """Whether nothing but the size of the request says what the refusal was about."""
        return self.error is not None and classify(self.error, Sent()).kind is not self.refusal.kind

    @property
    def prompt(self) -> int:
        """Tokens of the request without room for the answer: as the service says, where it says enough, else as estimated."""
        limit, available = self.refusal.limit, self.refusal.available
        return limit - available if limit and available is not None and available < limit else self.current.estimate()


IMPOSSIBLE = 1.5  # times the window, by our estimate; what stays of a window and is longer than this is not sent


def impossible(current: Current) -> str | None:
    """Why no compaction makes the next request short enough, in numbers; None where it may pass.

    Estimates are off by less than the half that is given.
    """
    most = IMPOSSIBLE * current.services.facts.window
    if not 0 < most < current.estimate():  # a part is no longer than the whole
        return None
    return arithmetic(current) if current.staying() > most else None


def arithmetic(current: Current) -> str:
    """Why a window cannot be made shorter, in numbers."""
    facts, gauge = current.services.facts, current.gauge
    staying, whole = current.staying(), current.estimate()
    prompt = round(gauge.scale * sum(gauge.cost(message) for message in current.messages if is_system(message)))
    tools = round(gauge.scale * facts.tools)
    sizes = f"{prompt:,} + {tools:,} + {max(0, staying - prompt - tools):,}"
    parts = f"{sizes} of {facts.usable:,} tokens"
    if staying >= current.limit:
        return f"system prompt, tools and newest message alone exceed the window ({parts})"
    if staying >= whole:
        known = f"{sizes} tokens; by what is known of the model it has {facts.usable:,}: set model.context_length"
        return f"system prompt, tools and newest message alone exceed the window that the service has ({known})"
    return f"about {whole:,} tokens in {len(current.messages):,} messages; system prompt, tools and newest message are {parts}"

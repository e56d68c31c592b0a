"""Questions to a model, as engines put them: a prompt in, the reply or its text out."""

from __future__ import annotations

from dataclasses import dataclass

from host.engine.services import Ask, AskForReply
from host.messages.reading import text_of
from host.messages.types import Message, Reply
from host.provider.errors import EmptyReply, Service
from host.provider.provider import Provider


def replying(provider: Provider) -> AskForReply:
    """What a SummaryModel gets as ``ask``: one user message, no system prompt, no tools (hermes.md 7.1).

    The reply comes back as it came; one without text is no error here, whoever asked judges it.
    """

    def ask(prompt: str, *, max_tokens: int | None = None, timeout: float | None = None) -> Reply:
        return provider.ask([{"role": "user", "content": prompt}], max_tokens=max_tokens, timeout=timeout)

    return ask


def asking(provider: Provider) -> Ask:
    """What an engine gets as ``ask``: the text of the reply to the same question.

    A reply without text raises EmptyReply, which quotes a refusal.
    """
    ask_for_reply = replying(provider)

    def ask(prompt: str, *, max_tokens: int | None = None, timeout: float | None = None) -> str:
        reply = ask_for_reply(prompt, max_tokens=max_tokens, timeout=timeout)
        text = text_of(reply.message)
        if not text.strip():
            raise EmptyReply(service_of(provider), _why_empty(reply.message, reply.finish_reason))
        return text

    return ask


@dataclass(frozen=True)
class TextAsReply:
    """An ``ask`` that gives text, as one that gives a whole reply (protocol AskForReply)."""

    ask: Ask

    def __call__(self, prompt: str, *, max_tokens: int | None = None, timeout: float | None = None) -> Reply:
        """The text as the assistant's message."""
        text = self.ask(prompt, max_tokens=max_tokens, timeout=timeout)
        return Reply({"role": "assistant", "content": text}, finish_reason="stop")


def service_of(provider: Provider, name: str = "the model") -> Service:
    """Who is asked, as failures name them; ``name`` where the provider does not say."""
    known = getattr(provider, "service", None)
    return known if isinstance(known, Service) else Service(name, "")


def _why_empty(message: Message, finish_reason: str | None) -> str:
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return f"it refused: {refusal}"
    return f"finish_reason {finish_reason}" if finish_reason not in (None, "stop") else ""

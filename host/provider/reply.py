"""A question to a model whose whole answer is wanted: why it ended, and what it holds besides text."""

from __future__ import annotations

from host.engine.services import AskForReply
from host.messages.types import Reply
from host.provider.provider import Provider


def replying(provider: Provider) -> AskForReply:
    """What a SummaryModel gets as ``ask``: one user message, no system prompt, no tools; the reply comes back as it came.

    An answer without text is no error here: whoever asked judges it.
    """

    def ask(prompt: str, *, max_tokens: int | None = None, timeout: float | None = None) -> Reply:
        return provider.ask([{"role": "user", "content": prompt}], max_tokens=max_tokens, timeout=timeout)

    return ask

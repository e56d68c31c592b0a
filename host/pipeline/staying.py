"""What no compaction takes out of a window."""

from __future__ import annotations

from itertools import takewhile

from host.messages.ledger import Ledger
from host.messages.reading import is_system
from host.messages.types import Message
from host.pipeline.settle import newest_request_entry
from host.transforms.boundary import newest_group


def staying(ledger: Ledger) -> list[Message]:
    """System prompt, newest request and newest group."""
    messages = ledger.messages()
    prompt = list(takewhile(is_system, messages))
    group = messages[max(len(prompt), newest_group(messages)) :]
    request = newest_request_entry(ledger)
    is_apart = request is not None and all(message is not request.message for message in group)
    return [*prompt, *([request.message] if request is not None and is_apart else []), *group]

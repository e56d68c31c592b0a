"""Secrets never stand in the block of exact values, and a rule that holds one stays without it."""

from __future__ import annotations

from host.messages.reading import text_of
from host.messages.types import Message
from host.store.memory import MemoryStore
from host.transforms.handoff import EXACT_HEADING
from tests.desk import Desk, fed
from tests.engines_for_tests import compressor

HELLO: list[Message] = [{"role": role, "content": "hello there"} for role in ("user", "assistant") * 3]  # the head
KEY = "sk-proj-AAAABBBBCCCCDDDDEEEEFFFF"


def test_a_key_that_the_user_gave_is_in_no_block() -> None:
    said: list[Message] = [
        {"role": "system", "content": "You are an agent."},
        *HELLO,
        {"role": "user", "content": f"The gateway listens on port 8443. Our key is {KEY}."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": f"You must never print {KEY} in a log of the gateway."},
        {"role": "assistant", "content": "Understood."},
    ]
    for _ in range(40):
        said += [{"role": "user", "content": f"go on, please {'word ' * 40}"}, {"role": "assistant", "content": "working " * 60}]
    engine = compressor(8_000, ask=lambda prompt, **more: "## Goal\nThe gateway is set up.")
    conversation = fed(Desk(MemoryStore()).open(engine, keep_exact=800), said)
    conversation.compact()
    window = "\n".join(map(text_of, conversation.view.messages))
    block = window.partition(EXACT_HEADING)[2]
    assert "8443" in block and "never print" in block
    assert "AAAABBBB" not in window

"""An agent with everything around it, from Python: models, tools and memory as config.yaml names them, every message kept.

    python examples/agent.py "hello"

The model here speaks from a script, so that no key is needed; leave ``model`` out to ask the one that is configured.
"""

from __future__ import annotations

import sys
from pathlib import Path

from host import Host
from host.loop.events import Called, Event, Said

SCRIPT = Path(__file__).with_name("script.yaml")


def show(event: Event) -> None:
    """What happens in a turn, as it happens."""
    if isinstance(event, Said):
        print(event.text, end="", flush=True)
    elif isinstance(event, Called):
        print(f"[calls {event.call['function']['name']}]", file=sys.stderr)


def main(question: str) -> None:
    """One turn; run it again and the conversation goes on."""
    with Host() as host:
        agent = host.agent("an example", model=f"scripted:{SCRIPT}", tell=show)
        turn = agent.turn(question)
        print()
        print(f"{turn.reason} after {turn.calls} replies, {agent.conversation.estimate():,} tokens in the window", file=sys.stderr)


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "hello")

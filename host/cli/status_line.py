"""How a chat stands: model, window, cache, money, engine, the last compaction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from host.cli.store_text import plain

if TYPE_CHECKING:
    from host.engine.outcome import Outcome
    from host.loop.agent import Agent
    from host.loop.events import Event


@dataclass
class Tally:
    """What the events of a chat add up to: the compactions that happened, and the ``dollars``, None as long as no price is known."""

    compacted: list[Outcome] = field(default_factory=list)
    dollars: float | None = None

    def tell(self, event: Event, agent: Agent) -> None:
        """Count an event."""
        from host.loop.events import Answered, Compacted

        if isinstance(event, Compacted) and event.outcome.refused is None:
            self.compacted.append(event.outcome)
        if isinstance(event, Answered) and event.usage is not None and agent.model.price is not None:
            cost = agent.model.price.of_call(event.usage)
            self.dollars = self.dollars if cost is None else (self.dollars or 0.0) + cost


def status_line(agent: Agent, tally: Tally) -> str:
    """One line; what nobody knows is left out."""
    return " | ".join(filter(None, _parts(agent, tally)))


def status_lines(agent: Agent, tally: Tally, guess: str = "") -> list[tuple[str, str]]:
    """The same in full, a name and a value a line; ``guess`` is said of the window."""
    conversation = agent.conversation
    conversation.catch_up()  # an undo or a pin may have changed the window
    used, window = conversation.estimate(), conversation.services.facts.window
    named = [
        ("model", plain(agent.model.name)),
        ("session", conversation.session),
        ("window", f"{used:,} of {window:,} tokens ({_share(used, window)}), {len(conversation.view.messages):,} messages"),
        ("", guess),
        ("threshold", f"compacts at {conversation.threshold:,} tokens"),
        ("engine", plain(conversation.engine.name)),
        ("archive", f"{conversation.archive.range()[1]:,} messages"),
        ("cache", agent.cache.line()),
        ("cost", _money(tally.dollars)),
        ("compactions", f"{len(tally.compacted):,} in this chat" if tally.compacted else ""),
        ("last one", _last(tally)),
        ("not compacted", str(conversation.idle) if conversation.idle else ""),
    ]
    return [(name, value) for name, value in named if value]


def _parts(agent: Agent, tally: Tally) -> Iterator[str]:
    conversation = agent.conversation
    used, window = conversation.estimate(), conversation.services.facts.window
    yield plain(agent.model.name)
    yield f"{used:,} of {window:,} tokens ({_share(used, window)}), compacts at {conversation.threshold:,}"
    yield agent.cache.line()
    yield _money(tally.dollars)
    yield plain(conversation.engine.name)
    yield f"last compaction {_last(tally)}" if tally.compacted else ""


def _share(used: int, window: int) -> str:
    return f"{used / window:.0%}".replace("%", " %") if window else "? %"


def _money(dollars: float | None) -> str:
    return "" if dollars is None else f"${dollars:.4f}" if dollars < 0.1 else f"${dollars:,.2f}"


def _last(tally: Tally) -> str:
    if not tally.compacted:
        return ""
    last = tally.compacted[-1]
    return f"{last.before:,} → {last.after:,} tokens"

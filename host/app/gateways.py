"""A gateway with everything around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from host.app.agents import check_model, open_agent
from host.app.wiring import Options, load_config
from host.loop.events import Event, Warned

if TYPE_CHECKING:
    from host.gateway.gateway import Gateway
    from host.gateway.residents import Tell
    from host.loop.agent import Agent
    from host.store.sqlite.store import SqliteStore
    from host.store.values import Session


def open_gateway(
    options: Options,
    store: SqliteStore,
    *,
    model: str | None = None,
    engine: str | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> Gateway:
    """The gateway of this configuration and archive; ``warn`` hears what its users need not. Raises NoModel where nobody can be asked."""
    from host.gateway.gateway import Gateway

    check_model(options, model)
    config = load_config(options).config

    def opened(session: Session, tell: Tell) -> Agent:
        def hear(event: Event) -> None:
            if isinstance(event, Warned):
                warn(event.text)
            tell(event)

        return open_agent(options, store, session, model=model, engine=engine, tell=hear, stream=False)

    return Gateway(store, opened, message_limit=config.compression.hygiene_hard_message_limit, expire_hours=config.gateway.expire_hours)

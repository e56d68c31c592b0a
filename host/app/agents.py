"""An agent with everything around it: configuration, models, tools, memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from host.app.models import configured_price
from host.app.recalling import config_at_home
from host.app.session import Session, open_session
from host.app.summaries import Endpoint, client_of, main_endpoints
from host.app.wiring import Options, load_config
from host.engine.offers import Place
from host.engine.services import ModelFacts
from host.errors import UsageError
from host.loop.agent import Agent
from host.loop.events import Compacted, Event, Noticed, Warned
from host.loop.interrupting import Stop
from host.loop.models import AgentModel, Marking, Models
from host.loop.opening import system_prompt
from host.loop.recalling import recall_tools
from host.loop.toolbox import Owned, Toolbox
from host.provider.caching import Ttl, banner, layout_for

if TYPE_CHECKING:
    from host.config import Loaded, ModelRef
    from host.provider.provider import Provider
    from host.provider.script_file import ScriptedFile
    from host.store.protocols import Store
    from host.store.values import Session as Kept

SCRIPT = "scripted"  # the name of a scripted model
SCRIPTED = f"{SCRIPT}:"  # before the file of a scripted model, in the place of a model's name
MEMORIES = "memories"  # in the home folder: what plugins want to find again
ANSWER_SECONDS = 600.0  # for one whole answer; a reasoning model may think for minutes

Wait = Callable[[float], None]
"""Lets so many seconds pass."""


class NoModel(UsageError):
    """Nothing is configured that could answer, or what is configured cannot be asked."""

    def __init__(self, missing: str) -> None:
        super().__init__(
            f"no model can be asked: {missing}",
            "at OpenAI:     ctxhost config set model.name NAME, and put the key into OPENAI_API_KEY\n"
            "elsewhere:     also ctxhost config set model.base_url ADDRESS, and model.api_key_env VARIABLE for its key\n"
            "without one:   --model scripted:FILE plays the replies in a file",
        )


def open_agent(
    options: Options,
    store: Store,
    kept: Kept,
    *,
    model: str | None = None,
    engine: str | None = None,
    window: int | None = None,
    tell: Callable[[Event], None] | None = None,
    stream: bool = True,
) -> Agent:
    """An agent in the conversation that a session belongs to.

    ``model`` is a name, or ``scripted:FILE``; None: as configured. ``engine`` and ``window`` (tokens) as in ``open_session``.
    ``tell`` hears everything that happens, from the first notice on. Raises NoModel where nobody can be asked.
    """
    heard = tell or (lambda event: None)
    loaded = with_model(load_config(options), model)
    stop = Stop()
    providers = _providers(loaded, model, heard, stop.wait)
    session = open_session(
        options,
        store,
        kept,
        engine=engine,
        window=window,
        watch=lambda outcome: heard(Compacted(outcome)),
        warn=lambda text: heard(Warned(text)),
        loaded=loaded,
    )
    for notice in session.notices:
        heard(Noticed(notice))
    is_new = not session.conversation.view.messages
    session.plugins.tell_switch(session.conversation.session, "", reset=is_new, reason="new" if is_new else "resume")
    toolbox, opening = _surroundings(options, store, loaded, session, kept)
    agent, models = loaded.config.agent, _models(options, loaded, session, providers)
    session.asked = lambda: models.current.remembered_as
    return Agent(
        session.conversation,
        models,
        toolbox,
        tell,
        stream=stream,
        max_calls=agent.max_calls,
        opening=opening,
        commands=[command for _, command in session.plugins.commands()],
        stop=stop,
    )


def check_model(options: Options, model: str | None) -> None:
    """Raise NoModel where nobody could be asked, before anything is made."""
    _providers(with_model(load_config(options), model), model, lambda event: None)


def agent_model(options: Options, model: str, window: int | None = None, *, wait: Wait = time.sleep) -> AgentModel:
    """The model of this name, or ``scripted:FILE``, for ``Agent.use``. Raises NoModel where it cannot be asked.

    Its client lets time pass by ``wait``: with ``Agent.wait`` a stop ends that.
    """
    from host.app.models import main_model

    loaded = with_model(load_config(options), model)
    endpoint, provider = _providers(loaded, model, lambda event: None, wait)[0]
    known = main_model(loaded, window, home=options.home)
    section = loaded.config.model
    facts = ModelFacts(endpoint.model, known.window, section.max_tokens or 0)
    return AgentModel(endpoint.model, provider, facts, section.max_tokens, known.price, _address(endpoint))


def with_model(loaded: Loaded, model: str | None) -> Loaded:
    """The configuration with another main model: one of the fallbacks as it is written there, any other at the main model's address.

    A scripted model has neither an address nor fallbacks, and summaries are not asked of the configured model either.
    """
    from host.config.models import ModelSection

    section = loaded.config.model
    if model is None or model == section.name:
        return loaded
    if model.startswith(SCRIPTED):
        window = _scripted(model).window or section.context_length
        chosen = ModelSection(context_length=window, max_tokens=section.max_tokens)
    else:
        reference = next((known for known in section.fallback if known.name == model), None)
        others = tuple(known for known in section.fallback if known.name != model)
        where = _address_of(reference) if reference is not None else {}
        changed = {"name": model, "context_length": None, "price": type(section.price)(), "fallback": others, **where}
        chosen = section.model_copy(update=changed)
    return replace(loaded, config=loaded.config.model_copy(update={"model": chosen}))


def _scripted(model: str) -> ScriptedFile:
    from host.provider.script_file import scripted_from

    return scripted_from(Path(model.removeprefix(SCRIPTED)))


def _address_of(reference: ModelRef) -> dict[str, str]:
    """Where a fallback is asked, as far as it says so itself."""
    if reference.provider or reference.base_url:
        return {"provider": reference.provider, "base_url": reference.base_url, "api_key_env": reference.api_key_env}
    return {"api_key_env": reference.api_key_env} if reference.api_key_env else {}


def _providers(
    loaded: Loaded, model: str | None, tell: Callable[[Event], None], wait: Wait = time.sleep
) -> list[tuple[Endpoint, Provider]]:
    """Who can be asked, the main model first. A fallback takes its place where it cannot be asked, which is told."""
    if model is not None and model.startswith(SCRIPTED):
        return [(Endpoint(SCRIPT), _scripted(model))]
    endpoints = main_endpoints(loaded)
    able = [endpoint for endpoint in endpoints if not endpoint.missing]
    if not able:
        raise NoModel(endpoints[0].missing)
    for endpoint in endpoints:
        if endpoint.missing:
            tell(Warned(f"{endpoint.model or 'the main model'} cannot be asked: {endpoint.missing}"))
    ttl = loaded.config.prompt_caching.cache_ttl
    providers = [(endpoint, _marked(endpoint, ttl, wait)) for endpoint in able]
    first, provider = providers[0]
    if isinstance(provider, Marking):
        tell(Noticed(banner(first.model, provider.layout, provider.ttl)))
    return providers


def _marked(endpoint: Endpoint, ttl: Ttl, wait: Wait) -> Provider:
    """The client of a model, with cache markers where they are understood."""
    client = client_of(endpoint, timeout=ANSWER_SECONDS, sleep=wait)
    layout = layout_for(endpoint.model, endpoint.provider, endpoint.base_url)
    return client if layout is None else Marking(client, layout, ttl)


def _models(options: Options, loaded: Loaded, session: Session, providers: list[tuple[Endpoint, Provider]]) -> Models:
    """The models with what is known of each; the conversation itself begins with the first one's window."""
    first, *others = (_agent_model(options, loaded, session, endpoint, provider) for endpoint, provider in providers)
    if first.facts is not session.conversation.services.facts:
        session.conversation.use_model(first.facts)
    return Models(first, *others)


def _agent_model(options: Options, loaded: Loaded, session: Session, endpoint: Endpoint, provider: Provider) -> AgentModel:
    from host.provider.facts import facts_of
    from host.provider.learnt_windows import learnt_window

    section, facts = loaded.config.model, session.conversation.services.facts
    if endpoint.model == SCRIPT or (endpoint.model, endpoint.base_url) == (section.name, section.base_url):
        price = configured_price(loaded) or session.model.price
        return AgentModel(endpoint.model, provider, facts, section.max_tokens, price, _address(endpoint))
    known = facts_of(endpoint.model, endpoint.provider, base_url=endpoint.base_url)
    window = learnt_window(options.home, endpoint.model, endpoint.base_url) or known.window
    own = ModelFacts(endpoint.model, window, section.max_tokens or 0)
    return AgentModel(endpoint.model, provider, own, section.max_tokens, known.price, _address(endpoint))


def _address(endpoint: Endpoint) -> str | None:
    return None if endpoint.model == SCRIPT else endpoint.base_url


def _surroundings(options: Options, store: Store, loaded: Loaded, session: Session, kept: Kept) -> tuple[Toolbox, Callable[[], str]]:
    """The tools of the agent, and how its system prompt is made when the conversation begins."""
    place = Place(Path.cwd(), options.home / MEMORIES)
    everything = config_at_home(options).recall.scope == "all"
    own = recall_tools(store, kept.conversation, everything=everything, count=session.count.text)
    timeout = loaded.config.agent.tool_timeout
    offered = [Owned(f"plugin {label}", tool, timeout) for label, tool in session.plugins.tools(place)]

    def opening() -> str:
        return system_prompt(loaded.config.agent.system_prompt, session.plugins.memory(place), session.warn)

    return Toolbox(session.conversation, [*offered, *own], warn=session.warn), opening

"""A conversation with everything around it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from host.app.models import Model, main_model
from host.app.notices import notices_of
from host.app.wiring import Options, engine_name, load_config, make_engine, places_of, services_of
from host.conversation.conversation import Conversation
from host.conversation.shelf import Shelf
from host.discovery import Plugins, Resolution, load_plugins, resolve
from host.engine.contract import ContextEngine, EngineFactory
from host.engine.offers import SessionCompress
from host.engine.outcome import Outcome
from host.engine.services import Services
from host.errors import NoSuchSession, TitleTaken, UsageError
from host.provider.learnt_windows import learn_window
from host.store.filesystems import network_filesystem
from host.store.protocols import Store
from host.store.titles import LAST, LONGEST, clean_title
from host.store.values import Session as Kept
from host.tokens import Counter, Remembered

if TYPE_CHECKING:
    from host.config import Loaded


@dataclass
class Session:
    """A conversation with everything around it that a caller may show. ``tell`` hears warnings as they come."""

    model: Model
    count: Remembered
    resolution: Resolution
    notices: list[str] = field(default_factory=list)  # one line each, not alarming
    outcomes: list[Outcome] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tell: Callable[[str], None] | None = None
    asked: Callable[[], tuple[str, str] | None] | None = None  # model and address that answer now; None: the configured ones
    conversation: Conversation = field(init=False)
    plugins: Plugins = field(init=False)

    def warn(self, text: str) -> None:
        """Keep a warning, and tell it."""
        self.warnings.append(text)
        if self.tell is not None:
            self.tell(text)


def open_session(
    options: Options,
    store: Store,
    kept: Kept,
    *,
    engine: str | None = None,
    window: int | None = None,
    recorded: tuple[str | None, int | None] = (None, None),
    watch: Callable[[Outcome], None] = lambda outcome: None,
    warn: Callable[[str], None] | None = None,
    loaded: Loaded | None = None,
) -> Session:
    """The conversation that a session belongs to, under the configured engine or the one named here.

    ``loaded`` is the configuration, None for that of the current folder.
    ``recorded`` are model and window of a recording, for a configuration that names none. Warnings are collected, and
    told to ``warn`` as they come.
    """
    loaded = loaded or load_config(options)
    model = main_model(loaded, window, *recorded, home=options.home)
    count, context = Remembered(Counter(model.name, sampled=False)), loaded.config.context
    wanted = engine or context.engine
    shelf = Shelf.of(store, kept.conversation, wanted, in_place=loaded.config.compression.in_place)
    services = services_of(loaded, count, model, shelf.archive, shelf.state)

    def make(factory: EngineFactory) -> ContextEngine:
        shelf.state.belong_to(engine_name(factory, wanted))
        return make_engine(factory, wanted, loaded, services)

    places = places_of(loaded, options.home)
    resolution = resolve(wanted, places, make, on_missing=context.on_missing, on_error=context.on_error)
    session = Session(model, count, resolution, notices=notices_of(loaded, model, resolution, services), tell=warn)

    def report(outcome: Outcome) -> None:
        session.outcomes.append(outcome)
        watch(outcome)

    for text in [*loaded.warnings, *resolution.warnings, *filesystem_warnings(options.home)]:
        session.warn(text)

    session.plugins = load_plugins(places, session.warn)
    session.conversation = Conversation(
        resolution.engine,
        services,
        shelf,
        gauge=count.gauge,
        warn=session.warn,
        watch=report,
        automatic=loaded.config.compression.enabled,
        on_error=context.on_error,
        keep_exact=loaded.config.compression.keep_exact_tokens,
        memory=session.plugins.memories,
        learn=partial(_learn, session, services, options.home, loaded.config.model.base_url),
        on_switch=partial(_tell_plugins, session.plugins, str(kept.about.get("platform") or kept.source)),
    )
    return session


def _learn(session: Session, services: Services, home: Path, base_url: str, limit: int) -> None:
    """Remember the window that the model in use turned out to have, where it is one with an address."""
    own = (session.model.name, base_url) if services.facts.model == session.model.name else None
    if (asked := own if session.asked is None else session.asked()) is not None:
        learn_window(home, *asked, limit)


def _tell_plugins(plugins: Plugins, platform: str, session: str, old: str, in_place: bool, count: int) -> None:
    """Tell the plugins that a compaction was published, and in which session the agent goes on."""
    plugins.tell_switch(session, old, reset=False, reason="compression")
    plugins.tell_compress(SessionCompress(platform, session, old, in_place, count))


def found_or_created(store: Store, name: str, *, source: str) -> Kept:
    """The session of exactly this id or title; a new one with it as title where there is none."""
    title = clean_title(name)
    if title is None or title == LAST or len(" ".join(name.split())) > LONGEST:
        raise UsageError(
            f"a conversation cannot be called {name[:LONGEST]!r}", f"give a title of at most {LONGEST} characters other than {LAST!r}"
        )
    known = _exactly(store, name, title)
    if known is None:
        with suppress(TitleTaken):  # another process made it at this moment
            known = store.sessions.create(title=title, source=source)
    return known or store.sessions.find(title)


def _exactly(store: Store, name: str, title: str) -> Kept | None:
    """What ``find`` finds, unless it is by the beginning of an id."""
    try:
        found = store.sessions.find(name)
    except NoSuchSession:
        return None
    named = found.id == name or any(session.title == title for session in store.sessions.listed(conversation=found.conversation))
    return found if named else None


def filesystem_warnings(home: Path) -> list[str]:
    """A line where the archive lies on a file system on which processes on several machines cannot share it."""
    kind = network_filesystem(home)
    shared = f"the home folder {home} is on a network file system ({kind}): use the archive from one machine at a time"
    return [shared] if kind else []

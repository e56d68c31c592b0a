"""What a conversation is made of: configuration, model, services, engine, summary model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from host.app.models import Model, main_model
from host.app.summaries import provider_of, summary_endpoint, summary_models
from host.discovery import Make, Places, bundled_engines
from host.engine.contract import ContextEngine, EngineFactory
from host.engine.services import ArchiveReader, Ask, ModelFacts, Services, State, Thresholds
from host.messages.redact import redact
from host.store.memory import MemoryArchive, MemoryState
from host.tokens import Counter, Remembered

if TYPE_CHECKING:
    from host.config import Loaded


class Options(Protocol):
    """What the command line knows before the command (``host.cli.globals.Globals``)."""

    @property
    def config_file(self) -> Path | None:
        """The file of --config."""

    @property
    def home(self) -> Path:
        """The home folder."""


def load_config(options: Options) -> Loaded:
    """The configuration for the current folder."""
    from host.config import load_here

    return load_here(options.config_file, options.home)


def built_ins() -> dict[str, EngineFactory]:
    """The engines that need no finding."""
    from host.compressor.compressor import Compressor

    return {"compressor": Compressor}


def places_of(loaded: Loaded, home: Path) -> Places:
    """Where engines are looked for under this configuration."""
    config = loaded.config
    return Places(
        built_ins=built_ins(),
        configured=config.context.engine,
        bundled=bundled_engines(),
        home=home / "plugins" / "context_engine",
        paths=tuple(Path(path) for path in config.plugins.paths),
        project=loaded.project_plugins,
        untrusted=loaded.untrusted_plugins,
        enabled=frozenset(config.plugins.enabled),
        disabled=frozenset(config.plugins.disabled),
    )


def engine_places(options: Options) -> Places:
    """Where engines are looked for."""
    return places_of(load_config(options), options.home)


def engine_maker(options: Options, name: str) -> Make:
    """Makes the engine of this name with services of its own, for a check outside any conversation."""
    loaded = load_config(options)

    def make(factory: EngineFactory) -> ContextEngine:
        services = services_of(loaded, Remembered(Counter()), main_model(loaded), MemoryArchive())
        return make_engine(factory, name, loaded, services)

    return make


def services_of(loaded: Loaded, count: Remembered, model: Model, archive: ArchiveReader, state: State | None = None) -> Services:
    """What an engine of this conversation gets; one object for one agent, its facts change with the model."""
    from host.config.shares import starting_share

    config = loaded.config.compression
    return Services(
        settings=None,
        facts=ModelFacts(model.name, model.window, loaded.config.model.max_tokens or 0),
        count=count,
        archive=archive,
        state=state or MemoryState(),
        ask=summary_model(loaded),
        summary_models=summary_models(loaded, model),
        mask=partial(redact, enabled=loaded.config.security.redact_secrets),
        thresholds=Thresholds(
            threshold=starting_share(loaded.config).share,
            target_ratio=config.target_ratio,
            protect_first_n=config.protect_first_n,
            protect_last_n=config.protect_last_n,
            small_window_floor=config.small_window_floor,
            abort_on_summary_failure=config.abort_on_summary_failure,
        ),
    )


def engine_name(factory: EngineFactory, wanted: str) -> str:
    """The name of the engine that a factory makes: a built-in's own where it stands in for the one wanted."""
    return next((known for known, own in built_ins().items() if own is factory), wanted)


def make_engine(factory: EngineFactory, wanted: str, loaded: Loaded, services: Services) -> ContextEngine:
    """Call a factory with the settings of the engine wanted, checked by its own model where it has one."""
    from host.config import no_settings_for, settings_for

    model: Any = getattr(factory, "Settings", None)
    name = engine_name(factory, wanted)
    if name in built_ins() and model is None:
        no_settings_for(loaded, name)
    services.settings = settings_for(loaded, name, model) if model is not None else loaded.config.engines.get(name, {})
    return factory(services)


def summary_model(loaded: Loaded) -> Ask | None:
    """The model for summaries, None where none can be asked: then summaries are made from the text itself."""
    from host.provider.ask import asking

    endpoint = summary_endpoint(loaded)
    return None if endpoint.missing else asking(provider_of(endpoint, loaded))

"""What a conversation is made of: configuration, model, services, engine, summary model."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from host.discovery import Make, Places, bundled_engines
from host.engine.contract import ContextEngine, EngineFactory
from host.engine.services import ArchiveReader, Ask, ModelFacts, Services, State, Thresholds
from host.messages.redact import redact
from host.store.memory import MemoryArchive, MemoryState
from host.tokens import Counter, Remembered

if TYPE_CHECKING:
    from host.config import Loaded

DEFAULT_KEY = "OPENAI_API_KEY"
OWN_PROVIDERS = ("openai", "openai-codex", "custom")  # reached without an address, or with one that has to be given
SMALL_WINDOW = 16_000  # tokens; below this a compaction has little to give


class Options(Protocol):
    """What the command line knows before the command (``host.cli.globals.Globals``)."""

    @property
    def config_file(self) -> Path | None:
        """The file of --config."""

    @property
    def home(self) -> Path:
        """The home folder."""


@dataclass(frozen=True)
class Model:
    """The main model. ``source`` says where its window comes from."""

    name: str
    window: int
    source: str


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


def main_model(loaded: Loaded, window: int | None = None, recorded: str | None = None, recorded_window: int | None = None) -> Model:
    """The model and its window: as asked, as configured, as known by name, as recorded, else 128,000."""
    from host.provider.facts import DEFAULT_WINDOW, window_of

    section = loaded.config.model
    name = section.name or recorded or ""
    tries: list[tuple[int | None, str]] = [
        (window, "as asked"),
        (section.context_length, "model.context_length"),
        (window_of(section.name, section.provider) if section.name else None, f"of {section.name}"),
        (recorded_window, "as recorded"),
        (window_of(recorded) if recorded else None, f"of {recorded}, the recorded model"),
        (DEFAULT_WINDOW, "the default; --window or model.context_length sets another"),
    ]
    found, source = next((size, why) for size, why in tries if size)
    return Model(name, found, source)


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
        mask=partial(redact, enabled=loaded.config.security.redact_secrets),
        thresholds=Thresholds(
            threshold=starting_share(loaded.config)[0],
            target_ratio=config.target_ratio,
            protect_first_n=config.protect_first_n,
            protect_last_n=config.protect_last_n,
            small_window_floor=config.small_window_floor,
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


@dataclass(frozen=True)
class Endpoint:
    """Where summaries are asked for, or why nowhere. A key goes only to the address that it is configured with."""

    model: str = ""
    base_url: str = ""
    key: str | None = field(default=None, repr=False)
    missing: str = ""


def summary_endpoint(loaded: Loaded) -> Endpoint:
    """The summary model's section first, the main model's where that says nothing, OpenAI where no address is given."""
    section, main = loaded.config.auxiliary.compression, loaded.config.model
    name, base_url = section.model or main.name, section.base_url or main.base_url
    if not name:
        return Endpoint(missing="no model is configured")
    spoken = not main.provider or main.provider.lower() in OWN_PROVIDERS or bool(base_url)
    if not spoken:
        return Endpoint(missing=f"{main.provider} is reached through model.base_url, and none is set")
    variable = section.api_key_env or ("" if section.base_url else main.api_key_env) or ("" if base_url else DEFAULT_KEY)
    key = os.environ.get(variable) if variable else None
    if not key and not base_url:
        return Endpoint(missing=f"no key for {name} in {variable}")
    return Endpoint(name, base_url, key)


def summary_model(loaded: Loaded) -> Ask | None:
    """The model for summaries, None where none can be asked: then summaries are made from the text itself."""
    from host.provider.ask import asking
    from host.provider.openai_client import OpenAIProvider

    endpoint, auxiliary = summary_endpoint(loaded), loaded.config.auxiliary
    if endpoint.missing:
        return None
    return asking(
        OpenAIProvider(
            endpoint.model,
            base_url=endpoint.base_url or None,
            api_key=endpoint.key,
            timeout=auxiliary.compression.timeout,
            max_retries=auxiliary.transient_retries,
        )
    )

"""The composition root: the one place that knows every room and puts them together."""

from host.app.host import Host
from host.app.replays import open_replay, using_replay
from host.app.session import Session, found_or_created, open_session
from host.app.stores import archive_of, open_archive
from host.app.wiring import (
    DEFAULT_KEY,
    SMALL_WINDOW,
    Model,
    Options,
    built_ins,
    engine_maker,
    engine_places,
    load_config,
    main_model,
    make_engine,
    places_of,
    services_of,
    summary_endpoint,
)

__all__ = [
    "DEFAULT_KEY",
    "SMALL_WINDOW",
    "Host",
    "Model",
    "Options",
    "Session",
    "archive_of",
    "built_ins",
    "engine_maker",
    "engine_places",
    "found_or_created",
    "load_config",
    "main_model",
    "make_engine",
    "open_archive",
    "open_replay",
    "open_session",
    "places_of",
    "services_of",
    "summary_endpoint",
    "using_replay",
]

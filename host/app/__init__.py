"""The composition root: the one place that knows every room and puts them together."""

from host.app.host import Host
from host.app.models import Model, main_model
from host.app.notices import SMALL_WINDOW
from host.app.replays import open_replay, using_replay
from host.app.session import Session, found_or_created, open_session
from host.app.stores import archive_of, open_archive
from host.app.summaries import DEFAULT_KEY, summary_endpoint, summary_endpoints, window_of_endpoint
from host.app.wiring import (
    Options,
    built_ins,
    engine_maker,
    engine_places,
    load_config,
    make_engine,
    places_of,
    services_of,
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
    "summary_endpoints",
    "using_replay",
    "window_of_endpoint",
]

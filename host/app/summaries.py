"""Where models are asked: the main model, its fallbacks, and those that summaries are asked of, in the order in which they are tried."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from host.app.models import Model
from host.engine.services import SummaryModel

if TYPE_CHECKING:
    from host.config import Config, Loaded, ModelRef
    from host.provider.openai_client import OpenAIProvider

DEFAULT_KEY = "OPENAI_API_KEY"
OPENAI = "api.openai.com"
OWN_PROVIDERS = ("openai", "openai-codex", "custom")  # reached without an address, or with one that has to be given
AS_THE_CONVERSATION = frozenset({"", "auto", "main"})


@dataclass(frozen=True)
class Endpoint:
    """Where a model is asked, or why nowhere. A key goes only to the address that it is configured with.

    ``window`` is in tokens, None where only the model's name tells; ``options`` are further fields of each request.
    """

    model: str = ""
    base_url: str = ""
    key: str | None = field(default=None, repr=False)
    missing: str = ""
    provider: str = ""
    window: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    variable: str = ""  # of the environment, with the key

    @property
    def address(self) -> str:
        """What a user would call the place."""
        return self.base_url or OPENAI

    def window_key(self, main: Model) -> str:
        """The key that sets its window."""
        return "model.context_length" if self.model == main.name else "auxiliary.compression.context_length"


def main_endpoints(loaded: Loaded) -> list[Endpoint]:
    """The main model and its fallbacks in their order, those that cannot be asked included."""
    config = loaded.config
    return [_main(config), *(_fallback(reference, config) for reference in config.model.fallback)]


def summary_endpoints(loaded: Loaded) -> list[Endpoint]:
    """The configured summary model, the fallback chain, the main model: each once, those that cannot be asked included."""
    config = loaded.config
    first = _configured(config)
    every = [first, *(_chained(reference, config) for reference in config.auxiliary.compression.fallback_chain), _main(config)]
    seen: dict[tuple[str, str, bool], Endpoint] = {}
    for endpoint in every:
        seen.setdefault((endpoint.model, endpoint.base_url, bool(endpoint.missing)), endpoint)
    return list(seen.values())


def summary_endpoint(loaded: Loaded) -> Endpoint:
    """The first that can be asked; where there is none, the configured one with what it lacks."""
    endpoints = summary_endpoints(loaded)
    return next((endpoint for endpoint in endpoints if not endpoint.missing), endpoints[0])


def summary_models(loaded: Loaded, main: Model) -> tuple[SummaryModel, ...]:
    """Those that can be asked, each with its window. A window that nobody knows is taken for no smaller than the main model's:
    a guess alone cuts no summary into parts.
    """
    from host.provider.ask import replying

    return tuple(
        SummaryModel(endpoint.model, replying(provider_of(endpoint, loaded)), *window_of_endpoint(endpoint, main))
        for endpoint in summary_endpoints(loaded)
        if not endpoint.missing
    )


def window_of_endpoint(endpoint: Endpoint, main: Model) -> tuple[int, bool]:
    """Its window in tokens, and whether that is a guess."""
    from host.provider.facts import facts_of

    if endpoint.window is None and endpoint.model == main.name:
        return main.window, main.window_is_guessed
    known = facts_of(endpoint.model, endpoint.provider, context_length=endpoint.window)
    return (max(known.window, main.window) if known.window_is_guessed else known.window), known.window_is_guessed


def provider_of(endpoint: Endpoint, loaded: Loaded) -> OpenAIProvider:
    """The client that asks it for summaries."""
    auxiliary = loaded.config.auxiliary
    return client_of(endpoint, timeout=auxiliary.compression.timeout, max_retries=auxiliary.transient_retries)


def client_of(endpoint: Endpoint, *, timeout: float, max_retries: int = 2, sleep: Callable[[float], None] | None = None) -> OpenAIProvider:
    """A client that asks it; ``timeout`` in seconds for a whole answer, ``sleep`` lets time pass between two attempts."""
    from host.provider.openai_client import OpenAIProvider

    return OpenAIProvider(
        endpoint.model,
        base_url=endpoint.base_url or None,
        api_key=endpoint.key,
        timeout=timeout,
        max_retries=max_retries,
        options=endpoint.options,
        key_name=endpoint.variable,
        sleep=sleep,
    )


@dataclass(frozen=True)
class _Place:
    """Where models are asked that do not say so themselves. ``variable`` holds the key, ``section`` is what to set."""

    provider: str
    base_url: str
    variable: str
    section: str


def _place(config: Config) -> _Place:
    """The summary model's section first, the main model's where that says nothing, OpenAI where no address is given."""
    section, main = config.auxiliary.compression, config.model
    if section.provider.lower() not in AS_THE_CONVERSATION:
        return _Place(section.provider, section.base_url, section.api_key_env, "auxiliary.compression")
    variable = section.api_key_env or ("" if section.base_url else main.api_key_env)
    return _Place(main.provider, section.base_url or main.base_url, variable, "model")


def _configured(config: Config) -> Endpoint:
    section, place = config.auxiliary.compression, _place(config)
    endpoint = _endpoint(section.model or config.model.name, place.provider, place.base_url, place.variable, place.section)
    options = {"reasoning_effort": section.reasoning_effort, "extra_body": dict(section.extra_body)}
    return replace(endpoint, window=section.context_length, options={name: value for name, value in options.items() if value})


def _chained(reference: ModelRef, config: Config) -> Endpoint:
    """An entry of the fallback chain: where it says so, else where the configured summary model is asked."""
    if reference.provider or reference.base_url:
        where = "an entry of auxiliary.compression.fallback_chain"
        return _endpoint(reference.name, reference.provider, reference.base_url, reference.api_key_env, where)
    place = _place(config)
    return _endpoint(reference.name, place.provider, place.base_url, reference.api_key_env or place.variable, place.section)


def _fallback(reference: ModelRef, config: Config) -> Endpoint:
    """A fallback of the main model: where it says so, else where the main model is asked."""
    if reference.provider or reference.base_url:
        return _endpoint(reference.name, reference.provider, reference.base_url, reference.api_key_env, "an entry of model.fallback")
    main = config.model
    return _endpoint(reference.name, main.provider, main.base_url, reference.api_key_env or main.api_key_env, "model")


def _main(config: Config) -> Endpoint:
    return _endpoint(config.model.name, config.model.provider, config.model.base_url, config.model.api_key_env, "model")


def _endpoint(name: str, provider: str, base_url: str, variable: str, section: str) -> Endpoint:
    if not name:
        return Endpoint(missing="no model is configured")
    if provider and provider.lower() not in OWN_PROVIDERS and not base_url:
        return Endpoint(name, missing=f"{provider} is reached through {section}.base_url, and none is set", provider=provider)
    variable = variable or ("" if base_url else DEFAULT_KEY)
    key = os.environ.get(variable) if variable else None
    missing = "" if key or base_url else f"no key for {name} in {variable}, and without {section}.base_url it is asked for at {OPENAI}"
    return Endpoint(name, base_url, key, missing, provider, variable=variable)

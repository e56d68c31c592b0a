"""The settings of engines: unknown to the configuration, checked when their engine is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from types import new_class
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, RootModel

from host.config.fields import fields_of
from host.config.layers import Layer
from host.config.loader import Loaded
from host.config.models import ENGINES, EngineLimits
from host.config.reading import KeyPath
from host.config.validation import unknown_key, validated
from host.errors import ConfigError, Problem

M = TypeVar("M", bound=BaseModel)


def settings_for(loaded: Loaded, name: str, model: type[M]) -> M:
    """The settings of one engine, checked by its own model; raises ConfigError at the offending keys.

    A key that the model does not know is an error unless the model itself sets ``extra``. What the host itself reads
    (``EngineLimits``) is not shown to a model that has no such field.
    """
    hosts = set(EngineLimits.model_fields) - set(model.model_fields)
    settings = {key: value for key, value in loaded.config.engines.get(name, {}).items() if key not in hosts}
    path = (ENGINES, name)
    checked = _unread(model, loaded.layer, settings, path) or validated(model, loaded.layer, settings, path)
    if isinstance(checked, list):
        raise ConfigError(checked)
    strangers = _unread_inside(checked, loaded.layer, settings, path)
    if strangers:
        raise ConfigError(strangers)
    return checked


def no_settings_for(loaded: Loaded, name: str) -> None:
    """Check that nothing is set for an engine without settings but what the host reads; raises ConfigError at each other key."""
    known = fields_of(EngineLimits)
    strangers = [key for key in loaded.config.engines.get(name, {}) if key not in known]
    problems = [unknown_key((key,), loaded.layer.origin((ENGINES, name, key)).where, known, (ENGINES, name)) for key in strangers]
    if problems:
        expected = f"unknown key: this engine has no settings of its own, only {', '.join(known)}"
        raise ConfigError([replace(problem, expected=expected) for problem in problems])


def unchecked_engines(loaded: Loaded) -> list[str]:
    """The engines with settings that nobody has checked yet: only their own code can."""
    return [name for name, settings in loaded.config.engines.items() if settings.keys() - EngineLimits.model_fields.keys()]


def _unread(model: type[BaseModel], layer: Layer, settings: Mapping[str, Any], path: KeyPath) -> list[Problem]:
    checked = validated(_closed(model), layer, settings, path)
    return checked if isinstance(checked, list) else []


def _unread_inside(checked: BaseModel, layer: Layer, settings: Mapping[str, Any], path: KeyPath) -> list[Problem]:
    """Keys that the models inside a model do not know."""
    problems: list[Problem] = []
    for name in type(checked).model_fields:
        for model, written, here in _models(getattr(checked, name, None), settings.get(name), (*path, name)):
            problems += _unread(type(model), layer, written, here) or _unread_inside(model, layer, written, here)
    return problems


def _models(value: Any, written: Any, path: KeyPath) -> Iterator[tuple[BaseModel, Mapping[str, Any], KeyPath]]:
    """The models in a value, each with the mapping it was made from; entries of lists one by one."""
    if isinstance(value, BaseModel) and isinstance(written, dict):
        yield value, written, path
    elif isinstance(value, list | tuple) and isinstance(written, list):
        for index, (entry, source) in enumerate(zip(value, written, strict=False)):
            yield from _models(entry, source, (*path, index))


@cache
def _closed(model: type[BaseModel]) -> type[BaseModel]:
    """The model with unknown keys forbidden, which pydantic ignores where a model does not say what it wants."""
    if "extra" in model.model_config or issubclass(model, RootModel):
        return model
    body = {"__module__": model.__module__, "model_config": ConfigDict(extra="forbid")}
    return cast(type[BaseModel], new_class(model.__name__, (model,), exec_body=lambda names: names.update(body)))

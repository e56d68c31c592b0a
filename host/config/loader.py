"""Finding and reading the configuration: files, environment, and who may say what."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

from host.config.environment import overrides, unheeded
from host.config.fields import fields_of
from host.config.kinds import LARGEST_TARGET_RATIO, SMALLEST_TARGET_RATIO
from host.config.layers import Layer, Origin, layer_of, leaves, overlay, without_unset
from host.config.models import ENGINES, Config, EngineLimits
from host.config.project import Foreign, dropped_warning, look, names_own_plugin, trust_command, untrusted_part
from host.config.reading import Document, KeyPath, dotted, printable, read_file
from host.config.trust import CONFIG_NAME, PLUGIN_FOLDER, is_trusted
from host.config.validation import found_value, validated
from host.errors import ConfigError, Problem


@dataclass(frozen=True)
class FileUse:
    """A file that was looked at: whether it counts, and why not (or not all of it)."""

    path: Path
    used: bool
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {'used' if self.used else 'not used'}{f', {self.reason}' if self.reason else ''}"


@dataclass(frozen=True)
class Loaded:
    """A configuration and how it came about.

    ``origins`` holds every key by its dotted name. ``project_plugins`` is the project's folder of engines, only where
    the user trusts it, else ``untrusted_plugins`` does; whoever imports from it must not read compiled files that lie there.
    """

    config: Config
    origins: Mapping[str, Origin]
    warnings: tuple[str, ...] = ()
    files: tuple[FileUse, ...] = ()
    project_plugins: Path | None = None
    untrusted_plugins: Path | None = None
    layer: Layer = field(default_factory=Layer, repr=False)


@dataclass(frozen=True)
class _Found:
    """What the files say, before it is checked."""

    layers: tuple[Layer, ...] = ()
    files: tuple[FileUse, ...] = ()
    warnings: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    project_plugins: Path | None = None
    untrusted_plugins: Path | None = None


def load(*, config_file: Path | None, home: Path, cwd: Path, environ: Mapping[str, str]) -> Loaded:
    """Read the configuration; raises ConfigError that names every problem of every source.

    ``config_file`` alone counts where it is given; else the home folder's file with the project's laid over it
    (design, Configuration). The environment comes last.
    """
    trusted = is_trusted(cwd, home)
    files = _explicit(config_file) if config_file is not None else _home_and_project(home, cwd, trusted)
    found = files if home.resolve() == cwd.resolve() else _with_plugins(files, cwd / PLUGIN_FOLDER, trusted)
    fields = fields_of(Config)
    merged = reduce(overlay, found.layers, Layer())
    environment, unreadable = overrides(environ, fields, merged.tree.get(ENGINES))
    merged = overlay(merged, Layer(without_unset(environment.tree, fields), environment.origins))
    config = validated(Config, merged, merged.tree)
    problems = [*found.problems, *unreadable, *(config if isinstance(config, list) else []), *_limit_problems(merged)]
    if problems or isinstance(config, list):
        raise ConfigError(problems)
    warnings = (*found.warnings, *unheeded(environ, fields), *_clamp_warnings(merged, config), *_folder_warnings(merged, config, cwd))
    return Loaded(config, _origins(merged), warnings, found.files, found.project_plugins, found.untrusted_plugins, merged)


def load_here(config_file: Path | None, home: Path) -> Loaded:
    """The configuration for the current folder and environment."""
    return load(config_file=config_file, home=home, cwd=Path.cwd(), environ=os.environ)


def check_document(document: Document) -> list[Problem]:
    """Everything that is wrong with one file by itself."""
    found = _own_file(document)
    config = validated(Config, found.layers[0], found.layers[0].tree)
    return [*found.problems, *(config if isinstance(config, list) else []), *_limit_problems(found.layers[0])]


def _explicit(path: Path) -> _Found:
    path = path.expanduser()
    if not _present(path):
        return _Found(problems=(Problem(str(path), "--config", "the file does not exist"),))
    return _own_file(read_file(path), path)


def _own_file(document: Document, path: Path | None = None) -> _Found:
    path = path or Path(document.source)
    files = (FileUse(path, used=True),)
    if document.problems and document.tree is None:
        return _Found((Layer(),), files, problems=document.problems)
    if not isinstance(document.tree, dict | None):
        expected = f"expected a mapping of sections (context:, model:, compression:, ...), found {found_value(document.tree)}"
        return _Found((Layer(),), files, problems=(*document.problems, Problem(f"{path}:1:1", "file", expected)))
    layer = layer_of(document)
    return _Found((_settled(layer, path.parent),), files, problems=document.problems)


def _home_and_project(home: Path, cwd: Path, trusted: bool) -> _Found:
    path = home / CONFIG_NAME
    missing = _Found(files=(FileUse(path, used=False, reason="does not exist; `ctxhost init` writes one"),))
    own = _own_file(read_file(path), path) if _present(path) else missing
    if home.resolve() == cwd.resolve():
        return own
    project = _project(cwd, trusted)
    return _Found(own.layers + project.layers, own.files + project.files, own.warnings + project.warnings, own.problems + project.problems)


def _project(cwd: Path, trusted: bool) -> _Found:
    path = cwd / CONFIG_NAME
    looked = look(path)
    if isinstance(looked, Foreign):
        warnings = (f"{path}: ignored, {looked.why}",) if looked.doubtful else ()
        return _Found(files=(FileUse(path, used=False, reason=looked.why),), warnings=warnings)
    return _own_file(looked, path) if trusted else _cautiously(looked, cwd)


def _with_plugins(found: _Found, plugins: Path, trusted: bool) -> _Found:
    if not plugins.is_dir():
        return found
    use = FileUse(plugins, trusted, "" if trusted else "not trusted; `ctxhost config trust` accepts it")
    seen = (*found.files, use)
    return replace(found, files=seen, project_plugins=plugins) if trusted else replace(found, files=seen, untrusted_plugins=plugins)


def _cautiously(document: Document, project: Path) -> _Found:
    found = _own_file(document)
    layer, dropped = untrusted_part(found.layers[0], fields_of(Config))
    warnings = [dropped_warning(dropped, found.layers[0], project)] if dropped else []
    if names_own_plugin(layer, project):
        warnings.append(f"{project / PLUGIN_FOLDER}: the engine there is not used before `{trust_command(project)}`")
    reason = f"not trusted: without {', '.join(map(dotted, dropped))}" if dropped else ""
    return _Found((layer,), (replace(found.files[0], reason=reason),), tuple(warnings), found.problems)


def _present(path: Path) -> bool:
    """Whether there is something to read, or to complain about."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # reading it names the reason
        return True
    return True


def _limit_problems(layer: Layer) -> list[Problem]:
    """What is wrong with the settings that the host itself reads of every engine."""
    engines = layer.tree.get(ENGINES)
    named = engines.items() if isinstance(engines, dict) else ()
    checked = [validated(EngineLimits, layer, settings, (ENGINES, name)) for name, settings in named if isinstance(settings, dict)]
    return [problem for result in checked if isinstance(result, list) for problem in result]


def _settled(layer: Layer, folder: Path) -> Layer:
    """Empty keys left out, relative plugin folders resolved against the file's own."""
    tree = without_unset(layer.tree, fields_of(Config))
    plugins = tree.get("plugins")
    paths = plugins.get("paths") if isinstance(plugins, dict) else None
    if isinstance(plugins, dict) and isinstance(paths, list | str):
        named = [paths] if isinstance(paths, str) else paths
        tree["plugins"] = {**plugins, "paths": [_beside(entry, folder) for entry in named]}
    return Layer(tree, layer.origins)


def _beside(entry: Any, folder: Path) -> Any:
    return str(folder / Path(entry).expanduser()) if isinstance(entry, str) and entry else entry


def _origins(layer: Layer) -> dict[str, Origin]:
    fields = fields_of(Config)
    written = {dotted(path): layer.origin(path) for path, value in leaves(layer.tree, fields) if value != {} or dotted(path) in fields}
    defaults = {key: Origin() for key in fields if "[]" not in key and key != ENGINES}
    return defaults | written


def _clamp_warnings(layer: Layer, config: Config) -> list[str]:
    path: KeyPath = ("compression", "target_ratio")
    written = layer.tree.get("compression", {}).get("target_ratio")
    used = config.compression.target_ratio
    if written is None or float(written) == used:
        return []
    limits = f"{SMALLEST_TARGET_RATIO:.2f} to {LARGEST_TARGET_RATIO:.2f}"
    return [f"{layer.origin(path)}: {dotted(path)} {written} is outside {limits}; {used:.2f} is used"]


def _folder_warnings(layer: Layer, config: Config, cwd: Path) -> list[str]:
    missing = [(index, path) for index, path in enumerate(config.plugins.paths) if not (cwd / path).is_dir()]
    return [f"{layer.origin(('plugins', 'paths', index))}: plugins.paths: no folder {printable(path)}" for index, path in missing]

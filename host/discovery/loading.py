"""Loading of a directory plugin: by its path, under a module name that nothing else can have."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from host.discovery.foreign import Unusable, foreign

INIT = "__init__.py"

_ONE_AT_A_TIME = threading.RLock()  # a second agent's thread never sees a module that is half loaded


def load_directory(folder: Path) -> ModuleType:
    """Import the plugin of a folder, once per process; ``sys.path`` stays as it is.

    Relative imports in it work. Raises Unusable if it cannot be imported; nothing of it stays in ``sys.modules`` then.
    """
    name = module_name(folder)
    with _ONE_AT_A_TIME:
        loaded = sys.modules.get(name)
        if loaded is not None:
            return loaded
        try:
            with foreign("its import"):
                return _executed(name, folder)
        except BaseException:
            _forget(name)
            raise


def module_name(folder: Path) -> str:
    """The private name of a folder's module: the folder's name and a hash of where it lies."""
    place = os.fsencode(os.path.realpath(folder))
    return f"ctxhost_plugin_{re.sub(r'[^0-9A-Za-z]', '_', folder.name)}_{hashlib.sha256(place).hexdigest()[:12]}"


def _executed(name: str, folder: Path) -> ModuleType:
    spec = spec_from_file_location(name, folder / INIT, submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None:
        raise Unusable(f"{folder / INIT} is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return sys.modules[name]


def _forget(name: str) -> None:
    for loaded in [other for other in sys.modules if other == name or other.startswith(f"{name}.")]:
        del sys.modules[loaded]

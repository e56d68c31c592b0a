"""The configuration: what may be said, where it was said, and who may say it."""

from host.config.layers import Origin
from host.config.loader import FileUse, Loaded, load, load_here
from host.config.models import Config, ModelRef
from host.config.settings import no_settings_for, settings_for, unchecked_engines
from host.config.trust import Trusted, is_trusted, trust, trusted_projects, untrust

__all__ = [
    "Config",
    "FileUse",
    "Loaded",
    "ModelRef",
    "Origin",
    "Trusted",
    "is_trusted",
    "load",
    "load_here",
    "no_settings_for",
    "settings_for",
    "trust",
    "trusted_projects",
    "unchecked_engines",
    "untrust",
]

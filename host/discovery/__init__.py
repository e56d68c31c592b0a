"""Finding an engine by its name: three doors, one winner, and a reason where it is not the one that was asked for."""

from host.discovery.doors import DOORS, Door
from host.discovery.keywords import accepted_keywords
from host.discovery.listing import Listing, list_engines
from host.discovery.manager import plugin_manager
from host.discovery.names import check_name, nearest_name
from host.discovery.offers import API_VERSION
from host.discovery.places import BUILT_IN, EntryPoint, Places, bundled_engines, installed_entry_points
from host.discovery.plugins import Plugins, load_memories, load_plugins
from host.discovery.resolution import Make, OnTrouble, Resolution, resolve

__all__ = [
    "API_VERSION",
    "BUILT_IN",
    "DOORS",
    "Door",
    "EntryPoint",
    "Listing",
    "Make",
    "OnTrouble",
    "Places",
    "Plugins",
    "Resolution",
    "accepted_keywords",
    "bundled_engines",
    "check_name",
    "installed_entry_points",
    "list_engines",
    "load_memories",
    "load_plugins",
    "nearest_name",
    "plugin_manager",
    "resolve",
]

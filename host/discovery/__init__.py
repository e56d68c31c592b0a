"""Finding an engine by its name: three doors, one winner, and a reason where it is not the one that was asked for."""

from host.discovery.doors import DOORS, Door
from host.discovery.keywords import accepted_keywords
from host.discovery.listing import Listing, list_engines
from host.discovery.manager import plugin_manager
from host.discovery.memories import Memories, load_memories
from host.discovery.names import check_name, nearest_name
from host.discovery.offers import API_VERSION
from host.discovery.places import BUILT_IN, EntryPoint, Places, bundled_engines, installed_entry_points
from host.discovery.resolution import Make, OnTrouble, Resolution, resolve

__all__ = [
    "API_VERSION",
    "BUILT_IN",
    "DOORS",
    "Door",
    "EntryPoint",
    "Listing",
    "Make",
    "Memories",
    "OnTrouble",
    "Places",
    "Resolution",
    "accepted_keywords",
    "bundled_engines",
    "check_name",
    "installed_entry_points",
    "list_engines",
    "load_memories",
    "nearest_name",
    "plugin_manager",
    "resolve",
]

"""The files of folders that are looked at again and again: what did not change is not listed twice."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from host.importing.places import Place, RecordedFile
from host.store.spelling import spelled

SETTLED = 2 * 10**9  # nanoseconds: a folder that changed later than so long before it was listed may have changed again unseen
LISTED_FOR = 60.0  # seconds, then a folder is listed again though it seems the same: not every file system tells
EVERY = "**"  # in a pattern: the folder and all below it; links are not followed, so there are no circles

Stamp = tuple[int, int, int]  # of a folder: device, number, and time of its last change


class Found(NamedTuple):
    """A file of a place, lighter than what it is read by: there may be thousands. ``name`` is by what it is remembered."""

    path: str
    name: str
    client: str

    def recorded(self) -> RecordedFile:
        """The file to read."""
        return RecordedFile(Path(self.path), self.name, self.client)


@dataclass
class Listed:
    """What a folder held. ``files`` remembers what of it matches a pattern."""

    stamp: Stamp
    is_settled: bool
    until: float
    real: str
    folders: tuple[tuple[str, bool], ...]  # name, and whether it is a link
    names: tuple[tuple[str, bool], ...]  # of regular files and links to them
    files: dict[tuple[str, str], list[Found]] = field(default_factory=dict)


class Folders:
    """Finds the files of places. ``unlisted`` counts the folders that there was no time for since it was set.

    ``forbidden`` are those that are there and may not be looked into, and why.
    """

    def __init__(self) -> None:
        self.unlisted = 0
        self.forbidden: dict[str, str] = {}
        self._listed: dict[str, Listed] = {}

    def files(self, place: Place, until: float) -> Iterator[Found]:
        """The regular files of a place. After ``until`` folders that were never listed are left for the next time."""
        return self._below(str(place.root), tuple(place.pattern.split("/")), place.client, until)

    def _below(self, folder: str, parts: tuple[str, ...], client: str, until: float) -> Iterator[Found]:
        first, *others = parts
        rest = tuple(others)
        if rest and first != EVERY and not _is_wild(first):
            yield from self._below(f"{folder}{os.sep}{first}", rest, client, until)
            return
        listed = self._list(folder, until)
        if listed is None:
            return
        if not rest:
            yield from _files(listed, folder, first, client)
            return
        if first == EVERY:
            yield from self._below(folder, rest, client, until)
        for name, is_link in listed.folders:
            if first == EVERY and not is_link:
                yield from self._below(f"{folder}{os.sep}{name}", parts, client, until)
            elif first != EVERY and _matcher(first)(name):
                yield from self._below(f"{folder}{os.sep}{name}", rest, client, until)

    def _list(self, folder: str, until: float) -> Listed | None:
        """What a folder holds; None where there is none, or no time to look."""
        try:
            status = os.stat(folder)  # noqa: PTH116  hundreds of times: half of what the method of a path takes
            stamp = status.st_dev, status.st_ino, status.st_mtime_ns
            known, now = self._listed.get(folder), time.monotonic()
            if known is not None and known.stamp == stamp and known.is_settled and (now < known.until or now >= until):
                return known
            if known is None and now >= until:
                self.unlisted += 1
                return None
            found = self._listed[folder] = _listed(folder, stamp, now)
        except OSError as error:
            self._listed.pop(folder, None)
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                self.forbidden[folder] = error.strerror or str(error)
            return None
        return found


def _listed(folder: str, stamp: Stamp, now: float) -> Listed:
    is_settled = stamp[-1] + SETTLED < time.time_ns()
    folders: list[tuple[str, bool]] = []
    names: list[tuple[str, bool]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if _is(entry.is_dir, unknown=False):
                folders.append((entry.name, entry.is_symlink()))
            elif _is(entry.is_file, unknown=True):
                names.append((entry.name, entry.is_symlink()))
    return Listed(stamp, is_settled, now + LISTED_FOR, os.path.realpath(folder), tuple(folders), tuple(names))


def _is(kind: Callable[[], bool], *, unknown: bool) -> bool:
    """What may not be looked at counts as a file, for the reading to complain about."""
    try:
        return kind()
    except PermissionError:
        return unknown
    except OSError:  # a link in a circle
        return False


def _files(listed: Listed, folder: str, pattern: str, client: str) -> list[Found]:
    """The files of a folder whose names match."""
    key = pattern, client
    if key not in listed.files:
        matches = _matcher(pattern)
        listed.files[key] = [_file(listed, folder, name, client, is_link) for name, is_link in listed.names if matches(name)]
    return listed.files[key]


def _file(listed: Listed, folder: str, name: str, client: str, is_link: bool) -> Found:
    path = f"{folder}{os.sep}{name}"
    return Found(path, spelled(os.path.realpath(path) if is_link else f"{listed.real}{os.sep}{name}"), client)


def _is_wild(part: str) -> bool:
    return any(sign in part for sign in "*?[")


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> Callable[[str], object]:
    return re.compile(translate(pattern)).match

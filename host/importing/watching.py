"""Which of many files changed since they were read: the ones that were written last first, the others in turn."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping

from host.importing.folders import Found
from host.importing.unread import Changed, Stamp, stamp_of

ALWAYS = 200  # files that are looked at each time, whatever the time: those that were seen to change last
STRIDE = 50  # of the others, so many before the clock is looked at


class Watch:
    """Looks at the same files again and again. ``unseen`` counts those that there never was time for.

    A file that is written to again after long is seen, where one call has not the time for all files, by one of the next calls.
    """

    def __init__(self) -> None:
        self._files: OrderedDict[str, Found] = OrderedDict()  # by name, the one that changed last at the end
        self._turns: dict[str, int] = {}  # in which turn each was looked at
        self._turn = 1
        self._changed: dict[str, Changed] = {}  # seen to have something new that may not be read yet

    @property
    def unseen(self) -> int:
        """How many files were never looked at."""
        return len(self._files) - len(self._turns)

    def changed(self, files: Mapping[str, Found], known: Mapping[str, Stamp], until: float) -> list[Changed]:
        """Those of the files, by name, that are not as they are ``known``, the one that was written last first.

        Where the time is over before all were looked at, the next call goes on with the others.
        """
        self._keep(files, known)
        seen = self._look(until)
        for name, stamp in seen.items():
            self._changed.pop(name, None)
            if stamp is not None and stamp != known.get(name):
                self._changed[name] = Changed(self._files[name].recorded(), stamp, name not in known)
        self._changed = {name: each for name, each in self._changed.items() if each.stamp != known.get(name)}
        found = sorted(self._changed.values(), key=lambda each: each.stamp[1])
        for each in found:
            self._files.move_to_end(each.file.name)
        return found[::-1]

    def _keep(self, files: Mapping[str, Found], known: Mapping[str, Stamp]) -> None:
        """Watch these and no others; of those that are new what was never read is taken for the newest."""
        for name in self._files.keys() - files.keys():
            del self._files[name]
            self._turns.pop(name, None)
            self._changed.pop(name, None)
        added = files.keys() - self._files.keys()
        for name in sorted(added, key=lambda name: (name not in known, known.get(name, (0, 0))[1])):
            self._files[name] = files[name]
        for name, file in files.items():
            if self._files[name] is not file:  # another way leads to it now
                self._files[name] = file

    def _look(self, until: float) -> dict[str, Stamp | None]:
        """Sizes and times of the files that there is time for."""
        seen: dict[str, Stamp | None] = {}
        for index, (name, file) in enumerate(reversed(self._files.items())):
            if index >= ALWAYS and self._turns.get(name) == self._turn:
                continue
            if len(seen) > ALWAYS and len(seen) % STRIDE == 0 and time.monotonic() >= until:
                return seen
            seen[name] = stamp_of(file.path)
            self._turns[name] = self._turn
        self._turn += 1
        return seen

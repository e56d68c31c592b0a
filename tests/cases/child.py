"""Another process on a home folder: commands on standard input, one answer in JSON for each on standard output.

``write N``, ``limit BYTES`` (files of this process grow by no more than this), ``free``; at the end of the input
it closes the archive and goes. ``stream`` writes until the process is killed, with a line for each message.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from host import Host
from host.conversation.conversation import Conversation
from host.errors import StoreError
from tests.cases.house import TITLE, WINDOW, said

RETRY = 1.2  # seconds after which the product tries again to write what waits


class Child:
    """The parent's end: a process that holds the archive open."""

    def __init__(self, home: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cases.child", str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def ask(self, command: str) -> dict[str, Any]:
        """Give a command and wait for its answer."""
        self.tell(command)
        answer: dict[str, Any] = json.loads(self.line())
        return answer

    def tell(self, command: str) -> None:
        """Give a command."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()

    def line(self) -> str:
        """The next line that it writes."""
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def kill(self) -> list[str]:
        """End it as a power cut would; returns what it had still said in whole lines."""
        self._process.kill()
        out, _ = self._process.communicate()
        return out.split("\n")[:-1]

    def close(self) -> None:
        """Let it close the archive and go."""
        self._process.communicate()


class Commands:
    """What the child does."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._warnings: list[str] = []
        self._errors: list[str] = []
        self._host = Host(home=home, warn=self._warnings.append)
        self._talk: Conversation = self._host.conversation(TITLE, window=WINDOW * 1_000)
        self._number = self._talk.archive.range()[1]

    def write(self, count: str) -> None:
        """Add so many messages."""
        for _ in range(int(count)):
            self._number += 1
            try:
                self._talk.add(said(self._number))
            except StoreError as error:
                self._errors.append(error.what)

    def limit(self, room: str) -> None:
        """Let no file grow further than this above the largest one."""
        largest = max(path.stat().st_size for path in self._home.rglob("archive.db*"))
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + int(room), hard))

    def free(self) -> None:
        """Lift the limit, and go on with one message."""
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        time.sleep(RETRY)
        self.write("1")

    def stream(self) -> None:
        """Write until killed."""
        while True:
            self._number += 1
            position = self._talk.add(said(self._number))
            os.write(1, f"{position}\n".encode())

    def report(self) -> dict[str, Any]:
        """What the product says that it has kept, and what it complained of."""
        saved = sum(entry.row is not None for entry in self._talk.view.ledger)
        return {"saved": saved, "accepted": len(self._talk.view.ledger), "warnings": self._warnings, "errors": self._errors}

    def close(self) -> None:
        """Close the archive."""
        self._host.close()


def main() -> None:
    """Take commands until there are no more."""
    commands = Commands(Path(sys.argv[1]))
    for line in sys.stdin:
        verb, *values = line.split()
        do: Callable[..., None] = getattr(commands, verb)
        do(*values)
        print(json.dumps(commands.report()), flush=True)
    commands.close()


if __name__ == "__main__":
    main()

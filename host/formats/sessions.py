"""Where other clients keep their sessions, and which is the newest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from host.errors import UsageError
from host.formats.loose import did_you_mean


@dataclass(frozen=True)
class Client:
    """A client's folders: under its own variable if that is set, else under the home folder."""

    variable: str
    folders: tuple[str, ...]
    pattern: str
    beside: tuple[str, ...] = ()  # what belongs to sessions or was put away; never the latest
    not_sessions: str = ""  # prefix of files that belong to a session but are none
    head: int = 1 << 16  # bytes of a session in which its working directory is told
    by_directory: bool = False  # the folder that takes the place of the pattern's first ``*`` bears the working directory's name

    def roots(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        """The folders in which it would keep its sessions, whether they are there or not."""
        own = environ.get(self.variable)
        return [Path(own).expanduser()] if own else [home / folder for folder in self.folders]

    def looked_for(self, home: Path, environ: Mapping[str, str]) -> str:
        """Where its sessions are looked for, for an error."""
        return " and ".join(str(root / self.pattern) for root in self.roots(home, environ))


CLIENTS = {
    "claude-code": Client(
        "CLAUDE_CONFIG_DIR",
        (".claude", ".config/claude"),
        "projects/*/*.jsonl",
        ("projects/*/*/subagents/*.jsonl",),
        not_sessions="agent-",
        by_directory=True,
    ),
    "codex": Client("CODEX_HOME", (".codex",), "sessions/**/rollout-*.jsonl", ("archived_sessions/**/*.jsonl",), head=1 << 12),
}


def latest(client: str, home: Path, environ: Mapping[str, str] | None = None) -> Path:
    """The session file of a client that was written last (``--latest``); empty files are passed over.

    ``environ`` is the process's unless given. Raises ``UsageError`` where the client is unknown or has no session, saying
    where was looked.
    """
    if client not in CLIENTS:
        raise UsageError(f"no sessions are known of a client {client!r}{did_you_mean(client, CLIENTS)}", f"clients: {', '.join(CLIENTS)}")
    known = CLIENTS[client]
    environ = os.environ if environ is None else environ
    found = [path for root in known.roots(home, environ) for path in root.glob(known.pattern) if _is_session(path, known)]
    if not found:
        looked = known.looked_for(home, environ)
        raise UsageError(f"no session of {client} was found; looked for {looked}", f"name the file, or set {known.variable}")
    return max(found, key=lambda path: (path.stat().st_mtime_ns, path.name))


def _is_session(path: Path, client: Client) -> bool:
    if client.not_sessions and path.name.startswith(client.not_sessions):
        return False
    return path.is_file() and path.stat().st_size > 0

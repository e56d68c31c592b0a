"""Where other clients keep their sessions, and which is the newest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from host.errors import UsageError
from host.formats.loose import did_you_mean


@dataclass(frozen=True)
class _Client:
    """A client's folders: under its own variable if that is set, else under the home folder."""

    variable: str
    folders: tuple[str, ...]
    pattern: str
    not_sessions: str = ""  # prefix of files that belong to a session but are none


CLIENTS = {
    "claude-code": _Client("CLAUDE_CONFIG_DIR", (".claude", ".config/claude"), "projects/*/*.jsonl", not_sessions="agent-"),
    "codex": _Client("CODEX_HOME", (".codex",), "sessions/**/rollout-*.jsonl"),
}


def latest(client: str, home: Path, environ: Mapping[str, str] | None = None) -> Path:
    """The session file of a client that was written last (``--latest``); empty files are passed over.

    ``environ`` is the process's unless given. Raises ``UsageError`` where the client is unknown or has no session, saying
    where was looked.
    """
    if client not in CLIENTS:
        raise UsageError(f"no sessions are known of a client {client!r}{did_you_mean(client, CLIENTS)}", f"clients: {', '.join(CLIENTS)}")
    known = CLIENTS[client]
    roots = _roots(known, home, os.environ if environ is None else environ)
    found = [path for root in roots for path in root.glob(known.pattern) if _is_session(path, known)]
    if not found:
        looked = " and ".join(str(root / known.pattern) for root in roots)
        raise UsageError(f"no session of {client} was found; looked for {looked}", f"name the file, or set {known.variable}")
    return max(found, key=lambda path: (path.stat().st_mtime_ns, path.name))


def _roots(client: _Client, home: Path, environ: Mapping[str, str]) -> list[Path]:
    own = environ.get(client.variable)
    return [Path(own).expanduser()] if own else [home / folder for folder in client.folders]


def _is_session(path: Path, client: _Client) -> bool:
    if client.not_sessions and path.name.startswith(client.not_sessions):
        return False
    return path.is_file() and path.stat().st_size > 0

"""What clients tell their hooks: one JSON object on standard input, with the same names in Claude Code and Codex."""

from __future__ import annotations

import json
import os
import select
import time
from dataclasses import dataclass
from pathlib import Path

AFTER_COMPACTION = "compact"
LONGEST = 1 << 20  # bytes; such an object has a few hundred


@dataclass(frozen=True)
class HookInput:
    """A session, the file in which the client records it, and why the hook was called: startup, resume, clear or compact.

    ``fault`` says why none of it could be read.
    """

    session: str = ""
    transcript: Path | None = None
    source: str = ""
    fault: str = ""


def hook_input(handle: int, seconds: float) -> HookInput | None:
    """What a client writes to this file handle; None where that names no session, or nothing comes within these seconds."""
    text = _read(handle, seconds)
    if not text.strip():
        return None
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        return HookInput(fault=str(error))
    if not isinstance(told, dict) or not ("session_id" in told or "transcript_path" in told):
        return None
    transcript = os.path.expanduser(_text(told.get("transcript_path")))  # noqa: PTH111  of a user that there is none it stays as it is
    return HookInput(_text(told.get("session_id")), Path(transcript) if transcript else None, _text(told.get("source")))


def _read(handle: int, seconds: float) -> str:
    """Everything up to the end of the file: a writer that keeps it open is not waited for any longer."""
    until = time.monotonic() + seconds
    read = b""
    while len(read) < LONGEST and select.select([handle], [], [], max(0.0, until - time.monotonic()))[0]:
        chunk = os.read(handle, LONGEST)
        if not chunk:
            break
        read += chunk
    return read.decode("utf-8-sig", "replace")


def _text(value: object) -> str:
    return value if isinstance(value, str) and "\0" not in value else ""

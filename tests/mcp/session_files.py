"""Session files as Claude Code writes them, line by line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

START = "2026-03-12T08:{:02d}:{:02d}.000Z"


class SessionFile:
    """One session of a project, in the client's folder below a home."""

    def __init__(self, user_home: Path, directory: str, session: str) -> None:
        self.directory, self.session = directory, session
        folder = user_home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", directory)
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{session}.jsonl"
        self._rows = 0

    def user(self, text: str, **more: object) -> SessionFile:
        """The user says something."""
        return self.write(self.row("user", {"role": "user", "content": text}, **more))

    def assistant(self, text: str) -> SessionFile:
        """The model answers."""
        return self.write(self._answer(text))

    def compaction(self, summary: str) -> SessionFile:
        """The client compacts: a mark, and the summary with which the session goes on."""
        self.write(self.row("system", None, subtype="compact_boundary", content="Conversation compacted"))
        return self.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def halves(self, text: str) -> tuple[bytes, bytes]:
        """The line of an answer, cut in the middle."""
        line = self.line(self._answer(text))
        return line[: len(line) // 2], line[len(line) // 2 :]

    def write(self, row: dict[str, Any]) -> SessionFile:
        """Append a row."""
        return self.append(self.line(row))

    def append(self, some: bytes) -> SessionFile:
        """Append bytes."""
        with self.path.open("ab") as file:
            file.write(some)
        return self

    def line(self, row: dict[str, Any]) -> bytes:
        """A row as it stands in the file."""
        return json.dumps(row, ensure_ascii=False).encode() + b"\n"

    def row(self, kind: str, message: dict[str, Any] | None, **more: object) -> dict[str, Any]:
        """The next row, hung onto the one before."""
        self._rows += 1
        row: dict[str, Any] = {
            "parentUuid": self._uuid(self._rows - 1) if self._rows > 1 else None,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.directory,
            "sessionId": self.session,
            "version": "2.1.7",
            "type": kind,
            "uuid": self._uuid(self._rows),
            "timestamp": START.format(self._rows // 60, self._rows % 60),
            **more,
        }
        return row if message is None else {**row, "message": message}

    def _answer(self, text: str) -> dict[str, Any]:
        content = [{"type": "text", "text": text}]
        message = {"id": f"msg_{self._rows}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content}
        return self.row("assistant", message)

    def _uuid(self, number: int) -> str:
        return str(uuid5(NAMESPACE_URL, f"{self.session}/{number}"))

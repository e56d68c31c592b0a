"""Claude Code sessions written by hand, row by row."""

from __future__ import annotations

from typing import Any

from host.messages.types import JSON


class SessionRows:
    """Writes rows as the client does, each line the child of the line before it unless told otherwise."""

    def __init__(self) -> None:
        self.rows: list[JSON] = []
        self.newest: str | None = None

    def line(self, kind: str, content: Any = None, *, parent: str | None = "", **more: Any) -> str:
        uuid = f"u{len(self.rows)}"
        row = {"type": kind, "uuid": uuid, "parentUuid": self.newest if parent == "" else parent, "sessionId": "s-1", **more}
        self.newest = uuid
        if content is not None:
            row["message"] = {"role": kind, "content": content}
        self.rows.append(row)
        return uuid

    def user(self, content: Any, **more: Any) -> str:
        return self.line("user", content, **more)

    def answer(self, key: str, *blocks: Any, **more: Any) -> str:
        uuid = self.line("assistant", list(blocks), **more)
        self.rows[-1]["message"].update(id=key, model="claude-x")
        return uuid

"""The task snapshot of a summary is not left to the model: it is the newest request, word for word (hermes.md 7.3)."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from host.compressor.focus import real_requests
from host.compressor.template import Section, heading_of
from host.messages.masked import Mask
from host.messages.types import Message

LIMIT = 1_400  # characters of the request
CUT = " ...[truncated]"
HEADING = f"## {Section.TASK}"
STATED = "User asked (deterministic, from compacted turns): "
STALE = "Historical only; newer protected-tail messages after this summary win."


def ground_snapshot(body: str, turns: Sequence[Message], mask: Mask) -> str:
    """The body with the newest request of the turns as its task snapshot; unchanged where they hold none."""
    request = next(real_requests(turns, mask), None)
    if request is None:
        return body
    shown = request if len(request) <= LIMIT else request[: LIMIT - len(CUT) - 1] + "…" + CUT
    before, after = _around_snapshot(body.strip().splitlines())
    blocks = ["\n".join(before).strip(), f"{HEADING}\n{STATED}{shown!r}\n{STALE}", "\n".join(after).strip()]
    return "\n\n".join(filter(None, blocks))


def request_of(line: str) -> str:
    """What the user asked, of a line of a grounded snapshot: empty for the line that says it is stale; another line as it is."""
    if line == STALE:
        return ""
    written = line.removeprefix(STATED)
    if written == line:
        return line
    try:
        request = ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return written
    return request if isinstance(request, str) else written


def _around_snapshot(lines: list[str]) -> tuple[list[str], list[str]]:
    """What stands before and after the first snapshot section; all of it after where there is none."""
    start = next((i for i, line in enumerate(lines) if heading_of(line) is Section.TASK), None)
    if start is None:
        return [], lines
    end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith("## ") or heading_of(lines[i])), len(lines))
    return lines[:start], lines[end:]

"""Writing conversations as OpenAI messages, whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from host.errors import UsageError
from host.messages.types import Message


def write_openai(path: Path, messages: Sequence[Message]) -> None:
    """One conversation: a message a line where the name ends in ``.jsonl``, else a JSON list.

    The file appears whole or not at all; lone surrogates are written as JSON escapes. ``UsageError`` where it cannot be
    written.
    """
    _write(path, messages)


def write_dialogues(path: Path, dialogues: Iterable[tuple[str, Sequence[Message]]]) -> None:
    """Several conversations by title as objects with ``id`` and ``messages``: one a line for ``.jsonl``, else a JSON list."""
    _write(path, [{"id": title, "messages": messages} for title, messages in dialogues])


def _write(path: Path, entries: Sequence[object]) -> None:
    try:
        texts = [json.dumps(entry, ensure_ascii=False) for entry in entries]
        text = "".join(f"{entry}\n" for entry in texts) if path.suffix == ".jsonl" else "[" + ",\n ".join(texts) + "]\n"
        _replace(path, text.encode("utf-8", "backslashreplace"))  # \ud800 is the JSON escape of a lone surrogate too
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "name a file in a folder that exists and may be written") from error


def _replace(path: Path, data: bytes) -> None:
    """Put the bytes in place of a file; a pipe or device is written to as it is."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    target = path.resolve()
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(data)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)

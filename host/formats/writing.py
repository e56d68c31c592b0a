"""Writing conversations as OpenAI messages, whole or not at all."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from uuid import uuid4

from host.errors import UsageError, meaning_of
from host.formats.reopen import STANDARD_INPUT
from host.messages.types import Message

WRITE_BITS = 0o222
NEW_FILE = 0o666  # before the umask


def check_writable(path: Path, *, recording: Path | None = None) -> None:
    """Raise ``UsageError`` where a file could not be written, before the work that it is to hold is done.

    A file without write permission is refused to root too: its owner took the permission away for a reason. ``recording`` is
    what the work reads; a file is not written over it, by whatever name. Nothing is opened or made.
    """
    try:
        mode = _mode_of(path)
        if mode is None or stat.S_ISREG(mode):
            _check_folder(path, path.resolve().parent)
    except OSError as error:
        raise _unwritable(path, error.strerror) from error
    if mode is None:
        return
    if stat.S_ISDIR(mode):
        raise _unwritable(path, "it is a directory")
    if not (mode & WRITE_BITS and os.access(path, os.W_OK)):
        raise _unwritable(path, "it is read-only")
    if recording is not None and stat.S_ISREG(mode) and _is_same(path, recording):
        raise UsageError(f"{path} is the recording itself, it would be overwritten", "name another file")


def write_openai(path: Path, messages: Sequence[Message]) -> None:
    """One conversation: a message a line where the name ends in ``.jsonl``, else a JSON list.

    The file appears whole or not at all, an existing one keeps its mode; lone surrogates are written as JSON escapes, NaN and
    Infinity as null. ``UsageError`` where it cannot be written.
    """
    _write(path, messages)


def write_dialogues(path: Path, dialogues: Iterable[tuple[str, Sequence[Message]]]) -> None:
    """Several conversations by title as objects with ``id`` and ``messages``: one a line for ``.jsonl``, else a JSON list."""
    _write(path, [{"id": title, "messages": messages} for title, messages in dialogues])


def write_text(path: Path, text: str) -> None:
    """Text as it is; the file appears whole or not at all, an existing one keeps its mode. ``UsageError`` like the others."""
    check_writable(path)
    try:
        _replace(path, text.encode("utf-8", "backslashreplace"))  # \ud800 is the JSON escape of a lone surrogate too
    except OSError as error:
        raise _unwritable(path, error.strerror) from error


def _write(path: Path, entries: Sequence[object]) -> None:
    check_writable(path)
    texts = [_json(entry) for entry in entries]
    write_text(path, "".join(f"{entry}\n" for entry in texts) if path.suffix == ".jsonl" else "[" + ",\n ".join(texts) + "]\n")


def _json(entry: object) -> str:
    try:
        return json.dumps(entry, ensure_ascii=False, allow_nan=False)
    except ValueError:  # NaN and Infinity, which a recording may hold but JSON has no word for
        finite = json.loads(json.dumps(entry, ensure_ascii=False), parse_constant=lambda _: None)
        return json.dumps(finite, ensure_ascii=False, allow_nan=False)


def _replace(path: Path, data: bytes) -> None:
    """Put the bytes in place of a file; a pipe or device is written to as it is."""
    mode = _mode_of(path)
    if mode is not None and not stat.S_ISREG(mode):
        path.write_bytes(data)
        return
    target = path.resolve()
    beside = target.with_name(f".{uuid4().hex}.tmp")  # not made from the name, which may be as long as names can be
    permissions = NEW_FILE if mode is None else stat.S_IMODE(mode)
    try:
        with open(beside, "xb", opener=partial(os.open, mode=permissions)) as file:  # never more open than the file before
            file.write(data)
        if mode is not None:
            beside.chmod(permissions)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _mode_of(path: Path) -> int | None:
    """Kind and permissions of a file, behind links; None where there is none yet."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _check_folder(path: Path, folder: Path) -> None:
    """The new file is made beside the old one, so the folder counts for an existing file too."""
    mode = folder.stat().st_mode
    if not stat.S_ISDIR(mode):
        raise _unwritable(path, f"{folder} is no folder")
    if not (mode & WRITE_BITS and os.access(folder, os.W_OK | os.X_OK)):
        raise _unwritable(path, f"the folder {folder} may not be written")


def _is_same(path: Path, recording: Path) -> bool:
    try:
        read = os.fstat(0) if recording == STANDARD_INPUT else recording.stat()
        return os.path.samestat(path.stat(), read)
    except OSError:
        return False  # a recording that is not there is told when it is read


def _unwritable(path: Path, why: str | None) -> UsageError:
    return UsageError(
        f"{path} cannot be written: {meaning_of(why or 'no reason given')}", "name a file in a folder that exists and may be written"
    )

"""A memory in two files: ``MEMORY.md``, what the agent noted of its work, and ``USER.md``, what it noted of the user.

Both stand in the system prompt as they were when the conversation began. The tool ``memory`` changes the files at once, and so the
prompt of the next conversation: the bytes of this one's stay the same, and a provider's prompt cache stays warm.

One note is one line, so that people can read and edit the files too.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from host.plugin import Memory, Message, Place, Tool, ToolError, hookimpl, redact, tool, toolset

FILES = {"memory": "MEMORY.md", "user": "USER.md"}
CAPS = {"memory": 2_200, "user": 1_400}  # characters: what is always in the window must stay small
TITLES = {"memory": "Notes on the work", "user": "Notes on the user"}
LARGEST = 100_000  # bytes of a file that is read at all
NOTED = "Noted"  # how the answer to a note begins that was written
JOINER = "\u200d"  # invisible, and part of many emoji

Target = Annotated[Literal["memory", "user"], "memory: your work; user: who the user is and what they prefer"]


class Notes:
    """The two files in a folder, as a ``Memory`` with a tool."""

    name = "Memory"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def block(self) -> str:
        """Both files for the system prompt, without secrets; a file that cannot be read is a line that says so."""
        return "\n\n".join(filter(None, map(self._section, FILES)))

    @tool
    def memory(self, action: Literal["add", "replace", "remove", "show"], target: Target = "memory", text: str = "", old: str = "") -> str:
        """Keep short notes from conversation to conversation: facts, decisions and preferences that will matter again.

        add: write `text`. replace: put `text` in the place of the note that contains `old`. remove: delete the note that contains
        `old`. show: read the notes. Changes are saved at once, and stand in the system prompt of the next conversation.
        """
        if action == "show":
            return "\n".join(self._read(target)) or "There are no notes yet."
        note = "" if action == "remove" else cleaned(text)
        with self._locked():
            notes = self._read(target)
            changed = changed_by(action, notes, note, old)
            if size_of(changed) > CAPS[target] and len(changed) >= len(notes):
                raise ToolError(
                    f"{FILES[target]} is full: {size_of(notes):,} of {CAPS[target]:,} characters", "remove or shorten a note first"
                )
            self._write(target, changed)
        used = f"{size_of(changed):,} of {CAPS[target]:,} characters used"
        return f"Removed. {used}" if action == "remove" else f"{NOTED} in {FILES[target]}: {note} ({used})"

    def _section(self, target: str) -> str:
        try:
            said = redact("\n".join(self._read(target)), force=True)  # before the cut, behind which a key is no key any more
        except ToolError as error:
            return f"## {TITLES[target]}\n\n({error.what})"
        cut = "" if len(said) <= CAPS[target] else f"\n[cut here: {CAPS[target]:,} of {len(said):,} characters]"
        return f"## {TITLES[target]}\n\n{said[: CAPS[target]]}{cut}" if said else ""

    def _read(self, target: str) -> list[str]:
        """The notes of a file, one a line, blank lines left out."""
        path = self._folder / FILES[target]
        try:
            if not path.exists():
                return []
            if not path.is_file():
                raise ToolError(f"{path.name} is no file", "ask the user to move it away")
            if path.stat().st_size > LARGEST:
                raise ToolError(f"{path.name} is larger than {LARGEST:,} bytes", "ask the user to shorten it")
            return [line.rstrip() for line in path.read_text("utf-8").splitlines() if line.strip()]
        except UnicodeDecodeError as error:
            raise ToolError(f"{path.name} is not UTF-8", "ask the user to convert it") from error
        except OSError as error:
            raise ToolError(f"{path.name} cannot be read: {error.strerror}", "ask the user to look at it") from error

    def _write(self, target: str, notes: Sequence[str]) -> None:
        """Write to a file beside it and rename: who reads sees the old notes or the new ones."""
        path = Path(os.path.realpath(self._folder / FILES[target]))
        if path.exists() and not os.access(path, os.W_OK):
            raise ToolError(f"{path.name} is read-only", "ask the user whether it may be changed")
        try:
            handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".draft-")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.writelines(f"{note}\n" for note in notes)
                    file.flush()
                    os.fsync(file.fileno())
                Path(draft).replace(path)
            finally:
                Path(draft).unlink(missing_ok=True)
        except OSError as error:
            raise ToolError(f"{path.name} cannot be written: {error.strerror}", "tell the user; nothing was noted") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time, among processes too."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = (self._folder / ".lock").open("a")
        except OSError as error:
            raise ToolError(f"the folder of the notes cannot be used: {error.strerror}", "tell the user; nothing was noted") from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def size_of(notes: Sequence[str]) -> int:
    """The characters of these notes in the window."""
    return len("\n".join(notes))


def cleaned(text: str) -> str:
    """A note as one line; ToolError for what must not stand in every prompt from now on."""
    line = " ".join(text.split())
    if not line:
        raise ToolError("text is blank", "give the note as text")
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs") and char != JOINER for char in line):
        raise ToolError("text has invisible or control characters", "write it without them")
    if redact(line, force=True) != line:
        raise ToolError("text looks like it holds a secret", "note where the secret is kept, not the secret")
    return f"- {line.removeprefix('- ')}"


def changed_by(action: str, notes: Sequence[str], note: str, old: str) -> list[str]:
    """The notes after a change."""
    if action == "add":
        return [*notes] if note in notes else [*notes, note]
    found = [number for number, known in enumerate(notes) if old.strip() and old.strip() in known]
    if len(found) != 1:
        raise ToolError(f"{len(found)} notes contain {old[:80]!r}", "give as old a part of exactly one note; action show lists them")
    return [*notes[: found[0]], *filter(None, [note]), *notes[found[0] + 1 :]]


@hookimpl
def ctxhost_tools(place: Place) -> list[Tool]:
    return [*toolset(Notes(place.folder))]


@hookimpl
def ctxhost_memory(place: Place) -> Memory:
    return Notes(place.folder)


@hookimpl
def on_pre_compress(messages: Sequence[Message]) -> str | None:
    """What these messages noted. The system prompt of this conversation does not have it, so the summary must."""
    ours = {call["id"] for message in messages for call in message.get("tool_calls") or () if call["function"]["name"] == "memory"}
    answers = [message.get("content") for message in messages if message.get("tool_call_id") in ours]
    noted = [answer for answer in answers if isinstance(answer, str) and answer.startswith(NOTED)]
    return "Already written into the memory files, and needed no second time:\n" + "\n".join(noted) if noted else None

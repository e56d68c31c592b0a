"""A toolset that reads the workspace: ``list_files``, ``read_file`` and ``search_files``. It changes nothing.

Paths are relative to the workspace, and what a path or a symbolic link leads to must lie in it. Answers are bounded, and say how to
get more. Secrets are masked, and files that are one are not shown.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import Annotated

from host.plugin import Place, Tool, ToolError, hookimpl, redact, tool, toolset

MOST_ENTRIES = 200
MOST_LINES = 500
MOST_MATCHES = 50
MOST_WALKED = 20_000  # entries that one call looks at
LARGEST = 2_000_000  # bytes of a file that is read
LONGEST_LINE = 500  # characters shown of it
LONGEST_ANSWER = 30_000  # characters
PATIENCE = 0.5  # seconds that an expression may take in one file
SKIPPED = {".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
HIDDEN = {".git", ".hg", ".svn"}  # not read either: what is in them is no work of anybody, and addresses with passwords
SECRETS = ("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", ".netrc", ".pgpass")
SETTING = re.compile(
    r"""^(?P<name>\s*(?:export\s+)?[\w.]+\s*=) (?: [ \t]*+ (?: "(?:[^"\\]|\\[\s\S])*+(?:"|\Z) | '[^']*+(?:'|\Z) | `[^`]*+(?:`|\Z) ) )?+ .*$
      | ^(?!\s*(?:\#|$)).+$""",
    re.MULTILINE | re.VERBOSE,
)
"""A setting of an env file, with all lines of a quoted value; or a line that is neither that nor a comment."""
SYSTEM = ("/proc", "/sys", "/dev")

InWorkspace = Annotated[str, "relative to the workspace, '.' for all of it"]


class Workspace:
    """The files below one folder."""

    def __init__(self, folder: Path) -> None:
        self._root = Path(os.path.realpath(folder))

    @tool
    def list_files(self, path: InWorkspace = ".", pattern: str = "*", depth: int = 2) -> str:
        """List files with their sizes in bytes, and folders with a slash at the end, down to `depth` folders.

        `pattern` is a glob for names, such as `*.py`. Folders like .git and node_modules are left out.
        """
        folder = self._folder(path)
        found = (entry for entry in self._walk(folder, max(depth, 1)) if fnmatch(entry.name, pattern))
        lines = [self._listed(entry) for entry in islice(found, MOST_ENTRIES + 1)]
        more = [f"[only the first {MOST_ENTRIES}: give a deeper path or a narrower pattern]"] if len(lines) > MOST_ENTRIES else []
        return "\n".join([*lines[:MOST_ENTRIES], *more]) or f"nothing in {path!r} is called {pattern!r} down to depth {depth}"

    @tool
    def read_file(self, path: InWorkspace, offset: int = 1, limit: int = 200) -> str:
        """Read a text file with line numbers: `limit` lines (at most 500) from line `offset` on, the first being 1."""
        lines = shown_text(self._found(path)).split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        first = max(offset, 1)
        if first > max(len(lines), 1):
            raise ToolError(f"{path} has {len(lines)} lines", f"give an offset up to {len(lines)}")
        given, size = [], 0
        for number, line in enumerate(lines[first - 1 : first - 1 + min(max(limit, 1), MOST_LINES)], start=first):
            given.append(f"{number}: {short(line)}")
            size += len(given[-1]) + 1
            if size > LONGEST_ANSWER:
                break
        last = first + len(given) - 1
        more = [f"[lines {first} to {last} of {len(lines)}; go on with offset {last + 1}]"] if last < len(lines) else []
        return "\n".join([*given, *more]) or f"{path} is empty"

    @tool
    def search_files(self, pattern: str, path: InWorkspace = ".", glob: str = "*", regex: bool = False) -> str:
        """Find lines that contain `pattern`, in files whose name matches `glob`, as `file:line: text`. Case counts.

        With `regex` the pattern is a regular expression. Binary files, very large ones and folders like .git are left out.
        """
        expression = compiled(pattern, regex)
        start = self._inside(path)
        files = [start] if start.is_file() else (Path(entry.path) for entry in self._walk(self._folder(path), 100))
        named = (file for file in files if fnmatch(file.name, glob))
        found = list(islice((hit for file in named for hit in self._hits(file, expression)), MOST_MATCHES + 1))
        more = [f"[only the first {MOST_MATCHES}: give a longer pattern, a path or a glob]"] if len(found) > MOST_MATCHES else []
        return "\n".join([*found[:MOST_MATCHES], *more]) or f"no line in {path!r} ({glob}) matches {pattern!r}"

    def _hits(self, file: Path, expression: object) -> Iterator[str]:
        try:
            text = shown_text(file)
            spans = expression.finditer(text, timeout=PATIENCE)  # type: ignore[attr-defined]
            lines = sorted({text.count("\n", 0, hit.start()) for hit in islice(spans, MOST_MATCHES + 1)})
        except ToolError:
            return  # what cannot be shown is not searched
        except TimeoutError as error:
            raise ToolError(f"the expression takes too long in {self._name(file)}", "make it simpler, or search for plain text") from error
        written = text.split("\n")
        yield from (f"{self._name(file)}:{number + 1}: {short(written[number].strip())}" for number in lines)

    def _walk(self, folder: Path, depth: int) -> Iterator[os.DirEntry[str]]:
        """What is below a folder, by name, no link followed; at most MOST_WALKED entries."""
        return islice(_below(folder, depth), MOST_WALKED)

    def _listed(self, entry: os.DirEntry[str]) -> str:
        name = self._name(Path(entry.path))
        if entry.is_symlink():
            return f"{name} (link)"
        return f"{name}/" if entry.is_dir() else f"{name} ({entry.stat(follow_symlinks=False).st_size:,})"

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._root)).encode("utf-8", "replace").decode()

    def _inside(self, path: str) -> Path:
        if Path(path).is_absolute() or ".." in Path(path).parts or "\0" in path:
            raise ToolError(f"{path!r} may lead out of the workspace", "give a path relative to the workspace, without '..'")
        try:
            real = Path(os.path.realpath(self._root / path))
            real.exists()
        except (OSError, ValueError) as error:  # too long, or characters that no file name has
            raise ToolError(f"{path[:80]!r} is no path of a file", "list_files shows what there is") from error
        if not real.is_relative_to(self._root) or any(real.is_relative_to(system) for system in SYSTEM):
            raise ToolError(f"{path!r} leads out of the workspace", "only files in the workspace can be read")
        if HIDDEN.intersection(part.lower() for part in real.relative_to(self._root).parts):
            raise ToolError(f"{path!r} belongs to the version control and is not shown", "read the files of the workspace itself")
        return real

    def _found(self, path: str) -> Path:
        file = self._inside(path)
        if not file.exists():
            raise ToolError(f"there is no {path!r}", "list_files shows what there is")
        if file.is_dir():
            raise ToolError(f"{path!r} is a folder", "list_files shows what is in it")
        return file

    def _folder(self, path: str) -> Path:
        folder = self._inside(path)
        if not folder.is_dir():
            raise ToolError(f"there is no folder {path!r}", "list_files with path '.' shows the folders; read_file reads a file")
        return folder


def _below(folder: Path, depth: int) -> Iterator[os.DirEntry[str]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return  # a folder that may not be read shows nothing
    for entry in entries:
        if entry.name in SKIPPED:
            continue
        yield entry
        if depth > 1 and entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), depth - 1)


def shown_text(file: Path) -> str:
    """The text of a file with its secrets masked; ToolError where it is not shown. No device or pipe is waited for."""
    name = file.name.lower()
    if any(fnmatch(name, secret) for secret in SECRETS):
        raise ToolError(f"{file.name} holds a secret and is not shown", "ask the user if you need to know something about it")
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(handle, "rb") as opened:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ToolError(f"{file.name} is no regular file", "only regular files can be read")
            raw = opened.read(LARGEST + 1)
    except OSError as error:
        raise ToolError(f"{file.name} cannot be read: {error.strerror}", "ask the user to look at it") from error
    if len(raw) > LARGEST:
        raise ToolError(f"{file.name} is larger than {LARGEST:,} bytes", "ask the user for the part that matters")
    if b"\0" in raw[:8_000]:
        raise ToolError(f"{file.name} is a binary file", "only text can be read")
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    masked = SETTING.sub(_hidden, text) if ".env" in name else text
    return redact(masked, url_credentials=True, force=True)


def _hidden(setting: re.Match[str]) -> str:
    """A setting without its value, on as many lines."""
    return "\n".join([f"{setting['name'] or ''}***", *["***"] * (setting[0].count("\n") - (setting["name"] or "").count("\n"))])


def compiled(pattern: str, is_regex: bool) -> object:
    """The expression that is searched for; of ``regex``, whose searches can be given a time limit."""
    import regex

    if not pattern:
        raise ToolError("the pattern is empty", "give the text that you look for")
    try:
        return regex.compile(pattern if is_regex else regex.escape(pattern), regex.MULTILINE)
    except regex.error as error:
        raise ToolError(f"{pattern!r} is no regular expression: {error}", "correct it, or leave regex out to find plain text") from error


def short(line: str) -> str:
    """A line as it is shown."""
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}... [{len(line):,} characters]"


@hookimpl
def ctxhost_tools(place: Place) -> list[Tool]:
    return [*toolset(Workspace(place.workspace))]

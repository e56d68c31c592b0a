"""What a file is that holds no conversation, in a few words for the error."""

from __future__ import annotations

from collections.abc import Sequence

from host.messages.types import JSON

MAGIC = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x1f\x8b", "gzip data; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "zstd data; unpack it first"),
    (b"BZh", "bzip2 data; unpack it first"),
    (b"\xfd7zXZ\0", "xz data; unpack it first"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"PAR1", "a Parquet table"),
    (b"\xff\xfe\0\0", "text in UTF-32; save it as UTF-8"),
    (b"\xff\xfe", "text in UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16; save it as UTF-8"),
)

KNOWN_OBJECTS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"name", "version", "dependencies"}), "a package.json"),
    (frozenset({"name", "version", "scripts"}), "a package.json"),
    (frozenset({"cells", "nbformat"}), "a Jupyter notebook"),
    (frozenset({"$schema", "properties"}), "a JSON schema"),
    (frozenset({"openapi", "paths"}), "an OpenAPI description"),
    (frozenset({"type", "features"}), "GeoJSON"),
    (frozenset({"thread_id", "type"}), "an event log of `codex exec --json`; the recording is the rollout file of that session"),
    (frozenset({"session_id", "ts", "text"}), "Codex's list of prompts; the recordings are its rollout files"),
    (frozenset({"display", "timestamp", "project"}), "Claude Code's list of prompts; the recordings are in its projects folder"),
    (frozenset({"event"}), "an event log"),
)

MARKS = (
    (("<!doctype html", "<html"), "an HTML page"),
    (("<?xml", "<svg"), "XML"),
    (("#!",), "a script"),
    (("---", "%yaml"), "YAML or Markdown"),
)

KEYS_SHOWN = 6


def unreadable_kind(head: bytes) -> str | None:
    """What the first bytes of a file say it is, None where they may be JSON text."""
    for magic, kind in MAGIC:
        if head.startswith(magic):
            return kind
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:2] in (b"{\0", b"[\0") or start[:2] in (b"\0{", b"\0["):
        return "text in UTF-16; save it as UTF-8"
    if b"\0" in head and start[:1] not in (b"{", b"["):
        return "binary data"
    return None


def text_kind(first_line: str) -> str:
    """What kind of text begins with this line."""
    start = first_line.strip().lower()
    for marks, kind in MARKS:
        if start.startswith(marks):
            return kind
    for separator, kind in ((",", "a CSV table"), ("\t", "a table with tabs"), (";", "a CSV table")):
        cells = first_line.split(separator)
        if len(cells) > 2 and all(cell.strip() and len(cell) < 40 for cell in cells) and not first_line.rstrip().endswith("."):
            return kind
    return "plain text"


def json_kind(value: object, rows: Sequence[JSON]) -> str:
    """What a JSON file holds that no reader knows: a well-known kind of file, else its keys."""
    if isinstance(value, dict):
        return _object_kind(value) or f"a JSON object with {_keys(value)}"
    if isinstance(value, list):
        return _list_kind(value)
    if not rows:
        return "JSON lines without a single object in them"
    kinds = [kind for row in rows if (kind := _object_kind(row))]
    return kinds[0] if kinds else f"JSON lines with {_keys(rows[0])}"


def _object_kind(value: JSON) -> str | None:
    return next((kind for keys, kind in KNOWN_OBJECTS if keys <= value.keys()), None)


def _list_kind(value: list[object]) -> str:
    if not value:
        return "an empty list"
    first = value[0]
    return f"a JSON list of objects with {_keys(first)}" if isinstance(first, dict) else "a JSON list, but not of messages"


def _keys(value: JSON) -> str:
    keys = list(map(str, value))
    if not keys:
        return "no keys"
    more = f" and {len(keys) - KEYS_SHOWN} more" if len(keys) > KEYS_SHOWN else ""
    return f"the key{'s' if len(keys) > 1 else ''} {', '.join(keys[:KEYS_SHOWN])}{more}"

"""Foreign transcripts: recognised, read, mended to what a provider accepts, and written again."""

from __future__ import annotations

from host.formats.mend import NO_RESULT, mend, mended_text
from host.formats.reopen import STANDARD_INPUT
from host.formats.sessions import latest
from host.formats.source import Source
from host.formats.table import FORMATS, format_named, pick, read, recognise
from host.formats.transcript import Draft, Format, Transcript
from host.formats.writing import check_writable, write_dialogues, write_openai

__all__ = [
    "FORMATS",
    "NO_RESULT",
    "STANDARD_INPUT",
    "Draft",
    "Format",
    "Source",
    "Transcript",
    "check_writable",
    "format_named",
    "latest",
    "mend",
    "mended_text",
    "pick",
    "read",
    "recognise",
    "write_dialogues",
    "write_openai",
]

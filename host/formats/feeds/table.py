"""The formats that are read while they grow."""

from __future__ import annotations

from host.formats import claude_code as claude_code_files
from host.formats import codex as codex_files
from host.formats.feeds.claude_code import ClaudeCodeFeed
from host.formats.feeds.codex import CodexFeed
from host.formats.feeds.events import FeedFormat
from host.formats.source import Source

FEEDS: dict[str, FeedFormat] = {
    "claude-code": FeedFormat("claude-code", claude_code_files.recognises, ClaudeCodeFeed, claude_code_files.fault_of),
    "codex": FeedFormat("codex", codex_files.recognises, CodexFeed),
}
"""Name of a client -> how its recordings are read line by line, in the order in which they are tried."""


def feed_format_of(source: Source) -> FeedFormat | None:
    """The format of a file that can be read while it grows; None where it is another file."""
    return next((known for known in FEEDS.values() if known.recognises(source)), None)

"""Recordings that grow, read line by line: what each line adds to which conversation."""

from __future__ import annotations

from host.formats.feeds.events import Event, Feed, FeedFormat, Said, TakenBack
from host.formats.feeds.table import FEEDS, feed_format_of

__all__ = ["FEEDS", "Event", "Feed", "FeedFormat", "Said", "TakenBack", "feed_format_of"]

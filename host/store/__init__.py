"""The archive: every message, by row, for good."""

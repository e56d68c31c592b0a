"""The embedded default: one SQLite file in WAL mode."""

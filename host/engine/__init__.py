"""The contract between the host and an engine."""

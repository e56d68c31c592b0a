"""The built-in engine: it summarises the middle of the conversation."""

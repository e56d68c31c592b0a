"""The corridor that both shipped engines walk, and what the host guarantees after any engine."""

"""The conversation that `ctxhost demo` plays."""

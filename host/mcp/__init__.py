"""The MCP server, and how clients are told of it."""

SDK = "mcp"
"""The package that the server needs; connecting a client does without it."""

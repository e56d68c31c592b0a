"""The MCP server, and how clients are told of it."""

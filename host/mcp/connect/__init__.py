"""How clients are told of the MCP server: their configuration files, changed with care and put back."""

from host.mcp.connect.clients import CLIENTS, Client, Level, Start, Surroundings
from host.mcp.connect.connecting import Change, Plan, Saved, TakenBack, plan, undo, write

__all__ = ["CLIENTS", "Change", "Client", "Plan", "Level", "Saved", "Start", "Surroundings", "TakenBack", "plan", "undo", "write"]

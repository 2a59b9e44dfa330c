"""MCP clients: where each keeps its configuration, and how Nur's entry is added and removed."""

"""The HTTP application: MCP, health and metrics behind one set of checks."""

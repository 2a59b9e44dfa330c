"""The HTTP server: MCP, REST, web page, health and metrics behind one guard."""

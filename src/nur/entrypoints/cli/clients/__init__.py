"""Programs that use Nur over MCP: where each keeps its configuration, and how an entry gets in and out of it."""

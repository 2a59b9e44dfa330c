"""The checks of `nur doctor`: of this machine, and of a running server over HTTP and MCP."""

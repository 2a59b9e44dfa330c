"""The MCP door: tools over streamable HTTP; `nur stdio` relays to it."""

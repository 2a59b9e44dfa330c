"""MCP over standard input and output: a light relay to the data folder's server, in the standard library alone."""

"""MCP over standard input and output: a light relay to the data folder's server. Standard library only."""

"""The bundle's entry point: an MCP server on standard input and output."""

import sys

from nur.entrypoints.cli.app import run

sys.exit(run(["stdio"]))

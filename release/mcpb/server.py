"""Speaks MCP on standard input and output: what a client runs."""

import sys

from nur.entrypoints.cli.app import run

sys.exit(run(["stdio"]))

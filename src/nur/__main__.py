"""The `nur` command."""

from __future__ import annotations

import sys

from nur.entrypoints.cli.app import run


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run())


if __name__ == "__main__":
    main()

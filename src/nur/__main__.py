"""The `nur` command."""

from __future__ import annotations

import os
import sys

from nur.entrypoints.cli.app import run


def main() -> None:
    """Run the command line and exit with its code."""
    # Before numpy is imported: a matrix times a vector waits for memory, and further threads wait with it at full
    # speed (on two cores half of a search's CPU).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(run())


if __name__ == "__main__":
    main()

"""The `nur` command."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from nur.entrypoints.cli.app import run


def main() -> None:
    """Run the command line and exit with its code."""
    # Before numpy is imported: a matrix times a vector waits for memory, and further threads wait with it at full
    # speed (on two cores half of a search's CPU).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(run(called=_called()))


def _called() -> str:
    """How the user calls this program: hints repeat it."""
    if Path(sys.argv[0]).stem != "nur-memory":
        return "nur"
    return "uvx nur-memory" if "UV" in os.environ else "nur-memory"  # uvx sets it, and puts nothing on the PATH


if __name__ == "__main__":
    main()

"""The `nur` command."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HOOK = "hook"


def main() -> None:
    """Run the command line and exit with its code."""
    # Before numpy is imported: a matrix times a vector waits for memory, and further threads wait with it at full
    # speed (on two cores half of a search's CPU).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: Sequence[str]) -> int:
    # Imported where they are needed: a hook runs before every prompt, and the command line costs it twice its time.
    if arguments[:1] == [HOOK] and not {"-h", "--help"} & set(arguments):
        from nur.entrypoints.hooks.run import main as run_hook

        return run_hook(arguments[1:])
    from nur.entrypoints.cli.app import run

    return run(called=_called())


def _called() -> str:
    """How the user calls this program: hints repeat it."""
    if Path(sys.argv[0]).stem != "nur-memory":
        return "nur"
    return "uvx nur-memory" if "UV" in os.environ else "nur-memory"  # uvx sets it, and puts nothing on the PATH


if __name__ == "__main__":
    main()

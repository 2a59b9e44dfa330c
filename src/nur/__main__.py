"""Entry point of the `nur` command."""

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
    # Before numpy is imported: matrix-vector products are bound by memory, so more BLAS threads only spin (on two
    # cores, half of a search's CPU time).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: Sequence[str]) -> int:
    # A hook runs before every prompt, and importing the command line would double its time.
    if arguments[:1] == [HOOK] and not {"-h", "--help"} & set(arguments):
        from nur.entrypoints.hooks.run import main as run_hook

        return run_hook(arguments[1:])
    from nur.entrypoints.cli.app import run

    return run(called=_called())


def _called() -> str:
    """Return the command that the user typed, to repeat it in hints."""
    if Path(sys.argv[0]).stem != "nur-memory":
        return "nur"
    return "uvx nur-memory" if "UV" in os.environ else "nur-memory"  # set by uvx, which does not add to PATH


if __name__ == "__main__":
    main()

"""How far a command is: a line on a terminal, nothing in a pipe."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


def shown_progress(*, quiet: bool = False) -> Progress:
    """A bar on standard error for as long as its block lasts; in a pipe, or when `quiet`, nothing is shown."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
    return Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        disable=quiet or not console.is_terminal,
        transient=True,
    )

"""The command line, run in this process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from nur.entrypoints.cli.app import nur

if TYPE_CHECKING:
    from pathlib import Path


class Cli:
    """Runs commands on one data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str, answer: str | None = None) -> str:
        result = CliRunner().invoke(nur, [*arguments, "--data-dir", str(self.folder)], input=answer)
        assert result.exit_code == 0, (result.output, result.exception)
        return result.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json"))

"""Facts about the data folder's server, read from its `server.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nur.entrypoints.stdio.locate import running_server

if TYPE_CHECKING:
    from pathlib import Path

LOG = "server.log"  #: in the data folder: log of a server that runs without a terminal


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a server records about itself once its store is open."""

    url: str
    pid: int
    version: str
    started_at: datetime


def recorded_server(folder: Path) -> ServerFacts | None:
    """Contents of `server.json`, whether or not the server still runs; None if it is missing or invalid."""
    file = folder / "server.json"
    try:
        fields = json.loads(file.read_text(encoding="utf-8"))
        started = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        return ServerFacts(str(fields["url"]), int(fields["pid"]), str(fields["version"]), started)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def answering_server(folder: Path) -> ServerFacts | None:
    """The data folder's server; None if it does not answer."""
    return None if running_server(folder) is None else recorded_server(folder)

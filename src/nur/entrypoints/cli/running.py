"""The data folder's server, as recorded in `server.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nur.entrypoints.stdio.locate import running

if TYPE_CHECKING:
    from pathlib import Path

LOG = "server.log"  #: in the data folder: the log of a server that has no terminal


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a server writes about itself when its store is open."""

    url: str
    pid: int
    version: str
    started_at: datetime


def facts(folder: Path) -> ServerFacts | None:
    """The contents of `server.json`, whether or not the server still runs."""
    file = folder / "server.json"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        started = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        return ServerFacts(str(found["url"]), int(found["pid"]), str(found["version"]), started)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def find(folder: Path) -> ServerFacts | None:
    """The server of this data folder, if it answers."""
    return None if running(folder) is None else facts(folder)

"""Nur's entry in a client's configuration: a command to start, or a URL to call."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from nur.domain.errors import BadConfiguration
from nur.settings import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.entrypoints.cli.clients.table import Client

_PROGRAMS = ("nur", "nur-memory")
#: uv's folder of temporary environments, which it may delete at any time.
_UV_CACHE = "archive-v0"


def program() -> list[str]:
    """Command that runs Nur on this machine, with absolute paths: desktop programs have a short PATH."""
    uvx = shutil.which("uvx")
    if _UV_CACHE in PurePath(sys.prefix).parts and uvx:
        return [uvx, "--from", "nur-memory", "nur"]
    script = Path(sys.executable).with_name("nur.exe" if sys.platform == "win32" else "nur")
    return [str(script)] if script.exists() else [sys.executable, "-m", "nur"]


@dataclass(frozen=True, slots=True)
class Stdio:
    """The client starts `nur stdio`."""

    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)

    def entry(self, client: Client, *, shared: bool) -> dict[str, Any]:
        """The entry in the client's format."""
        del shared
        env = {"env": dict(self.env)} if self.env else {}
        return {**client.stdio, "command": self.command[0], "args": list(self.command[1:]), **env}


@dataclass(frozen=True, slots=True)
class Http:
    """The client calls a running server."""

    url: str
    token: str | None

    def entry(self, client: Client, *, shared: bool) -> dict[str, Any]:
        """The entry in the client's format. A shared file never gets the token itself. Raises BadConfiguration."""
        if client.url_key is None:
            raise BadConfiguration(f"{client.title} accepts commands only, not URLs: omit --http.")
        entry = {**client.http, client.url_key: self.url}
        if self.token is None:
            return entry
        if not shared:
            return {**entry, client.headers_key: {"Authorization": f"Bearer {self.token}"}}
        if client.shared_token is None:
            raise BadConfiguration(
                "The server has a token, and a project's file is often shared: use --scope user, or omit --http."
            )
        return {**entry, **client.shared_token}


def is_ours(client: Client, entry: Any, url: str) -> bool:
    """Whether an entry belongs to Nur: it runs `nur stdio`, or calls /mcp on loopback or on the host of `url`."""
    if not isinstance(entry, dict):
        return False
    words = [entry.get("command"), *(entry.get("args") or ())]
    if "stdio" in words:
        return any(PurePath(str(word).replace("\\", "/")).stem in _PROGRAMS for word in words)
    address = urlsplit(str(entry.get(client.url_key or "url") or ""))
    return address.path.rstrip("/") == "/mcp" and address.hostname in (*LOOPBACK, urlsplit(url).hostname)


def transport(entry: Any) -> str:
    """Transport of one of Nur's entries: stdio or http."""
    return "stdio" if "command" in entry else "http"

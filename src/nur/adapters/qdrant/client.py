"""Connecting to Qdrant, and deleting a collection that the operator names.

Uses the synchronous client in threads: the asynchronous client serialises vectors to JSON on the event loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from httpx import HTTPError
from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ApiException

from nur.domain.errors import BadRequest, IndexDown

if TYPE_CHECKING:
    from pathlib import Path

_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class QdrantServer:
    """A Qdrant server."""

    url: str
    api_key: str | None = None
    is_shared: bool = True

    def __str__(self) -> str:
        return f"Qdrant at {self.url}"


@dataclass(frozen=True, slots=True)
class QdrantFolder:
    """The client library's in-process engine, in a folder that no other process uses: for tests and small stores."""

    path: Path | None = None  #: None: in memory
    is_shared: bool = False

    def __str__(self) -> str:
        return "Qdrant inside this process"  # its path stays private


def connect(location: QdrantServer | QdrantFolder, timeout_seconds: int) -> QdrantClient:
    """A client. Sends no request yet."""
    if isinstance(location, QdrantServer):
        return QdrantClient(
            url=location.url, api_key=location.api_key, timeout=timeout_seconds, check_compatibility=False, port=None
        )
    if location.path is None:
        return QdrantClient(location=":memory:", force_disable_check_same_thread=True)
    return QdrantClient(path=str(location.path), force_disable_check_same_thread=True)


def wipe_collection(location: QdrantServer | QdrantFolder, name: str) -> None:
    """Delete a collection, even one that another program made. Raises BadRequest if it does not exist, IndexDown."""
    try:
        client = connect(location, _TIMEOUT_SECONDS)
        try:
            if not client.collection_exists(name):
                raise BadRequest(f"There is no collection '{name}' in {location}.")
            client.delete_collection(name)
        finally:
            client.close()
    except (ApiException, HTTPError, OSError) as error:
        raise IndexDown(f"Cannot connect to {location}. Ensure that it is running.") from error

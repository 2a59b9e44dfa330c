"""Connecting to Qdrant, and deleting a collection there that the operator names.

The synchronous client, in threads: its asynchronous twin writes vectors as JSON on the event loop.
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
    """A Qdrant that runs by itself."""

    url: str
    api_key: str | None = None
    is_shared: bool = True

    def __str__(self) -> str:
        return f"Qdrant at {self.url}"


@dataclass(frozen=True, slots=True)
class QdrantFolder:
    """The client's own engine, in a folder that no other process uses: for tests and small stores."""

    path: Path | None = None  #: None: in memory
    is_shared: bool = False

    def __str__(self) -> str:
        return "Qdrant inside this process"  # its path stays private


def connect(place: QdrantServer | QdrantFolder, timeout_seconds: int) -> QdrantClient:
    """A client; a server is not asked anything yet."""
    if isinstance(place, QdrantServer):
        return QdrantClient(
            url=place.url, api_key=place.api_key, timeout=timeout_seconds, check_compatibility=False, port=None
        )
    if place.path is None:
        return QdrantClient(location=":memory:", force_disable_check_same_thread=True)
    return QdrantClient(path=str(place.path), force_disable_check_same_thread=True)


def wipe_collection(place: QdrantServer | QdrantFolder, name: str) -> None:
    """Delete it, even if another program made it. Raises BadRequest when there is none, IndexDown."""
    try:
        client = connect(place, _TIMEOUT_SECONDS)
        try:
            if not client.collection_exists(name):
                raise BadRequest(f"There is no collection '{name}' in {place}.")
            client.delete_collection(name)
        finally:
            client.close()
    except (ApiException, HTTPError, OSError) as error:
        raise IndexDown(f"Cannot connect to {place}. Ensure that it is running.") from error

"""Delete a collection of another program, which the operator names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from httpx import HTTPError
from qdrant_client.http.exceptions import ApiException

from nur.adapters.qdrant.client import connect
from nur.domain.errors import BadRequest, IndexDown

if TYPE_CHECKING:
    from nur.adapters.qdrant.client import QdrantFolder, QdrantServer

_TIMEOUT_SECONDS = 30


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

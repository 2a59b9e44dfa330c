"""Delete a collection of another program, which the operator names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chromadb.errors import NotFoundError

from nur.adapters.chroma.client import connect, disconnect
from nur.domain.errors import BadRequest, IndexDown, NurError

if TYPE_CHECKING:
    from nur.adapters.chroma.client import ChromaFolder, ChromaServer

_TIMEOUT_SECONDS = 30.0


def wipe_collection(place: ChromaServer | ChromaFolder, name: str) -> None:
    """Delete it, even if another program made it. Raises BadRequest when there is none, IndexDown."""
    try:
        client = connect(place, _TIMEOUT_SECONDS)
        try:
            client.delete_collection(name)
        except (NotFoundError, ValueError):
            raise BadRequest(f"There is no collection '{name}' in {place}.") from None
        finally:
            disconnect(client)
    except NurError:
        raise
    except Exception as error:  # Chroma raises bare Exceptions
        raise IndexDown(place.unreachable) from error

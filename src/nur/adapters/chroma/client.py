"""Connecting to Chroma, letting go of it, and removing what it keeps.

The synchronous client, in threads: its asynchronous twin encodes requests on the event loop (24 ms for 100 vectors of
3,072 dimensions), does not check certificates, and exists for servers only.
"""

from __future__ import annotations

import http.client
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import chromadb
from chromadb.config import Settings
from chromadb.errors import NotFoundError

from nur.domain.errors import BadRequest, IndexDown, NurError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from chromadb.api import ClientAPI


_KNOCK_SECONDS = 5.0

FILE = "chroma.sqlite3"
_BUSY_SECONDS = 10.0  #: another of Chroma's connections may be reading

#: Chroma's queue keeps what was written until 1,000 records are; of a record that was deleted since, only that counts.
_DELETE = 3
_FORGET_SUPERSEDED = """
    DELETE FROM embeddings_queue AS old WHERE EXISTS (
        SELECT 1 FROM embeddings_queue AS gone
        WHERE gone.topic = old.topic AND gone.id = old.id AND gone.seq_id > old.seq_id AND gone.operation = ?
    )
"""
#: Words of deleted documents stay in the full-text index until its parts are merged.
_MERGE_WORDS = "INSERT INTO embedding_fulltext_search(embedding_fulltext_search) VALUES ('optimize')"

_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """A Chroma that runs by itself."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"ChromaDB at {self.host}:{self.port}"

    @property
    def unreachable(self) -> str:
        """The message when it does not answer: the text of the specification's section 6.2."""
        return f"Cannot connect to {self}. Ensure ChromaDB is running."


@dataclass(frozen=True, slots=True)
class ChromaFolder:
    """A Chroma inside this process, in a folder that no other process uses."""

    path: Path

    def __str__(self) -> str:
        return "The embedded ChromaDB"  # its path stays private

    @property
    def unreachable(self) -> str:
        """The message when it does not open."""
        return f"{self} cannot be opened. Ensure that no other process uses its folder."


def connect(place: ChromaServer | ChromaFolder, timeout_seconds: float) -> ClientAPI:
    """A client that answers. Raises whatever Chroma raises."""
    settings = Settings(_env_file=None, anonymized_telemetry=False)
    if isinstance(place, ChromaFolder):
        return chromadb.PersistentClient(str(place.path), settings=settings)
    _knock(place)
    client = chromadb.HttpClient(place.host, place.port, settings=settings)
    for session in _sessions(client):
        session.timeout = timeout_seconds
    return client


def disconnect(client: Any) -> None:
    """Close files and connections. Any: `close` is in every client but not in Chroma's own `ClientAPI`."""
    sessions = list(_sessions(client))
    client.close()
    for session in sessions:
        session.close()


def _knock(place: ChromaServer) -> None:
    """Chroma's client asks three questions when it is made, and would wait for ever for the answers."""
    with closing(http.client.HTTPConnection(place.host, place.port, timeout=_KNOCK_SECONDS)) as connection:
        connection.request("GET", "/api/v2/heartbeat")
        if connection.getresponse().status != http.HTTPStatus.OK:
            raise ConnectionError("no heartbeat")


def _sessions(client: Any) -> Iterator[Any]:
    """The HTTP clients inside: Chroma 1.5.9 has no setting for their timeout (none) and never closes them."""
    for inner in (client, getattr(client, "_admin_client", None)):
        session = getattr(getattr(inner, "_server", None), "_session", None)
        if session is not None:
            yield session


def scrub(folder: Path) -> None:
    """Rewrite the database of an embedded Chroma (1.5.9) without what was deleted. Raises sqlite3.Error."""
    with closing(sqlite3.connect(folder / FILE, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
        connection.execute(_FORGET_SUPERSEDED, [_DELETE])
        connection.execute(_MERGE_WORDS)
        connection.execute("VACUUM")


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

"""Connecting to Chroma, disconnecting, and erasing deleted data.

Uses the synchronous client in threads. The asynchronous client encodes requests on the event loop (24 ms for 100
vectors of 3,072 dimensions), does not check certificates, and supports servers only.
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


_HEARTBEAT_SECONDS = 5.0

FILE = "chroma.sqlite3"
_BUSY_SECONDS = 10.0  #: wait for the lock: another connection of Chroma may be reading

#: Chroma keeps up to 1,000 written records in a queue. Of a record deleted since, only the deletion is needed.
_DELETE = 3
_DROP_SUPERSEDED = """
    DELETE FROM embeddings_queue AS old WHERE EXISTS (
        SELECT 1 FROM embeddings_queue AS gone
        WHERE gone.topic = old.topic AND gone.id = old.id AND gone.seq_id > old.seq_id AND gone.operation = ?
    )
"""
#: Words of deleted documents stay in the full-text index until its segments are merged.
_MERGE_FULL_TEXT = "INSERT INTO embedding_fulltext_search(embedding_fulltext_search) VALUES ('optimize')"

_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """A Chroma server."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"ChromaDB at {self.host}:{self.port}"

    @property
    def unreachable(self) -> str:
        """Message when it does not answer: the wording of the specification's section 6.2."""
        return f"Cannot connect to {self}. Ensure ChromaDB is running."


@dataclass(frozen=True, slots=True)
class ChromaFolder:
    """Chroma embedded in this process, in a folder that no other process uses."""

    path: Path

    def __str__(self) -> str:
        return "The embedded ChromaDB"  # its path stays private

    @property
    def unreachable(self) -> str:
        """Message when it cannot be opened."""
        return f"{self} cannot be opened. Ensure that no other process uses its folder."


def connect(location: ChromaServer | ChromaFolder, timeout_seconds: float) -> ClientAPI:
    """A connected client. Raises whatever Chroma raises."""
    settings = Settings(_env_file=None, anonymized_telemetry=False)
    if isinstance(location, ChromaFolder):
        return chromadb.PersistentClient(str(location.path), settings=settings)
    _check_heartbeat(location)
    client = chromadb.HttpClient(location.host, location.port, settings=settings)
    for session in _sessions(client):
        session.timeout = timeout_seconds
    return client


def disconnect(client: Any) -> None:
    """Close files and connections. `client` is Any because Chroma's `ClientAPI` does not declare `close`."""
    sessions = list(_sessions(client))
    client.close()
    for session in sessions:
        session.close()


def _check_heartbeat(location: ChromaServer) -> None:
    """Chroma's client sends three requests when it is created, without a timeout: check first that it answers."""
    with closing(http.client.HTTPConnection(location.host, location.port, timeout=_HEARTBEAT_SECONDS)) as connection:
        connection.request("GET", "/api/v2/heartbeat")
        if connection.getresponse().status != http.HTTPStatus.OK:
            raise ConnectionError("no heartbeat")


def _sessions(client: Any) -> Iterator[Any]:
    """The client's HTTP sessions: Chroma 1.5.9 sets no timeout, offers no setting for one, and never closes them."""
    for inner in (client, getattr(client, "_admin_client", None)):
        session = getattr(getattr(inner, "_server", None), "_session", None)
        if session is not None:
            yield session


def scrub(folder: Path) -> None:
    """Erase deleted data from the database file of an embedded Chroma (1.5.9). Raises sqlite3.Error."""
    with closing(sqlite3.connect(folder / FILE, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
        connection.execute(_DROP_SUPERSEDED, [_DELETE])
        connection.execute(_MERGE_FULL_TEXT)
        connection.execute("VACUUM")


def wipe_collection(location: ChromaServer | ChromaFolder, name: str) -> None:
    """Delete a collection, even one that another program made. Raises BadRequest if it does not exist, IndexDown."""
    try:
        client = connect(location, _TIMEOUT_SECONDS)
        try:
            client.delete_collection(name)
        except (NotFoundError, ValueError):
            raise BadRequest(f"There is no collection '{name}' in {location}.") from None
        finally:
            disconnect(client)
    except NurError:
        raise
    except Exception as error:  # Chroma raises bare Exceptions
        raise IndexDown(location.unreachable) from error

"""Qdrant as a derived index: one point per chunk, with a dense and a BM25 vector."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from uuid import UUID

from httpx import HTTPError
from qdrant_client.http.exceptions import ApiException

from nur.adapters.qdrant import filters
from nur.adapters.qdrant.client import connect
from nur.adapters.qdrant.collection import QdrantCollection, QdrantLayout
from nur.adapters.qdrant.points import points_of, query_vector
from nur.domain.chunks import sha256
from nur.domain.embedding import EmbeddingModel
from nur.domain.errors import IndexDown
from nur.domain.notes import ChunkKey, NoteId
from nur.observability.events import EventLog
from nur.ports.vector_index import IndexHealth, Neighbour, newest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qdrant_client import QdrantClient, models

    from nur.adapters.qdrant.client import QdrantFolder, QdrantServer
    from nur.domain.filters import NoteFilter
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats
    from nur.ports.vector_index import IndexOp

T = TypeVar("T")
P = ParamSpec("P")

_THREADS = 8  #: a separate pool, so that a hanging Qdrant does not block the event loop's threads
_TIMEOUT_SECONDS = 30
_HEALTH_SECONDS = 5.0
_QUERY_SECONDS = 2.0  #: a search then falls back to the store

_log = EventLog("qdrant")


class QdrantVectorIndex:
    """Indexes chunks in one collection per embedding version.

    Qdrant itself refuses to replace a point with an earlier revision, so any number of workers may write. A removal
    leaves no point to compare with, so each process remembers its own removals in memory. Another worker's stale write
    can therefore bring back a removed note's points. The store filters those out, and a rebuild deletes them.
    """

    name = "qdrant"
    follows_commits = False
    is_in_store = False

    def __init__(
        self,
        location: QdrantServer | QdrantFolder,
        *,
        store_id: str,
        embedding_version: str,
        clock: Clock,
        collection: str = "nur",
        layout: QdrantLayout | None = None,
        connect: Callable[[QdrantServer | QdrantFolder, int], QdrantClient] = connect,
    ) -> None:
        """`collection` is the prefix of the collection's name; a hash of the embedding version is appended."""
        self._location = location
        self._store_id = store_id
        self._version = embedding_version
        self._clock = clock
        self._collection_name = f"{collection}_{sha256(embedding_version)[:8]}"
        self._layout = layout or QdrantLayout()
        self._connect = connect
        # The in-process engine is not thread-safe.
        self._threads = ThreadPoolExecutor(_THREADS if location.is_shared else 1, thread_name_prefix="qdrant")
        self._opened: QdrantCollection | None = None
        self._removed: dict[NoteId, int] = {}

    async def open(self) -> None:
        """Connect and open the collection. Raises StoreForeign, IndexDown; may then be called again."""
        if self._opened is None:
            self._opened = await self._run("open", self._open)

    async def close(self) -> None:
        """Wait for running operations and disconnect."""
        collection, self._opened = self._opened, None
        if collection is not None:
            await self._run("close", collection.client.close)
        await asyncio.to_thread(self._threads.shutdown)

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        """Apply idempotently: an older revision never overwrites a newer one. Raises IndexDown; then retry."""
        collection = self._collection()
        await asyncio.gather(*(self._run("apply", self._apply, collection, op) for op in newest(ops)))

    async def query(self, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        """The nearest chunks that match the filter, nearest first, ties by key. Raises IndexDown, IndexLost."""
        return await self._nearest(vector.tolist(), where, limit)

    async def by_words(self, terms: Sequence[str], where: NoteFilter, limit: int) -> list[Neighbour]:
        """The chunks with the best BM25 score for the terms, best first. Raises IndexDown, IndexLost."""
        return await self._nearest(query_vector(terms), where, limit) if terms else []

    async def count(self) -> int:
        """Number of indexed chunks."""
        return await self._run("count", self._collection().count)

    async def was_closed_cleanly(self) -> bool:
        """Always: Qdrant recovers by itself."""
        return True

    async def reset(self) -> None:
        """Delete this embedding version's points of this store."""
        await self._run("reset", self._collection().drop)
        self._removed.clear()

    async def scrub(self) -> None:
        """Nothing to do: payloads contain no text, and a server's files are left to its operator."""

    async def health(self) -> IndexHealth:
        """Count the points."""
        started = time.perf_counter()
        error = None
        try:
            async with asyncio.timeout(_HEALTH_SECONDS):
                await self.count()
        except (IndexDown, TimeoutError) as failure:
            error = str(failure) or self._unreachable
        latency_ms = round((time.perf_counter() - started) * 1000)
        return IndexHealth(healthy=error is None, latency_ms=latency_ms, error=error)

    async def _nearest(
        self, query: list[float] | models.SparseVector, where: NoteFilter, limit: int
    ) -> list[Neighbour]:
        if limit <= 0:
            return []
        selected = filters.matching(where, self._clock.now())
        try:
            async with asyncio.timeout(_QUERY_SECONDS):
                points = await self._run("query", self._collection().nearest, query, selected, limit)
        except TimeoutError as error:
            _log.error("qdrant_failed", operation="query", error="TimeoutError")
            raise IndexDown(f"{self._location} did not answer within {_QUERY_SECONDS:g} seconds.") from error
        return sorted(map(_neighbour, points), key=lambda neighbour: (-neighbour.similarity, neighbour.chunk_key))

    def _collection(self) -> QdrantCollection:
        if self._opened is None:
            raise IndexDown(self._unreachable)
        return self._opened

    @property
    def _unreachable(self) -> str:
        return f"Cannot connect to {self._location}. Ensure that it is running."

    def _open(self) -> QdrantCollection:
        client = self._connect(self._location, _TIMEOUT_SECONDS)
        try:
            collection = QdrantCollection(
                client,
                self._collection_name,
                self._store_id,
                self._version,
                EmbeddingModel.parse(self._version).dimensions,
                self._layout,
                has_payload_indexes=self._location.is_shared,
            )
            collection.open()
        except BaseException:
            client.close()
            raise
        return collection

    def _apply(self, collection: QdrantCollection, op: IndexOp) -> None:
        """Write points, then delete obsolete ones: a crash in between leaves extra points, which a retry deletes."""
        if op.revision < self._removed.get(op.note_id, 0):
            return
        points = points_of(op, self._version)
        if points:
            self._removed.pop(op.note_id, None)
            collection.upsert(points, op.revision)
        else:
            self._removed[op.note_id] = op.revision
        # If a later revision exists, the points just written are obsolete too.
        kept = () if collection.has_newer(op.note_id, op.revision) else [UUID(str(point.id)) for point in points]
        collection.delete(filters.of_note(op.note_id, up_to=op.revision, but=kept))

    async def _run(self, operation: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, partial(work, *args, **kwargs))
        except (ApiException, HTTPError, OSError, ValueError) as error:
            cause = type(error).__name__
            _log.error("qdrant_failed", operation=operation, error=cause)
            status = getattr(error, "status_code", None)
            raise IndexDown(f"{self._location} failed: {cause} {status}" if status else self._unreachable) from error


def _neighbour(point: models.ScoredPoint) -> Neighbour:
    payload = point.payload or {}
    return Neighbour(ChunkKey(payload["chunk_key"]), NoteId(UUID(payload["note_id"])), point.score)

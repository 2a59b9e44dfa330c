"""Chroma as a derived vector index, with the specification's collections."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from uuid import UUID

from chromadb.errors import ChromaError

from nur.adapters.chroma import collections as names
from nur.adapters.chroma import where
from nur.adapters.chroma.client import ChromaFolder, connect, disconnect, scrub
from nur.adapters.chroma.records import records_of
from nur.adapters.chroma.store import ChromaStore
from nur.domain.embedding import EmbeddingModel
from nur.domain.errors import IndexDown, NurError
from nur.domain.notes import ChunkKey, NoteId
from nur.observability import metrics
from nur.observability.events import EventLog
from nur.ports.vector_index import IndexHealth, Neighbour, newest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from nur.adapters.chroma.client import ChromaServer
    from nur.adapters.chroma.records import ChromaRecord
    from nur.adapters.chroma.store import ChromaHit, ExistingRecord
    from nur.domain.filters import NoteFilter
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats
    from nur.ports.vector_index import IndexOp

T = TypeVar("T")
P = ParamSpec("P")

_THREADS = 8  #: a separate pool, so that a hanging Chroma does not block the event loop's threads
_HEALTH_SECONDS = 5.0
_QUERY_SECONDS = 2.0  #: a search then falls back to lexical results
_OVERFETCH = 2  #: records fetched per hit wanted: some are expired, parents or of other tenants

_log = EventLog("chroma")


def _is_chroma_error(error: BaseException) -> bool:
    """Whether Chroma raised the error. It raises bare Exceptions, and its Rust core panics with a BaseException."""
    if isinstance(error, Exception):
        return not isinstance(error, NurError)
    return type(error).__name__ == "PanicException"


class ChromaVectorIndex:
    """Indexes chunks in a Chroma server or an embedded Chroma.

    Before a write, the revision in Chroma is read under a lock of this process, so that an older write never wins. A
    removal leaves no record, so this process remembers it in memory. After a restart, or with another worker, a stale
    write can therefore bring back a removed note's records. The store filters those out, and a rebuild deletes them.
    """

    name = "chroma"
    follows_commits = False
    is_in_store = False

    def __init__(
        self,
        location: ChromaServer | ChromaFolder,
        *,
        store_id: str,
        embedding_version: str,
        clock: Clock,
        suffix: str = "",
        timeout_seconds: float = 30.0,
        query_seconds: float = _QUERY_SECONDS,
    ) -> None:
        """`suffix` is added to the collection names of every embedding version but the first."""
        self._location = location
        self._store_id = store_id
        self._model = EmbeddingModel.parse(embedding_version)
        self._clock = clock
        self._suffix = suffix
        self._timeout_seconds = timeout_seconds
        self._query_seconds = query_seconds
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="chroma")
        self._store: ChromaStore | None = None
        self._clean = False
        self._write_queue = asyncio.Lock()  # writers wait here instead of occupying threads
        self._write_lock = Lock()  # locked in the thread: a cancelled caller's write still finishes first
        self._removed: dict[NoteId, int] = {}
        self._is_dirty = True  # an earlier process may have deleted records without scrubbing

    async def open(self) -> None:
        """Connect and open the collections. Raises StoreForeign, IndexDown; may then be called again."""
        if self._store is None:
            self._store, self._clean = await self._run("open", self._open)

    async def close(self) -> None:
        """Wait for running operations and set the clean mark. If Chroma is unreachable, only logs that."""
        store, self._store = self._store, None
        if store is not None:
            try:
                await self._run("close", self._close, store)
            except IndexDown as error:
                _log.warning("chroma_close_failed", error=type(error.__cause__).__name__)
        await asyncio.to_thread(self._threads.shutdown)

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        """Apply idempotently: an older revision never overwrites a newer one. Raises IndexDown; then retry."""
        async with self._write_queue:
            await self._run("apply", self._apply, self._opened(), ops)

    async def query(self, vector: Floats, note_filter: NoteFilter, limit: int) -> list[Neighbour]:
        """The nearest chunks that match the filter, nearest first, ties by key. Raises IndexDown, IndexLost."""
        if limit <= 0:
            return []
        try:
            async with asyncio.timeout(self._query_seconds):
                hits = await self._query_all(vector, note_filter, limit)
        except TimeoutError as error:
            metrics.CHROMA_ERRORS.labels("TimeoutError").inc()
            _log.error("chroma_failed", operation="query", error="TimeoutError")
            raise IndexDown(f"{self._location} did not answer within {self._query_seconds:g} seconds.") from error
        neighbours = [_neighbour(hit) for hit in hits]
        neighbours.sort(key=lambda neighbour: (-neighbour.similarity, neighbour.chunk_key))
        return neighbours[:limit]

    async def count(self) -> int:
        """Number of indexed chunks."""
        return await self._run("count", self._opened().count)

    async def was_closed_cleanly(self) -> bool:
        """Whether the last owner had closed the index when `open` was called."""
        return self._clean

    async def reset(self) -> None:
        """Delete this embedding version's collections of this store."""
        await self._run("reset", self._reset, self._opened())

    async def scrub(self) -> None:
        """Erase deleted data from an embedded Chroma's database. A server's files are left to its operator."""
        if isinstance(self._location, ChromaFolder) and self._is_dirty:
            await self._run("scrub", self._scrub, self._location)

    async def health(self) -> IndexHealth:
        """Send a heartbeat request."""
        started = time.perf_counter()
        error = None
        try:
            async with asyncio.timeout(_HEALTH_SECONDS):
                await self._run("heartbeat", self._opened().heartbeat)
        except (IndexDown, TimeoutError) as failure:
            error = str(failure) or self._location.unreachable
        latency_ms = round((time.perf_counter() - started) * 1000)
        return IndexHealth(healthy=error is None, latency_ms=latency_ms, error=error)

    async def _query_all(self, vector: Floats, note_filter: NoteFilter, limit: int) -> list[ChromaHit]:
        """The nearest records of each collection."""
        store, now = self._opened(), self._clock.now()
        results = await asyncio.gather(
            *(
                self._run("query", self._nearest, store, name, vector, note_filter, limit, now)
                for name in names.of_kinds(note_filter.kinds)
            )
        )
        return [hit for hits in results for hit in hits]

    def _opened(self) -> ChromaStore:
        if self._store is None:
            raise IndexDown(self._location.unreachable)
        return self._store

    def _open(self) -> tuple[ChromaStore, bool]:
        client = connect(self._location, self._timeout_seconds)
        try:
            store = ChromaStore(
                client, store_id=self._store_id, embedding_version=self._model.version, suffix=self._suffix
            )
            return store, store.open()
        except BaseException:
            disconnect(client)
            raise

    def _close(self, store: ChromaStore) -> None:
        with self._write_lock:
            try:
                store.mark(clean=True)
            finally:
                disconnect(store.client)

    def _scrub(self, location: ChromaFolder) -> None:
        with self._write_lock:
            scrub(location.path)
            self._is_dirty = False

    def _reset(self, store: ChromaStore) -> None:
        with self._write_lock:
            store.drop()

    def _nearest(
        self, store: ChromaStore, name: str, vector: Floats, note_filter: NoteFilter, limit: int, now: datetime
    ) -> list[ChromaHit]:
        selective = where.selective(note_filter, name)
        fetched = store.nearest(name, vector, where.conjunction(selective), limit * _OVERFETCH)
        hits = [hit for hit in fetched if where.passes_common(hit.metadata, note_filter, now)]
        if len(hits) < limit and len(hits) < len(fetched):
            clauses = [*selective, *where.common(note_filter, name, now)]
            hits = store.nearest(name, vector, where.conjunction(clauses), limit)
        return hits[:limit]

    def _apply(self, store: ChromaStore, ops: Sequence[IndexOp]) -> None:
        with self._write_lock:
            latest = newest(ops)
            existing: defaultdict[str, list[ExistingRecord]] = defaultdict(list)
            for record in store.existing([str(op.note_id) for op in latest]):
                existing[record.metadata["note_id"]].append(record)
            current = [op for op in latest if self._is_current(op, existing[str(op.note_id)])]
            self._write(store, current, [record for op in current for record in existing[str(op.note_id)]])

    def _is_current(self, op: IndexOp, existing: Sequence[ExistingRecord]) -> bool:
        revisions = [int(record.metadata["revision"]) for record in existing]
        return op.revision >= max([self._removed.get(op.note_id, 0), *revisions])

    def _write(self, store: ChromaStore, ops: Sequence[IndexOp], existing: Sequence[ExistingRecord]) -> None:
        """Write records, then delete obsolete ones: a crash in between leaves extra records, which a retry deletes."""
        self._is_dirty = self._is_dirty or bool(existing)
        fresh: defaultdict[str, list[ChromaRecord]] = defaultdict(list)
        for op in ops:
            records = records_of(op, self._model, self._store_id)
            if records:
                self._removed.pop(op.note_id, None)
            else:
                self._removed[op.note_id] = op.revision
            for record in records:
                fresh[record.collection].append(record)
        for name in names.ALL:
            before = {record.record_id: record.metadata for record in existing if record.collection == name}
            if fresh[name]:
                store.upsert(name, fresh[name], before)
            obsolete = before.keys() - {record.record_id for record in fresh[name]}
            if obsolete:
                store.delete(name, sorted(obsolete))

    async def _run(self, operation: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, partial(work, *args, **kwargs))
        except BaseException as error:
            if not _is_chroma_error(error):
                raise
            cause = type(error).__name__
            metrics.CHROMA_ERRORS.labels(cause).inc()
            _log.error("chroma_failed", operation=operation, error=cause)
            answered = isinstance(error, ChromaError)
            raise IndexDown(f"{self._location} failed: {cause}" if answered else self._location.unreachable) from error


def _neighbour(hit: ChromaHit) -> Neighbour:
    note_id = NoteId(UUID(str(hit.metadata["note_id"])))
    return Neighbour(ChunkKey(int(hit.metadata["chunk_key"])), note_id, hit.similarity)

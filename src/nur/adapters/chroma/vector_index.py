"""Chroma as a derived index: the specification's collections, kept in step with the store."""

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
from nur.ports.vector_index import IndexHealth, Neighbour

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

_THREADS = 8  #: our own, so that a Chroma that hangs does not use up the event loop's
_HEALTH_SECONDS = 5.0
_QUERY_SECONDS = 2.0  #: a search has another way to answer, and does not wait longer for this one
_SPARE = 2  #: asked for, a hit wanted: expired records, other tenants' and parents are among them

_log = EventLog("chroma")


def _is_chromas(error: BaseException) -> bool:
    """Whether an error is Chroma's own. It raises bare Exceptions, and its Rust core panics with a BaseException."""
    if isinstance(error, Exception):
        return not isinstance(error, NurError)
    return type(error).__name__ == "PanicException"


class ChromaVectorIndex:
    """Keeps chunks in a Chroma server or in an embedded Chroma.

    Writes are ordered by reading the revision that Chroma holds, under a lock of this process. A removal leaves no
    record to read, so this process remembers it: after a restart, or beside another worker, a stale write could put a
    removed note's records back. The store keeps those from being shown, and a rebuild drops them.
    """

    name = "chroma"
    follows_commits = False

    def __init__(
        self,
        place: ChromaServer | ChromaFolder,
        *,
        store_id: str,
        embedding_version: str,
        clock: Clock,
        suffix: str = "",
        timeout_seconds: float = 30.0,
        query_seconds: float = _QUERY_SECONDS,
    ) -> None:
        """`suffix` separates the collections of later embedding versions from those of the first, which have none."""
        self._place = place
        self._store_id = store_id
        self._model = EmbeddingModel.parse(embedding_version)
        self._clock = clock
        self._suffix = suffix
        self._timeout_seconds = timeout_seconds
        self._query_seconds = query_seconds
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="chroma")
        self._store: ChromaStore | None = None
        self._clean = False
        self._turns = asyncio.Lock()  # writers wait here, so that they do not use up the threads
        self._writing = Lock()  # held in the thread: the next write does not overtake that of a cancelled caller
        self._removed: dict[NoteId, int] = {}
        self._is_dirty = True  # what an earlier process deleted may not be scrubbed yet

    async def open(self) -> None:
        """Connect and take possession. Raises StoreForeign, IndexDown; then it may be tried again."""
        if self._store is None:
            self._store, self._clean = await self._run("open", self._open)

    async def close(self) -> None:
        """Finish what is under way and leave the mark; a Chroma that is gone is only logged."""
        store, self._store = self._store, None
        if store is not None:
            try:
                await self._run("close", self._close, store)
            except IndexDown as error:
                _log.warning("chroma_close_failed", error=type(error.__cause__).__name__)
        await asyncio.to_thread(self._threads.shutdown)

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        """Apply idempotently: an older revision never overwrites a newer one. Raises IndexDown; then ask again."""
        async with self._turns:
            await self._run("apply", self._apply, self._opened(), ops)

    async def query(self, vector: Floats, note_filter: NoteFilter, limit: int) -> list[Neighbour]:
        """The nearest chunks in the selection, nearest first, ties by key. Raises IndexDown, IndexLost."""
        if limit <= 0:
            return []
        try:
            async with asyncio.timeout(self._query_seconds):
                answers = await self._ask(vector, note_filter, limit)
        except TimeoutError as error:
            metrics.CHROMA_ERRORS.labels("TimeoutError").inc()
            _log.error("chroma_failed", operation="query", error="TimeoutError")
            raise IndexDown(f"{self._place} did not answer within {self._query_seconds:g} seconds.") from error
        found = [_neighbour(hit) for hits in answers for hit in hits]
        found.sort(key=lambda neighbour: (-neighbour.similarity, neighbour.chunk_key))
        return found[:limit]

    async def count(self) -> int:
        """How many chunks have a record."""
        return await self._run("count", self._opened().count)

    async def was_closed_cleanly(self) -> bool:
        """Whether the last owner closed it, as `open` found it."""
        return self._clean

    async def reset(self) -> None:
        """Delete this store's collections of this embedding version."""
        await self._run("reset", self._reset, self._opened())

    async def scrub(self) -> None:
        """Rewrite an embedded Chroma's database without what was deleted; a server's files are its operator's."""
        if isinstance(self._place, ChromaFolder) and self._is_dirty:
            await self._run("scrub", self._scrub, self._place)

    async def health(self) -> IndexHealth:
        """Ask for a heartbeat."""
        started = time.perf_counter()
        error = None
        try:
            async with asyncio.timeout(_HEALTH_SECONDS):
                await self._run("heartbeat", self._opened().heartbeat)
        except (IndexDown, TimeoutError) as failure:
            error = str(failure) or self._place.unreachable
        latency_ms = round((time.perf_counter() - started) * 1000)
        return IndexHealth(healthy=error is None, latency_ms=latency_ms, error=error)

    async def _ask(self, vector: Floats, note_filter: NoteFilter, limit: int) -> list[list[ChromaHit]]:
        """The nearest records of each collection."""
        store, now = self._opened(), self._clock.now()
        return await asyncio.gather(
            *(
                self._run("query", self._nearest, store, name, vector, note_filter, limit, now)
                for name in names.of_kinds(note_filter.kinds)
            )
        )

    def _opened(self) -> ChromaStore:
        if self._store is None:
            raise IndexDown(self._place.unreachable)
        return self._store

    def _open(self) -> tuple[ChromaStore, bool]:
        client = connect(self._place, self._timeout_seconds)
        try:
            store = ChromaStore(
                client, store_id=self._store_id, embedding_version=self._model.version, suffix=self._suffix
            )
            return store, store.open()
        except BaseException:
            disconnect(client)
            raise

    def _close(self, store: ChromaStore) -> None:
        with self._writing:
            try:
                store.mark(clean=True)
            finally:
                disconnect(store.client)

    def _scrub(self, place: ChromaFolder) -> None:
        with self._writing:
            scrub(place.path)
            self._is_dirty = False

    def _reset(self, store: ChromaStore) -> None:
        with self._writing:
            store.drop()

    def _nearest(
        self, store: ChromaStore, name: str, vector: Floats, note_filter: NoteFilter, limit: int, now: datetime
    ) -> list[ChromaHit]:
        asked = where.asked(note_filter, name)
        found = store.nearest(name, vector, where.conjunction(asked), limit * _SPARE)
        standing = [hit for hit in found if where.stands(hit.metadata, note_filter, now)]
        if len(standing) < limit and len(standing) < len(found):
            clauses = [*asked, *where.standing(note_filter, name, now)]
            standing = store.nearest(name, vector, where.conjunction(clauses), limit)
        return standing[:limit]

    def _apply(self, store: ChromaStore, ops: Sequence[IndexOp]) -> None:
        with self._writing:
            newest: dict[NoteId, IndexOp] = {}
            for op in ops:
                if op.note_id not in newest or newest[op.note_id].revision <= op.revision:
                    newest[op.note_id] = op
            existing: defaultdict[str, list[ExistingRecord]] = defaultdict(list)
            for record in store.existing([str(note_id) for note_id in newest]):
                existing[record.metadata["note_id"]].append(record)
            current = [op for op in newest.values() if self._is_current(op, existing[str(op.note_id)])]
            self._write(store, current, [record for op in current for record in existing[str(op.note_id)]])

    def _is_current(self, op: IndexOp, existing: Sequence[ExistingRecord]) -> bool:
        revisions = [int(record.metadata["revision"]) for record in existing]
        return op.revision >= max([self._removed.get(op.note_id, 0), *revisions])

    def _write(self, store: ChromaStore, ops: Sequence[IndexOp], existing: Sequence[ExistingRecord]) -> None:
        """Write, then delete what vanished: a crash in between leaves too much, which the next attempt corrects."""
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
            vanished = before.keys() - {record.record_id for record in fresh[name]}
            if vanished:
                store.delete(name, sorted(vanished))

    async def _run(self, operation: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, partial(work, *args, **kwargs))
        except BaseException as error:
            if not _is_chromas(error):
                raise
            cause = type(error).__name__
            metrics.CHROMA_ERRORS.labels(cause).inc()
            _log.error("chroma_failed", operation=operation, error=cause)
            answered = isinstance(error, ChromaError)
            raise IndexDown(f"{self._place} failed: {cause}" if answered else self._place.unreachable) from error


def _neighbour(hit: ChromaHit) -> Neighbour:
    note_id = NoteId(UUID(str(hit.metadata["note_id"])))
    return Neighbour(ChunkKey(int(hit.metadata["chunk_key"])), note_id, hit.similarity)

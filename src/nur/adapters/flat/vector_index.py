"""The default index: every chunk in memory, nothing on disk, every search a scan.

Under 1,024 dimensions the vectors themselves are kept and the scan is exact. From there on only sign bits are (38 MB
for 100,000 chunks of 3,072 dimensions, where vectors take 1.2 GB): the scan picks candidates, whose vectors are then
read from the store and compared exactly.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import numpy as np

from nur.adapters.flat.loading import LoadedRow, pages, sample
from nur.adapters.flat.table import Signs, Table, Whole, unit
from nur.domain.notes import ChunkKey, Status
from nur.ports.vector_index import IndexHealth, Neighbour

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from nur.adapters.flat.loading import Fetch, Load
    from nur.adapters.flat.table import Rows, Scored
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import NoteId
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats
    from nur.ports.vector_index import IndexOp

T = TypeVar("T")
P = ParamSpec("P")

SIGNS_FROM_DIMENSIONS = 1024
VECTORS_FOR_A_MEAN = 256  #: with fewer, vectors stay whole: bits gain nothing yet, and a mean of a few is unreliable
CANDIDATES = 200
CANDIDATES_PER_HIT = 4
_INLINE_NUMBERS = 200_000  #: work on fewer takes about 1 ms; going to a thread and back takes 0.1 ms


def _rescored(
    vectors: dict[ChunkKey, Floats], notes: Mapping[ChunkKey, NoteId], query: Floats, limit: int
) -> list[Neighbour]:
    keys = np.fromiter(vectors, np.int64, len(vectors))
    matrix = np.stack(list(vectors.values()))
    # Divide the 200 products, not the 200 x 3,072 coordinates: that would cost as much as scanning 20,000 rows of bits.
    lengths = np.sqrt(np.vecdot(matrix, matrix))
    cosines = matrix @ unit(query) / np.where(lengths > 0, lengths, 1)
    order = np.lexsort((keys, -cosines))[:limit]
    found = [(ChunkKey(int(keys[row])), float(cosines[row])) for row in order]
    return [Neighbour(key, notes[key], cosine) for key, cosine in found]


class FlatVectorIndex:
    """Finds the nearest chunks by an exact scan."""

    name = "flat"
    follows_commits = True
    is_in_store = False

    def __init__(
        self, dimensions: int, load: Load, fetch: Fetch, *, clock: Clock, executor: Executor | None = None
    ) -> None:
        """`load` fills the index, `fetch` rescores; scans run in `executor`, None being the event loop's own."""
        self._dimensions = dimensions
        self._load = load
        self._fetch = fetch
        self._clock = clock
        self._executor = executor
        self._table = Table(Whole(dimensions))
        #: The newest revision seen of each note, including removed notes: an older write must not restore one.
        self._revisions: dict[NoteId, int] = {}
        self._applying: set[asyncio.Task[None]] = set()  # asyncio holds tasks only weakly
        self._writing = asyncio.Lock()  # encoding may run in a thread: no other write may overtake it

    async def open(self) -> None:
        """Read all stored vectors; writes and searches continue meanwhile."""
        if self._wants_signs():
            sampled = await sample(self._load)
            async with self._writing:
                if len(sampled) >= VECTORS_FOR_A_MEAN and self._wants_signs():
                    self._keep_signs(unit(np.stack(sampled)))
        async for page in pages(self._load):
            async with self._writing:
                await self._fill(page)

    async def close(self) -> None:
        """Nothing to do: there are no files."""

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        """Apply idempotently: an older revision never overwrites a newer one.

        Goes on when the caller is cancelled: what it wrote is committed, and no outbox row would bring it here later.
        """
        task = asyncio.create_task(self._apply(ops))
        self._applying.add(task)
        task.add_done_callback(self._applying.discard)
        await asyncio.shield(task)

    async def query(self, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        """The nearest chunks that match the filter, nearest first, ties by key."""
        table = self._table
        if limit <= 0 or not len(table):
            return []
        condition = table.condition(where, self._clock.now())
        encoding = table.encoding
        query = encoding.encode(vector[np.newaxis])
        wanted = limit if encoding.exact else max(CANDIDATES, CANDIDATES_PER_HIT * limit)
        snapshot = table.begin_search()
        try:
            scored = await self._run(len(table) * query.size, snapshot.search, query, condition, wanted)
        finally:
            table.end_search()
        best: dict[ChunkKey, Scored] = {}
        for hit in scored:  # a chunk replaced during the scan may occur twice, the better one first
            best.setdefault(hit.chunk_key, hit)
        if encoding.exact:
            return [Neighbour(key, hit.note_id, hit.score) for key, hit in best.items()]
        vectors = await self._fetch(list(best))
        notes = {key: hit.note_id for key, hit in best.items()}
        return await self._run(len(vectors) * len(vector), _rescored, vectors, notes, vector, limit) if vectors else []

    async def count(self) -> int:
        """Number of chunks in the index."""
        return len(self._table)

    async def was_closed_cleanly(self) -> bool:
        """There are no files to leave in disorder."""
        return True

    async def reset(self) -> None:
        """Drop all rows; `open` reads them again and takes a new mean."""
        async with self._writing:
            self._table = Table(Whole(self._dimensions))

    async def scrub(self) -> None:
        """There are no files."""

    async def health(self) -> IndexHealth:
        """Always healthy: it is in this process."""
        return IndexHealth(healthy=True, latency_ms=0)

    async def _apply(self, ops: Sequence[IndexOp]) -> None:
        async with self._writing:
            for op in ops:
                if op.revision >= self._revisions.get(op.note_id, 0):
                    await self._replace(op)

    async def _replace(self, op: IndexOp) -> None:
        alive = op.note is not None and op.note.status is Status.ACTIVE
        records = op.records if alive else ()
        if op.note is not None and records:
            await self._add([LoadedRow(op.note, record.chunk_key, record.vector) for record in records])
        # Add the new rows before dropping the old: every search finds one of them.
        self._table.keep_only(op.note_id, [record.chunk_key for record in records])
        self._revisions[op.note_id] = op.revision

    async def _fill(self, page: Sequence[LoadedRow]) -> None:
        fresh = []
        for row in page:
            note = row.note
            known = self._revisions.get(note.note_id, 0)
            if known < note.revision:
                self._table.keep_only(note.note_id, ())
                self._revisions[note.note_id] = note.revision
            if known <= note.revision and row.chunk_key not in self._table:
                fresh.append(row)
        if fresh:
            await self._add(fresh)

    async def _add(self, rows: Sequence[LoadedRow]) -> None:
        vectors = np.stack([row.vector for row in rows])
        encoded: Rows = await self._run(vectors.size, self._table.encoding.encode, vectors)
        for row, vector in zip(rows, encoded, strict=True):
            self._table.add(row.note, row.chunk_key, vector)
        if self._wants_signs() and len(self._table) >= VECTORS_FOR_A_MEAN:
            self._keep_signs(self._table.vectors().view(np.float32))

    def _wants_signs(self) -> bool:
        return self._dimensions >= SIGNS_FROM_DIMENSIONS and self._table.encoding.exact

    def _keep_signs(self, units: Floats) -> None:
        self._table.reencode(Signs(np.asarray(units.mean(axis=0), np.float32)))

    async def _run(self, numbers: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run on the event loop if few numbers are touched, otherwise in a thread."""
        if numbers <= _INLINE_NUMBERS:
            return work(*args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._executor, partial(work, *args, **kwargs))

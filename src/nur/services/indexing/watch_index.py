"""Opens the vector index, checks it for lost records, and repeats the check while the server runs."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nur.domain.errors import IndexDown, IndexLost, NurError, StoreForeign
from nur.domain.filters import NoteFilter
from nur.observability.events import EventLog, traced
from nur.ports.clock import milliseconds_since
from nur.ports.store_facts import RESTORED
from nur.ports.vector_index import IndexHealth

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.domain.notes import ChunkKey
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats
    from nur.ports.stores import Stores
    from nur.ports.vector_index import VectorIndex

log = EventLog("Index")

#: Sampled chunks, each of which must be its own nearest neighbour: an index that lost a tenth passes 1 time in 1,000.
SAMPLES = 64
#: Samples per check while the server runs, every minute: the loss of a tenth is detected within a few minutes.
SAMPLES_WHILE_RUNNING = 8
#: The sampled chunk must be among this many neighbours. Chunks with the same text are equally near.
TIES = 10
#: If it is not, it must be among this many: an approximate index of 100,000 chunks overlooks one in some hundred, and
#: would be rebuilt at every second start; and a text such as "ok" may be stored hundreds of times.
MANY_TIES = 1_000
#: Cosine from which two chunks are equally near.
EQUAL = 0.99999
#: Time between two checks. Each counts the records: 6 short requests to a Chroma server.
EVERY_SECONDS = 2.0
SAMPLE_EVERY = 30  #: every how many checks samples are drawn
#: A note deleted between two counts looks like a loss, but not three times in a row.
LOOKS_TO_BE_SURE = 3

REBUILDING = "The index had lost records and is being rebuilt; until then searches compare with every stored vector."


@dataclass(slots=True)
class WatchIndex:
    """Decides whether searches may trust the index, and rebuilds an index that has lost records.

    An index that cannot be reached means degraded search, not a failed start. An index that follows commits lives in
    this process and was filled from the store: there is nothing to watch.
    """

    stores: Stores
    index: VectorIndex
    clock: Clock
    embedding_version: str
    wake_worker: Callable[[], None]
    is_trusted: bool = True  #: False: searches do not query the index
    _is_open: bool = False
    _looks: int = 0
    _latency_ms: int = 0
    _error: str | None = None
    _expected: int | None = None  #: number of records at which the running rebuild is complete
    _doubted: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self) -> None:
        """Try once to open and check the index. Raises StoreForeign if it belongs to another store."""
        started = self.clock.monotonic()
        try:
            await self.index.open()
            await self._prove()
        except IndexDown as error:
            self.distrust(error)
            return
        self._is_open = True
        self._trust(started)

    async def forever(self) -> None:
        """Check every few seconds, and at once when a search doubts the index."""
        while not (self._is_open and self.index.follows_commits):
            self._doubted.clear()
            await self._pause()
            with traced():
                await self.look()

    def distrust(self, error: NurError) -> None:
        """Do not query the index until a check succeeds; after IndexLost, check at once."""
        if self.is_trusted:
            log.error("index_down", index=self.index.name, error=str(error))
        self.is_trusted = False
        self._error = str(error)
        if isinstance(error, IndexLost):
            self.doubt()

    def doubt(self) -> None:
        """Check at once: an answer of the index lacked records that it should contain."""
        self._doubted.set()

    @property
    def health(self) -> IndexHealth:
        """Result of the last check; makes no request."""
        error = self._error or (REBUILDING if self._expected is not None else None)
        return IndexHealth(error is None, self._latency_ms, error)

    async def look(self) -> None:
        """Check that the index answers and has all its records; rebuild one that lost some."""
        if not self._is_open:
            with contextlib.suppress(StoreForeign):
                await self._open_again()
            return
        started = self.clock.monotonic()
        try:
            if await self._has_lost():
                log.critical("index_lost", index=self.index.name, notes=await self._start_over())
            await self._see_rebuild()
        except (IndexDown, StoreForeign) as error:
            self.distrust(error)
        except NurError as error:  # from the store: says nothing about the index
            log.warning("index_not_checked", error=error.code)
        else:
            self._trust(started)

    async def _open_again(self) -> None:
        try:
            await self.open()
        except StoreForeign as error:
            self.distrust(error)
            raise

    def _trust(self, started: float) -> None:
        if not self.is_trusted:
            log.info("index_trusted", index=self.index.name)
        self.is_trusted = True
        self._error = None
        self._latency_ms = milliseconds_since(started, self.clock)

    async def _pause(self) -> None:
        """Sleep until the next check is due, or a search doubts the index."""
        waits = [asyncio.ensure_future(wait) for wait in (self._doubted.wait(), self.clock.sleep(EVERY_SECONDS))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _prove(self) -> None:
        """Check mark, count and samples. If that fails, reset the index and queue every note.

        Also after the store was restored from a backup: the index may have later revisions, which would remain.
        """
        if self.index.follows_commits:
            return
        restored = await self.stores.facts.get(RESTORED)
        if restored or not await self._is_sound():
            queued = await self._start_over()
            log.warning("index_reset", index=self.index.name, restored=bool(restored), notes=queued)
        if restored:
            await self.stores.facts.set(RESTORED, "")

    async def _is_sound(self) -> bool:
        """Whether an index that was just opened has all its records.

        In a shared store other processes may be writing: there is no mark of a clean shutdown, and the count varies.
        """
        if self.stores.is_shared:
            return not await self._lacks_records(SAMPLES)
        clean = await self.index.was_closed_cleanly()
        counted, expected = await self.index.count(), await self.stores.index_marks.count(self.embedding_version)
        return clean and counted == expected and await self._samples_hold(SAMPLES)

    async def _has_lost(self) -> bool:
        """Whether records are missing; samples are drawn now and then, and while the index is not trusted."""
        self._looks += 1
        with_samples = not self.is_trusted or self._looks % SAMPLE_EVERY == 0
        return await self._lacks_records(SAMPLES_WHILE_RUNNING if with_samples else 0)

    async def _lacks_records(self, samples: int) -> bool:
        """Whether records are missing in every attempt, not only while a note changes."""
        for _ in range(LOOKS_TO_BE_SURE):
            try:
                if await self._count_holds() and (not samples or await self._samples_hold(samples)):
                    return False
            except IndexLost:
                return True
        return True

    async def _count_holds(self) -> bool:
        """Whether the index has at least as many records as the store marked, before or after counting."""
        before = await self.stores.index_marks.count(self.embedding_version)
        counted = await self.index.count()
        return counted >= min(before, await self.stores.index_marks.count(self.embedding_version))

    async def _samples_hold(self, limit: int) -> bool:
        samples = await self.stores.index_marks.sample(self.embedding_version, limit, self.clock.now())
        keys = [sample.stored.chunk_key for sample in samples]
        vectors = await self.stores.vectors.of_chunks(keys, self.embedding_version)
        for sample, key in zip(samples, keys, strict=True):
            if key not in vectors:  # changed or deleted since it was drawn
                continue
            if not await self._finds(key, vectors[key], NoteFilter(tenant=sample.note.tenant)):
                return False
        return True

    async def _finds(self, key: ChunkKey, vector: Floats, where: NoteFilter) -> bool:
        """Whether a chunk is near its own vector, or so many others are equally near that this cannot be told."""
        for limit in (TIES, MANY_TIES):
            nearest = await self.index.query(vector, where, limit)
            if key in {neighbour.chunk_key for neighbour in nearest}:
                return True
        return len(nearest) == MANY_TIES and nearest[-1].similarity > EQUAL

    async def _start_over(self) -> int:
        """Empty the index and queue every note; returns how many.

        The marks are cleared first: from then on searches compare with every stored vector.
        """
        expected = await self.stores.index_marks.count(self.embedding_version)
        await self.stores.index_marks.clear(self.clock.now())
        await self.index.reset()
        queued = await self.stores.index_marks.clear(self.clock.now())  # marks that were set before the index was empty
        self._expected = max(expected, self._expected or 0)  # an earlier rebuild may be running
        self.wake_worker()
        return queued

    async def _see_rebuild(self) -> None:
        """End the rebuild when the index has as many records as before, or the outbox is empty."""
        if self._expected is None:
            return
        rebuilt = await self.stores.index_marks.count(self.embedding_version)
        if rebuilt >= self._expected or not (await self.stores.outbox.backlog(self.clock.now())).pending:
            self._expected = None
            log.info("index_rebuilt", index=self.index.name, chunks=rebuilt)

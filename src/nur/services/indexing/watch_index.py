"""Open the vector index, make it prove itself, and keep an eye on it while the server runs."""

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

    from nur.ports.clock import Clock
    from nur.ports.stores import Stores
    from nur.ports.vector_index import VectorIndex

log = EventLog("Index")

#: Chunks that must each be their own nearest neighbour: an index that lost a tenth passes once in a thousand times.
SAMPLES = 64
#: Fewer while the server runs, but every minute: an index that lost a tenth is found out within a few minutes.
SAMPLES_WHILE_RUNNING = 8
#: Vectors of the same text are equally near; the chunk itself must be among this many.
TIES = 10
#: Between two looks at the index. A look counts its records: 6 short requests to a Chroma server.
EVERY_SECONDS = 2.0
SAMPLE_EVERY = 30  #: looks between two drawings of samples
#: A note that is deleted between two counts looks like a loss; three times in a row it does not.
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
    is_trusted: bool = True  #: False: searches do not ask the index
    _is_open: bool = False
    _looks: int = 0
    _latency_ms: int = 0
    _error: str | None = None
    _expected: int | None = None  #: records that a rebuild under way has to reach
    _doubted: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self) -> None:
        """Try once to open the index and have it proven. Raises StoreForeign for one that is not ours."""
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
        """Look every few seconds, and at once when a search doubts the index."""
        while not (self._is_open and self.index.follows_commits):
            self._doubted.clear()
            await self._pause()
            with traced():
                await self.look()

    def distrust(self, error: NurError) -> None:
        """Do not ask the index until it has answered and proven itself; the next look is at once."""
        if self.is_trusted:
            log.error("index_down", index=self.index.name, error=str(error))
        self.is_trusted = False
        self._error = str(error)
        if isinstance(error, IndexLost):
            self.doubt()

    def doubt(self) -> None:
        """An answer of the index left out what it should hold: look at once."""
        self._doubted.set()

    @property
    def health(self) -> IndexHealth:
        """How the last look found it; answers at once."""
        error = self._error or (REBUILDING if self._expected is not None else None)
        return IndexHealth(error is None, self._latency_ms, error)

    async def look(self) -> None:
        """See whether the index answers and holds what it should; start over with one that does not."""
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
        except NurError as error:  # the store's: nothing is known about the index
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
        """Sleep until the next look is due, or a search doubts the index."""
        waits = [asyncio.ensure_future(wait) for wait in (self._doubted.wait(), self.clock.sleep(EVERY_SECONDS))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _prove(self) -> None:
        """Check mark, count and samples; an index that fails is reset and every note queued to be indexed again.

        So is one whose store was restored from a backup: it may hold later revisions, which would stay.
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
        """Whether an index that was just opened holds what it should.

        Where other processes have it open and write, there is no mark of a clean shutdown and no count that stays.
        """
        if self.stores.is_shared:
            return not await self._lacks_records(SAMPLES)
        clean = await self.index.was_closed_cleanly()
        counted, expected = await self.index.count(), await self.stores.index_marks.count(self.embedding_version)
        return clean and counted == expected and await self._samples_hold(SAMPLES)

    async def _has_lost(self) -> bool:
        """Whether records are missing; one that was not reachable a moment ago shows samples, too."""
        self._looks += 1
        with_samples = not self.is_trusted or self._looks % SAMPLE_EVERY == 0
        return await self._lacks_records(SAMPLES_WHILE_RUNNING if with_samples else 0)

    async def _lacks_records(self, samples: int) -> bool:
        """Whether records are missing, and not only for the moment in which a note changes."""
        for _ in range(LOOKS_TO_BE_SURE):
            try:
                if await self._count_holds() and (not samples or await self._samples_hold(samples)):
                    return False
            except IndexLost:
                return True
        return True

    async def _count_holds(self) -> bool:
        """Whether the index holds at least the records that the store has marked, before and after counting."""
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
            nearest = await self.index.query(vectors[key], NoteFilter(tenant=sample.note.tenant), TIES)
            if key not in {neighbour.chunk_key for neighbour in nearest}:
                return False
        return True

    async def _start_over(self) -> int:
        """Empty the index and queue every note; returns how many.

        The store comes first: from then on searches compare with every vector.
        """
        expected = await self.stores.index_marks.count(self.embedding_version)
        await self.stores.index_marks.clear(self.clock.now())
        await self.index.reset()
        queued = await self.stores.index_marks.clear(self.clock.now())  # also what was indexed before it was empty
        self._expected = max(expected, self._expected or 0)  # an earlier rebuild may be under way
        self.wake_worker()
        return queued

    async def _see_rebuild(self) -> None:
        """A rebuild is over when the index has as many records as before, or nothing waits any more."""
        if self._expected is None:
            return
        rebuilt = await self.stores.index_marks.count(self.embedding_version)
        if rebuilt >= self._expected or not (await self.stores.outbox.backlog(self.clock.now())).pending:
            self._expected = None
            log.info("index_rebuilt", index=self.index.name, chunks=rebuilt)

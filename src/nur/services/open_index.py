"""Open the vector index and make it prove itself before it is trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import IndexDown
from nur.domain.selection import Selection
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from nur.ports.clock import Clock
    from nur.ports.ledger import Ledger
    from nur.ports.vector_index import VectorIndex

log = EventLog("Index")

#: Chunks that must each be their own nearest neighbour: an index that lost a tenth passes once in a thousand times.
SAMPLES = 64
#: Vectors of the same text are equally near; the chunk itself must be among so many.
TIES = 10
RETRY_SECONDS = 5.0


@dataclass(slots=True)
class OpenIndex:
    """Brings the index up; one that cannot be reached means degraded search, not a failed start."""

    ledger: Ledger
    index: VectorIndex
    clock: Clock
    embedding_version: str
    is_open: bool = False

    async def __call__(self) -> bool:
        """Try once; says whether the index is open. Raises StoreForeign for one that is not ours."""
        try:
            await self.index.open()
            await self._prove()
        except IndexDown as error:
            log.warning("index_down", index=self.index.name, error=str(error))
            return False
        self.is_open = True
        return True

    async def keep_trying(self) -> None:
        """Try until it is open."""
        while not self.is_open:
            await self.clock.sleep(RETRY_SECONDS)
            await self()

    async def _prove(self) -> None:
        """Check mark, count and samples; an index that fails is reset and every note queued to be indexed again.

        An index that follows commits was filled from the ledger a moment ago and has nothing to prove.
        """
        if self.index.follows_commits:
            return
        clean = await self.index.was_closed_cleanly()
        if clean and await self._count_holds() and await self._samples_hold():
            return
        await self.index.reset()
        queued = await self.ledger.mark_all_unindexed(self.embedding_version)
        log.warning("index_reset", index=self.index.name, closed_cleanly=clean, notes=queued)

    async def _count_holds(self) -> bool:
        return await self.index.count() == await self.ledger.count_indexed(self.embedding_version)

    async def _samples_hold(self) -> bool:
        samples = await self.ledger.sample_indexed(self.embedding_version, SAMPLES)
        keys = [sample.stored.chunk_key for sample in samples]
        vectors = await self.ledger.vectors(keys, self.embedding_version)
        for sample, key in zip(samples, keys, strict=True):
            nearest = await self.index.query(vectors[key], Selection(tenant=sample.note.tenant), TIES)
            if key not in {neighbour.chunk_key for neighbour in nearest}:
                return False
        return True

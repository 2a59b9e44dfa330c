"""Make the vector index prove itself before it is trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.selection import Selection
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from nur.ports.ledger import Ledger
    from nur.ports.vector_index import VectorIndex

log = EventLog("Index")

#: Chunks that must each be their own nearest neighbour: an index that lost a tenth passes once in a thousand times.
SAMPLES = 64
#: Vectors of the same text are equally near; the chunk itself must be among so many.
TIES = 10


async def prove_index(ledger: Ledger, index: VectorIndex, embedding_version: str) -> bool:
    """Check mark, count and samples; an index that fails is reset and every note queued. Says whether it held.

    An index that follows commits was filled from the ledger a moment ago and has nothing to prove.
    """
    if index.follows_commits:
        return True
    clean = await index.was_closed_cleanly()
    if clean and await _samples_hold(ledger, index, embedding_version):
        return True
    await index.reset()
    queued = await ledger.mark_all_unindexed(embedding_version)
    log.warning("index_reset", index=index.name, closed_cleanly=clean, notes=queued)
    return False


async def _samples_hold(ledger: Ledger, index: VectorIndex, embedding_version: str) -> bool:
    if await index.count() != await ledger.count_indexed(embedding_version):
        return False
    samples = await ledger.sample_indexed(embedding_version, SAMPLES)
    vectors = await ledger.vectors([sample.stored.chunk_key for sample in samples], embedding_version)
    for sample in samples:
        key = sample.stored.chunk_key
        nearest = await index.query(vectors[key], Selection(tenant=sample.note.tenant), TIES)
        if key not in {neighbour.chunk_key for neighbour in nearest}:
            return False
    return True

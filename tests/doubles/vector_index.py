"""A vector index of plain dictionaries: what the others must agree with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nur.domain.filters import matches
from nur.domain.notes import Status
from nur.ports.vector_index import IndexHealth, Neighbour

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.filters import NoteFilter
    from nur.domain.notes import NoteId
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats
    from nur.ports.vector_index import IndexOp


def _cosine(one: Floats, other: Floats) -> float:
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return float(one @ other) / lengths if lengths else 0.0


class InMemoryVectorIndex:
    """Keeps the last operation of each note and compares with every vector."""

    name = "in_memory"
    follows_commits = True

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: dict[NoteId, IndexOp] = {}  #: removals too: an older upsert must not win against one

    async def open(self) -> None:
        """Nothing to do."""

    async def close(self) -> None:
        """Nothing to do."""

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        """Keep each operation unless a newer one of its note is held."""
        for op in ops:
            existing = self._held.get(op.note_id)
            if existing is None or existing.revision <= op.revision:
                self._held[op.note_id] = op

    async def query(self, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        """The nearest chunks in the selection, nearest first, ties by key."""
        now = self._clock.now()
        found = [
            Neighbour(record.chunk_key, op.note_id, _cosine(record.vector, vector))
            for op in self._held.values()
            if op.note is not None and matches(op.note, where, now)
            for record in op.records
        ]
        found.sort(key=lambda neighbour: (-neighbour.similarity, neighbour.chunk_key))
        return found[:limit]

    async def count(self) -> int:
        """How many chunks have a record."""
        return sum(len(op.records) for op in self._held.values() if op.note and op.note.status is Status.ACTIVE)

    async def was_closed_cleanly(self) -> bool:
        """There are no files to leave in disorder."""
        return True

    async def reset(self) -> None:
        """Forget everything."""
        self._held.clear()

    async def scrub(self) -> None:
        """There are no files."""

    async def health(self) -> IndexHealth:
        """Always well."""
        return IndexHealth(healthy=True, latency_ms=0)

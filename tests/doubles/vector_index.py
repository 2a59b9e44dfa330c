"""A reference vector index in plain dictionaries; the real indexes must agree with it."""

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
    """Keeps the last operation of each note, and searches by an exact scan."""

    name = "in_memory"
    follows_commits = True
    is_in_store = False

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._latest: dict[NoteId, IndexOp] = {}  #: includes removals, so that an older upsert does not win

    async def open(self) -> None:
        """Nothing to do."""

    async def close(self) -> None:
        """Nothing to do."""

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        """Apply each operation unless its note has a newer one."""
        for op in ops:
            existing = self._latest.get(op.note_id)
            if existing is None or existing.revision <= op.revision:
                self._latest[op.note_id] = op

    async def query(self, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        """The nearest chunks that match the filter, nearest first, ties by key."""
        now = self._clock.now()
        found = [
            Neighbour(record.chunk_key, op.note_id, _cosine(record.vector, vector))
            for op in self._latest.values()
            if op.note is not None and matches(op.note, where, now)
            for record in op.records
        ]
        found.sort(key=lambda neighbour: (-neighbour.similarity, neighbour.chunk_key))
        return found[:limit]

    async def count(self) -> int:
        """Number of indexed chunks."""
        return sum(len(op.records) for op in self._latest.values() if op.note and op.note.status is Status.ACTIVE)

    async def was_closed_cleanly(self) -> bool:
        """Always: there are no files."""
        return True

    async def reset(self) -> None:
        """Remove all records."""
        self._latest.clear()

    async def scrub(self) -> None:
        """Nothing to do: there are no files."""

    async def health(self) -> IndexHealth:
        """Always healthy."""
        return IndexHealth(healthy=True, latency_ms=0)

"""Reads the stored vectors into the flat index when it opens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nur.domain.notes import ChunkKey, Note
from nur.ports.embedder import Floats

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from nur.ports.clock import Clock
    from nur.ports.vectors import VectorStore


class LoadedRow(NamedTuple):
    """A chunk of a note, with its vector."""

    note: Note
    chunk_key: ChunkKey
    vector: Floats


#: Returns rows of active notes after a key, in key order, up to a limit.
Load: TypeAlias = Callable[[ChunkKey, int], Awaitable[Sequence[LoadedRow]]]
#: Returns float32 vectors of chunks, without chunks that no longer exist.
Fetch: TypeAlias = Callable[[Sequence[ChunkKey]], Awaitable[dict[ChunkKey, Floats]]]

_BEFORE_ALL = ChunkKey(-1)
_PAGE = 512  #: 6 MB at 3,072 dimensions
_SAMPLE_PLACES = 16
_SAMPLE_ROWS = 64  #: per sampled place


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """The vectors of one model in the store."""

    vectors: VectorStore
    embedding_version: str
    clock: Clock

    async def load(self, after: ChunkKey, limit: int) -> Sequence[LoadedRow]:
        """Return rows of active notes after a key, in key order."""
        page = await self.vectors.page(self.embedding_version, after, limit, self.clock.now())
        return [LoadedRow(one.note, one.stored.chunk_key, vector) for one, vector in page]

    async def fetch(self, keys: Sequence[ChunkKey]) -> dict[ChunkKey, Floats]:
        """Return the vectors of chunks."""
        return await self.vectors.of_chunks(keys, self.embedding_version)


async def pages(load: Load) -> AsyncIterator[Sequence[LoadedRow]]:
    """All rows, page by page."""
    after = _BEFORE_ALL
    while page := await load(after, _PAGE):
        yield page
        after = page[-1].chunk_key


async def _last_key(load: Load) -> int:
    """An upper bound of all keys, found by bisection, since `load` cannot return it directly."""
    high = 1
    while await load(ChunkKey(high), 1):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if await load(ChunkKey(middle), 1):
            low = middle
        else:
            high = middle
    return high


async def sample(load: Load) -> list[Floats]:
    """Vectors from all parts of the store. Neighbouring keys would not do: they are chunks of one document."""
    last = await _last_key(load)
    found: dict[ChunkKey, Floats] = {}
    for place in range(_SAMPLE_PLACES):
        after = ChunkKey(last * place // _SAMPLE_PLACES - 1)
        found.update((row.chunk_key, row.vector) for row in await load(after, _SAMPLE_ROWS))
    return list(found.values())

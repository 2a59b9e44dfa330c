"""Reads the stored vectors into the flat index when it opens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from nur.domain.notes import ChunkKey, Note
from nur.ports.embedder import Floats
from nur.ports.vector_index import IndexRecord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: Returns records of active notes after a key, in key order, up to a limit.
Load: TypeAlias = Callable[[ChunkKey, int], Awaitable[Sequence[tuple[Note, IndexRecord]]]]
#: Returns float32 vectors of chunks, without chunks that no longer exist.
Fetch: TypeAlias = Callable[[Sequence[ChunkKey]], Awaitable[dict[ChunkKey, Floats]]]

_BEFORE_ALL = ChunkKey(-1)
_PAGE = 512  #: 6 MB at 3,072 dimensions
_SAMPLE_PLACES = 16
_SAMPLE_ROWS = 64  #: per sampled place


async def pages(load: Load) -> AsyncIterator[Sequence[tuple[Note, IndexRecord]]]:
    """All records, page by page."""
    after = _BEFORE_ALL
    while page := await load(after, _PAGE):
        yield page
        after = page[-1][1].chunk_key


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
        found.update((record.chunk_key, record.vector) for _, record in await load(after, _SAMPLE_ROWS))
    return list(found.values())

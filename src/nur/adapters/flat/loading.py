"""Reading the stored vectors into the flat index when it opens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from nur.domain.notes import ChunkKey, Note
from nur.ports.embedder import Floats
from nur.ports.vector_index import IndexRecord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: The records of active notes after a key, in the order of keys, at most so many.
Load: TypeAlias = Callable[[ChunkKey, int], Awaitable[Sequence[tuple[Note, IndexRecord]]]]
#: The float32 vectors of chunks; one that is gone is left out.
Fetch: TypeAlias = Callable[[Sequence[ChunkKey]], Awaitable[dict[ChunkKey, Floats]]]

_BEFORE_ALL = ChunkKey(-1)
_PAGE = 512  #: 6 MB at 3,072 dimensions
_SAMPLE_PLACES = 16
_SAMPLE_ROWS = 64  #: at each place


async def pages(load: Load) -> AsyncIterator[Sequence[tuple[Note, IndexRecord]]]:
    """Everything, a page at a time."""
    after = _BEFORE_ALL
    while page := await load(after, _PAGE):
        yield page
        after = page[-1][1].chunk_key


async def _last_key(load: Load) -> int:
    """A key that none is above, found by halving: `load` alone cannot be asked for it."""
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
    """Vectors from all over the store: neighbouring keys are chunks of one document and would give its mean."""
    last = await _last_key(load)
    found: dict[ChunkKey, Floats] = {}
    for place in range(_SAMPLE_PLACES):
        after = ChunkKey(last * place // _SAMPLE_PLACES - 1)
        found.update((record.chunk_key, record.vector) for _, record in await load(after, _SAMPLE_ROWS))
    return list(found.values())

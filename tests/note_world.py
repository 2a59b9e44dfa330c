"""The note services over ports that live in memory: nothing waits, everything can fail on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nur.adapters.in_memory.clock import ManualClock
from nur.adapters.in_memory.embedder import InMemoryEmbedder
from nur.adapters.in_memory.ledger import InMemoryLedger
from nur.adapters.in_memory.vector_index import InMemoryVectorIndex
from nur.adapters.rerank.none import NoReranker
from nur.adapters.sql.sqlite.ledger import SqliteLedger
from nur.bootstrap import assemble
from nur.bootstrap.indexes import make_index
from nur.domain.errors import IndexDown
from nur.domain.filters import NoteFilter
from nur.domain.notes import ChunkKey, NoteMetadata, Principal
from nur.domain.search import Mode, SearchRequest
from nur.domain.writes import Protection
from nur.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nur.domain.search import SearchResult
    from nur.domain.writes import Stored
    from nur.ports.embedder import Floats
    from nur.ports.ledger import Ledger
    from nur.ports.vector_index import IndexOp, Neighbour, VectorIndex

ME = Principal()
#: Several chunks of sentences.
LONG = " ".join(f"Sentence number {i} tells of lamp {i} in the long hall." for i in range(120))


class FailingIndex(InMemoryVectorIndex):
    """An index behind a wire: it is told of writes by the worker alone, and can be down."""

    follows_commits = False
    down = False

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        self._answer()
        await super().apply(ops)

    async def query(self, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        self._answer()
        return await super().query(vector, where, limit)

    async def reset(self) -> None:
        self._answer()
        await super().reset()

    def _answer(self) -> None:
        if self.down:
            raise IndexDown("The index is down.")


class World:
    """A store, its services, and a hand on the clock."""

    ledger: Ledger
    index: VectorIndex

    def __init__(self, *, follows: bool = True, clock: ManualClock | None = None, **settings: Any) -> None:
        self.clock = clock or ManualClock()
        self.embedder = InMemoryEmbedder()
        self._settings = Settings(**settings)
        self._assemble(
            InMemoryLedger(self.clock), InMemoryVectorIndex(self.clock) if follows else FailingIndex(self.clock)
        )

    @classmethod
    async def on_disk(cls, folder: Path, **settings: Any) -> World:
        """The default profile: SQLite in a folder, and the flat index over it."""
        world = cls(**settings)
        ledger, model = SqliteLedger(folder, world.clock), world.embedder.model
        await ledger.open()
        await ledger.set_if_absent("embedding_version", model.version)
        index = make_index(Settings(index="flat"), ledger, model, "store", model.version, world.clock)
        await index.open()
        world._assemble(ledger, index)
        return world

    def _assemble(self, ledger: Ledger, index: VectorIndex) -> None:
        self.ledger, self.index = ledger, index
        self.services = assemble(self._settings, ledger, index, self.embedder, NoReranker(), self.clock)
        self.services.work.jitter = lambda: 0.0

    async def add(self, text: str, *, ttl_days: float | None = None, **meta: Any) -> Stored:
        """Add a note as the REST door does; name any field of Description or Protection."""
        stated = Protection(**{name: meta.pop(name) for name in Protection.__dataclass_fields__ if name in meta})
        on_failure = self.services.on_failure.for_others
        return await self.services.add_note(
            text, NoteMetadata(**meta), stated, principal=ME, on_failure=on_failure, ttl_days=ttl_days
        )

    async def happened(self, text: str, **meta: Any) -> Stored:
        """Add an event."""
        on_failure = self.services.on_failure.for_others
        return await self.services.add_event(
            text, NoteMetadata(**meta), Protection(), principal=ME, on_failure=on_failure
        )

    async def lose_the_index(self) -> None:
        """As if its files were gone: it is opened empty and told everything again."""
        await self.index.reset()
        await self.index.open()
        await self.ledger.mark_all_unindexed(self.embedder.model.version)

    async def indexed_as_stored(self) -> None:
        """Every chunk of the ledger is in the index under its own vector, and nothing else is."""
        version = self.embedder.model.version
        keys = [page.stored.chunk_key for page in await self.ledger.pages(version, ChunkKey(0), 10_000)]
        vectors = await self.ledger.vectors(keys, version)
        assert await self.index.count() == len(keys) == len(vectors) == await self.chunk_count()
        for key, vector in vectors.items():
            near = {found.chunk_key: found.similarity for found in await self.index.query(vector, NoteFilter(), 10_000)}
            assert near.keys() == vectors.keys()
            assert abs(near[key] - 1) < 1e-5

    async def drain(self) -> None:
        """Let the worker do all that is due."""
        while await self.services.work.once():
            pass

    async def set_if_absent(self, seconds: float = 600.0) -> None:
        """Let time pass until nothing waits any more."""
        await self.drain()
        while (await self.ledger.backlog(self.clock.now())).pending and seconds > 0:
            self.clock.advance(60)
            seconds -= 60
            await self.drain()

    async def find(self, query: str, mode: Mode = Mode.HYBRID) -> SearchResult:
        """Search everything."""
        return await self.services.search(SearchRequest(query=query, principal=ME, mode=mode, limit=10))

    async def found(self, query: str, mode: Mode = Mode.HYBRID) -> list[str]:
        """Public ids of what a search finds."""
        return [hit.note.public_id for hit in (await self.find(query, mode)).hits]

    async def chunk_count(self) -> int:
        """How many chunks are stored."""
        return (await self.ledger.corpus([])).chunks

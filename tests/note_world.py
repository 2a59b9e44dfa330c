"""The note services over a store in a temporary folder, with a manual clock and injectable failures."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from nur.adapters.sql.sqlite.files import FILE
from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.bootstrap import assemble
from nur.bootstrap.indexes import make_index
from nur.domain.errors import IndexDown
from nur.domain.filters import NoteFilter
from nur.domain.notes import ChunkKey, NoteMetadata
from nur.domain.search import Mode, SearchRequest
from nur.domain.writes import Protection
from nur.retrieval.fingerprint import FINGERPRINT, bands
from nur.settings import Settings
from tests.callers import LOCAL_CALLER
from tests.crashing_runner import CrashingRunner
from tests.doubles.clock import ManualClock
from tests.doubles.embedder import InMemoryEmbedder
from tests.doubles.vector_index import InMemoryVectorIndex

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nur.bootstrap import Services
    from nur.domain.derivations import FingerprintBand
    from nur.domain.notes import Note
    from nur.domain.search import SearchResult
    from nur.domain.writes import Stored
    from nur.ports.embedder import Floats
    from nur.ports.vector_index import IndexOp, Neighbour, VectorIndex

ME = LOCAL_CALLER
EVERYTHING = NoteFilter(tenant=ME.tenant)
#: A text of several chunks.
LONG = " ".join(f"Sentence number {i} tells of lamp {i} in the long hall." for i in range(120))


class FailingIndex(InMemoryVectorIndex):
    """A remote index: only the worker writes to it, it can be down, and it can be approximate."""

    follows_commits = False
    down = False
    overlooks_nearest_of = 0  #: queries for at most this many neighbours miss the nearest one

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        self._answer()
        await super().apply(ops)

    async def query(self, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        self._answer()
        nearest = await super().query(vector, where, limit + 1)
        return nearest[1:] if limit <= self.overlooks_nearest_of else nearest[:limit]

    async def reset(self) -> None:
        self._answer()
        await super().reset()

    def _answer(self) -> None:
        if self.down:
            raise IndexDown("The index is down.")


class FailingDeriver:
    """The server's fingerprint deriver, which can be made to fail."""

    broken = False
    runs = 0

    def __init__(self) -> None:
        self.deriver = replace(FINGERPRINT, rows=self._rows)

    def _rows(self, note: Note, text: str) -> Sequence[FingerprintBand]:
        self.runs += 1
        if self.broken:
            raise ZeroDivisionError
        return bands(note, text)


class Suggested(NamedTuple):
    """A stored suggestion."""

    newer: str
    older: str
    relation: str
    newer_text: str
    older_text: str
    is_current: bool  #: both notes are active and unchanged since the comparison


class World:
    """A store, its services and a manual clock."""

    index: VectorIndex
    services: Services

    def __init__(
        self, folder: Path, *, follows: bool = True, clock: ManualClock | None = None, **settings: Any
    ) -> None:
        self.clock = clock or ManualClock()
        self.folder = folder
        self.run = CrashingRunner(folder)
        self.stores = SqliteStores(folder, self.run)
        self.embedder = InMemoryEmbedder()
        self.deriver = FailingDeriver()
        self._settings = Settings(**settings)
        self.use_index(InMemoryVectorIndex(self.clock) if follows else FailingIndex(self.clock))

    def use_index(self, index: VectorIndex) -> None:
        """Switch to another index."""
        self.index = index
        self.services = assemble(
            self._settings, self.stores, index, self.embedder, None, self.clock, [self.deriver.deriver]
        )
        self.services.index_worker.jitter = lambda: 0.0

    async def open(self) -> None:
        """Open the store."""
        await self.stores.open(self.clock.now())

    async def use_flat_index(self) -> None:
        """Switch to the flat index, the server's default."""
        model = self.embedder.model
        index = make_index(Settings(index="flat"), self.stores, model, "store", model.version, self.clock)
        await index.open()
        self.use_index(index)

    async def lose_the_index(self) -> None:
        """Reopen the index empty, as after losing its files, and fill it again."""
        await self.index.reset()
        await self.index.open()
        await self.stores.index_marks.clear(self.clock.now())

    async def indexed_as_stored(self) -> None:
        """Check that the index holds exactly the stored chunks with their vectors."""
        page = await self.stores.vectors.page(self.embedder.model.version, ChunkKey(0), 10_000, self.clock.now())
        vectors = {one.stored.chunk_key: vector for one, vector in page}
        assert await self.index.count() == len(vectors) == await self.chunk_count()
        for key, vector in vectors.items():
            near = {found.chunk_key: found.similarity for found in await self.index.query(vector, EVERYTHING, 10_000)}
            assert near.keys() == vectors.keys()
            assert abs(near[key] - 1) < 1e-5

    def derived(self) -> dict[str, tuple[int, set[int]]]:
        """Derived rows by public id: the note's revision and its bands."""
        query = (
            "SELECT public_id, derivations.revision, band_hash FROM derivations JOIN memory_notes USING (note_id)"
            " LEFT JOIN fingerprint_bands USING (derivation_id)"
        )
        found: dict[str, tuple[int, set[int]]] = {}
        with closing(sqlite3.connect(self.folder / FILE)) as connection:
            for name, revision, band in connection.execute(query):
                found.setdefault(name, (revision, set()))[1].update([] if band is None else [band])
        return found

    def suggested(self) -> list[Suggested]:
        """Every suggestion, with the state of both notes."""
        query = (
            "SELECT newer.public_id, older.public_id, relation, newer.text, older.text,"
            " newer.content_hash = newer_hash AND older.content_hash = older_hash"
            " AND newer.status = 'active' AND older.status = 'active' FROM suggestions"
            " JOIN memory_notes AS newer ON newer.note_id = newer_id"
            " JOIN memory_notes AS older ON older.note_id = older_id"
        )
        with closing(sqlite3.connect(self.folder / FILE)) as connection:
            return [Suggested(*row) for row in connection.execute(query)]

    async def derived_as_stored(self) -> None:
        """Check that exactly the active notes have derived rows, at their current revision."""
        notes = await self.stores.notes.all(None, 10_000)
        texts = await self.stores.notes.texts([note.note_id for note in notes])
        rows = {note.note_id: {band.band_hash for band in bands(note, texts[note.note_id])} for note in notes}
        assert self.derived() == {note.public_id: (note.revision, rows[note.note_id]) for note in notes}

    async def close(self) -> None:
        """Close the store."""
        await self.stores.close()

    async def add(self, text: str, *, ttl_days: float | None = None, **meta: Any) -> Stored:
        """Add a note as the REST API does; any field of NoteMetadata or Protection can be given."""
        stated = Protection(**{name: meta.pop(name) for name in Protection.__dataclass_fields__ if name in meta})
        on_failure = self.services.on_failure.for_others
        return await self.services.add_note(
            text, NoteMetadata(**meta), stated, caller=ME, on_failure=on_failure, ttl_days=ttl_days
        )

    async def remember(self, text: str) -> Stored:
        """Store a memory as the tool does."""
        on_failure = self.services.on_failure.for_others
        return await self.services.remember(
            text, type="fact", confidence=1.0, conversation_id=None, caller=ME, on_failure=on_failure
        )

    async def reopened(self, folder: Path) -> World:
        """A new process on the folder that a crash left; this one is closed.

        A remote index keeps its contents; an index that follows commits is created again.
        """
        await self.close()
        world = World(folder, clock=self.clock)
        world._settings, world.embedder, world.deriver = self._settings, self.embedder, self.deriver
        await world.open()
        if self.index.follows_commits:
            world.use_index(InMemoryVectorIndex(self.clock))
            await world.lose_the_index()
        else:
            world.use_index(self.index)
        return world

    async def happened(self, text: str, **meta: Any) -> Stored:
        """Add an event."""
        on_failure = self.services.on_failure.for_others
        return await self.services.add_event(text, NoteMetadata(**meta), Protection(), caller=ME, on_failure=on_failure)

    async def drain(self) -> None:
        """Let the worker do all due jobs."""
        while await self.services.index_worker.once():
            pass

    async def settle(self, seconds: float = 600.0) -> None:
        """Advance the clock until no job is left."""
        await self.drain()
        while (await self.stores.outbox.backlog(self.clock.now())).pending and seconds > 0:
            self.clock.advance(60)
            seconds -= 60
            await self.drain()

    async def find(self, query: str, mode: Mode = Mode.HYBRID) -> SearchResult:
        """Search everything."""
        return await self.services.search(SearchRequest(query=query, caller=ME, where=EVERYTHING, mode=mode, limit=10))

    async def found(self, query: str, mode: Mode = Mode.HYBRID) -> list[str]:
        """Public ids of the notes that a search finds."""
        return [hit.note.public_id for hit in (await self.find(query, mode)).hits]

    async def chunk_count(self) -> int:
        """Number of stored chunks."""
        return (await self.stores.chunks.statistics()).chunks

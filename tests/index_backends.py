"""Every vector index with the setup it needs, for the contract tests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from sqlalchemy import delete, insert

from nur.adapters.chroma.vector_index import ChromaVectorIndex
from nur.adapters.flat.loading import LoadedRow
from nur.adapters.flat.vector_index import FlatVectorIndex
from nur.adapters.pgvector.vector_index import PgVectorIndex
from nur.adapters.qdrant.client import connect
from nur.adapters.qdrant.vector_index import QdrantVectorIndex
from nur.adapters.sql.mapping import note_values, vector_values
from nur.adapters.sql.postgres.engine import make_engine
from nur.adapters.sql.postgres.runner import PostgresRunner
from nur.adapters.sql.runner import StoreCondition
from nur.adapters.sql.tables import memory_note_chunks, memory_notes, note_chunk_embeddings
from nur.domain.access import DEFAULT_TENANT
from nur.domain.filters import NoteFilter
from nur.domain.notes import Status
from tests.doubles.clock import ManualClock
from tests.doubles.vector_index import InMemoryVectorIndex
from tests.index_notes import NOW, a_note, an_upsert
from tests.servers.postgres_server import shared_cluster
from tests.store_backends import empty_database

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from nur.adapters.chroma.client import ChromaFolder, ChromaServer
    from nur.adapters.qdrant.client import QdrantFolder, QdrantServer
    from nur.domain.notes import ChunkKey, NoteId
    from nur.ports.embedder import Floats
    from nur.ports.vector_index import IndexOp, IndexRecord, Neighbour, VectorIndex

ALL = NoteFilter(tenant=DEFAULT_TENANT)
CROWD = 300  #: enough records for the flat index to use sign bits


class Backend(ABC):
    """An index under test, with the setup it needs."""

    dimensions = 8
    crowd = 0  #: records of another tenant that exist before the test

    def __init__(self) -> None:
        self.clock = ManualClock(NOW)

    @abstractmethod
    def make(self) -> VectorIndex:
        """Another index over the same data."""

    def vector(self, *coordinates: float) -> Floats:
        vector = np.zeros(self.dimensions, np.float32)
        vector[: len(coordinates)] = coordinates
        return vector

    async def apply(self, index: VectorIndex, *ops: IndexOp) -> None:
        await index.apply(ops)

    async def count(self, index: VectorIndex) -> int:
        return await index.count() - self.crowd


class InMemory(Backend):
    def make(self) -> VectorIndex:
        return InMemoryVectorIndex(self.clock)


class Flat(Backend):
    """The flat index over a small store, which receives each write first as in the real server."""

    def __init__(self) -> None:
        super().__init__()
        self._newest: dict[object, IndexOp] = {}
        for number in range(CROWD if self.dimensions >= 1024 else 0):
            self.crowd += 1
            vector = np.random.default_rng(number).standard_normal(self.dimensions).astype(np.float32)
            self._take(an_upsert(a_note(1_000_000 + number, tenant="crowd"), [vector]))

    def make(self) -> VectorIndex:
        return FlatVectorIndex(self.dimensions, self._load, self._fetch, clock=self.clock)

    async def apply(self, index: VectorIndex, *ops: IndexOp) -> None:
        for op in ops:
            self._take(op)
        await index.apply(ops)

    def _take(self, op: IndexOp) -> None:
        existing = self._newest.get(op.note_id)
        if existing is None or existing.revision <= op.revision:
            self._newest[op.note_id] = op

    def _rows(self) -> list[LoadedRow]:
        rows = [
            LoadedRow(op.note, record.chunk_key, record.vector)
            for op in self._newest.values()
            if op.note
            for record in op.records
        ]
        return sorted(rows, key=lambda row: row.chunk_key)

    async def _load(self, after: ChunkKey, limit: int) -> list[LoadedRow]:
        return [row for row in self._rows() if row.chunk_key > after][:limit]

    async def _fetch(self, keys: Sequence[ChunkKey]) -> dict[ChunkKey, Floats]:
        wanted = set(keys)
        return {row.chunk_key: row.vector for row in self._rows() if row.chunk_key in wanted}


class FlatSigns(Flat):
    dimensions = 1030  # not a multiple of 64, so that the last word of bits is partly used


class Chroma(Backend):
    def __init__(self, place: ChromaFolder | ChromaServer, suffix: str = "") -> None:
        super().__init__()
        self.place = place
        self.suffix = suffix
        self.store_id = f"store {suffix}"

    def make(self, store_id: str | None = None, version: str = "test:model:8") -> ChromaVectorIndex:
        return ChromaVectorIndex(
            self.place,
            store_id=store_id or self.store_id,
            embedding_version=version,
            clock=self.clock,
            suffix=self.suffix,
            timeout_seconds=120.0,  # a busy machine must not look like an outage
        )


class Qdrant(Backend):
    def __init__(
        self, place: QdrantFolder | QdrantServer, collection: str = "nur", connect: Callable[..., Any] = connect
    ) -> None:
        super().__init__()
        self.place = place
        self.collection = collection
        self.connect = connect

    def make(self, store_id: str = "ours", version: str = "test:model:8") -> QdrantVectorIndex:
        return QdrantVectorIndex(
            self.place,
            store_id=store_id,
            embedding_version=version,
            clock=self.clock,
            collection=self.collection,
            connect=self.connect,
        )


class PgVector(Backend):
    """pgvector over PostgreSQL's tables, which receive each write first."""

    version = "it's:a 100%:8"

    def __init__(self, address: str | None = None) -> None:
        super().__init__()
        self._revisions: dict[NoteId, int] = {}
        self.run = PostgresRunner(StoreCondition(str))
        self.run.start(make_engine(address or shared_cluster().emptied(empty_database()), 2), 2)

    def make(self) -> VectorIndex:
        return PgVectorIndex(self.run, dimensions=self.dimensions, embedding_version=self.version, clock=self.clock)

    async def apply(self, index: VectorIndex, *ops: IndexOp) -> None:
        for op in ops:
            await self.run.write(self._take, op)
        await index.apply(ops)

    def close(self) -> None:
        self.run.stop()

    def _take(self, connection: Connection, op: IndexOp) -> None:
        if op.revision < self._revisions.get(op.note_id, 0):
            return
        self._revisions[op.note_id] = op.revision
        connection.execute(delete(memory_notes).where(memory_notes.c.note_id == op.note_id))
        if op.note is None or op.note.status is not Status.ACTIVE:
            return
        note = {**note_values(op.note), "identity": str(op.note_id), "text": ""}
        connection.execute(insert(memory_notes), note)
        connection.execute(insert(memory_note_chunks), [self._chunk(op, record) for record in op.records])
        vectors = [vector_values(one.chunk_key, one.vector, b"", self.version, NOW) for one in op.records]
        connection.execute(insert(note_chunk_embeddings), vectors)

    def _chunk(self, op: IndexOp, record: IndexRecord) -> dict[str, Any]:
        chunk = {"chunk_key": record.chunk_key, "chunk_index": record.chunk_index, "content_hash": "", "text": ""}
        sizes = {"start_offset": 0, "end_offset": 0, "token_count": 0, "term_count": 0}
        return {
            **chunk,
            **sizes,
            "note_id": op.note_id,
            "chunk_id": uuid4(),
            "revision": op.revision,
            "created_at": NOW,
        }


def keys(found: Sequence[Neighbour]) -> list[int]:
    return [neighbour.chunk_key for neighbour in found]


def found_alone(found: Sequence[Neighbour], key: int) -> bool:
    """Whether exactly this chunk was found, with a cosine of one."""
    return keys(found) == [key] and abs(found[0].similarity - 1) < 1e-6


async def everything(index: VectorIndex, backend: Backend, **asked: Any) -> list[int]:
    return sorted(keys(await index.query(backend.vector(1), replace(ALL, **asked), 100)))

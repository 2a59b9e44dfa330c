"""The flat index against a float32 matrix-vector product over the same vectors."""

from __future__ import annotations

import asyncio
import statistics
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from nur.adapters.flat.loading import LoadedRow
from nur.adapters.flat.vector_index import FlatVectorIndex
from nur.domain.access import DEFAULT_TENANT
from nur.domain.filters import NoteFilter
from nur.domain.notes import ChunkKey, Kind, Note, NoteId, NoteMetadata, Status
from nur.ports.clock import SystemClock
from tests.benchmarks import baselines, store
from tests.benchmarks.figures import median_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.benchmarks.figures import Report

#: Chunks and dimensions: the local model's, kept as float32, and OpenAI's, kept as sign bits.
SHAPES = ((10_000, 256), (20_000, 3072))
EVERYTHING = NoteFilter(tenant=DEFAULT_TENANT)
MOMENT = datetime(2025, 1, 1, tzinfo=UTC)


def test_flat_scan(report: Report) -> None:
    """One exact search each; rescoring reads vectors from memory, where the product reads them from SQLite."""
    for chunks, dimensions in SHAPES:
        asyncio.run(_scan(report, chunks, dimensions))


async def _scan(report: Report, chunks: int, dimensions: int) -> None:
    vectors = baselines.make_vectors("spectrum", chunks, dimensions)
    index = await _filled(vectors.documents, dimensions)

    async def query(vector: baselines.Floats) -> None:
        found.append(
            [neighbour.chunk_key for neighbour in await index.query(vector, NoteFilter(tenant=DEFAULT_TENANT), 10)]
        )

    floor, exact = baselines.gemv_float32(vectors)
    found: list[Sequence[int]] = []
    cpu, _ = await store.timed(query, list(vectors.queries), warmup=0)
    name = f"{chunks:,} × {dimensions}"
    report.add(
        f"{name}, CPU",
        median_ms(cpu),
        beside=statistics.median(floor.cpu_samples) * 1000,
        yardstick="gemv_float32",
    )
    report.add(f"{name}, recall@10", baselines.recall(found[: len(exact)], exact), "")


async def _filled(documents: baselines.Floats, dimensions: int) -> FlatVectorIndex:
    async def load(after: ChunkKey, limit: int) -> list[LoadedRow]:
        first = max(0, after + 1)
        keys = range(first, min(first + limit, len(documents)))
        return [LoadedRow(_note(key), ChunkKey(key), documents[key]) for key in keys]

    async def fetch(keys: Sequence[ChunkKey]) -> dict[ChunkKey, baselines.Floats]:
        return {key: documents[key] for key in keys}

    index = FlatVectorIndex(dimensions, load=load, fetch=fetch, clock=SystemClock())
    await index.open()
    return index


def _note(key: int) -> Note:
    return Note(
        note_id=NoteId(UUID(int=key)),
        public_id=f"mem_{key}",
        tenant="default",
        owner="local",
        kind=Kind.MEMORY,
        meta=NoteMetadata(type="fact", confidence=1.0, occurred_at=MOMENT),
        content_hash="",
        token_count=1,
        chunk_count=1,
        chunking_version="window",
        version=1,
        revision=1,
        status=Status.ACTIVE,
        ingested_at=MOMENT,
        updated_at=MOMENT,
    )

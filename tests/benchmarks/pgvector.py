"""A search by meaning on PostgreSQL beside pgvector's bare query: 1,536 dimensions, in one run.

`NUR_PGVECTOR_CHUNKS=100000 make bench NAMES=pgvector` chooses the size; without it 5,000 chunks. A thousand notes are
stored by Nur; the others are copies of their rows, each with a vector and a digest of its own, for storing them all
takes half an hour. CPU is that of this process and of PostgreSQL's together; bare is one prepared statement of the
driver.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
from sqlalchemy import text

from nur.adapters.pgvector.vector_index import MIN_RESCORED, RESCORED_PER_HIT, PgVectorIndex
from nur.adapters.sql.postgres.engine import make_engine
from nur.adapters.sql.postgres.stores import PostgresStores
from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.adapters.sql.tables import chunk_pieces, memory_note_chunks, memory_notes
from nur.bootstrap import assemble
from nur.bootstrap.indexes import make_index
from nur.domain.chunks import sha256
from nur.domain.embedding import EmbeddingModel, Probe
from nur.domain.filters import NoteFilter
from nur.domain.notes import NoteMetadata
from nur.domain.search import Mode, SearchRequest
from nur.domain.writes import Protection
from nur.ports.clock import SystemClock
from nur.retrieval.calibration import MIN_CANDIDATES
from nur.settings import load
from tests.benchmarks import baselines, scaling, store
from tests.benchmarks.figures import ms
from tests.callers import LOCAL_CALLER
from tests.servers.postgres_server import PostgresCluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from nur.bootstrap import Services
    from nur.ports.embedder import Floats
    from nur.ports.stores import Stores
    from nur.ports.vector_index import VectorIndex
    from tests.benchmarks.figures import Report

CHUNKS = int(os.environ.get("NUR_PGVECTOR_CHUNKS", "5000"))
DIMENSIONS = 1536
STORED = 1000  #: by Nur
CLUSTERS = 500
CANDIDATES = (MIN_CANDIDATES, 60)  #: of most models, and of the sentence models
ROUNDS, QUERIES = 5, 40
QUESTIONS = store.questions(QUERIES)  # once: making them takes longer than a bare query
WHERE = NoteFilter(tenant=LOCAL_CALLER.tenant)


class ClusteredEmbedder:
    """Random vectors near random centres, as texts about the same things have them; the same for the same text."""

    max_tokens = 8191
    model = EmbeddingModel("bench", "clustered", DIMENSIONS)

    def __init__(self) -> None:
        self.centres = np.random.default_rng(0).standard_normal((CLUSTERS, DIMENSIONS), np.float32)

    async def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One unit vector per text."""
        if progress:
            progress(len(texts))
        return np.stack([await self.embed_query(one) for one in texts])

    async def embed_query(self, text: str) -> Floats:
        """The vector of a text."""
        vector: Floats = self.drawn(np.random.default_rng(int(sha256(text)[:16], 16)), 1)[0]
        return vector

    def drawn(self, random: np.random.Generator, count: int) -> Floats:
        """So many vectors."""
        centres = self.centres[random.integers(0, CLUSTERS, count)]
        vectors = centres + 0.7 * random.standard_normal((count, DIMENSIONS), np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    async def probe(self) -> Probe:
        """Always well."""
        return Probe(True, 0, DIMENSIONS)

    async def close(self) -> None:
        """Nothing to do."""


def test_pgvector(report: Report) -> None:
    """A search by meaning, pgvector's bare query, and what ranking and passages cost on SQLite."""
    asyncio.run(_measure(report))


async def _measure(report: Report) -> None:
    embedder = ClusteredEmbedder()
    cluster = PostgresCluster(shared_buffers="1GB", maintenance_work_mem="1GB", max_parallel_maintenance_workers="1")
    try:
        with tempfile.TemporaryDirectory() as folder:
            sqlite = SqliteStores(Path(folder) / "sqlite")
            version, clock = embedder.model.version, SystemClock()
            flat = make_index(load(index="flat"), sqlite, embedder.model, "bench", version, clock)
            stores = PostgresStores(cluster.url(), Path(folder) / "postgres", allow_unsynced=True)
            index = PgVectorIndex(stores.run, dimensions=DIMENSIONS, embedding_version=version, clock=clock)
            async with (
                _services(sqlite, flat, embedder) as small,
                _services(stores, index, embedder, opened=False) as services,
            ):
                await _compare(report, embedder, cluster, Path(folder), small, services)
    finally:
        cluster.remove()


async def _compare(
    report: Report,
    embedder: ClusteredEmbedder,
    cluster: PostgresCluster,
    folder: Path,
    small: Services,
    services: Services,
) -> None:
    pid = int((cluster.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
    postmaster = psutil.Process(pid)
    profile = scaling.Profile({}, folder, lambda: [postmaster, *postmaster.children()])
    await asyncio.to_thread(_copy, cluster.url(), embedder)
    started, cpu = time.perf_counter(), scaling._cpu(profile)
    await services.index.open()
    name = f"{CHUNKS:,} × {DIMENSIONS:,}"
    report.add(f"{name}: build the index", time.perf_counter() - started, "s wall")
    report.add(f"{name}: build the index", scaling._cpu(profile) - cpu, "s CPU")
    for wanted in CANDIDATES:
        await _side_by_side(report, f"{name}, {wanted} candidates", embedder, cluster, profile, small, services, wanted)


async def _side_by_side(
    report: Report,
    name: str,
    embedder: ClusteredEmbedder,
    cluster: PostgresCluster,
    profile: scaling.Profile,
    small: Services,
    services: Services,
    wanted: int,
) -> None:
    """The same questions for the same number of candidates: both searches, both indexes, and the bare query."""
    bare_query = _Bare(cluster.url(), embedder, max(MIN_RESCORED, RESCORED_PER_HIT * wanted))
    work: dict[str, Callable[[], Any]] = {
        "small": lambda: _searches(small, wanted),
        "scan": lambda: _queries(small.index, embedder, wanted),
        "bare": bare_query,
        "index": lambda: _queries(services.index, embedder, wanted),
        "search": lambda: _searches(services, wanted),
    }
    figures: dict[str, list[float]] = {kind: [] for kind in work}
    for _ in range(ROUNDS):  # in turn: the load of the machine is the same for all
        for kind, done in work.items():
            figures[kind].append(await _spent(profile, done))
    bare_query.close()
    whole, scan, bare, near, search = (ms(float(np.median(figures[kind]))) for kind in work)
    report.add(f"{name}: ranking, passages and all the rest of a search on SQLite", whole - scan)
    report.add(f"{name}: nearest with filter, rescored", near, beside=bare, yardstick="bare")
    report.add(f"{name}: whole search by meaning", search, beside=bare, yardstick="bare")
    allowed = 1.5 * bare + whole - scan
    report.add(f"{name}: whole search by meaning", search, beside=allowed, yardstick="1.5 bare + SQLite", target="1")


@asynccontextmanager
async def _services(
    stores: Stores, index: VectorIndex, embedder: ClusteredEmbedder, *, opened: bool = True
) -> AsyncIterator[Services]:
    clock = SystemClock()
    await stores.open(clock.now())
    try:
        services = assemble(load(), stores, index, embedder, None, clock)
        if opened:
            await index.open()
        for content in baselines.english_documents(STORED, words=60, seed=3):
            await services.add_note(content, NoteMetadata(), Protection(), caller=LOCAL_CALLER, on_failure=store.REJECT)
        yield services
        await services.search_log.close()
    finally:
        await stores.close()


async def _searches(services: Services, wanted: int) -> None:
    search = replace(services.search, retrieve=replace(services.search.retrieve, min_candidates=wanted))
    for question in QUESTIONS:
        await search(SearchRequest(query=question, caller=LOCAL_CALLER, where=WHERE, mode=Mode.DENSE))


async def _queries(index: VectorIndex, embedder: ClusteredEmbedder, wanted: int) -> None:
    for question in QUESTIONS:
        assert len(await index.query(await embedder.embed_query(question), WHERE, wanted)) == wanted


class _Bare:
    """As many neighbours as Nur's query rescores, over one connection."""

    def __init__(self, address: str, embedder: ClusteredEmbedder, rescored: int) -> None:
        half = f"halfvec({DIMENSIONS})"
        self._nearest = (
            f"SELECT chunk_key FROM note_chunk_embeddings WHERE embedding_version = '{embedder.model.version}'"
            f" ORDER BY vec::{half} <=> %s::vector::{half} LIMIT {rescored}"
        )
        self._embedder = embedder
        self._rescored = rescored
        self._engine = make_engine(address, 1)
        self._raw = self._engine.raw_connection()
        connection: Any = self._raw.driver_connection
        self._connection = connection
        self._connection.autocommit = True
        self._connection.execute(f"SET hnsw.ef_search = {rescored}")

    async def __call__(self) -> None:
        vectors = [await self._embedder.embed_query(question) for question in QUESTIONS]
        await asyncio.to_thread(self._run, vectors)

    def close(self) -> None:
        """Disconnect."""
        self._raw.close()
        self._engine.dispose()

    def _run(self, vectors: Sequence[Floats]) -> None:
        with self._connection.cursor() as cursor:
            for vector in vectors:
                found = cursor.execute(self._nearest, (vector,), prepare=True).fetchall()
                assert len(found) == self._rescored


async def _spent(profile: scaling.Profile, work: Callable[[], Any]) -> float:
    """CPU seconds per query; the first time is not counted."""
    await work()
    before = scaling._cpu(profile)
    await work()
    return (scaling._cpu(profile) - before) / QUERIES


def _copy(address: str, embedder: ClusteredEmbedder) -> None:
    """Copies of every note and chunk, and a vector for each chunk."""
    engine = make_engine(address, 1)
    own = {"note_id": "md5(t.note_id::text || n)::uuid", "public_id": "t.public_id || '_' || n"}
    own["identity"] = "t.identity || '_' || n"
    keys = {"chunk_key": "t.chunk_key + n * 10000000", "chunk_id": "gen_random_uuid()", "note_id": own["note_id"]}
    # Otherwise searches would compare copies with each other, which the notes in SQLite have none of.
    keys["digest"] = "decode(md5(t.digest || n::text::bytea), 'hex')"
    with engine.begin() as connection:
        copies = CHUNKS // STORED - 1
        for table, changed in ((memory_notes, own), (memory_note_chunks, keys), (chunk_pieces, keys)):
            values = ", ".join(changed.get(column.name, f't."{column.name}"') for column in table.columns)
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            connection.execute(
                text(
                    f"INSERT INTO {table.name} ({names}) SELECT {values} FROM {table.name} t, generate_series(1, :n) n"
                ),
                {"n": copies},
            )
        lacking = (
            "SELECT chunk_key FROM memory_note_chunks"
            " WHERE chunk_key NOT IN (SELECT chunk_key FROM note_chunk_embeddings)"
        )
        missing = list(connection.execute(text(lacking)).scalars())
        _copy_vectors(connection.connection.driver_connection, missing, embedder)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))
    engine.dispose()


def _copy_vectors(connection: Any, keys: Sequence[int], embedder: ClusteredEmbedder) -> None:
    random = np.random.default_rng(1)
    now = datetime.now(UTC)
    (oid,) = connection.execute("SELECT 'vector'::regtype::oid").fetchone()
    columns = "chunk_key, embedding_version, embedding_dim, created_at, vec"
    statement = f"COPY note_chunk_embeddings ({columns}) FROM STDIN (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(["int8", "varchar", "int4", "timestamptz", oid])
        for start in range(0, len(keys), 1000):
            some = keys[start : start + 1000]
            for key, vector in zip(some, embedder.drawn(random, len(some)), strict=True):
                copy.write_row((key, embedder.model.version, DIMENSIONS, now, vector))

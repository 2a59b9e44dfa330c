"""PgVectorIndex: an HNSW index in half precision on the table of vectors; candidates are rescored in full precision.

PostgreSQL indexes each vector as it is committed, so `apply` has nothing to do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Float, bindparam, cast, func, literal_column, select, text
from sqlalchemy.types import UserDefinedType

from nur.adapters.sql.columns import Vector
from nur.adapters.sql.filters import NOW, STATEMENTS, chunks_matching
from nur.adapters.sql.tables import memory_note_chunks, memory_notes, note_chunk_embeddings
from nur.domain.chunks import sha256
from nur.domain.errors import IndexDown, StoreDown
from nur.domain.notes import ChunkKey, NoteId
from nur.observability.events import EventLog
from nur.ports.clock import milliseconds_since
from nur.ports.vector_index import IndexHealth, Neighbour

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from sqlalchemy import ColumnElement, Connection, Select

    from nur.adapters.sql.runner import Runner
    from nur.domain.filters import NoteFilter
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats
    from nur.ports.vector_index import IndexOp

log = EventLog("PgVector")

#: pgvector's limit for an HNSW index of halfvec. Longer vectors are compared by an exact scan.
MAX_DIMENSIONS = 4000
#: Candidates rescored per hit wanted: half precision swaps near ties.
RESCORED_PER_HIT = 2
MIN_RESCORED = 40  #: pgvector's default for hnsw.ef_search
MAX_RESCORED = 1000  #: pgvector's limit for hnsw.ef_search

_chunks = memory_note_chunks.c
_vectors = note_chunk_embeddings.c

_SET_EF_SEARCH = text("SELECT set_config('hnsw.ef_search', :rescored, false)")
#: An arbitrary lock number of our own: only one process builds the index.
_LOCK_BUILD = text("SELECT pg_try_advisory_lock(7809623)")
_UNLOCK_BUILD = text("SELECT pg_advisory_unlock(7809623)")
#: Cosine distance to a zero vector.
_NOT_A_NUMBER: ColumnElement[float] = literal_column("'NaN'::double precision")
_IS_VALID = text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")


class _HalfVector(UserDefinedType["Floats"]):
    """pgvector's `halfvec` column type with a fixed number of dimensions."""

    cache_ok = True

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    def get_col_spec(self, **_: Any) -> str:
        return f"halfvec({self.dimensions})"


class PgVectorIndex:
    """Finds the nearest chunks of one embedding version, in the snapshot of the transaction."""

    name = "pgvector"
    follows_commits = True
    is_in_store = True

    def __init__(self, run: Runner, *, dimensions: int, embedding_version: str, clock: Clock) -> None:
        self.run = run
        self._dimensions = dimensions
        self._clock = clock
        self._version = embedding_version
        # A literal, not a parameter: otherwise PostgreSQL cannot tell that this version's partial index applies.
        self._literal = "'" + embedding_version.replace("'", "''") + "'"
        self._of_version: ColumnElement[bool] = _vectors.embedding_version == literal_column(self._literal)
        self._index = f"ix_vectors_{sha256(embedding_version)[:16]}"
        self._query = cast(bindparam("query", type_=Vector), Vector)
        self._statement = lru_cache(STATEMENTS)(self._compose)

    async def open(self) -> None:
        """Build this version's index if it is missing, without blocking writes. Raises IndexDown."""
        if self._dimensions > MAX_DIMENSIONS:
            log.warning("vectors_not_indexed", dimensions=self._dimensions, most=MAX_DIMENSIONS)
            return
        try:
            await self.run.write(self._build)
        except StoreDown as error:
            raise IndexDown(str(error)) from error

    async def close(self) -> None:
        """Nothing to do: the store owns the connections."""

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        """Nothing to do: committed vectors are indexed."""

    async def query(self, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        """The nearest chunks that match the filter, nearest first, ties by key. Raises IndexDown."""
        if limit <= 0 or not vector.any():
            return []
        try:
            return await self.run.read_one(self._nearest, vector, where, limit)
        except StoreDown as error:
            raise IndexDown(str(error)) from error

    async def count(self) -> int:
        """Number of chunks with a vector of this version."""
        return await self.run.read(self._count)

    async def was_closed_cleanly(self) -> bool:
        """Always: PostgreSQL recovers by itself."""
        return True

    async def reset(self) -> None:
        """Nothing to do: the index holds only the stored vectors."""

    async def scrub(self) -> None:
        """Nothing to do: the index has no files of its own."""

    async def health(self) -> IndexHealth:
        """Whether PostgreSQL answers."""
        started = self._clock.monotonic()
        try:
            await self.run.read(lambda connection: connection.execute(text("SELECT 1")).scalar())
        except StoreDown as error:
            return IndexHealth(healthy=False, latency_ms=0, error=str(error))
        return IndexHealth(healthy=True, latency_ms=milliseconds_since(started, self._clock))

    def _build(self, connection: Connection) -> None:
        # CONCURRENTLY, because a build takes minutes and must not block writes. It cannot run inside a transaction.
        connection.execution_options(isolation_level="AUTOCOMMIT")
        if not connection.execute(_LOCK_BUILD).scalar():
            return  # another process is building it; until then queries use an exact scan
        try:
            valid = connection.execute(_IS_VALID, {"name": self._index}).scalar()
            if valid is False:  # an earlier build was interrupted
                connection.exec_driver_sql(f"DROP INDEX {self._index}")
            if not valid:
                connection.exec_driver_sql(self._create_index().replace("%", "%%"))
        finally:
            connection.execute(_UNLOCK_BUILD)

    def _create_index(self) -> str:
        return (
            f"CREATE INDEX CONCURRENTLY {self._index} ON note_chunk_embeddings"
            f" USING hnsw ((vec::halfvec({self._dimensions})) halfvec_cosine_ops)"
            f" WHERE embedding_version = {self._literal}"
        )

    def _nearest(self, connection: Connection, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        rescored = _rescored(limit)
        _set_ef_search(connection, rescored)
        values = {"query": vector, "now": self._clock.now()}
        rows = connection.execute(self._statement(where, limit, max(rescored, limit)), values).all()
        if len(rows) < limit:  # no more match the filter, or the index gave up looking (hnsw.max_scan_tuples)
            rows = connection.execute(self._statement(where, limit, None), values).all()
        return [Neighbour(ChunkKey(row.chunk_key), NoteId(row.note_id), 1.0 - row.distance) for row in rows]

    def _compose(self, where: NoteFilter, limit: int, rescored: int | None) -> Select[int, UUID, float]:
        """The nearest of the `rescored` that the index finds; None compares every vector that matches the filter.

        Limits are literals: PostgreSQL takes a parameter for a tenth of all rows, and would plan every query again.
        """
        near = self._exact(_vectors.vec) if rescored is None else self._approximate(_vectors.vec)
        candidates = (
            select(_vectors.chunk_key, _chunks.note_id, _vectors.vec)
            .join_from(note_chunk_embeddings, memory_note_chunks, _chunks.chunk_key == _vectors.chunk_key)
            .join(memory_notes, memory_notes.c.note_id == _chunks.note_id)
            .where(self._of_version, chunks_matching(where, NOW))
            .order_by(near)
            .limit(literal_column(str(rescored or limit)))
            .cte("candidates")
            .prefix_with("MATERIALIZED", dialect="postgresql")
        )
        found, distance = candidates.c, func.coalesce(self._exact(candidates.c.vec), 1.0).label("distance")
        nearest = select(found.chunk_key, found.note_id, distance).order_by(text("distance"), found.chunk_key)
        return nearest.limit(literal_column(str(limit)))

    def _approximate(self, column: ColumnElement[Any]) -> ColumnElement[float]:
        """The distance that the index is built on."""
        if self._dimensions > MAX_DIMENSIONS:
            return _distance(column, self._query)
        half = _HalfVector(self._dimensions)
        return _distance(cast(column, half), cast(self._query, half))

    def _exact(self, column: ColumnElement[Any]) -> ColumnElement[float]:
        return func.nullif(_distance(column, self._query), _NOT_A_NUMBER, type_=Float)

    def _count(self, connection: Connection) -> int:
        statement = select(func.count()).select_from(note_chunk_embeddings).where(self._of_version)
        return connection.execute(statement).scalar_one()


def _set_ef_search(connection: Connection, rescored: int) -> None:
    """Make the index look at so many, unless this connection's last query did.

    Most searches ask for the same number. Set for a transaction, it would take three more round trips each time.
    """
    if connection.info.get("ef_search", MIN_RESCORED) != rescored:
        connection.execute(_SET_EF_SEARCH, {"rescored": str(rescored)})
        connection.info["ef_search"] = rescored


def _rescored(limit: int) -> int:
    """Number of candidates to rescore."""
    return min(max(MIN_RESCORED, RESCORED_PER_HIT * limit), MAX_RESCORED)


def _distance(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[float]:
    """Cosine distance: one minus the cosine similarity."""
    return one.op("<=>", return_type=Float())(other)

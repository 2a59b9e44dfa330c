"""PgVectorIndex: the stored vectors themselves, found by an HNSW index over half precision and rescored in full.

The index belongs to the table of vectors, so a vector that is committed is in the index: there is nothing to apply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Float, bindparam, cast, func, literal_column, select, text
from sqlalchemy.types import UserDefinedType

from nur.adapters.sql.columns import Vector
from nur.adapters.sql.filters import chunks_matching
from nur.adapters.sql.tables import memory_note_chunks, memory_notes, note_chunk_embeddings
from nur.domain.chunks import sha256
from nur.domain.errors import IndexDown, StoreDown
from nur.domain.notes import ChunkKey, NoteId
from nur.observability.events import EventLog
from nur.ports.vector_index import IndexHealth, Neighbour

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection

    from nur.adapters.sql.runner import Runner
    from nur.domain.filters import NoteFilter
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats
    from nur.ports.vector_index import IndexOp

log = EventLog("PgVector")

#: What an HNSW index over half precision takes. Longer vectors are compared one by one.
MOST_DIMENSIONS = 4000
#: So many neighbours are rescored for each one wanted: half precision swaps near ties.
RESCORED_PER_HIT = 2
LEAST_RESCORED = 40  #: what pgvector looks at unless it is told otherwise
MOST_RESCORED = 1000  #: pgvector's own limit for hnsw.ef_search

_chunks = memory_note_chunks.c
_vectors = note_chunk_embeddings.c

_LOOK_AT = text("SELECT set_config('hnsw.ef_search', :rescored, true)")
#: Any number that is ours: only one process builds the index.
_BUILDING = text("SELECT pg_try_advisory_lock(7809623)")
_BUILT = text("SELECT pg_advisory_unlock(7809623)")
#: The distance of a vector of zeros.
_NO_DIRECTION: ColumnElement[float] = literal_column("'NaN'::double precision")
_IS_VALID = text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")


class _HalfVector(UserDefinedType["Floats"]):
    """pgvector's `halfvec` of one dimension."""

    cache_ok = True

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    def get_col_spec(self, **_: Any) -> str:
        return f"halfvec({self.dimensions})"


class PgVectorIndex:
    """Finds the nearest chunks of one embedding version, in the transaction's own snapshot."""

    name = "pgvector"
    follows_commits = True

    def __init__(self, run: Runner, *, dimensions: int, embedding_version: str, clock: Clock) -> None:
        self.run = run
        self._dimensions = dimensions
        self._clock = clock
        self._version = embedding_version
        # A literal: only then can PostgreSQL see that the index of this version applies.
        self._literal = "'" + embedding_version.replace("'", "''") + "'"
        self._is_ours: ColumnElement[bool] = _vectors.embedding_version == literal_column(self._literal)
        self._index = f"ix_vectors_{sha256(embedding_version)[:16]}"
        self._asked = cast(bindparam("asked", type_=Vector), Vector)

    async def open(self) -> None:
        """Build the index of this version unless it is there; writes go on meanwhile. Raises IndexDown."""
        if self._dimensions > MOST_DIMENSIONS:
            log.warning("vectors_not_indexed", dimensions=self._dimensions, most=MOST_DIMENSIONS)
            return
        try:
            await self.run.write(self._build)
        except StoreDown as error:
            raise IndexDown(str(error)) from error

    async def close(self) -> None:
        """Nothing to do: it is the store's."""

    async def apply(self, ops: Sequence[IndexOp]) -> None:
        """Nothing to do: what is committed is indexed."""

    async def query(self, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        """The nearest chunks in the selection, nearest first, ties by key."""
        if limit <= 0 or not vector.any():
            return []
        try:
            return await self.run.read(self._nearest, vector, where, limit)
        except StoreDown as error:
            raise IndexDown(str(error)) from error

    async def count(self) -> int:
        """How many chunks have a vector of this version."""
        return await self.run.read(self._count)

    async def was_closed_cleanly(self) -> bool:
        """PostgreSQL recovers by itself."""
        return True

    async def reset(self) -> None:
        """Nothing to do: it holds nothing but the stored vectors."""

    async def scrub(self) -> None:
        """Nothing to do: it has no files of its own."""

    async def health(self) -> IndexHealth:
        """Whether PostgreSQL answers."""
        started = self._clock.monotonic()
        try:
            await self.run.read(lambda connection: connection.execute(text("SELECT 1")).scalar())
        except StoreDown as error:
            return IndexHealth(healthy=False, latency_ms=0, error=str(error))
        return IndexHealth(healthy=True, latency_ms=round((self._clock.monotonic() - started) * 1000))

    def _build(self, connection: Connection) -> None:
        # Concurrently: neither writes nor searches wait for a build of minutes. That needs no transaction round it.
        connection.execution_options(isolation_level="AUTOCOMMIT")
        if not connection.execute(_BUILDING).scalar():
            return  # another process is at it; until it is done vectors are compared one by one
        try:
            valid = connection.execute(_IS_VALID, {"name": self._index}).scalar()
            if valid is False:  # a build that was not completed
                connection.exec_driver_sql(f"DROP INDEX {self._index}")
            if not valid:
                connection.exec_driver_sql(self._statement().replace("%", "%%"))
        finally:
            connection.execute(_BUILT)

    def _statement(self) -> str:
        return (
            f"CREATE INDEX CONCURRENTLY {self._index} ON note_chunk_embeddings"
            f" USING hnsw ((vec::halfvec({self._dimensions})) halfvec_cosine_ops)"
            f" WHERE embedding_version = {self._literal}"
        )

    def _nearest(self, connection: Connection, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        rescored = min(max(LEAST_RESCORED, RESCORED_PER_HIT * limit), MOST_RESCORED)
        if rescored > LEAST_RESCORED:
            connection.execute(_LOOK_AT, {"rescored": str(rescored)})
        found = (
            select(_vectors.chunk_key, _chunks.note_id, _vectors.vec)
            .join_from(note_chunk_embeddings, memory_note_chunks, _chunks.chunk_key == _vectors.chunk_key)
            .join(memory_notes, memory_notes.c.note_id == _chunks.note_id)
            .where(self._is_ours, chunks_matching(where, self._clock.now()))
            .order_by(self._near(_vectors.vec))
            .limit(max(rescored, limit))
            .cte("found")
            .prefix_with("MATERIALIZED", dialect="postgresql")
        )
        away = func.coalesce(self._exact(found.c.vec), 1.0).label("away")
        nearest = select(found.c.chunk_key, found.c.note_id, away).order_by(text("away"), found.c.chunk_key)
        rows = connection.execute(nearest.limit(limit), {"asked": vector})
        return [Neighbour(ChunkKey(row.chunk_key), NoteId(row.note_id), 1.0 - row.away) for row in rows]

    def _near(self, column: ColumnElement[Any]) -> ColumnElement[float]:
        """The distance that the index is ordered by."""
        if self._dimensions > MOST_DIMENSIONS:
            return _distance(column, self._asked)
        half = _HalfVector(self._dimensions)
        return _distance(cast(column, half), cast(self._asked, half))

    def _exact(self, column: ColumnElement[Any]) -> ColumnElement[float]:
        return func.nullif(_distance(column, self._asked), _NO_DIRECTION, type_=Float)

    def _count(self, connection: Connection) -> int:
        counted = select(func.count()).select_from(note_chunk_embeddings).where(self._is_ours)
        return connection.execute(counted).scalar_one()


def _distance(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[float]:
    """One less the cosine."""
    return one.op("<=>", return_type=Float())(other)

"""Which vector index the settings ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.chunks import sha256
from nur.domain.errors import BadConfiguration
from nur.services.indexing.index_note import IndexedChunk, record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.adapters.chroma.client import ChromaFolder, ChromaServer
    from nur.domain.embedding import EmbeddingModel
    from nur.domain.notes import ChunkKey, Note
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats
    from nur.ports.stores import Stores
    from nur.ports.vector_index import IndexRecord, VectorIndex
    from nur.settings import Settings

NO_CHROMA = "INDEX=chroma needs an extra: pip install 'nur-memory[chroma]'"


def make_index(
    settings: Settings, stores: Stores, model: EmbeddingModel, store_id: str, first_version: str, clock: Clock
) -> VectorIndex:
    """The index of a model's vectors, not yet open. Raises BadConfiguration."""
    chosen = settings.index
    if chosen == "auto":
        chosen = "chroma" if settings.chroma_host else "pgvector" if settings.database_url else "flat"
    if chosen == "chroma":
        return _chroma(settings, model, store_id, first_version, clock)
    if chosen == "pgvector":
        return _pgvector(stores, model, clock)
    from nur.adapters.flat.vector_index import FlatVectorIndex

    async def load(after: ChunkKey, limit: int) -> Sequence[tuple[Note, IndexRecord]]:
        page = await stores.vectors.page(model.version, after, limit, clock.now())
        return [
            (one.note, record(one.note, IndexedChunk(stored.chunk_key, stored.chunk, stored.content_hash, vector)))
            for one, vector in page
            for stored in (one.stored,)
        ]

    async def fetch(keys: Sequence[ChunkKey]) -> dict[ChunkKey, Floats]:
        return await stores.vectors.of_chunks(keys, model.version)

    return FlatVectorIndex(model.dimensions, load=load, fetch=fetch, clock=clock)


def _pgvector(stores: Stores, model: EmbeddingModel, clock: Clock) -> VectorIndex:
    """Inside the database of the stores: PostgreSQL's, as the settings have made sure."""
    from nur.adapters.pgvector.vector_index import PgVectorIndex
    from nur.adapters.sql.stores import SqlStores

    assert isinstance(stores, SqlStores)  # noqa: S101  # for the type checker
    return PgVectorIndex(stores.run, dimensions=model.dimensions, embedding_version=model.version, clock=clock)


def _chroma(settings: Settings, model: EmbeddingModel, store_id: str, first_version: str, clock: Clock) -> VectorIndex:
    """Chroma; the store's first model has the plain names, later ones' collections carry a suffix."""
    try:
        from nur.adapters.chroma.vector_index import ChromaVectorIndex
    except ImportError as error:
        raise BadConfiguration(NO_CHROMA) from error
    suffix = "" if model.version == first_version else f"_{sha256(model.version)[:8]}"
    return ChromaVectorIndex(
        _chroma_place(settings), store_id=store_id, embedding_version=model.version, clock=clock, suffix=suffix
    )


def _chroma_place(settings: Settings) -> ChromaServer | ChromaFolder:
    from nur.adapters.chroma.client import ChromaFolder, ChromaServer

    if settings.chroma_host:
        return ChromaServer(settings.chroma_host, settings.chroma_port)
    return ChromaFolder(settings.nur_data_dir / "chroma")


def wipe_foreign(settings: Settings, name: str) -> None:
    """Delete a collection of Chroma that is not this store's. Raises BadConfiguration, BadRequest, IndexDown."""
    if settings.index not in ("auto", "chroma") or (settings.index == "auto" and not settings.chroma_host):
        raise BadConfiguration("--wipe-foreign is for Chroma: set CHROMA_HOST, or INDEX=chroma.")
    try:
        from nur.adapters.chroma.wipe import wipe_collection
    except ImportError as error:
        raise BadConfiguration(NO_CHROMA) from error
    wipe_collection(_chroma_place(settings), name)

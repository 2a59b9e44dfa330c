"""Builds the configured vector index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.chunks import sha256
from nur.domain.errors import BadConfiguration

if TYPE_CHECKING:
    from nur.adapters.chroma.client import ChromaFolder, ChromaServer
    from nur.adapters.qdrant.client import QdrantFolder, QdrantServer
    from nur.domain.embedding import EmbeddingModel
    from nur.ports.clock import Clock
    from nur.ports.stores import Stores
    from nur.ports.vector_index import VectorIndex
    from nur.settings import Settings

NO_CHROMA = "INDEX=chroma needs an extra: pip install 'nur-memory[chroma]'"
NO_QDRANT = "INDEX=qdrant needs an extra: pip install 'nur-memory[qdrant]'"


def chosen_index(settings: Settings) -> str:
    """Return the name of the configured index; `auto` depends on the other settings."""
    if settings.index != "auto":
        return settings.index
    if settings.chroma_host:
        return "chroma"
    if settings.qdrant_url:
        return "qdrant"
    return "pgvector" if settings.database_url else "flat"


def make_index(
    settings: Settings, stores: Stores, model: EmbeddingModel, store_id: str, first_version: str, clock: Clock
) -> VectorIndex:
    """Return the index for a model's vectors, not yet open. Raises BadConfiguration."""
    chosen = chosen_index(settings)
    if chosen == "chroma":
        return _chroma(settings, model, store_id, first_version, clock)
    if chosen == "qdrant":
        return _qdrant(settings, model, store_id, clock)
    if chosen == "pgvector":
        return _pgvector(stores, model, clock)
    return _flat(stores, model, clock)


def _flat(stores: Stores, model: EmbeddingModel, clock: Clock) -> VectorIndex:
    from nur.adapters.flat.loading import StoredVectors
    from nur.adapters.flat.vector_index import FlatVectorIndex

    stored = StoredVectors(stores.vectors, model.version, clock)
    return FlatVectorIndex(model.dimensions, load=stored.load, fetch=stored.fetch, clock=clock)


def _pgvector(stores: Stores, model: EmbeddingModel, clock: Clock) -> VectorIndex:
    """Build the index in the stores' own PostgreSQL database; Settings refuses pgvector without one."""
    from nur.adapters.pgvector.vector_index import PgVectorIndex
    from nur.adapters.sql.stores import SqlStores

    assert isinstance(stores, SqlStores)  # noqa: S101  # for the type checker
    return PgVectorIndex(stores.run, dimensions=model.dimensions, embedding_version=model.version, clock=clock)


def _chroma(settings: Settings, model: EmbeddingModel, store_id: str, first_version: str, clock: Clock) -> VectorIndex:
    """Build the Chroma index. Collections of the store's first model have no suffix, those of later models have."""
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


def _qdrant(settings: Settings, model: EmbeddingModel, store_id: str, clock: Clock) -> VectorIndex:
    try:
        from nur.adapters.qdrant.collection import QdrantLayout
        from nur.adapters.qdrant.vector_index import QdrantVectorIndex
    except ImportError as error:
        raise BadConfiguration(NO_QDRANT) from error
    return QdrantVectorIndex(
        _qdrant_place(settings),
        store_id=store_id,
        embedding_version=model.version,
        clock=clock,
        collection=settings.qdrant_collection,
        layout=QdrantLayout(settings.qdrant_shards, settings.qdrant_replicas, settings.qdrant_quantization),
    )


def _qdrant_place(settings: Settings) -> QdrantServer | QdrantFolder:
    from nur.adapters.qdrant.client import QdrantFolder, QdrantServer

    if settings.qdrant_url:
        key = settings.qdrant_api_key
        return QdrantServer(settings.qdrant_url, key.get_secret_value() if key else None)
    return QdrantFolder(settings.nur_data_dir / "qdrant")


def wipe_foreign(settings: Settings, name: str) -> None:
    """Delete a collection that does not belong to this store. Raises BadConfiguration, BadRequest, IndexDown."""
    chosen = chosen_index(settings)
    if chosen == "qdrant":
        try:
            from nur.adapters.qdrant.client import wipe_collection as wipe_qdrant
        except ImportError as error:
            raise BadConfiguration(NO_QDRANT) from error
        wipe_qdrant(_qdrant_place(settings), name)
        return
    if chosen != "chroma":
        raise BadConfiguration("--wipe-foreign is for Chroma and Qdrant: set CHROMA_HOST, QDRANT_URL or INDEX.")
    try:
        from nur.adapters.chroma.client import wipe_collection
    except ImportError as error:
        raise BadConfiguration(NO_CHROMA) from error
    wipe_collection(_chroma_place(settings), name)

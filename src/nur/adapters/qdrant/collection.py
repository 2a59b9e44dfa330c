"""Synchronous access to one store's collection in Qdrant; called in threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from qdrant_client import models
from qdrant_client.http.exceptions import UnexpectedResponse

from nur.adapters.qdrant import filters
from nur.adapters.qdrant.points import DENSE, SPARSE, batches
from nur.domain.errors import IndexLost, StoreForeign

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qdrant_client import QdrantClient

    from nur.domain.notes import NoteId

T = TypeVar("T")

FOREIGN = (
    "The Qdrant collection '{name}' does not belong to this store and was not changed. Set QDRANT_COLLECTION to "
    "another name, or remove it with: nur rebuild --wipe-foreign {name}"
)
_STORE_ID = "nur_store_id"
_VERSION = "nur_embedding_version"
_NOT_FOUND = 404
#: With quantisation, twice as many candidates as wanted are rescored with full vectors.
_RESCORED = models.SearchParams(quantization=models.QuantizationSearchParams(rescore=True, oversampling=2.0))

Quantization = Literal["none", "scalar", "binary"]


@dataclass(frozen=True, slots=True)
class QdrantLayout:
    """Settings for a new collection; an existing collection keeps its own."""

    shards: int = 1
    replicas: int = 1
    quantization: Quantization = "none"


@dataclass(frozen=True, slots=True)
class QdrantCollection:
    """Reads and writes one collection, if it is marked with this store's id."""

    client: QdrantClient
    name: str
    store_id: str
    embedding_version: str
    dimensions: int
    layout: QdrantLayout
    has_payload_indexes: bool = True  #: the in-process engine has none

    def open(self) -> None:
        """Create the collection if it does not exist. Raises StoreForeign."""
        if not self.client.collection_exists(self.name):
            try:
                self._create()
            except (UnexpectedResponse, ValueError):
                if not self.client.collection_exists(self.name):  # else another process has just created it
                    raise
        self._refuse_foreign()
        self._index_payload()

    def drop(self) -> None:
        """Empty the collection. Raises StoreForeign before anything is deleted."""
        if self.client.collection_exists(self.name):
            self._refuse_foreign()
            self.client.delete_collection(self.name)
        self.open()

    def count(self) -> int:
        """Number of points."""
        return self._on(lambda: self.client.count(self.name, exact=True)).count

    def nearest(
        self, query: list[float] | models.SparseVector, where: models.Filter, limit: int
    ) -> list[models.ScoredPoint]:
        """The nearest points by the dense or the sparse vector, best first."""
        using = SPARSE if isinstance(query, models.SparseVector) else DENSE
        answer = self._on(
            lambda: self.client.query_points(
                self.name,
                query=query,
                using=using,
                query_filter=where,
                limit=limit,
                with_payload=["chunk_key", "note_id"],
                search_params=_RESCORED if using == DENSE and self.layout.quantization != "none" else None,
            )
        )
        return answer.points

    def upsert(self, points: Sequence[models.PointStruct], revision: int) -> None:
        """Write points without replacing any of a later revision. Returns when they are searchable."""
        replaceable = filters.not_newer(revision)
        for batch in batches(points, self.dimensions):
            self._on(
                lambda part=list(batch): self.client.upsert(  # type: ignore[misc]
                    self.name, part, wait=True, ordering=models.WriteOrdering.MEDIUM, update_filter=replaceable
                )
            )

    def has_newer(self, note_id: NoteId, revision: int) -> bool:
        """Whether there is a point of a later revision of this note."""
        newer = filters.of_note(note_id, newer_than=revision)
        points, _ = self._on(lambda: self.client.scroll(self.name, newer, limit=1, with_payload=False))
        return bool(points)

    def delete(self, where: models.Filter) -> None:
        """Delete points. Returns when they are no longer searchable."""
        selected = models.FilterSelector(filter=where)
        self._on(lambda: self.client.delete(self.name, selected, wait=True, ordering=models.WriteOrdering.MEDIUM))

    def _create(self) -> None:
        dense = models.VectorParams(
            size=self.dimensions,
            distance=models.Distance.COSINE,
            on_disk=self.layout.quantization != "none",
        )
        self.client.create_collection(
            self.name,
            vectors_config={DENSE: dense},
            sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            shard_number=self.layout.shards,
            replication_factor=self.layout.replicas,
            quantization_config=_quantization(self.layout.quantization),
            metadata={_STORE_ID: self.store_id, _VERSION: self.embedding_version},
        )

    def _index_payload(self) -> None:
        """Create the missing payload indexes: all of a new collection, or the rest after an interrupted creation."""
        if self.has_payload_indexes:
            existing = self.client.get_collection(self.name).payload_schema
            for field, schema in filters.INDEXED_FIELDS.items():
                if field not in existing:
                    self.client.create_payload_index(self.name, field, schema, wait=True)

    def _refuse_foreign(self) -> None:
        metadata = self.client.get_collection(self.name).config.metadata or {}
        if metadata.get(_STORE_ID) != self.store_id:
            raise StoreForeign(FOREIGN.format(name=self.name))

    def _on(self, work: Callable[[], T]) -> T:
        """Run the operation. Raises IndexLost if another process deleted the collection."""
        try:
            return work()
        except (UnexpectedResponse, ValueError) as error:
            missing = isinstance(error, ValueError) or error.status_code == _NOT_FOUND
            if missing and not self.client.collection_exists(self.name):
                raise IndexLost(f"The Qdrant collection '{self.name}' is gone.") from error
            raise


def _quantization(kind: Quantization) -> models.QuantizationConfig | None:
    """Quantised vectors in memory select the candidates; full vectors on disk rescore them."""
    if kind == "scalar":
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
        return models.ScalarQuantization(scalar=scalar)
    if kind == "binary":
        return models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
    return None

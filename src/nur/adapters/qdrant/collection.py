"""One store's collection in one Qdrant: synchronous, as the client is, and called in threads."""

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
    "The Qdrant collection '{name}' was not made by this store; it was left as it is. Set QDRANT_COLLECTION to another "
    "name, or remove it with: nur rebuild --wipe-foreign {name}"
)
_STORE_ID = "nur_store_id"
_VERSION = "nur_embedding_version"
_NOT_FOUND = 404
#: Where quantised vectors choose the neighbours, twice as many as wanted are compared in full.
_RESCORED = models.SearchParams(quantization=models.QuantizationSearchParams(rescore=True, oversampling=2.0))

Quantization = Literal["none", "scalar", "binary"]


@dataclass(frozen=True, slots=True)
class QdrantLayout:
    """How a new collection is laid out; an existing one stays as it is."""

    shards: int = 1
    replicas: int = 1
    quantization: Quantization = "none"


@dataclass(frozen=True, slots=True)
class QdrantCollection:
    """Reads and writes one collection, if it carries this store's id."""

    client: QdrantClient
    name: str
    store_id: str
    embedding_version: str
    dimensions: int
    layout: QdrantLayout
    has_payload_indexes: bool = True  #: the client's own engine has none

    def open(self) -> None:
        """Make it, unless it is there. Raises StoreForeign."""
        if not self.client.collection_exists(self.name):
            try:
                self._create()
            except (UnexpectedResponse, ValueError):
                if not self.client.collection_exists(self.name):  # else another process made it at the same moment
                    raise
        self._refuse_foreign()
        self._index_payload()

    def drop(self) -> None:
        """Make it empty. Raises StoreForeign before anything is deleted."""
        if self.client.collection_exists(self.name):
            self._refuse_foreign()
            self.client.delete_collection(self.name)
        self.open()

    def count(self) -> int:
        """How many points there are."""
        return self._on(lambda: self.client.count(self.name, exact=True)).count

    def nearest(
        self, query: list[float] | models.SparseVector, where: models.Filter, limit: int
    ) -> list[models.ScoredPoint]:
        """The best points by one of the two vectors, best first."""
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
        """Write points, but over none of a later revision; returns when they can be found."""
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

    def delete(self, which: models.Filter) -> None:
        """Delete points; returns when they can no longer be found."""
        selected = models.FilterSelector(filter=which)
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
        """Make the indexes that are not there: of a new collection, or of one whose maker was stopped."""
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
        """Do it. Raises IndexLost when somebody else deleted the collection."""
        try:
            return work()
        except (UnexpectedResponse, ValueError) as error:
            missing = isinstance(error, ValueError) or error.status_code == _NOT_FOUND
            if missing and not self.client.collection_exists(self.name):
                raise IndexLost(f"The Qdrant collection '{self.name}' is gone.") from error
            raise


def _quantization(wanted: Quantization) -> models.QuantizationConfig | None:
    """Bytes or bits in memory choose the candidates; the full vectors on disk decide."""
    if wanted == "scalar":
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
        return models.ScalarQuantization(scalar=scalar)
    if wanted == "binary":
        return models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
    return None

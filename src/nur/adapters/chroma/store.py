"""Synchronous access to one store's collections in Chroma; called in threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from chromadb.errors import NotFoundError

from nur.adapters.chroma import collections as names
from nur.domain.errors import IndexLost, StoreForeign
from nur.observability import metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

    from nur.adapters.chroma.records import ChromaRecord
    from nur.adapters.chroma.where import Clause

T = TypeVar("T")

FOREIGN = (
    "The Chroma collection '{name}' does not belong to this store and was not changed. "
    "Use another Chroma, or remove it with: nur rebuild --wipe-foreign {name}"
)

#: A collection without records. Its metadata says whether the last owner closed the index.
STATE = "nur_state"

_STORE_ID = "nur_store_id"
_VERSION = "nur_embedding_version"
_CLEAN = "nur_clean"

#: Chroma's server rejects bodies of 40 MiB; a request of this size takes about 3 s.
_REQUEST_BYTES = 8_000_000
_METADATA_BYTES = 1_000
_NOTES_PER_REQUEST = 200


@dataclass(frozen=True, slots=True)
class ExistingRecord:
    """A note's record in Chroma."""

    collection: str
    record_id: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChromaHit:
    """A record near the query."""

    metadata: Mapping[str, Any]
    similarity: float


class ChromaStore:
    """Reads and writes the collections marked with this store's id, and no others."""

    def __init__(self, client: ClientAPI, *, store_id: str, embedding_version: str, suffix: str) -> None:
        self.client = client
        self._marks = {_STORE_ID: store_id, _VERSION: embedding_version}
        self._suffix = suffix
        self._known: dict[str, Collection] = {}
        self._batch_records = client.get_max_batch_size()

    def open(self) -> bool:
        """Open the collections. Returns whether the last owner closed them. Raises StoreForeign.

        The clean mark is removed while the index is open, so a killed process leaves none.
        """
        existing = [found for name in names.ALL if (found := self._find(name))]
        state = self._find(STATE)
        was_clean = (state.metadata or {}).get(_CLEAN) is True if state else not existing
        self.mark(clean=False)
        return was_clean and all((found.metadata or {}).get(_VERSION) == self._marks[_VERSION] for found in existing)

    def mark(self, *, clean: bool) -> None:
        """Record whether the index is cleanly closed."""
        self._find_or_create(STATE).modify(metadata={**self._marks, _CLEAN: clean})

    def heartbeat(self) -> None:
        """Raises if Chroma does not answer."""
        self.client.heartbeat()

    def existing(self, note_ids: Sequence[str]) -> list[ExistingRecord]:
        """All records of these notes, including parents."""
        size = _NOTES_PER_REQUEST
        groups = [note_ids[start : start + size] for start in range(0, len(note_ids), size)]
        return [record for name in names.ALL for group in groups for record in self._existing_in(name, list(group))]

    def upsert(self, name: str, records: Sequence[ChromaRecord], existing: Mapping[str, Mapping[str, Any]]) -> None:
        """Write complete records. `existing` maps the ids of existing records to their metadata."""
        for batch in self._batches(records):
            self._upsert_batch(name, batch, existing)

    def delete(self, name: str, record_ids: Sequence[str]) -> None:
        """Delete records; missing ones are ignored."""
        for start in range(0, len(record_ids), self._batch_records):
            self._delete_batch(name, list(record_ids[start : start + self._batch_records]))

    def nearest(self, name: str, vector: Any, where: Clause | None, limit: int) -> list[ChromaHit]:
        """The nearest records of one collection, nearest first; may include parents."""
        clause: Any = where
        answer = self._on(
            "query",
            name,
            lambda collection: collection.query(
                query_embeddings=[vector], n_results=limit, where=clause, include=["metadatas", "distances"]
            ),
        )
        if answer is None:
            return []
        metadatas, distances = (answer["metadatas"] or [[]])[0], (answer["distances"] or [[]])[0]
        return [ChromaHit(metadata, 1 - distance) for metadata, distance in zip(metadatas, distances, strict=True)]

    def count(self) -> int:
        """Number of records, excluding parents."""
        # Parents first: one that a worker adds meanwhile would make the count of an empty index negative.
        parents = self._on(
            "get", names.ARTIFACTS, lambda collection: collection.get(where={"is_chunked": True}, include=[])
        )
        total = sum(self._on("count", name, lambda collection: collection.count()) or 0 for name in names.ALL)
        return total - len(parents["ids"] if parents else [])

    def drop(self) -> None:
        """Delete this store's collections but keep the clean mark. Raises StoreForeign before anything is deleted."""
        self._known.clear()  # another process may have deleted or replaced some
        for name in [name for name in names.ALL if self._find(name)]:
            del self._known[name]
            self.client.delete_collection(name + self._suffix)

    def _existing_in(self, name: str, note_ids: list[str]) -> list[ExistingRecord]:
        where: Any = {"note_id": {"$in": note_ids}}
        answer = self._on("get", name, lambda collection: collection.get(where=where, include=["metadatas"]))
        if answer is None:
            return []
        pairs = zip(answer["ids"], answer["metadatas"] or [], strict=True)
        return [ExistingRecord(name, record_id, metadata) for record_id, metadata in pairs]

    def _upsert_batch(self, name: str, batch: list[ChromaRecord], existing: Mapping[str, Mapping[str, Any]]) -> None:
        ids = [record.record_id for record in batch]
        vectors: Any = [record.vector for record in batch]
        documents = [record.document for record in batch]
        # Chroma merges new metadata into the old: removed keys must be set to None.
        metadatas: Any = [dict.fromkeys(existing.get(record.record_id, ())) | record.metadata for record in batch]
        self._on(
            "add",
            name,
            lambda collection: collection.upsert(ids, embeddings=vectors, documents=documents, metadatas=metadatas),
            create=True,
        )

    def _delete_batch(self, name: str, record_ids: list[str]) -> None:
        self._on("delete", name, lambda collection: collection.delete(record_ids))

    def _on(self, operation: str, name: str, work: Callable[[Collection], T], *, create: bool = False) -> T | None:
        """Run the operation on a collection, and count it in the metrics. None if the collection never existed.

        Raises IndexLost if another process deleted the collection. It stays in `_known` until `drop`, so that no later
        call takes the missing collection for an empty one.
        """
        for _ in range(2):
            collection = self._find_or_create(name) if create else self._find(name)
            if collection is None:
                return None
            metrics.CHROMA_OPERATIONS.labels(operation).inc()
            try:
                return work(collection)
            except NotFoundError as error:
                if self._known.get(name) is collection:
                    raise IndexLost(f"The Chroma collection '{collection.name}' is gone.") from error
        raise IndexLost(f"The Chroma collection '{name}{self._suffix}' keeps being replaced.")

    def _find(self, name: str) -> Collection | None:
        if name not in self._known:
            try:
                found = self.client.get_collection(name + self._suffix, embedding_function=None)
            except NotFoundError:
                return None
            self._remember(name, found)
        return self._known[name]

    def _find_or_create(self, name: str) -> Collection:
        found = self._find(name)
        if found is None:
            # If another process creates it at the same time, this returns theirs with their metadata.
            found = self.client.get_or_create_collection(
                name + self._suffix,
                metadata=self._marks,
                configuration={"hnsw": {"space": "cosine"}},
                embedding_function=None,
            )
            self._remember(name, found)
        return found

    def _remember(self, name: str, collection: Collection) -> None:
        if (collection.metadata or {}).get(_STORE_ID) != self._marks[_STORE_ID]:
            raise StoreForeign(FOREIGN.format(name=collection.name))
        self._known[name] = collection

    def _batches(self, records: Sequence[ChromaRecord]) -> Iterator[list[ChromaRecord]]:
        batch: list[ChromaRecord] = []
        size = 0
        for record in records:
            # Vectors are sent as base64, which takes four bytes for three.
            needed = record.vector.nbytes * 4 // 3 + len(record.document.encode()) + _METADATA_BYTES
            if batch and (size + needed > _REQUEST_BYTES or len(batch) == self._batch_records):
                yield batch
                batch, size = [], 0
            batch.append(record)
            size += needed
        if batch:
            yield batch

"""Converts a note's chunks to Qdrant points: a dense and a sparse vector, and a payload of ids and filter fields.

The payload contains no text.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, UUID, uuid5

from qdrant_client import models

from nur.domain.access import DEFAULT_TENANT
from nur.domain.notes import Status
from nur.retrieval.text.analysis import ANALYZER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nur.domain.notes import Note
    from nur.ports.vector_index import IndexOp, IndexRecord

DENSE, SPARSE = "dense", "bm25"  #: names of the two vectors

#: Expiry of notes that never expire: the year 10000.
NEVER = 253402300800.0
#: Confidence of a note without one: above every minimum.
UNSTATED = 2.0

#: BM25's parameters. The sparse vector holds the term-frequency part of the score; Qdrant applies the IDF.
K1, B = 1.2, 0.75
#: Assumed average chunk length in words. The real average changes with each write, and all vectors depend on it.
AVERAGE_WORDS = 256

#: Qdrant rejects requests of more than 32 MB. A number takes up to 12 bytes in JSON.
_REQUEST_BYTES = 8_000_000
_NUMBER_BYTES = 12
_PAYLOAD_BYTES = 1_000


def points_of(op: IndexOp, embedding_version: str) -> list[models.PointStruct]:
    """All points of a note at one revision; none if the note is deleted or missing."""
    note = op.note
    if note is None or note.status is not Status.ACTIVE:
        return []
    shared = _payload(note) | {"revision": op.revision, "embedding_version": embedding_version}
    return [_point(note, record, shared) for record in op.records]


def point_id(tenant: str, chunk_id: str) -> UUID:
    """A stable id: uuid5 of the chunk id, prefixed with the tenant unless that is the default tenant."""
    return uuid5(NAMESPACE_URL, chunk_id if tenant == DEFAULT_TENANT else f"{tenant}\x1f{chunk_id}")


def query_vector(terms: Sequence[str]) -> models.SparseVector:
    """The sparse vector of a query, from its term ids in hex as in the lexical rows."""
    ids = sorted({int(term, 16) for term in terms})
    return models.SparseVector(indices=ids, values=[1.0] * len(ids))


def batches(points: Sequence[models.PointStruct], dimensions: int) -> Iterator[Sequence[models.PointStruct]]:
    """Groups of points that fit into one request."""
    size = max(1, _REQUEST_BYTES // (dimensions * _NUMBER_BYTES + AVERAGE_WORDS * 2 * _NUMBER_BYTES + _PAYLOAD_BYTES))
    for start in range(0, len(points), size):
        yield points[start : start + size]


def _point(note: Note, record: IndexRecord, shared: dict[str, Any]) -> models.PointStruct:
    return models.PointStruct(
        id=str(point_id(note.tenant, record.chunk_id)),
        vector={DENSE: record.vector.tolist(), SPARSE: _term_weights(record.content)},
        payload=shared
        | {
            "chunk_key": int(record.chunk_key),
            "chunk_id": record.chunk_id,
            "chunk_index": record.chunk_index,
            "start_offset": record.start_char,
            "end_offset": record.end_char,
        },
    )


def _term_weights(text: str) -> models.SparseVector:
    """BM25's term-frequency weight of each term of the text."""
    counts: Counter[int] = Counter()
    length = 0
    for token in ANALYZER.tokens(text):
        ids = ANALYZER.ids(token)
        length += len(ids.main)
        counts.update(ids.main)
    length_norm = K1 * (1 - B + B * length / AVERAGE_WORDS)
    by_term = sorted(counts.items())
    weights = [count * (K1 + 1) / (count + length_norm) for _, count in by_term]
    return models.SparseVector(indices=[term for term, _ in by_term], values=weights)


def _payload(note: Note) -> dict[str, Any]:
    meta = note.meta
    fields = {
        "tenant": note.tenant,
        "owner": note.owner,
        "note_id": str(note.note_id),
        "kind": str(note.kind),
        "status": str(note.status),
        "type": meta.type,
        "source_system": meta.source_system,
        "conversation_id": meta.conversation_id,
        "project": meta.project,
        "agent": meta.agent,
        "scope": meta.scope,
        "sensitivity": str(meta.sensitivity),
        "visibility": str(meta.visibility),
        "confidence": UNSTATED if meta.confidence is None else float(meta.confidence),
        "occurred_at": None if meta.occurred_at is None else meta.occurred_at.timestamp(),
        "expires_at": NEVER if meta.expires_at is None else meta.expires_at.timestamp(),
        "updated_at": note.updated_at.timestamp(),
    }
    return {name: value for name, value in fields.items() if value is not None}

"""Converts a note's index records to Chroma's ids, documents and metadata (the specification's section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, TypeAlias

from nur.adapters.chroma import collections as names
from nur.domain.access import DEFAULT_TENANT
from nur.domain.notes import Kind, Status

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.embedding import EmbeddingModel
    from nur.domain.notes import Note
    from nur.ports.embedder import Floats
    from nur.ports.vector_index import IndexOp, IndexRecord

Value: TypeAlias = "str | int | float | bool | list[str]"
Metadata: TypeAlias = "dict[str, Value]"

#: Separates tenant and id. A control character, because a conversation id may contain anything else.
TENANT_SEPARATOR = "\x1f"
#: Expiry of notes that never expire: the year 10000. A record without the key would match no clause on it.
NEVER = 253402300800.0


@dataclass(frozen=True, slots=True)
class ChromaRecord:
    """One record and its collection."""

    collection: str
    record_id: str
    document: str
    metadata: Metadata
    vector: Floats


def record_id(tenant: str, public_id: str) -> str:
    """The public id, prefixed with the tenant unless that is the default tenant."""
    return public_id if tenant == DEFAULT_TENANT else f"{tenant}{TENANT_SEPARATOR}{public_id}"


def records_of(op: IndexOp, model: EmbeddingModel, store_id: str) -> list[ChromaRecord]:
    """All records of a note at one revision; none if the note is deleted or missing."""
    note = op.note
    if note is None or note.status is not Status.ACTIVE:
        return []
    shared = _note_metadata(note) | _index_metadata(note, op.revision, model, store_id)
    records = [_record(note, record, shared) for record in op.records]
    if note.kind is Kind.ARTIFACT and note.is_chunked and op.pooled is not None and records:
        records.append(_parent(note, op.pooled, shared))
    return records


def _record(note: Note, record: IndexRecord, shared: Metadata) -> ChromaRecord:
    own: dict[str, object] = {
        "chunk_key": int(record.chunk_key),
        "token_count": record.token_count,
        "content_hash": record.content_hash,
    }
    if note.is_chunked:
        own |= {"chunk_index": record.chunk_index, "start_char": record.start_char, "end_char": record.end_char}
        own |= {"artifact_id": note.public_id} if note.kind is Kind.ARTIFACT else {}
    elif note.kind is Kind.ARTIFACT:
        own |= {"is_chunked": False, "num_chunks": 0}
    # The specification stores a turn together with its role.
    document = f"{note.meta.role}: {record.content}" if note.kind is Kind.TURN else record.content
    return ChromaRecord(
        names.of_record(note.kind, is_chunked=note.is_chunked),
        record_id(note.tenant, record.chunk_id),
        document,
        shared | _without_empty(own),
        record.vector,
    )


def _parent(note: Note, pooled: Floats, shared: Metadata) -> ChromaRecord:
    """The parent record of a chunked artifact. Chroma requires a vector; searches exclude the record."""
    own: Metadata = {
        "token_count": note.token_count,
        "content_hash": note.content_hash,
        "is_chunked": True,
        "num_chunks": note.chunk_count,
    }
    identity = record_id(note.tenant, note.public_id)
    return ChromaRecord(names.ARTIFACTS, identity, "", shared | own, pooled)


def _note_metadata(note: Note) -> Metadata:
    meta = note.meta
    is_artifact = note.kind is Kind.ARTIFACT
    return _without_empty(
        {
            "type": meta.type,
            "artifact_type": meta.type if is_artifact else None,
            "confidence": None if meta.confidence is None else float(meta.confidence),
            "has_confidence": meta.confidence is not None,
            "title": meta.title,
            "author": meta.author,
            "participants": list(meta.participants),
            "source_system": meta.source_system,
            "source_id": meta.source_id,
            "source_url": meta.source_url,
            "conversation_id": meta.conversation_id,
            "turn_index": meta.turn_index,
            "role": meta.role,
            "project": meta.project,
            "agent": meta.agent,
            "scope": meta.scope,
            "sensitivity": str(meta.sensitivity),
            "visibility_scope": str(meta.visibility),
            "retention_policy": str(meta.retention),
            "ts": None if meta.occurred_at is None else _iso(meta.occurred_at),
            "ts_epoch": None if meta.occurred_at is None else meta.occurred_at.timestamp(),
            "expires_epoch": NEVER if meta.expires_at is None else meta.expires_at.timestamp(),
            "ingested_at": _iso(note.ingested_at),
        }
    )


def _index_metadata(note: Note, revision: int, model: EmbeddingModel, store_id: str) -> Metadata:
    return {
        "tenant": note.tenant,
        "owner": note.owner,
        "note_id": str(note.note_id),
        "kind": str(note.kind),
        "revision": revision,
        "store_id": store_id,
        "embedding_provider": model.provider,
        "embedding_model": model.name,
        "embedding_dimensions": model.dimensions,
    }


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _without_empty(values: dict[str, object]) -> Metadata:
    """Leave out None and []: Chroma rejects [] and takes None as "delete this key"."""
    kept: Metadata = {}
    for name, value in values.items():
        if isinstance(value, str | int | float) or (isinstance(value, list) and value):
            kept[name] = value
    return kept

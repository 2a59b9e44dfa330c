"""A note's index records as Chroma keeps them: ids, documents, metadata (the specification's section 3)."""

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

#: Between a tenant and an id: a control character, since a conversation's id may hold anything else.
TENANT_SEPARATOR = "\x1f"
#: Expiry of what never expires, the year 10000: a record without the key would meet no clause on it.
NEVER = 253402300800.0


@dataclass(frozen=True, slots=True)
class ChromaRecord:
    """One record, and where it goes."""

    collection: str
    record_id: str
    document: str
    metadata: Metadata
    vector: Floats


def record_id(tenant: str, public_id: str) -> str:
    """The public id; behind its tenant's name unless that is the default one."""
    return public_id if tenant == DEFAULT_TENANT else f"{tenant}{TENANT_SEPARATOR}{public_id}"


def records_of(op: IndexOp, model: EmbeddingModel, store_id: str) -> list[ChromaRecord]:
    """All records of a note at one revision; none for a note that is gone."""
    note = op.note
    if note is None or note.status is not Status.ACTIVE:
        return []
    shared = _described(note) | _stamped(note, op.revision, model, store_id)
    found = [_record(note, record, shared) for record in op.records]
    if note.kind is Kind.ARTIFACT and note.is_chunked and op.pooled is not None and found:
        found.append(_parent(note, op.pooled, shared))
    return found


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
    # A turn of the specification is found with who said it.
    document = f"{note.meta.role}: {record.content}" if note.kind is Kind.TURN else record.content
    return ChromaRecord(
        names.of_record(note.kind, is_chunked=note.is_chunked),
        record_id(note.tenant, record.chunk_id),
        document,
        shared | _without_empty(own),
        record.vector,
    )


def _parent(note: Note, pooled: Floats, shared: Metadata) -> ChromaRecord:
    """A cut artifact as a whole. Chroma wants a vector of every record; no search may find this one by it."""
    own: Metadata = {
        "token_count": note.token_count,
        "content_hash": note.content_hash,
        "is_chunked": True,
        "num_chunks": note.chunk_count,
    }
    identity = record_id(note.tenant, note.public_id)
    return ChromaRecord(names.ARTIFACTS, identity, "", shared | own, pooled)


def _described(note: Note) -> Metadata:
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


def _stamped(note: Note, revision: int, model: EmbeddingModel, store_id: str) -> Metadata:
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
    """Chroma refuses [] and takes None for "delete this key"."""
    kept: Metadata = {}
    for name, value in values.items():
        if isinstance(value, str | int | float) or (isinstance(value, list) and value):
            kept[name] = value
    return kept

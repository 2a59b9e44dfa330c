"""Rows to domain values and back, and a Selection as SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import ColumnElement, and_, func, literal_column, or_, select

from nur.adapters.sql.tables import memory_note_chunks, memory_notes, note_chunk_embeddings
from nur.domain.chunks import Chunk
from nur.domain.notes import (
    ChunkKey,
    Kind,
    Note,
    NoteId,
    NoteMetadata,
    Retention,
    Sensitivity,
    Status,
    Visibility,
)
from nur.ports.ledger import OPENING, ChunkWithNote, ScoringView, StoredChunk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import CursorResult, Label

    from nur.domain.filters import NoteFilter

Record: TypeAlias = dict[str, Any]  #: a row by its columns' names

n = memory_notes.c
c = memory_note_chunks.c

#: A note without its text, which may be long.
NOTE_COLUMNS = [column for column in n if column.name not in ("text", "identity")]
CHUNK_COLUMNS = [
    c.chunk_key,
    c.chunk_index,
    c.start_offset,
    c.end_offset,
    c.token_count.label("chunk_tokens"),
    c.content_hash.label("chunk_hash"),
    c.context,
    c.profile,
    c.text.label("chunk_text"),
]


#: What a Glance holds, in its order.
SCORING_COLUMNS = [
    c.chunk_key,
    c.chunk_index,
    c.content_hash.label("chunk_hash"),
    (c.end_offset - c.start_offset).label("characters"),
    c.profile,
    func.substr(c.text, 1, OPENING).label("opening"),
    n.note_id,
    n.public_id,
    n.tenant_id,
    n.owner_id,
    n.visibility_scope,
    n.kind,
    n.chunk_count,
    n.heading,
    n.role,
    n.conversation_id,
    n.turn_index,
]
_SPLIT = ScoringView._fields.index("kind") + 1
_KINDS = {kind.value: kind for kind in Kind}
_VISIBILITIES = {visibility.value: visibility for visibility in Visibility}


def has_vector(embedding_version: str | None = None) -> Label[bool]:
    """Whether a chunk has a vector, of this version or of any."""
    v = note_chunk_embeddings.c
    found = select(v.chunk_key).where(v.chunk_key == c.chunk_key)
    if embedding_version is not None:
        found = found.where(v.embedding_version == embedding_version)
    return found.exists().label("has_vector")


def note_values(note: Note) -> dict[str, Any]:
    """A note as column values, all but its text."""
    meta = note.meta
    return {
        "note_id": note.note_id,
        "tenant_id": note.tenant,
        "owner_id": note.owner,
        "public_id": note.public_id,
        "kind": note.kind.value,
        "status": note.status.value,
        "identity": note.identity,
        "revision": note.revision,
        "version": note.version,
        "content_hash": note.content_hash,
        "token_count": note.token_count,
        "chunk_count": note.chunk_count,
        "chunking_version": note.chunking_version,
        "heading": note.heading,
        "type": meta.type,
        "confidence": meta.confidence,
        "importance": meta.importance,
        "title": meta.title,
        "author": meta.author,
        "participants": list(meta.participants),
        "source_system": meta.source_system,
        "source_id": meta.source_id,
        "source_url": meta.source_url,
        "conversation_id": meta.conversation_id,
        "turn_index": meta.turn_index,
        "role": meta.role,
        "key": meta.key,
        "project_id": meta.project,
        "agent_id": meta.agent,
        "scope": meta.scope,
        "sensitivity": meta.sensitivity.value,
        "visibility_scope": meta.visibility.value,
        "retention_policy": meta.retention.value,
        "metadata": dict(meta.metadata),
        "occurred_at": meta.occurred_at or note.ingested_at,
        "ingested_at": note.ingested_at,
        "updated_at": note.updated_at,
        "expires_at": meta.expires_at,
        "deleted_at": note.deleted_at,
        "resolved_at": note.resolved_at,
    }


def records(result: CursorResult[*tuple[Any, ...]]) -> list[Record]:
    """All rows as dictionaries.

    A note has forty columns, and SQLAlchemy's own rows look each attribute up at ten times the cost of a dictionary;
    they also come one by one unless all are asked for.
    """
    names = tuple(result.keys())
    return [dict(zip(names, row, strict=True)) for row in result.all()]


def to_note(row: Record) -> Note:
    """A row of NOTE_COLUMNS as a note."""
    return Note(
        note_id=NoteId(row["note_id"]),
        public_id=row["public_id"],
        tenant=row["tenant_id"],
        owner=row["owner_id"],
        kind=Kind(row["kind"]),
        meta=NoteMetadata(
            type=row["type"],
            confidence=row["confidence"],
            importance=row["importance"],
            title=row["title"],
            author=row["author"],
            participants=tuple(row["participants"]),
            source_system=row["source_system"],
            source_id=row["source_id"],
            source_url=row["source_url"],
            conversation_id=row["conversation_id"],
            turn_index=row["turn_index"],
            role=row["role"],
            key=row["key"],
            project=row["project_id"],
            agent=row["agent_id"],
            scope=row["scope"],
            sensitivity=Sensitivity(row["sensitivity"]),
            visibility=Visibility(row["visibility_scope"]),
            retention=Retention(row["retention_policy"]),
            occurred_at=row["occurred_at"],
            expires_at=row["expires_at"],
            metadata=row["metadata"],
        ),
        content_hash=row["content_hash"],
        token_count=row["token_count"],
        chunk_count=row["chunk_count"],
        chunking_version=row["chunking_version"],
        heading=row["heading"],
        version=row["version"],
        revision=row["revision"],
        status=Status(row["status"]),
        ingested_at=row["ingested_at"],
        updated_at=row["updated_at"],
        deleted_at=row["deleted_at"],
        resolved_at=row["resolved_at"],
    )


def to_chunk(row: Record, note_id: NoteId, *, has_vector: bool = True) -> StoredChunk:
    """A row of CHUNK_COLUMNS as a stored chunk."""
    return StoredChunk(
        chunk_key=ChunkKey(row["chunk_key"]),
        note_id=note_id,
        chunk=Chunk(
            index=row["chunk_index"],
            content=row["chunk_text"],
            start_char=row["start_offset"],
            end_char=row["end_offset"],
            token_count=row["chunk_tokens"],
            context=row["context"],
        ),
        content_hash=row["chunk_hash"],
        profile=row["profile"],
        has_vector=has_vector,
    )


def to_scoring_view(row: Sequence[Any]) -> ScoringView:
    """A row of GLANCE_COLUMNS as ranking sees it."""
    *chunk, visibility, kind = row[:_SPLIT]
    return ScoringView._make((*chunk, _VISIBILITIES[visibility], _KINDS[kind], *row[_SPLIT:]))


def to_candidate(row: Record, *, has_vector: bool = True) -> ChunkWithNote:
    """A row of CHUNK_COLUMNS and NOTE_COLUMNS as a candidate."""
    note = to_note(row)
    stored = to_chunk(row, note.note_id, has_vector=has_vector)
    return ChunkWithNote(stored=stored, note=note, sentences=row.get("sentences", b""))


#: As literals, not parameters: only then can the database see that a partial index applies.
IS_ACTIVE: ColumnElement[bool] = n.status == literal_column("'active'")


def active(now: datetime) -> ColumnElement[bool]:
    """Neither in the trash nor expired."""
    return and_(IS_ACTIVE, or_(n.expires_at.is_(None), n.expires_at > now))


def selected(where: NoteFilter, now: datetime) -> ColumnElement[bool]:
    """The selection as a condition on `memory_notes`, for a query that starts there."""
    return and_(n.tenant_id == where.tenant, _asked(where, now))


def chunks_selected(where: NoteFilter, now: datetime) -> ColumnElement[bool]:
    """The selection for a query that starts from chunks and looks their notes up.

    The tenant stands in an expression that no index serves: SQLite's planner takes a tenant for ten notes and would
    walk all of them to find 200 chunks (30,000 notes: 115 ms of CPU; so: 24).
    """
    return and_(n.tenant_id.concat("") == where.tenant, _asked(where, now))


def _asked(where: NoteFilter, now: datetime) -> ColumnElement[bool]:
    conditions: list[ColumnElement[bool]] = [active(now)]
    if len(where.kinds) < len(Kind):
        conditions.append(n.kind.in_(sorted(kind.value for kind in where.kinds)))
    equal = {
        n.type: where.type,
        n.source_system: where.source_system,
        n.sensitivity: where.sensitivity,
        n.visibility_scope: where.visibility,
        n.project_id: where.project,
        n.agent_id: where.agent,
        n.scope: where.scope,
    }
    conditions += [column == value for column, value in equal.items() if value is not None]
    if where.min_confidence is not None:
        conditions.append(or_(n.confidence.is_(None), n.confidence >= where.min_confidence))
    if where.conversation_id is not None:
        conditions.append(or_(n.kind != Kind.TURN.value, n.conversation_id == where.conversation_id))
    if where.occurred_from is not None:
        conditions.append(n.occurred_at >= where.occurred_from)
    if where.occurred_to is not None:
        conditions.append(n.occurred_at <= where.occurred_to)
    return and_(*conditions)

"""Converts rows to domain values and back."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import func, select

from nur.adapters.sql.tables import chunk_pieces, decisions, memory_note_chunks, memory_notes, note_chunk_embeddings
from nur.domain.chunks import Chunk, StoredChunk, chunk_uuid
from nur.domain.kinds import identity_of
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
from nur.ports.chunks import OPENING, ChunkWithNote, ScoringView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from sqlalchemy import CursorResult, Label

    from nur.ports.embedder import Floats
    from nur.ports.notes import NewChunk

Record: TypeAlias = dict[str, Any]  #: a row by its columns' names

_notes = memory_notes.c
_chunks = memory_note_chunks.c
_pieces = chunk_pieces.c

#: A note without its text, which may be long.
NOTE_COLUMNS = [column for column in _notes if column.name not in ("text", "identity")]
CHUNK_COLUMNS = [
    _chunks.chunk_key,
    _chunks.chunk_index,
    _chunks.start_offset,
    _chunks.end_offset,
    _chunks.token_count.label("chunk_tokens"),
    _chunks.content_hash.label("chunk_hash"),
    _chunks.context,
    _chunks.text.label("chunk_text"),
]
#: Chunks with their notes and what is stored of their pieces.
WITH_PIECES = memory_note_chunks.join(memory_notes, _notes.note_id == _chunks.note_id).outerjoin(
    chunk_pieces, _pieces.chunk_key == _chunks.chunk_key
)
#: The columns of a ScoringView, in its order.
SCORING_COLUMNS = [
    _chunks.chunk_key,
    _chunks.chunk_index,
    _chunks.content_hash.label("chunk_hash"),
    (_chunks.end_offset - _chunks.start_offset).label("characters"),
    func.substr(_chunks.text, 1, OPENING).label("opening"),
    _notes.note_id,
    _notes.public_id,
    _notes.kind,
    _notes.chunk_count,
    _notes.heading,
    _notes.role,
    _notes.conversation_id,
    _notes.turn_index,
    func.coalesce(_pieces.digest, b"").label("digest"),
    func.coalesce(_pieces.pieces, b"").label("pieces"),
    func.coalesce(_pieces.vectors, b"").label("piece_vectors"),
    select(decisions.c.older_id).where(decisions.c.older_id == _notes.note_id).exists().label("is_decided"),
]
PIECE_COLUMNS = [_pieces.pieces, _pieces.atoms]
_KIND_AT = ScoringView._fields.index("kind")
_KINDS = {kind.value: kind for kind in Kind}

#: Fields whose column has the specification's name.
_COLUMNS = {
    "tenant": "tenant_id",
    "owner": "owner_id",
    "project": "project_id",
    "agent": "agent_id",
    "visibility": "visibility_scope",
    "retention": "retention_policy",
}
_METADATA = [(field.name, _COLUMNS.get(field.name, field.name)) for field in fields(NoteMetadata)]
_NOTE = [(field.name, _COLUMNS.get(field.name, field.name)) for field in fields(Note) if field.name != "meta"]
_FROM_COLUMN: dict[str, Callable[[Any], Any]] = {
    "note_id": NoteId,
    "kind": Kind,
    "status": Status,
    "participants": tuple,
    "sensitivity": Sensitivity,
    "visibility": Visibility,
    "retention": Retention,
}
_TO_COLUMN: dict[str, Callable[[Any], Any]] = {
    "kind": str,
    "status": str,
    "participants": list,
    "sensitivity": str,
    "visibility": str,
    "retention": str,
    "metadata": dict,
}


def has_vector(embedding_version: str | None = None) -> Label[bool]:
    """Whether a chunk has a vector, of this version or of any."""
    v = note_chunk_embeddings.c
    found = select(v.chunk_key).where(v.chunk_key == _chunks.chunk_key)
    if embedding_version is not None:
        found = found.where(v.embedding_version == embedding_version)
    return found.exists().label("has_vector")


def note_values(note: Note) -> Record:
    """A note as column values, all but its text."""
    values = {column: _to_column(name, getattr(note, name)) for name, column in _NOTE}
    values |= {column: _to_column(name, getattr(note.meta, name)) for name, column in _METADATA}
    return values | {"identity": identity_of(note), "occurred_at": note.meta.occurred_at or note.ingested_at}


def chunk_values(note: Note, new: NewChunk, now: datetime, *, indexed: bool) -> Record:
    """A chunk as column values."""
    chunk = new.chunk
    return {
        "chunk_id": chunk_uuid(note.note_id, chunk.index, new.content_hash),
        "note_id": note.note_id,
        "chunk_index": chunk.index,
        "start_offset": chunk.start_char,
        "end_offset": chunk.end_char,
        "token_count": chunk.token_count,
        "content_hash": new.content_hash,
        "context": chunk.context,
        "revision": note.revision,
        "indexed_revision": note.revision if indexed else None,
        "term_count": new.term_count,
        "created_at": now,
        "text": chunk.content,
    }


def piece_values(chunk_key: ChunkKey, new: NewChunk) -> Record:
    """A chunk's pieces as column values."""
    return {
        "chunk_key": chunk_key,
        "piece_count": len(new.terms),
        "digest": new.digest,
        "pieces": new.pieces,
        "vectors": new.piece_vectors,
        "atoms": new.atoms,
    }


def vector_values(chunk_key: ChunkKey, vector: Floats, pieces: bytes, embedding_version: str, now: datetime) -> Record:
    """A chunk's vector, and those of its pieces, as column values."""
    return {
        "chunk_key": chunk_key,
        "embedding_version": embedding_version,
        "embedding_dim": len(vector),
        "created_at": now,
        "vec": vector,
        "pieces": pieces,
    }


def pooled_values(note_id: NoteId, pooled: Floats, embedding_version: str, now: datetime) -> Record:
    """A note's pooled vector as column values."""
    row = {"note_id": note_id, "embedding_version": embedding_version, "embedding_dim": len(pooled)}
    return {**row, "created_at": now, "vec": pooled}


def records(result: CursorResult[*tuple[Any, ...]]) -> list[Record]:
    """All rows as dictionaries.

    A note has forty columns, and SQLAlchemy's own rows look each attribute up at ten times the cost of a dictionary;
    they are also fetched one by one unless all are requested.
    """
    names = tuple(result.keys())
    return [dict(zip(names, row, strict=True)) for row in result.all()]


def to_note(row: Record) -> Note:
    """A row of NOTE_COLUMNS as a note."""
    meta = NoteMetadata(**{name: _from_column(name, row[column]) for name, column in _METADATA})
    return Note(meta=meta, **{name: _from_column(name, row[column]) for name, column in _NOTE})


def _from_column(name: str, value: Any) -> Any:
    convert = _FROM_COLUMN.get(name)
    return value if convert is None else convert(value)


def _to_column(name: str, value: Any) -> Any:
    convert = _TO_COLUMN.get(name)
    return value if convert is None else convert(value)


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
        has_vector=has_vector,
    )


def to_scoring_view(row: Sequence[Any]) -> ScoringView:
    """A row of SCORING_COLUMNS as a scoring view."""
    return ScoringView._make((*row[:_KIND_AT], _KINDS[row[_KIND_AT]], *row[_KIND_AT + 1 :]))


def to_chunk_with_note(row: Record, *, has_vector: bool = True) -> ChunkWithNote:
    """A row of CHUNK_COLUMNS and NOTE_COLUMNS."""
    note = to_note(row)
    stored = to_chunk(row, note.note_id, has_vector=has_vector)
    return ChunkWithNote(stored=stored, note=note, pieces=row.get("pieces") or b"", atoms=row.get("atoms") or b"")

"""Notes and index operations for the tests of vector indexes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from nur.domain.chunks import chunk_public_id, sha256
from nur.domain.notes import ChunkKey, Kind, Note, NoteId, NoteMetadata, Status
from nur.ports.vector_index import IndexOp, IndexRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.ports.embedder import Floats

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_note(number: int, kind: Kind = Kind.MEMORY, *, revision: int = 1, chunks: int = 1, **meta: Any) -> Note:
    """A note with ids derived from its number; other fields, such as `tenant`, can be given by name."""
    tenant = meta.pop("tenant", "default")
    text = f"text {number}"
    return Note(
        note_id=NoteId(UUID(int=number)),
        public_id=f"{kind}_{number}",
        tenant=tenant,
        owner="local",
        kind=kind,
        meta=NoteMetadata(**{"occurred_at": NOW, **meta}),
        content_hash=sha256(text),
        token_count=2 * chunks,
        chunk_count=chunks,
        chunking_version="window",
        version=1,
        revision=revision,
        status=Status.ACTIVE,
        ingested_at=NOW,
        updated_at=NOW,
    )


def an_upsert(note: Note, vectors: Sequence[Floats], *, first_key: int | None = None) -> IndexOp:
    """Index the note with one chunk per vector. Keys start at 1,000 times the note's number unless given."""
    note = replace(note, chunk_count=len(vectors))
    start = note.note_id.int * 1000 if first_key is None else first_key
    records = []
    for index, vector in enumerate(vectors):
        content = f"text {note.note_id.int} part {index}"
        cut_id = chunk_public_id(note.public_id, index, sha256(content))
        records.append(
            IndexRecord(
                chunk_key=ChunkKey(start + index),
                chunk_id=cut_id if note.is_chunked else note.public_id,
                chunk_index=index,
                start_char=index * 10,
                end_char=index * 10 + 10,
                token_count=2,
                content=content,
                content_hash=sha256(content),
                vector=vector,
            )
        )
    pooled = np.asarray(np.stack(vectors).mean(axis=0), np.float32) if note.is_chunked else None
    return IndexOp(note.note_id, note.revision, note, records, pooled)


def a_removal(number: int, revision: int) -> IndexOp:
    """Remove the note from the index."""
    return IndexOp(NoteId(UUID(int=number)), revision)

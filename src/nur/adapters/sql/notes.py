"""Writing notes: transaction bodies, each run inside one transaction by the engine beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, insert, select, update

from nur.adapters.sql import outbox
from nur.adapters.sql.mapping import (
    n,
    note_values,
)
from nur.adapters.sql.tables import (
    audit_log,
    lexical_totals,
    memory_note_chunks,
    memory_notes,
    note_chunk_embeddings,
    note_embeddings,
    note_versions,
)
from nur.domain.chunks import chunk_uuid
from nur.domain.errors import Conflict
from nur.domain.notes import ChunkKey, Note, NoteId, Status
from nur.ports.ledger import VERSIONS_KEPT, Written

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.ports.ledger import NoteWrite


# Statements are built once and given their values as parameters: building one costs more than running it. `values()`
# makes an object for each column, 59 for one memory: half of the writer's CPU.
_INSERT_NOTE = insert(memory_notes)
_UPDATE_NOTE = update(memory_notes).where(n.note_id == bindparam("held_id"), n.revision == bindparam("held_revision"))
_HELD_TEXT = select(n.version, n.content_hash, n.title, n.text).where(n.note_id == bindparam("held_id"))
_INSERT_VERSION = insert(note_versions)
_INSERT_CHUNKS = insert(memory_note_chunks).returning(memory_note_chunks.c.chunk_key, sort_by_parameter_order=True)
_INSERT_VECTORS = insert(note_chunk_embeddings)
_INSERT_POOLED = insert(note_embeddings)
_INSERT_AUDIT = insert(audit_log)
_ADD_TO_TOTALS = update(lexical_totals).values(
    chunks=lexical_totals.c.chunks + bindparam("more_chunks"), terms=lexical_totals.c.terms + bindparam("more_terms")
)


@dataclass(frozen=True, slots=True)
class WriteContext:
    """When a write happens and which call it belongs to."""

    now: datetime
    trace_id: str | None


def write(connection: Connection, lexical_index: LexicalIndex, write: NoteWrite, context: WriteContext) -> Written:
    """Commit one write, whole. Raises Conflict when the note has moved on."""
    note = write.note
    if write.replaces is None:
        connection.execute(_INSERT_NOTE, {**note_values(note), "text": write.text})
    else:
        _replace_row(connection, write, write.replaces, context)
    keys: list[ChunkKey] = []
    if write.text is None:
        _touch_chunks(connection, note, indexed=write.indexed)
    else:
        if write.replaces is not None:
            drop_chunks(connection, lexical_index, note.note_id)
        keys = _add_chunks(connection, lexical_index, write, context)
    if not write.indexed:
        outbox.enqueue(connection, note.note_id, note.revision, context.now)
    audit(connection, note, write.action, write.principal, context)
    return Written(note, keys)


def remove(
    connection: Connection,
    lexical_index: LexicalIndex,
    note: Note,
    action: str,
    principal: str,
    *,
    indexed: bool,
    context: WriteContext,
) -> Note:
    """Move a note to the trash; what was derived from it goes at once."""
    gone = replace(
        note, status=Status.DELETED, revision=note.revision + 1, deleted_at=context.now, updated_at=context.now
    )
    _update_row(connection, gone, note.revision)
    drop_chunks(connection, lexical_index, note.note_id)
    if not indexed:
        outbox.enqueue(connection, note.note_id, gone.revision, context.now)
    audit(connection, gone, action, principal, context)
    return gone


def _replace_row(connection: Connection, write: NoteWrite, held_revision: int, context: WriteContext) -> None:
    """Update the note's row where the revision still holds; a text that changes is kept as a former version."""
    note = write.note
    if write.text is None:
        _update_row(connection, note, held_revision)
        return
    existing = connection.execute(_HELD_TEXT, {"held_id": note.note_id}).first()
    if existing is not None and existing.version != note.version:
        connection.execute(
            _INSERT_VERSION,
            {
                "note_id": note.note_id,
                "version": existing.version,
                "content_hash": existing.content_hash,
                "title": existing.title,
                "replaced_at": context.now,
                "text": existing.text,
            },
        )
        too_old = note_versions.c.version < note.version - VERSIONS_KEPT
        connection.execute(delete(note_versions).where(note_versions.c.note_id == note.note_id, too_old))
    _update_row(connection, note, held_revision, text=write.text)


def _update_row(connection: Connection, note: Note, held_revision: int, **text: str) -> None:
    values = note_values(note)
    values.pop("note_id")
    existing = {"held_id": note.note_id, "held_revision": held_revision}
    if connection.execute(_UPDATE_NOTE, {**values, **text, **existing}).rowcount != 1:
        raise Conflict("The note was changed by another write; nothing was written. Try again.")


def _touch_chunks(connection: Connection, note: Note, *, indexed: bool) -> None:
    """Bring the chunks' revision up to their note's."""
    values: dict[str, Any] = {"revision": note.revision}
    if indexed:
        values["indexed_revision"] = note.revision
    chunks = memory_note_chunks
    connection.execute(update(chunks).where(chunks.c.note_id == note.note_id).values(**values))


def drop_chunks(connection: Connection, lexical_index: LexicalIndex, note_id: NoteId) -> None:
    """Delete a note's chunks with all that hangs on them."""
    chunks = memory_note_chunks
    rows = connection.execute(select(chunks.c.chunk_key, chunks.c.term_count).where(chunks.c.note_id == note_id)).all()
    connection.execute(delete(note_embeddings).where(note_embeddings.c.note_id == note_id))
    if not rows:
        return
    lexical_index.remove(connection, [ChunkKey(row.chunk_key) for row in rows])
    connection.execute(delete(chunks).where(chunks.c.note_id == note_id))
    _count(connection, -len(rows), -sum(row.term_count for row in rows))


def _add_chunks(
    connection: Connection, lexical_index: LexicalIndex, write: NoteWrite, context: WriteContext
) -> list[ChunkKey]:
    if not write.chunks:
        return []
    note = write.note
    indexed_revision = note.revision if write.indexed else None
    rows = []
    for new in write.chunks:
        content_hash = new.chunk.content_hash
        rows.append(
            {
                "chunk_id": chunk_uuid(note.note_id, new.chunk.index, content_hash),
                "note_id": note.note_id,
                "chunk_index": new.chunk.index,
                "start_offset": new.chunk.start_char,
                "end_offset": new.chunk.end_char,
                "token_count": new.chunk.token_count,
                "content_hash": content_hash,
                "context": new.chunk.context,
                "revision": note.revision,
                "indexed_revision": indexed_revision,
                "term_count": new.term_count,
                "profile": new.profile,
                "sentences": new.sentences,
                "created_at": context.now,
                "text": new.chunk.content,
            }
        )
    keys = [ChunkKey(key) for key in connection.execute(_INSERT_CHUNKS, rows).scalars()]
    lexical_index.add(connection, {key: new.terms for key, new in zip(keys, write.chunks, strict=True)})
    vectors = {key: new.vector for key, new in zip(keys, write.chunks, strict=True) if new.vector is not None}
    put_vectors(connection, vectors, write.embedding_version, context.now)
    if write.pooled is not None:
        _add_pooled(connection, note.note_id, write.pooled, write.embedding_version, context.now)
    _count(connection, len(keys), sum(new.term_count for new in write.chunks))
    return keys


def put_vectors(connection: Connection, vectors: dict[ChunkKey, Any], embedding_version: str, now: datetime) -> None:
    """Insert the vectors of chunks."""
    rows = [
        {
            "chunk_key": key,
            "embedding_version": embedding_version,
            "embedding_dim": len(vector),
            "created_at": now,
            "vec": vector,
        }
        for key, vector in vectors.items()
    ]
    if rows:
        connection.execute(_INSERT_VECTORS, rows)


def put_pooled(connection: Connection, note_id: NoteId, pooled: Any, embedding_version: str, now: datetime) -> None:
    """Insert or replace a note's own vector."""
    key = (note_embeddings.c.note_id == note_id, note_embeddings.c.embedding_version == embedding_version)
    connection.execute(delete(note_embeddings).where(*key))
    _add_pooled(connection, note_id, pooled, embedding_version, now)


def _add_pooled(connection: Connection, note_id: NoteId, pooled: Any, embedding_version: str, now: datetime) -> None:
    """Insert a note's own vector, which it must not have yet."""
    connection.execute(
        _INSERT_POOLED,
        {
            "note_id": note_id,
            "embedding_version": embedding_version,
            "embedding_dim": len(pooled),
            "created_at": now,
            "vec": pooled,
        },
    )


def audit(connection: Connection, note: Note, action: str, principal: str, context: WriteContext) -> None:
    """Write a line of the audit log."""
    connection.execute(
        _INSERT_AUDIT,
        {
            "at": context.now,
            "tenant_id": note.tenant,
            "principal": principal,
            "action": action,
            "note_id": note.note_id,
            "public_id": note.public_id,
            "revision": note.revision,
            "trace_id": context.trace_id,
        },
    )


def _count(connection: Connection, chunks: int, terms: int) -> None:
    connection.execute(_ADD_TO_TOTALS, {"more_chunks": chunks, "more_terms": terms})

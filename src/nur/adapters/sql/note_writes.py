"""Write, delete and purge notes, each in one transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    bindparam,
    delete,
    func,
    insert,
    select,
    text,
    update,
)

from nur.adapters.sql import derivations, outbox
from nur.adapters.sql.changes import audit
from nur.adapters.sql.mapping import chunk_values, note_values, piece_values, pooled_values, vector_values
from nur.adapters.sql.search_log import forget_note
from nur.adapters.sql.suggestions import compare, drop_suggestions, is_alone
from nur.adapters.sql.tables import (
    audit_log,
    chunk_pieces,
    memory_note_chunks,
    memory_notes,
    note_chunk_embeddings,
    note_embeddings,
    note_versions,
)
from nur.adapters.sql.tables.chunks import TOTALS_ROWS
from nur.domain.changes import ChangeKind
from nur.domain.errors import Conflict
from nur.domain.kinds import KINDS
from nur.domain.notes import ChunkKey, Note, NoteId, Status
from nur.ports.notes import VERSIONS_KEPT, Written
from nur.ports.outbox import Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.domain.access import WriteContext
    from nur.ports.decisions import FoundPair
    from nur.ports.notes import NoteWrite

_notes = memory_notes.c
_chunks = memory_note_chunks.c
# Statements are built once and take their values as parameters: building one costs more than running it. `values()`
# would make an object per column, 59 for one memory: half of the writer's CPU.
_INSERT_NOTE = insert(memory_notes)
_UPDATE_NOTE = update(memory_notes).where(
    _notes.note_id == bindparam("current_id"), _notes.revision == bindparam("current_revision")
)
_CURRENT_TEXT = select(_notes.version, _notes.content_hash, _notes.title, _notes.status, _notes.text).where(
    _notes.note_id == bindparam("current_id")
)
_INSERT_VERSION = insert(note_versions)
# With the index instead of `sort_by_parameter_order`, for which SQLite would run one statement per chunk.
_INSERT_CHUNKS = insert(memory_note_chunks).returning(_chunks.chunk_index, _chunks.chunk_key)
_INSERT_PIECES = insert(chunk_pieces)
_INSERT_VECTORS = insert(note_chunk_embeddings)
_INSERT_POOLED = insert(note_embeddings)
_ADD_TO_TOTALS = text(
    'INSERT INTO lexical_totals AS t ("row", chunks, pieces, terms) VALUES (:row, :chunks, :pieces, :terms)'
    ' ON CONFLICT ("row") DO UPDATE SET chunks = t.chunks + excluded.chunks,'
    " pieces = t.pieces + excluded.pieces, terms = t.terms + excluded.terms"
)
_LOCK_NOTE = select(_notes.note_id).where(_notes.note_id == bindparam("locked")).with_for_update()


def write_note(connection: Connection, lexical_index: LexicalIndex, write: NoteWrite, context: WriteContext) -> Written:
    """Write a note, its chunks, lexical rows and vectors, suggestions, its outbox row and its line in the audit log."""
    note = write.note
    change: ChangeKind | None = ChangeKind.CREATED
    if write.replaces is None:
        connection.execute(_INSERT_NOTE, {**note_values(note), "text": write.text})
    else:
        change = _replace_row(connection, write, write.replaces, context.now)
    keys: list[ChunkKey] = []
    similar: Sequence[FoundPair] = ()
    derive_later = write.text is not None and not write.is_derived
    if write.text is None:
        _touch_chunks(connection, note, indexed=write.indexed)
        derivations.carry_over(connection, note, write.derived, context.now)
    else:
        if write.replaces is not None:
            _drop_derived(connection, lexical_index, note.note_id)
        if write.comparison is not None:  # before its own chunks can be found
            # A memory that another write is comparing now may be missed: the worker compares again.
            derive_later |= not is_alone(connection, note.tenant, write.comparison.terms)
            similar = compare(connection, lexical_index, note, write.comparison, context.now)
        keys = _add_chunks(connection, lexical_index, write, context.now)
        derivations.add(connection, note, write.derived, context.now)
    if not write.indexed:
        outbox.enqueue(connection, note.note_id, note.revision, context.now)
    if derive_later and note.status is Status.ACTIVE:
        outbox.enqueue(connection, note.note_id, note.revision, context.now, Task.DERIVE)
    audit(connection, note, write.action, context, change)
    return Written(keys, similar)


def remove_note(
    connection: Connection,
    lexical_index: LexicalIndex,
    note: Note,
    context: WriteContext,
    *,
    action: str,
    indexed: bool,
) -> Note:
    """Move a note to the trash and delete everything derived from it. Raises Conflict."""
    now = context.now
    gone = replace(note, status=Status.DELETED, revision=note.revision + 1, deleted_at=now, updated_at=now)
    _update_row(connection, gone, note.revision)
    _drop_derived(connection, lexical_index, note.note_id)
    if not indexed:
        outbox.enqueue(connection, note.note_id, gone.revision, now)
    audit(connection, gone, action, context, ChangeKind.DELETED)
    return gone


def purge_note(
    connection: Connection, lexical_index: LexicalIndex, note: Note, context: WriteContext, *, indexed: bool
) -> None:
    """Erase a note for good, with its versions and the traces that returned it. Raises Conflict."""
    connection.execute(
        _LOCK_NOTE, {"locked": note.note_id}
    )  # first the note, then its chunks, in the same order as every write
    _drop_derived(connection, lexical_index, note.note_id)
    gone = delete(memory_notes).where(_notes.note_id == note.note_id, _notes.revision == note.revision)
    if connection.execute(gone).rowcount != 1:
        raise Conflict("The note was changed by another write; nothing was erased. Try again.")
    if not indexed:
        outbox.enqueue(connection, note.note_id, note.revision + 1, context.now)
    outbox.cancel(connection, note.note_id, Task.DERIVE)
    forget_note(connection, note.note_id)
    audit(connection, note, "purge", context, ChangeKind.PURGED)
    if KINDS[note.kind].ids_reveal_content:
        lines = update(audit_log).where(audit_log.c.note_id == note.note_id)
        connection.execute(lines.values(public_id=None))


def _replace_row(connection: Connection, write: NoteWrite, current_revision: int, now: datetime) -> ChangeKind | None:
    """Update the note's row if it is still at this revision; a text that changes is kept as a version.

    Returns the kind of change; None if the text is only chunked or embedded again.
    """
    note = write.note
    if write.text is None:
        _update_row(connection, note, current_revision)
        return ChangeKind.EDITED
    current = connection.execute(_CURRENT_TEXT, {"current_id": note.note_id}).first()
    if current is not None and current.version != note.version:
        row = {"note_id": note.note_id, "version": current.version, "content_hash": current.content_hash}
        row |= {"title": current.title, "replaced_at": now, "text": current.text}
        connection.execute(_INSERT_VERSION, row)
        too_old = note_versions.c.version < note.version - VERSIONS_KEPT
        connection.execute(delete(note_versions).where(note_versions.c.note_id == note.note_id, too_old))
    _update_row(connection, note, current_revision, text=write.text)
    return _change(current, note)


def _change(current: Any, note: Note) -> ChangeKind | None:
    """The kind of change that a write of a text makes to the note with the row `current`."""
    if current is None or current.status != note.status:
        return ChangeKind.RESTORED if note.status is Status.ACTIVE else ChangeKind.DELETED
    return ChangeKind.REPLACED if current.version != note.version else None


def _update_row(connection: Connection, note: Note, current_revision: int, **text: str) -> None:
    values = note_values(note)
    values.pop("note_id")
    current = {"current_id": note.note_id, "current_revision": current_revision}
    if connection.execute(_UPDATE_NOTE, {**values, **text, **current}).rowcount != 1:
        raise Conflict("The note was changed by another write; nothing was written. Try again.")


def _touch_chunks(connection: Connection, note: Note, *, indexed: bool) -> None:
    """Bring the chunks' revision up to their note's."""
    values = {"revision": note.revision} | ({"indexed_revision": note.revision} if indexed else {})
    connection.execute(update(memory_note_chunks).where(_chunks.note_id == note.note_id).values(**values))


def _drop_derived(connection: Connection, lexical_index: LexicalIndex, note_id: NoteId) -> None:
    """Delete everything that was made from a note's text."""
    _drop_chunks(connection, lexical_index, note_id)
    derivations.drop(connection, note_id)
    drop_suggestions(connection, note_id)


def _drop_chunks(connection: Connection, lexical_index: LexicalIndex, note_id: NoteId) -> None:
    """Delete a note's chunks, pieces, lexical rows and vectors."""
    pieces = func.coalesce(chunk_pieces.c.piece_count, 0).label("pieces")  # NULL: the chunk waits to be analysed again
    own = select(_chunks.chunk_key, _chunks.term_count, pieces).where(_chunks.note_id == note_id)
    rows = connection.execute(own.outerjoin(chunk_pieces, chunk_pieces.c.chunk_key == _chunks.chunk_key)).all()
    connection.execute(delete(note_embeddings).where(note_embeddings.c.note_id == note_id))
    if not rows:
        return
    lexical_index.remove(connection, {ChunkKey(row.chunk_key): row.pieces for row in rows})
    connection.execute(delete(memory_note_chunks).where(_chunks.note_id == note_id))
    pieces, terms = sum(row.pieces for row in rows), sum(row.term_count for row in rows)
    _add_to_totals(connection, note_id, -len(rows), -pieces, -terms)


def _add_chunks(connection: Connection, lexical_index: LexicalIndex, write: NoteWrite, now: datetime) -> list[ChunkKey]:
    if not write.chunks:
        return []
    note = write.note
    rows = [chunk_values(note, new, now, indexed=write.indexed) for new in write.chunks]
    key_of: dict[int, int] = dict(connection.execute(_INSERT_CHUNKS, rows).all())
    keys = [ChunkKey(key_of[new.chunk.index]) for new in write.chunks]
    new_chunks = dict(zip(keys, write.chunks, strict=True))
    connection.execute(_INSERT_PIECES, [piece_values(key, new) for key, new in new_chunks.items()])
    words = {term: word for new in write.chunks for term, word in new.words.items()}
    lexical_index.add(connection, {key: new.terms for key, new in new_chunks.items()}, words)
    version = write.embedding_version
    vectors = [
        vector_values(key, new.vector, new.model_vectors, version, now)
        for key, new in new_chunks.items()
        if new.vector is not None
    ]
    if vectors:
        connection.execute(_INSERT_VECTORS, vectors)
    if write.pooled is not None:
        connection.execute(_INSERT_POOLED, pooled_values(note.note_id, write.pooled, version, now))
    pieces, terms = sum(len(new.terms) for new in write.chunks), sum(new.term_count for new in write.chunks)
    _add_to_totals(connection, note.note_id, len(keys), pieces, terms)
    return keys


def _add_to_totals(connection: Connection, note_id: NoteId, chunks: int, pieces: int, terms: int) -> None:
    counted = {"chunks": chunks, "pieces": pieces, "terms": terms}
    connection.execute(_ADD_TO_TOTALS, {"row": 1 + note_id.int % TOTALS_ROWS, **counted})

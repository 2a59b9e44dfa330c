"""Candidates by time: said in a window, naming a time, or stored by a given moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, or_, select

from nur.adapters.sql.filters import chunks_matching, notes_matching
from nur.adapters.sql.tables import audit_log, derivations, memory_note_chunks, memory_notes, note_times
from nur.domain.notes import ChunkKey

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, Connection, Select

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.ports.chunks import AskedWindow, CandidateQuery, ScoringView


_notes, _chunks, _times, _derived = memory_notes.c, memory_note_chunks.c, note_times.c, derivations.c
_NAMING = note_times.join(derivations, _derived.derivation_id == _times.derivation_id)
_IN_CHUNK = and_(_times.start_char >= _chunks.start_offset, _times.start_char < _chunks.end_offset)
_LATEST = (
    select(_chunks.chunk_key, _notes.occurred_at)
    .join(memory_notes, _notes.note_id == _chunks.note_id)
    .order_by(_notes.occurred_at.desc(), _chunks.chunk_key)
)

_audit = audit_log.c


MAX_DATED_CHARACTERS = 600
"""Characters of a chunk up to which the times that it names count for it."""


def by_time(connection: Connection, lexical_index: LexicalIndex, query: CandidateQuery) -> list[ChunkKey]:
    """Chunks in the question's time windows: those with its words, best first, then the latest."""
    matching = and_(chunks_matching(query.where, query.now), _in_windows(query.windows))
    worded = lexical_index.search(connection, query.terms, matching, query.limit).chunks
    if len(worded) >= query.limit:
        return list(worded)
    return [*worded, *_latest(connection, query, query.limit - len(worded))]


def _latest(connection: Connection, query: CandidateQuery, limit: int) -> list[ChunkKey]:
    """The latest chunks said in a window or naming a time in one.

    By one statement each: with both conditions in one, the database reads all notes that were said later.
    """
    said = _LATEST.where(notes_matching(query.where, query.now), _said_between(query.windows))
    naming = _LATEST.where(chunks_matching(query.where, query.now), _notes.note_id.in_(_naming_notes(query.windows)))
    found = {row.chunk_key: row.occurred_at for one in (said, naming) for row in connection.execute(one.limit(limit))}
    by_key = sorted(found)
    return [ChunkKey(key) for key in sorted(by_key, key=found.__getitem__, reverse=True)[:limit]]


def in_window(
    connection: Connection, views: Sequence[ScoringView], windows: Sequence[AskedWindow]
) -> frozenset[ChunkKey]:
    """Candidates that were said in one of the windows, or name a time in one."""
    keys = [view.chunk_key for view in views]
    said = (
        select(_chunks.chunk_key)
        .join(memory_notes, _notes.note_id == _chunks.note_id)
        .where(_chunks.chunk_key.in_(keys), or_(*map(_said_in, windows)))
    )
    return frozenset(map(ChunkKey, connection.execute(said).scalars())) | _naming(
        connection, _short(views), or_(*map(_names, windows))
    )


def dated(connection: Connection, views: Sequence[ScoringView]) -> frozenset[ChunkKey]:
    """Short candidates that name any time."""
    return _naming(connection, _short(views), None)


def _short(views: Sequence[ScoringView]) -> list[ChunkKey]:
    """Long chunks nearly always name some time, most often another one than that of the piece that matches."""
    return [view.chunk_key for view in views if view.characters <= MAX_DATED_CHARACTERS]


def _naming(
    connection: Connection, keys: Sequence[ChunkKey], condition: ColumnElement[bool] | None
) -> frozenset[ChunkKey]:
    query = (
        select(_chunks.chunk_key)
        .select_from(memory_note_chunks)
        .join(derivations, and_(_derived.note_id == _chunks.note_id, _derived.deriver == note_times.name))
        .join(note_times, and_(_times.derivation_id == _derived.derivation_id, _IN_CHUNK))
        .where(_chunks.chunk_key.in_(keys))
    )
    found = connection.execute(query if condition is None else query.where(condition)).scalars()
    return frozenset(map(ChunkKey, found))


def _in_windows(windows: Sequence[AskedWindow]) -> ColumnElement[bool]:
    return or_(*map(_said_in, windows), _notes.note_id.in_(_naming_notes(windows)))


def _naming_notes(windows: Sequence[AskedWindow]) -> Select[UUID]:
    return select(_derived.note_id).select_from(_NAMING).where(or_(*map(_names, windows)))


def _said_between(windows: Sequence[AskedWindow]) -> ColumnElement[bool]:
    """Said in one of the windows. The bounds of all of them let the database start and stop there."""
    first, last = min(one.said_from for one in windows), max(one.said_until for one in windows)
    return and_(_notes.occurred_at >= first, _notes.occurred_at < last, or_(*map(_said_in, windows)))


def _said_in(window: AskedWindow) -> ColumnElement[bool]:
    return and_(_notes.occurred_at >= window.said_from, _notes.occurred_at < window.said_until)


def _names(window: AskedWindow) -> ColumnElement[bool]:
    return and_(_times.first_day < window.end_day, _times.end_day > window.first_day)


def known(connection: Connection, views: list[ScoringView], moment: datetime) -> list[ScoringView]:
    """Candidates whose notes were stored by then.

    A note whose text was replaced later counts from its first text: the audit log has that time.
    """
    earlier = select(_audit.note_id).where(_audit.note_id == _notes.note_id, _audit.at <= moment).exists()
    query = select(_notes.note_id).where(
        _notes.note_id.in_({view.note_id for view in views}), or_(_notes.ingested_at <= moment, earlier)
    )
    found = set(connection.execute(query).scalars())
    return [view for view in views if view.note_id in found]

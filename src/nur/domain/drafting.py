"""From a draft to the note that it asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.filters import is_alive
from nur.domain.notes import Note, NoteId, Status
from nur.domain.retention import expiry

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.access import Principal
    from nur.domain.notes import NoteMetadata
    from nur.domain.writes import Draft


@dataclass(frozen=True, slots=True)
class ChunkingStats:
    """What chunking found out about a text."""

    token_count: int
    chunk_count: int
    chunking_version: str
    heading: bytes


def with_times(meta: NoteMetadata, occurred_at: datetime | None, ingested_at: datetime) -> NoteMetadata:
    """The metadata with its times filled in."""
    return replace(meta, occurred_at=meta.occurred_at or occurred_at, expires_at=expiry(meta, ingested_at))


def next_note(draft: Draft, existing: Note | None, stats: ChunkingStats, principal: Principal, now: datetime) -> Note:
    """The note that a draft asks for: a new one (without a public id), or the next revision of the existing one.

    A note whose text stays keeps the time it was stored: cutting or embedding it again is no new note, and neither is
    restoring it from the trash, for which the draft names the time.
    """
    content_hash = draft.content_hash
    stays = existing is not None and is_alive(existing, now) and existing.content_hash == content_hash
    ingested_at = draft.ingested_at or (existing.ingested_at if existing is not None and stays else now)
    note = Note(
        note_id=NoteId(uuid4()),
        public_id="",
        tenant=principal.tenant,
        owner=principal.name,
        kind=draft.kind,
        meta=with_times(draft.meta, now, ingested_at),
        content_hash=content_hash,
        token_count=stats.token_count,
        chunk_count=stats.chunk_count,
        chunking_version=stats.chunking_version,
        heading=stats.heading,
        version=1,
        revision=1,
        status=Status.ACTIVE,
        ingested_at=ingested_at,
        updated_at=now,
    )
    if existing is None:
        return note
    return replace(
        note,
        note_id=existing.note_id,
        public_id=existing.public_id,
        owner=existing.owner,
        version=existing.version + (existing.content_hash != content_hash),
        revision=existing.revision + 1,
        resolved_at=existing.resolved_at if stays else None,
    )

"""From a draft to the note that it asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.chunks import sha256
from nur.domain.matching import is_alive
from nur.domain.notes import Note, NoteId, Status
from nur.domain.retention import expiry

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import NoteMetadata, Principal
    from nur.domain.writes import Draft


@dataclass(frozen=True, slots=True)
class ChunkingStats:
    """How a text was cut."""

    token_count: int
    chunk_count: int
    chunking_version: str
    heading: bytes


def with_times(meta: NoteMetadata, occurred_at: datetime | None, ingested_at: datetime) -> NoteMetadata:
    """The description with its times filled in."""
    return replace(meta, occurred_at=meta.occurred_at or occurred_at, expires_at=expiry(meta, ingested_at))


def next_note(draft: Draft, existing: Note | None, measure: ChunkingStats, principal: Principal, now: datetime) -> Note:
    """The note as it shall be: new (without a public id), the held one's next version, or the held one from the trash.

    A note whose text stays keeps the time it was stored: cutting or embedding it again is no new note, and neither is
    restoring it from the trash, for which the draft names the time.
    """
    content_hash = sha256(draft.text)
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
        token_count=measure.token_count,
        chunk_count=measure.chunk_count,
        chunking_version=measure.chunking_version,
        heading=measure.heading,
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

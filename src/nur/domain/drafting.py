"""Turns a draft into the note to store: identity, revision, retention, sensitivity and visibility."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.errors import BadRequest
from nur.domain.filters import is_alive
from nur.domain.notes import Note, NoteId, Retention, Sensitivity, Status, Visibility

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.access import Principal
    from nur.domain.notes import NoteMetadata
    from nur.domain.writes import Draft, Protection


def requested_expiry(expires_at: datetime | None, ttl_days: float | None, now: datetime) -> datetime | None:
    """Return the expiry time given as a time or as days from now. Raises BadRequest if both are given."""
    if ttl_days is None:
        return expires_at
    if expires_at is not None:
        raise BadRequest("ttl_days and expires_at exclude each other")
    return now + timedelta(days=ttl_days)


def with_checked_retention(meta: NoteMetadata, now: datetime) -> NoteMetadata:
    """Return the metadata with a retention that fits its expiry. Raises BadRequest if that is past or missing."""
    if meta.expires_at is not None and meta.expires_at <= now:
        raise BadRequest("expires_at must lie in the future")
    if meta.retention is Retention.CUSTOM and meta.expires_at is None:
        raise BadRequest("retention_policy custom needs expires_at")
    if meta.expires_at is not None and meta.retention is Retention.FOREVER:
        return replace(meta, retention=Retention.CUSTOM)
    return meta


def expiry(meta: NoteMetadata, ingested_at: datetime) -> datetime | None:
    """Return when the note expires: a year after ingestion with `1y`, else at `expires_at`; None: never."""
    if meta.retention is Retention.ONE_YEAR:
        return _a_year_after(ingested_at)
    return meta.expires_at


def _a_year_after(moment: datetime) -> datetime:
    """Return the same day next year. 29 February becomes 1 March, so that nothing expires a day early."""
    try:
        return moment.replace(year=moment.year + 1)
    except ValueError:
        return moment.replace(year=moment.year + 1, month=3, day=1)


@dataclass(frozen=True, slots=True)
class ProtectionRules:
    """Defaults for the protection that a caller does not state."""

    sensitive_sources: frozenset[str] = frozenset()  #: source systems, case folded

    def resolve(self, draft: Draft, existing: Note | None, now: datetime) -> Draft:
        """Return the draft with its protection filled in. Raises BadRequest if its expiry is past or missing."""
        meta = draft.meta
        if existing is not None and draft.content_hash == existing.content_hash:
            meta = self._with_source(meta, existing.meta)
        meta = self.with_privacy(meta, draft.stated, None if existing is None else existing.meta)
        alive = existing if existing is not None and is_alive(existing, now) else None
        meta = _with_retention(meta, draft.stated, alive)
        return replace(draft, meta=with_checked_retention(meta, now))

    def with_privacy(self, meta: NoteMetadata, stated: Protection, existing: NoteMetadata | None) -> NoteMetadata:
        """Return the metadata with sensitivity and visibility: stated, else existing, else the source's default."""
        is_sensitive = self._is_sensitive(meta)
        sensitivity, visibility = Sensitivity.NORMAL, Visibility.ME
        if is_sensitive:
            sensitivity = Sensitivity.HIGHLY_SENSITIVE
        if existing is not None and (self._is_sensitive(existing) or not is_sensitive):
            sensitivity, visibility = existing.sensitivity, existing.visibility
        return replace(meta, sensitivity=stated.sensitivity or sensitivity, visibility=stated.visibility or visibility)

    def _with_source(self, meta: NoteMetadata, existing: NoteMetadata) -> NoteMetadata:
        """Keep a sensitive source when the same text is stored again from another source."""
        if self._is_sensitive(meta) or not self._is_sensitive(existing):
            return meta
        return replace(
            meta,
            source_system=existing.source_system,
            source_id=existing.source_id,
            source_url=existing.source_url,
        )

    def _is_sensitive(self, meta: NoteMetadata) -> bool:
        return (meta.source_system or "").casefold() in self.sensitive_sources


def _with_retention(meta: NoteMetadata, stated: Protection, existing: Note | None) -> NoteMetadata:
    """Return the metadata with its retention: stated, else existing, else forever."""
    if stated.retention is not None or stated.expires_at is not None:
        return replace(meta, retention=stated.retention or Retention.CUSTOM, expires_at=stated.expires_at)
    if existing is not None:
        return replace(meta, retention=existing.meta.retention, expires_at=existing.meta.expires_at)
    return replace(meta, retention=Retention.FOREVER, expires_at=None)


@dataclass(frozen=True, slots=True)
class ChunkingStats:
    """Facts about a text that chunking produces."""

    token_count: int
    chunk_count: int
    chunking_version: str
    heading: bytes


def with_times(meta: NoteMetadata, occurred_at: datetime | None, ingested_at: datetime) -> NoteMetadata:
    """Return the metadata with `occurred_at` and `expires_at` filled in."""
    return replace(meta, occurred_at=meta.occurred_at or occurred_at, expires_at=expiry(meta, ingested_at))


def next_note(draft: Draft, existing: Note | None, stats: ChunkingStats, principal: Principal, now: datetime) -> Note:
    """Return the note to store: a new one (without a public id), or the next revision of the existing one.

    A note whose text does not change keeps its `ingested_at`: chunking or embedding it again does not make it new.
    Restoring from the trash keeps it too; the draft then carries the time.
    """
    content_hash = draft.content_hash
    same_text = existing is not None and is_alive(existing, now) and existing.content_hash == content_hash
    ingested_at = draft.ingested_at or (existing.ingested_at if existing is not None and same_text else now)
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
        resolved_at=existing.resolved_at if same_text else None,
    )

"""Who may see a note and how long it is kept.

What the caller states wins. Else a note that is stored again keeps what it has, so that storing it again never lowers
its protection. Else its source decides: notes about health, children and family are highly sensitive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.filters import is_alive
from nur.domain.notes import Retention, Sensitivity, Visibility
from nur.domain.retention import lasting

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import Note, NoteMetadata
    from nur.domain.writes import Draft, Protection


@dataclass(frozen=True, slots=True)
class ProtectionRules:
    """Fills in what a caller does not state."""

    sensitive_sources: frozenset[str] = frozenset()  #: source systems, case folded

    def resolve(self, draft: Draft, existing: Note | None, now: datetime) -> Draft:
        """The draft with its protection filled in. Raises BadRequest for an end that is over or missing."""
        meta = draft.meta
        if existing is not None and draft.content_hash == existing.content_hash:
            meta = self._with_source(meta, existing.meta)
        meta = self.private(meta, draft.stated, None if existing is None else existing.meta)
        meta = _retained(meta, draft.stated, existing if existing is not None and is_alive(existing, now) else None)
        return replace(draft, meta=lasting(meta, now))

    def private(self, meta: NoteMetadata, stated: Protection, existing: NoteMetadata | None) -> NoteMetadata:
        """The description with its sensitivity and visibility."""
        is_sensitive = self._is_sensitive(meta)
        sensitivity, visibility = Sensitivity.NORMAL, Visibility.ME
        if is_sensitive:
            sensitivity = Sensitivity.HIGHLY_SENSITIVE
        if existing is not None and (self._is_sensitive(existing) or not is_sensitive):
            sensitivity, visibility = existing.sensitivity, existing.visibility
        return replace(meta, sensitivity=stated.sensitivity or sensitivity, visibility=stated.visibility or visibility)

    def _with_source(self, meta: NoteMetadata, existing: NoteMetadata) -> NoteMetadata:
        """The same text from elsewhere does not hide that it came from a sensitive source."""
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


def _retained(meta: NoteMetadata, stated: Protection, existing: Note | None) -> NoteMetadata:
    """The description with how long it is kept."""
    if stated.retention is not None or stated.expires_at is not None:
        return replace(meta, retention=stated.retention or Retention.CUSTOM, expires_at=stated.expires_at)
    if existing is not None:
        return replace(meta, retention=existing.meta.retention, expires_at=existing.meta.expires_at)
    return replace(meta, retention=Retention.FOREVER, expires_at=None)

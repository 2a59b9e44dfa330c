"""Who may see a note and how long it is kept.

What the caller states wins. Else a note that is stored again keeps what it has, so that storing it again never lowers
its protection. Else its source decides: notes about health, children and family are highly sensitive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.chunks import sha256
from nur.domain.matching import is_alive
from nur.domain.notes import Retention, Sensitivity, Visibility
from nur.domain.retention import lasting

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import Description, Note
    from nur.domain.writes import Draft, Protection


@dataclass(frozen=True, slots=True)
class ProtectionRules:
    """Fills in what a caller does not state."""

    sensitive_sources: frozenset[str] = frozenset()  #: source systems, case folded

    def resolve(self, draft: Draft, existing: Note | None, now: datetime) -> Draft:
        """The draft with its protection filled in. Raises BadRequest for an end that is over or missing."""
        about = draft.about
        if existing is not None and sha256(draft.text) == existing.content_hash:
            about = self._with_source(about, existing.about)
        about = self.private(about, draft.stated, None if existing is None else existing.about)
        about = _retained(about, draft.stated, existing if existing is not None and is_alive(existing, now) else None)
        return replace(draft, about=lasting(about, now))

    def private(self, about: Description, stated: Protection, existing: Description | None) -> Description:
        """The description with its sensitivity and visibility."""
        is_sensitive = self._is_sensitive(about)
        sensitivity, visibility = Sensitivity.NORMAL, Visibility.ME
        if is_sensitive:
            sensitivity = Sensitivity.HIGHLY_SENSITIVE
        if existing is not None and (self._is_sensitive(existing) or not is_sensitive):
            sensitivity, visibility = existing.sensitivity, existing.visibility
        return replace(about, sensitivity=stated.sensitivity or sensitivity, visibility=stated.visibility or visibility)

    def _with_source(self, about: Description, existing: Description) -> Description:
        """The same text from elsewhere does not hide that it came from a sensitive source."""
        if self._is_sensitive(about) or not self._is_sensitive(existing):
            return about
        return replace(
            about,
            source_system=existing.source_system,
            source_id=existing.source_id,
            source_url=existing.source_url,
        )

    def _is_sensitive(self, about: Description) -> bool:
        return (about.source_system or "").casefold() in self.sensitive_sources


def _retained(about: Description, stated: Protection, existing: Note | None) -> Description:
    """The description with how long it is kept."""
    if stated.retention is not None or stated.expires_at is not None:
        return replace(about, retention=stated.retention or Retention.CUSTOM, expires_at=stated.expires_at)
    if existing is not None:
        return replace(about, retention=existing.about.retention, expires_at=existing.about.expires_at)
    return replace(about, retention=Retention.FOREVER, expires_at=None)

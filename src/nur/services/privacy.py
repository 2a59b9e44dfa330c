"""The privacy filter (PrivacyFilterService): consulted before anything stored is shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.notes import SHARED

if TYPE_CHECKING:
    from nur.domain.access import Principal
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import Note
    from nur.domain.search import SearchRequest
    from nur.domain.traces import Trace


@dataclass(frozen=True, slots=True)
class PrivacyFilter:
    """Decides what a principal may see: everything of its tenant, unless `enforced`."""

    enforced: bool = False

    def limit(self, request: SearchRequest) -> SearchRequest:
        """The request, limited to what its caller may see."""
        return replace(request, where=self.visible(request.where, request.caller.principal))

    def visible(self, where: NoteFilter, principal: Principal) -> NoteFilter:
        """The filter, limited to what the principal may see."""
        visible_to = principal.name if self.enforced else None
        return replace(where, tenant=principal.tenant, visible_to=visible_to)

    def can_explain(self, trace: Trace, principal: Principal) -> bool:
        """A search belongs to who asked: its question and candidates are shown to others only without enforcement."""
        return trace.tenant == principal.tenant and (not self.enforced or trace.principal == principal.name)

    def can_access(self, note: Note, principal: Principal) -> bool:
        """A note belongs to its owner; others of the tenant see what is visible to the team or the organisation."""
        if note.tenant != principal.tenant:
            return False
        return not self.enforced or note.meta.visibility in SHARED or note.owner == principal.name

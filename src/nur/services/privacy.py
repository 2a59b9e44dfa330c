"""The privacy filter (PrivacyFilterService): asked before anything stored is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.notes import Visibility

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nur.domain.notes import Note, Principal
    from nur.ports.ledger import Candidate


@dataclass(frozen=True, slots=True)
class PrivacyFilter:
    """Decides what a principal may see. It allows everything of the tenant's unless `enforced`."""

    enforced: bool = False

    def filter_results(self, candidates: Iterable[Candidate], principal: Principal) -> list[Candidate]:
        """The candidates that may be shown, in their order."""
        return [candidate for candidate in candidates if self.can_access(candidate.note, principal)]

    def can_access(self, note: Note, principal: Principal) -> bool:
        """A note is its owner's; others of the tenant see what is visible to the team or the organisation."""
        if note.tenant != principal.tenant:
            return False
        shared = note.about.visibility in (Visibility.TEAM, Visibility.ORG)
        return not self.enforced or shared or note.owner == principal.name

"""The privacy filter (PrivacyFilterService): asked before anything stored is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.notes import Visibility

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nur.domain.notes import Note, Principal
    from nur.ports.ledger import ScoringView


@dataclass(frozen=True, slots=True)
class PrivacyFilter:
    """Decides what a principal may see. It allows everything of the tenant's unless `enforced`."""

    enforced: bool = False

    def filter_results(self, found: Iterable[ScoringView], principal: Principal) -> list[ScoringView]:
        """What may be shown, in its order."""
        return [one for one in found if self._allows(principal, one.tenant, one.owner, one.visibility)]

    def can_access(self, note: Note, principal: Principal) -> bool:
        """A note is its owner's; others of the tenant see what is visible to the team or the organisation."""
        return self._allows(principal, note.tenant, note.owner, note.meta.visibility)

    def _allows(self, principal: Principal, tenant: str, owner: str, visibility: Visibility) -> bool:
        if tenant != principal.tenant:
            return False
        shared = visibility in (Visibility.TEAM, Visibility.ORG)
        return not self.enforced or shared or owner == principal.name

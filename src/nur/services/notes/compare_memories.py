"""Compare a memory with stored ones, to find near copies and different statements on the same subject.

The pairs found are suggested for review. Nothing is changed, merged or deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from nur.domain.access import Principal
from nur.domain.decisions import NotePair, Suggestion
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind, Status
from nur.domain.writes import SimilarMemory
from nur.ports.decisions import FoundPair, MemoryComparison
from nur.retrieval.currency.relation import lookup_terms, relation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.decisions import Relation
    from nur.domain.filters import PrivacyFilter
    from nur.domain.notes import Note
    from nur.ports.clock import Clock
    from nur.ports.decisions import AlikeMemory, DecisionStore

#: Most memories compared with a new one.
COMPARED = 8
MAX_REPORTED = 3


@dataclass(frozen=True, slots=True)
class CompareMemories:
    """Finds memories to review with a given one, while it is written or later."""

    decisions: DecisionStore
    privacy: PrivacyFilter
    clock: Clock

    def comparison(self, note: Note, text: str, principal: Principal) -> MemoryComparison | None:
        """What to compare a note of this text with, limited to what the principal may see; None: nothing."""
        terms = lookup_terms(text) if note.kind is Kind.MEMORY and note.status is Status.ACTIVE else []
        if not terms:
            return None

        def rule(alike: Sequence[AlikeMemory]) -> list[FoundPair]:
            related = [(one, found) for one in alike if (found := _relation(note, text, one)) is not None]
            return [FoundPair(one, self._suggestion(note, one, found)) for one, found in related[:MAX_REPORTED]]

        where = _where(self.privacy, principal, note.meta.project)
        return MemoryComparison(terms=terms, where=where, limit=COMPARED, rule=rule)

    async def again(self, note: Note, text: str) -> None:
        """Compare a stored memory again, with what its owner may see, and replace its suggestions."""
        comparison = self.comparison(note, text, Principal(note.owner, note.tenant))
        if comparison is None:
            return
        terms, where, limit = comparison.terms, comparison.where, comparison.limit
        alike = await self.decisions.alike(note.note_id, terms, where, self.clock.now(), limit)
        await self.decisions.suggest(note.note_id, [found.suggestion for found in comparison.rule(alike)])

    def _suggestion(self, note: Note, other: AlikeMemory, found: Relation) -> Suggestion:
        pair = _pair(note, other)
        hashes = {note.note_id: note.content_hash, other.note_id: other.content_hash}
        return Suggestion(
            pair=pair,
            relation=found,
            newer_hash=hashes[pair.newer],
            older_hash=hashes[pair.older],
            found_at=self.clock.now(),
        )


@lru_cache(64)
def _where(privacy: PrivacyFilter, principal: Principal, project: str) -> NoteFilter:
    """Filter for the memories of a project that a principal may see; cached, as most writes share it."""
    where = NoteFilter(tenant=principal.tenant, kinds=frozenset({Kind.MEMORY}), project=project)
    return privacy.visible(where, principal)


def similar_memory(found: FoundPair) -> SimilarMemory:
    """A memory to review, as shown to the writer."""
    other, suggestion = found
    return SimilarMemory(other.public_id, suggestion.relation, other.text, other.said_at, suggestion.pair.review_id)


def _relation(note: Note, text: str, other: AlikeMemory) -> Relation | None:
    is_newer = _pair(note, other).newer == note.note_id
    return relation(text, other.text) if is_newer else relation(other.text, text)


def _pair(note: Note, other: AlikeMemory) -> NotePair:
    """Order two memories by when they were said; at the same time, the one being stored is newer."""
    later = note.said_at >= other.said_at
    return NotePair(note.note_id, other.note_id) if later else NotePair(other.note_id, note.note_id)

"""Compare a memory with the stored ones: what is nearly the same, and what says something else about the same thing.

What is found is suggested for review. Nothing is changed, merged or deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.decisions import NotePair, Suggestion
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind
from nur.domain.writes import SimilarMemory
from nur.retrieval.currency.relation import lookup_terms, relation

if TYPE_CHECKING:
    from nur.domain.access import Caller
    from nur.domain.decisions import Relation
    from nur.domain.notes import Note
    from nur.ports.clock import Clock
    from nur.ports.decisions import AlikeMemory, DecisionStore
    from nur.services.privacy import PrivacyFilter

#: Memories that are compared with a new one.
COMPARED = 8
MOST_REPORTED = 3


@dataclass(frozen=True, slots=True)
class CompareMemories:
    """Finds what a memory should be reviewed with."""

    decisions: DecisionStore
    privacy: PrivacyFilter
    clock: Clock

    async def __call__(self, note: Note, text: str, caller: Caller) -> tuple[SimilarMemory, ...]:
        """What the caller may see and should look at, the best first; it waits for review from now on."""
        if note.kind is not Kind.MEMORY:
            return ()
        where = NoteFilter(tenant=note.tenant, kinds=frozenset({Kind.MEMORY}), project=note.meta.project)
        visible = self.privacy.visible(where, caller.principal)
        alike = await self.decisions.alike(note.note_id, lookup_terms(text), visible, self.clock.now(), COMPARED)
        pairs = [(one, found) for one in alike if (found := _relation(note, text, one)) is not None][:MOST_REPORTED]
        if pairs:
            suggested = [self._suggestion(note, one, found) for one, found in pairs]
            await self.decisions.suggest(note.note_id, suggested)
        return tuple(
            SimilarMemory(one.public_id, found, one.text, one.said_at, _pair(note, one).review_id)
            for one, found in pairs
        )

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


def _relation(note: Note, text: str, other: AlikeMemory) -> Relation | None:
    is_newer = _pair(note, other).newer == note.note_id
    return relation(text, other.text) if is_newer else relation(other.text, text)


def _pair(note: Note, other: AlikeMemory) -> NotePair:
    """Which of the two was said later; of two said at the same time, the one that is stored now."""
    later = note.said_at >= other.said_at
    return NotePair(note.note_id, other.note_id) if later else NotePair(other.note_id, note.note_id)

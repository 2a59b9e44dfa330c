"""DecisionStore: decisions about pairs of notes, and suggestions that await a decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from nur.domain.access import WriteContext
    from nur.domain.decisions import Decision, NotePair, Review, Suggestion
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import NoteId


class AlikeMemory(NamedTuple):
    """A memory that shares terms with another one."""

    note_id: NoteId
    public_id: str
    content_hash: str
    said_at: datetime
    text: str


class FoundPair(NamedTuple):
    """A similar memory, and the suggestion to review the two."""

    other: AlikeMemory
    suggestion: Suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryComparison:
    """How a new memory is compared with others, in the transaction that writes it."""

    terms: Sequence[str]  #: lexical terms to find other memories by
    where: NoteFilter  #: memories that it may be compared with
    limit: int  #: maximum memories to read
    rule: Callable[[Sequence[AlikeMemory]], Sequence[FoundPair]]  #: runs in the transaction: fast, no I/O


class ReviewCursor(NamedTuple):
    """Where a page of reviews ended. It stays valid if that pair is decided or its notes change."""

    at: datetime
    review_id: str


class DecisionStore(Protocol):
    """Stores decisions and suggestions. Every method is one transaction; none changes or removes a note.

    A decision is deleted when one of its notes is purged. A suggestion is deleted when one of its notes gets another
    text or goes to the trash.
    """

    async def decide(self, decision: Decision, context: WriteContext) -> None:
        """Save a decision, replacing any other about the pair in either direction.

        Raises NotFound if a note is gone, Conflict if it would make two notes supersede each other through others.
        """
        ...

    async def undo(self, pair: NotePair, context: WriteContext) -> bool:
        """Delete a decision. Returns whether there was one."""
        ...

    async def suggest(self, newer: NoteId, suggestions: Sequence[Suggestion]) -> None:
        """Replace the suggestions for a note. Skips notes that are gone and pairs of texts already decided on."""
        ...

    async def reviews(
        self, where: NoteFilter, now: datetime, *, decided: bool, limit: int, after: ReviewCursor | None = None
    ) -> list[Review]:
        """Return a page of undecided or decided pairs, latest first; both notes must match the filter."""
        ...

    async def review(self, review_id: str, where: NoteFilter, now: datetime) -> Review | None:
        """Return one pair; None unless both notes match the filter."""
        ...

    async def superseded(self, note_ids: Sequence[NoteId], where: NoteFilter, now: datetime) -> dict[NoteId, str]:
        """Return the superseded notes among these, each with the public id of the current note.

        Only notes that match the filter can supersede.
        """
        ...

    async def alike(
        self, note_id: NoteId, terms: Sequence[str], where: NoteFilter, now: datetime, limit: int
    ) -> list[AlikeMemory]:
        """Return other notes that match the filter and share terms, best first.

        Cheap rather than complete: a note that shares only common terms may be left out.
        """
        ...

    async def page(self, tenant: str, after: NotePair | None, limit: int) -> list[Decision]:
        """Return a tenant's decisions after a pair, ordered by pair, for an export."""
        ...

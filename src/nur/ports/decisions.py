"""DecisionStore: what people decided about pairs of notes, and the suggestions that wait for a decision."""

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
    """A memory that shares words with another one."""

    note_id: NoteId
    public_id: str
    content_hash: str
    said_at: datetime
    text: str


class FoundPair(NamedTuple):
    """A memory that another one should be reviewed with."""

    other: AlikeMemory
    suggestion: Suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryComparison:
    """What a memory is compared with in the transaction that writes it, and by which rule."""

    terms: Sequence[str]  #: lexical terms that other memories are looked up by
    where: NoteFilter  #: what it may be compared with
    limit: int  #: memories that are read at most
    rule: Callable[[Sequence[AlikeMemory]], Sequence[FoundPair]]  #: runs in the transaction: short, reads nothing


class DecisionStore(Protocol):
    """Decisions go when one of their notes is purged; suggestions, when one changes its text or goes to the trash.

    Every method is one transaction. Nothing here changes or removes a note.
    """

    async def decide(self, decision: Decision, context: WriteContext) -> None:
        """Keep a decision in place of any other about the pair, in either direction. Raises NotFound, Conflict.

        Conflict where the older note supersedes the newer one through others.
        """
        ...

    async def undo(self, pair: NotePair, context: WriteContext) -> bool:
        """Take a decision back; returns whether there was one."""
        ...

    async def suggest(self, newer: NoteId, suggestions: Sequence[Suggestion]) -> None:
        """Keep what is suggested for a note, in place of what was; nothing is kept of notes that are gone.

        What was decided about the same two texts is not suggested again.
        """
        ...

    async def reviews(
        self, where: NoteFilter, now: datetime, *, decided: bool, limit: int, after: str | None = None
    ) -> list[Review]:
        """Pairs that wait, or that were decided, by their review ids; both notes must match the filter."""
        ...

    async def review(self, review_id: str, where: NoteFilter, now: datetime) -> Review | None:
        """One pair; both notes must match the filter."""
        ...

    async def superseded(self, note_ids: Sequence[NoteId], where: NoteFilter, now: datetime) -> dict[NoteId, str]:
        """Of these notes those that are superseded, each with the public id of the note that holds instead.

        Only notes that match the filter supersede.
        """
        ...

    async def alike(
        self, note_id: NoteId, terms: Sequence[str], where: NoteFilter, now: datetime, limit: int
    ) -> list[AlikeMemory]:
        """Other notes than this one that match the filter and share its terms, the best first.

        Meant to be cheap, so not complete: a note may be left out that shares common terms alone.
        """
        ...

    async def page(self, tenant: str, after: NotePair | None, limit: int) -> list[Decision]:
        """The decisions of a tenant, by their pairs, for an export."""
        ...

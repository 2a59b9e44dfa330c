"""Review pairs of notes: list them, decide, and undo decisions. Notes themselves never change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from nur.domain.decisions import Decision, DecisionKind, NotePair
from nur.domain.errors import BadRequest, NotFound
from nur.domain.filters import NoteFilter
from nur.ports.decisions import ReviewCursor
from nur.services.notes.cursors import cut_page, decode, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.access import Caller
    from nur.domain.decisions import Review
    from nur.domain.filters import PrivacyFilter
    from nur.domain.notes import Note, NoteId
    from nur.ports.clock import Clock
    from nur.ports.decisions import DecisionStore
    from nur.ports.notes import NoteStore


class ReviewAction(StrEnum):
    """The actions on a review."""

    CONFIRM = "confirm"  #: the newer note replaces the older one
    REJECT = "reject"  #: both stay valid
    UNDO = "undo"  #: removes the decision


@dataclass(frozen=True, slots=True)
class ReviewWithTexts:
    """A review and the beginnings of both texts."""

    review: Review
    newer_text: str
    older_text: str


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """One page of reviews."""

    reviews: Sequence[ReviewWithTexts]
    next_after: str | None  #: None: this is the last page


@dataclass(frozen=True, slots=True)
class Reviews:
    """Lists pairs of notes and stores decisions about them."""

    decisions: DecisionStore
    notes: NoteStore
    privacy: PrivacyFilter
    clock: Clock

    async def list(
        self, caller: Caller, *, decided: bool, limit: int, characters: int, after: str | None = None
    ) -> ReviewPage:
        """A page of pairs waiting for review, or of decided ones, latest first. `after` is the last `next_after`.

        Raises BadRequest for a value that no page returned.
        """
        where, now = self._visible(caller), self.clock.now()
        reached = None if after is None else ReviewCursor(*decode(after, "after"))
        read = await self.decisions.reviews(where, now, decided=decided, limit=limit + 1, after=reached)
        found, last = cut_page(read, limit)
        next_after = None if last is None else encode(last.listed_at, last.review_id)
        return ReviewPage(await self._with_texts(found, characters), next_after)

    async def act(self, review_id: str, action: ReviewAction, caller: Caller, *, characters: int) -> ReviewWithTexts:
        """Decide, or undo a decision. Raises NotFound, Conflict, and BadRequest if there is nothing to undo."""
        review = await self._find(review_id, caller)
        context = caller.at(self.clock.now())
        pair = NotePair(review.newer.note_id, review.older.note_id)
        if action is ReviewAction.UNDO:
            if not await self.decisions.undo(pair, context):
                raise BadRequest(f"Nothing was decided about {review_id}")
        else:
            kind = DecisionKind.SUPERSEDES if action is ReviewAction.CONFIRM else DecisionKind.REJECTED
            await self.decisions.decide(self._decision(review.newer, review.older, kind, caller), context)
        now = await self.decisions.review(review_id, self._visible(caller), self.clock.now())
        # Undone, and no rule suggested the pair: return it without its decision.
        return (await self._with_texts([now or _undecided(review)], characters))[0]

    async def supersede(self, newer: Note, older: Note, caller: Caller) -> None:
        """Decide that one note replaces another. Raises NotFound, Conflict."""
        decision = self._decision(newer, older, DecisionKind.SUPERSEDES, caller)
        await self.decisions.decide(decision, caller.at(self.clock.now()))

    async def superseded(self, notes: Sequence[Note], caller: Caller) -> dict[NoteId, str]:
        """The replaced ones of these notes, each with the public id of the note that replaces it."""
        ids = [note.note_id for note in notes]
        return await self.decisions.superseded(ids, self._visible(caller), self.clock.now())

    def _decision(self, newer: Note, older: Note, kind: DecisionKind, caller: Caller) -> Decision:
        return Decision(
            pair=NotePair(newer.note_id, older.note_id),
            kind=kind,
            newer_hash=newer.content_hash,
            older_hash=older.content_hash,
            decided_by=caller.principal.name,
            decided_at=self.clock.now(),
        )

    def _visible(self, caller: Caller) -> NoteFilter:
        return self.privacy.visible(NoteFilter(tenant=caller.tenant), caller.principal)

    async def _find(self, review_id: str, caller: Caller) -> Review:
        review = await self.decisions.review(review_id, self._visible(caller), self.clock.now())
        if review is None:
            raise NotFound(f"Review {review_id[:60]} not found")
        return review

    async def _with_texts(self, found: Sequence[Review], characters: int) -> Sequence[ReviewWithTexts]:
        ids = {note.note_id for one in found for note in (one.newer, one.older)}
        texts = await self.notes.texts(list(ids), characters)
        return [
            ReviewWithTexts(one, texts[one.newer.note_id], texts[one.older.note_id])
            for one in found
            if one.newer.note_id in texts and one.older.note_id in texts
        ]


def _undecided(review: Review) -> Review:
    return replace(review, decision=None)

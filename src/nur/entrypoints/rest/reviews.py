"""Review routes: pairs of memories that await a decision, and decided pairs."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from nur.domain.decisions import Relation, ReviewState
from nur.domain.notes import Note
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered
from nur.entrypoints.rest.fields import Body
from nur.entrypoints.rest.problems import documented
from nur.services.notes.reviews import ReviewAction, ReviewWithTexts

router = APIRouter(prefix="/v2", tags=["reviews"])

#: Maximum characters of each text.
QUOTE = 500

ReviewName = Annotated[str, Path(max_length=60)]


class ReviewedNote(BaseModel):
    """One note of a pair."""

    note_id: str
    text: str = Field(description="the first characters of its text")
    ts: datetime

    @classmethod
    def of(cls, note: Note, text: str) -> "ReviewedNote":
        """Build it from the service's result."""
        return cls(note_id=note.public_id, text=text, ts=note.said_at)


class ReviewOut(BaseModel):
    """A pair of notes, with its suggestion and decision."""

    review_id: str
    relation: Relation | None = Field(description="what a rule found; null: no rule suggested this pair")
    state: ReviewState
    newer: ReviewedNote
    older: ReviewedNote
    decided_at: datetime | None
    decided_by: str | None

    @classmethod
    def of(cls, found: ReviewWithTexts) -> "ReviewOut":
        """Build it from the service's result."""
        review, decision = found.review, found.review.decision
        return cls(
            review_id=review.review_id,
            relation=review.relation,
            state=review.state,
            newer=ReviewedNote.of(review.newer, found.newer_text),
            older=ReviewedNote.of(review.older, found.older_text),
            decided_at=None if decision is None else decision.decided_at,
            decided_by=None if decision is None else decision.decided_by,
        )


class ReviewsOut(BaseModel):
    """A page of reviews, latest first."""

    reviews: list[ReviewOut]
    next_after: str | None = Field(description="for the next page; null: this is the last one")


class ReviewIn(Body):
    """A decision."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"decision": "confirm"}]})

    decision: ReviewAction = Field(
        description="confirm: the newer note replaces the older; reject: both are true; undo"
    )


@router.get("/reviews", response_model=ReviewsOut, responses=documented())
async def list_reviews(
    services: OpenServices,
    caller: CurrentCaller,
    state: Annotated[Literal["waiting", "decided"], Query()] = "waiting",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    after: Annotated[str | None, Query(max_length=400, description="the previous page's next_after")] = None,
) -> Response:
    """List pairs of memories that nearly repeat each other, or give different values for the same thing."""
    page = await services.reviews.list(caller, decided=state == "decided", limit=limit, characters=QUOTE, after=after)
    return answered(ReviewsOut(reviews=[ReviewOut.of(one) for one in page.reviews], next_after=page.next_after))


@router.post("/reviews/{review_id}", response_model=ReviewOut, responses=documented(404, 409))
async def decide_review(
    review_id: ReviewName, body: ReviewIn, services: OpenServices, caller: CurrentCaller
) -> Response:
    """Confirm or reject a suggestion, or undo a decision. Both notes stay; a superseded note ranks lower."""
    return answered(ReviewOut.of(await services.reviews.act(review_id, body.decision, caller, characters=QUOTE)))

"""GET /v2/notes: a listing with cursors."""

import base64
import json
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from nur.domain.errors import BadRequest
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind, NoteId
from nur.entrypoints.rest.answers import answered
from nur.entrypoints.rest.deps import Caller, Open
from nur.entrypoints.rest.fields import Body, Moment, Name, Share
from nur.entrypoints.rest.note_answers import NoteOut
from nur.entrypoints.rest.problems import documented
from nur.ports.ledger import PageCursor

router = APIRouter(prefix="/v2", tags=["notes"])

PREVIEW = 200


class Listing(Body):
    """Which notes, and how many."""

    kind: list[Kind] = Field(default_factory=list, max_length=5, description="several may be named; else all")
    type: Name | None = None
    project: Name | None = None
    agent: Name | None = None
    scope: Name | None = None
    source_system: Name | None = None
    conversation_id: Name | None = Field(default=None, description="limits turns alone")
    min_confidence: Share | None = None
    occurred_from: Moment | None = None
    occurred_to: Moment | None = None
    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, max_length=400, description="next_cursor of the page before")
    text: bool = Field(default=False, description="with whole texts, not previews")


class NotePage(BaseModel):
    """A page of a listing, newest first."""

    notes: list[NoteOut]
    next_cursor: str | None = Field(description="send it as `cursor` for the next page; null at the end")


@router.get("/notes", response_model=NotePage, responses=documented())
async def list_notes(listing: Annotated[Listing, Query()], services: Open, caller: Caller) -> Response:
    """List notes of every kind, newest first."""
    where = NoteFilter(
        tenant=caller.tenant,
        kinds=frozenset(listing.kind or Kind),
        **{name: getattr(listing, name) for name in _SELECTED},
    )
    notes = await services.ledger.notes(where, limit=listing.limit, after=_place(listing.cursor))
    ids = [note.note_id for note in notes if services.privacy.can_access(note, caller)]
    if listing.text:
        texts = await services.ledger.texts(ids)
        shown = [NoteOut.of(note, text=texts[note.note_id]) for note in notes if note.note_id in texts]
    else:
        heads = await services.ledger.previews(ids, PREVIEW)
        shown = [NoteOut.of(note, preview=heads[note.note_id]) for note in notes if note.note_id in heads]
    full = len(notes) == listing.limit
    return answered(
        NotePage(notes=shown, next_cursor=_cursor(notes[-1].ingested_at, notes[-1].note_id) if full else None)
    )


_SELECTED = (
    "type",
    "project",
    "agent",
    "scope",
    "source_system",
    "conversation_id",
    "min_confidence",
    "occurred_from",
    "occurred_to",
)


def _cursor(ingested_at: datetime, note_id: NoteId) -> str:
    return base64.urlsafe_b64encode(json.dumps([ingested_at.isoformat(), note_id.hex]).encode()).decode()


def _place(cursor: str | None) -> PageCursor | None:
    if cursor is None:
        return None
    try:
        moment, name = json.loads(base64.urlsafe_b64decode(cursor))
        place = PageCursor(datetime.fromisoformat(moment), NoteId(UUID(name)))
        place.ingested_at.astimezone()
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        raise BadRequest("cursor: send the next_cursor of a page, as it came") from None
    if place.ingested_at.tzinfo is None:
        raise BadRequest("cursor: send the next_cursor of a page, as it came")
    return place

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
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices
from nur.entrypoints.rest.fields import Body, Moment, Name, Share
from nur.entrypoints.rest.note_answers import NoteOut
from nur.entrypoints.rest.problems import documented
from nur.ports.notes import PageCursor

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
async def list_notes(listing: Annotated[Listing, Query()], services: OpenServices, caller: CurrentCaller) -> Response:
    """List notes of every kind, newest first."""
    where = NoteFilter(
        tenant=caller.tenant,
        kinds=frozenset(listing.kind or Kind),
        **{name: getattr(listing, name) for name in _FILTERED},
    )
    characters = None if listing.text else PREVIEW
    found = await services.list_notes(
        where, caller, limit=listing.limit, after=_cursor_from(listing.cursor), characters=characters
    )
    shown = [NoteOut.of(note, text=text) if listing.text else NoteOut.of(note, preview=text) for note, text in found]
    last = found[-1][0] if len(found) == listing.limit else None
    next_cursor = None if last is None else _cursor(last.ingested_at, last.note_id)
    return answered(NotePage(notes=shown, next_cursor=next_cursor))


_FILTERED = (
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


def _cursor_from(cursor: str | None) -> PageCursor | None:
    if cursor is None:
        return None
    try:
        moment, name = json.loads(base64.urlsafe_b64decode(cursor))
        found = PageCursor(datetime.fromisoformat(moment), NoteId(UUID(name)))
        found.ingested_at.astimezone()
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        raise BadRequest("cursor: send the next_cursor of a page, as it came") from None
    if found.ingested_at.tzinfo is None:
        raise BadRequest("cursor: send the next_cursor of a page, as it came")
    return found

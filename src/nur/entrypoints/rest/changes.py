"""Timeline and change log routes."""

from datetime import date, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from nur.domain.changes import ChangeKind
from nur.domain.notes import Kind
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered
from nur.entrypoints.rest.fields import Bound, as_utc
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.schemas import Cursor, NextCursor
from nur.services.notes.list_changes import ListedChange
from nur.services.search.timeline import TimelineEntry, TimelineRequest

router = APIRouter(prefix="/v2", tags=["time"])

Words = Annotated[str | None, Query(min_length=1, max_length=500)]


class EntryOut(BaseModel):
    """A quote of what was said or happened, with its date."""

    first_day: date = Field(description="first day of the time that the quote names, else the day it was said")
    last_day: date
    ts: datetime = Field(description="when it was said")
    note_id: str
    kind: Kind
    title: str | None
    quote: str

    @classmethod
    def of(cls, one: TimelineEntry) -> "EntryOut":
        """Build it from the service's result."""
        return cls(
            first_day=one.window.first,
            last_day=one.window.last,
            ts=one.said_at,
            note_id=one.note.public_id,
            kind=one.note.kind,
            title=one.note.meta.title,
            quote=one.quote,
        )


class TimelineOut(BaseModel):
    """Entries, oldest first. The next page has earlier entries."""

    entries: list[EntryOut]
    next_cursor: NextCursor


class ChangeOut(BaseModel):
    """One change of one note."""

    at: datetime
    change: ChangeKind
    note_id: str | None = Field(description="null: the note was erased, and its id would reveal its content")
    kind: Kind | None = Field(description="kind of the note; null: it was erased")
    title: str | None
    by: str
    before: str | None = Field(description="the previous text, if it was replaced; null if it is no longer kept")
    after: str | None = Field(description="the text after the change; null for notes in the trash")
    superseded_by: str | None

    @classmethod
    def of(cls, one: ListedChange) -> "ChangeOut":
        """Build it from the service's result."""
        change, note = one.change, one.note
        return cls(
            at=change.at,
            change=change.kind,
            note_id=change.public_id,
            kind=None if note is None else note.kind,
            title=None if note is None else note.meta.title,
            by=change.by,
            before=one.before,
            after=one.after,
            superseded_by=one.superseded_by,
        )


class ChangesOut(BaseModel):
    """A page of changes in commit order, or latest first."""

    changes: list[ChangeOut]
    cursor: str = Field(
        description="for the next page in the same order; with oldest first, it also finds changes made later"
    )
    has_more: bool


@router.get("/timeline", response_model=TimelineOut, responses=documented())
async def timeline(
    services: OpenServices,
    caller: CurrentCaller,
    query: Annotated[Words, Query(description="only results of this search, by time")] = None,
    about: Annotated[Words, Query(description="only notes with these words")] = None,
    when: Annotated[str | None, Query(max_length=100, description="2026-05, 2026-05-07 or last week")] = None,
    conversation_id: Annotated[str | None, Query(min_length=1, max_length=100)] = None,
    kind: Annotated[list[Kind] | None, Query(max_length=5, description="may be repeated; default: all")] = None,
    project: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 30,
    cursor: Cursor = None,
) -> Response:
    """List one dated entry per note. Without a query: the most recent ones, page by page."""
    request = TimelineRequest(
        caller=caller,
        query=query,
        about=about,
        when=when,
        conversation_id=conversation_id,
        kinds=frozenset(kind or Kind),
        project=project or None,
        limit=limit,
        cursor=cursor,
    )
    page = await services.timeline.page(request)
    return answered(TimelineOut(entries=[EntryOut.of(one) for one in page.entries], next_cursor=page.next_cursor))


@router.get("/changes", response_model=ChangesOut, responses=documented())
async def changes(
    services: OpenServices,
    caller: CurrentCaller,
    since: Annotated[Bound | None, Query(description="only changes made at or after this time")] = None,
    until: Annotated[Bound | None, Query(description="only changes made before this time")] = None,
    order: Annotated[Literal["oldest", "newest"], Query(description="which changes come first")] = "oldest",
    cursor: Annotated[str | None, Query(max_length=40, description="cursor of the previous page")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    max_chars: Annotated[int, Query(ge=0, le=100_000, description="maximum characters of each text")] = 1000,
) -> Response:
    """List notes created, replaced, edited, deleted, restored, erased and superseded. A cursor never skips a change."""
    listed = services.list_changes.latest if order == "newest" else services.list_changes
    first, end = (as_utc(bound, services.zone) for bound in (since, until))
    page = await listed(caller, since=first, until=end, cursor=cursor, limit=limit, characters=max_chars)
    shown = [ChangeOut.of(one) for one in page.changes]
    return answered(ChangesOut(changes=shown, cursor=page.cursor, has_more=page.has_more))

"""What was said and what changed, in the order of time."""

from datetime import date, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from nur.domain.changes import ChangeKind
from nur.domain.notes import Kind
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered
from nur.entrypoints.rest.fields import Bound, located
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.schemas import Cursor, NextCursor
from nur.services.notes.list_changes import ListedChange
from nur.services.search.timeline import TimelineEntry, TimelineRequest

router = APIRouter(prefix="/v2", tags=["time"])

Words = Annotated[str | None, Query(min_length=1, max_length=500)]


class EntryOut(BaseModel):
    """What was said or happened at a time."""

    first_day: date = Field(description="of the time that the quote names, else the day it was said")
    last_day: date
    ts: datetime = Field(description="when it was said")
    note_id: str
    kind: Kind
    title: str | None
    quote: str

    @classmethod
    def of(cls, one: TimelineEntry) -> "EntryOut":
        """From the service's."""
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
    """Entries, oldest first; the next page holds what was said earlier."""

    entries: list[EntryOut]
    next_cursor: NextCursor


class ChangeOut(BaseModel):
    """One change of one note."""

    at: datetime
    change: ChangeKind
    note_id: str | None = Field(description="null: the note was erased, and its id would have told something")
    kind: Kind | None = Field(description="of the note; null: it was erased")
    title: str | None
    by: str
    before: str | None = Field(description="of a replaced text: the text before; null where it is no longer kept")
    after: str | None = Field(description="the text after it, of notes that are not in the trash")
    superseded_by: str | None

    @classmethod
    def of(cls, one: ListedChange) -> "ChangeOut":
        """From the service's."""
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
    """A page of changes in the order in which they were committed, or the latest first."""

    changes: list[ChangeOut]
    cursor: str = Field(
        description="send it with the same order: oldest first, it leads to what came later, now or at any time"
    )
    has_more: bool


@router.get("/timeline", response_model=TimelineOut, responses=documented())
async def timeline(
    services: OpenServices,
    caller: CurrentCaller,
    query: Annotated[Words, Query(description="what a search finds, in the order of time")] = None,
    about: Annotated[Words, Query(description="only notes with these words")] = None,
    when: Annotated[str | None, Query(max_length=100, description="2026-05, 2026-05-07 or last week")] = None,
    conversation_id: Annotated[str | None, Query(min_length=1, max_length=100)] = None,
    kind: Annotated[list[Kind] | None, Query(max_length=5, description="several may be named; else all")] = None,
    project: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 30,
    cursor: Cursor = None,
) -> Response:
    """One dated line for each note. Without a query: those said last, page by page."""
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
    since: Annotated[Bound | None, Query(description="only changes made from then on")] = None,
    until: Annotated[Bound | None, Query(description="only changes made before then")] = None,
    order: Annotated[Literal["oldest", "newest"], Query(description="which come first")] = "oldest",
    cursor: Annotated[str | None, Query(max_length=40, description="the cursor of the page before")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    max_chars: Annotated[int, Query(ge=0, le=100_000, description="characters of each text")] = 1000,
) -> Response:
    """What was created, replaced, edited, deleted, restored, erased and superseded. A cursor never skips a change."""
    listed = services.list_changes.latest if order == "newest" else services.list_changes
    first, end = (located(bound, services.zone) for bound in (since, until))
    page = await listed(caller, since=first, until=end, cursor=cursor, limit=limit, characters=max_chars)
    found = [ChangeOut.of(one) for one in page.changes]
    return answered(ChangesOut(changes=found, cursor=page.cursor, has_more=page.has_more))

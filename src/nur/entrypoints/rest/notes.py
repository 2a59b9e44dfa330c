"""Routes for notes of every kind: list, get, edit, delete."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from nur.bootstrap import Services
from nur.domain.access import Caller
from nur.domain.filters import NoteFilter
from nur.domain.notes import MAX_CHARACTERS, Kind, Retention, Sensitivity, Visibility
from nur.domain.times import Zone, in_utc
from nur.entrypoints.rest.deps import CurrentCaller, IfMatch, OpenServices, answered, etag, expected_revision
from nur.entrypoints.rest.fields import (
    NO_NUL,
    Body,
    Days,
    Flag,
    Key,
    Metadata,
    Moment,
    Name,
    Said,
    Share,
    Source,
    Text,
    Title,
)
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.schemas import PREVIEW, ChunkOut, NearDuplicateOut, NextCursor, NoteOut
from nur.entrypoints.rest.writes import CurrentWrite, IdempotencyKey, Receipt, execute_once
from nur.services.notes.edit_note import Edit

router = APIRouter(prefix="/v2", tags=["notes"])

NoteName = Annotated[
    str, Path(min_length=1, max_length=400, description="any public id: note_…, evt_…, mem_…, art_…, a turn's")
]


class KindListing(Body):
    """Filters and page of a listing."""

    type: Name | None = None
    project: Name | None = None
    agent: Name | None = None
    scope: Name | None = None
    source_system: Name | None = None
    conversation_id: Name | None = Field(default=None, description="restricts turns only")
    min_confidence: Share | None = None
    occurred_from: Moment | None = None
    occurred_to: Moment | None = None
    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, max_length=400, description="next_cursor of the previous page")
    text: bool = Field(default=False, description="include whole texts instead of previews")
    containing: Annotated[str, Field(min_length=1, max_length=500, pattern=NO_NUL)] | None = Field(
        default=None, description="only notes whose title or text contains this; ignores the case of A to Z"
    )

    def where(self, caller: Caller, kinds: frozenset[Kind]) -> NoteFilter:
        """Return the listing's conditions as a filter."""
        return NoteFilter(
            tenant=caller.tenant,
            kinds=kinds,
            type=self.type,
            project=self.project,
            agent=self.agent,
            scope=self.scope,
            source_system=self.source_system,
            conversation_id=self.conversation_id,
            min_confidence=self.min_confidence,
            occurred_from=self.occurred_from,
            occurred_to=self.occurred_to,
        )


class Listing(KindListing):
    """Filters, kinds and page of a listing."""

    kind: list[Kind] = Field(default_factory=list, max_length=5, description="may be repeated; default: all")


class NotePage(BaseModel):
    """A page of a listing, newest first."""

    notes: list[NoteOut]
    next_cursor: NextCursor


async def _page(listing: KindListing, kinds: frozenset[Kind], services: Services, caller: Caller) -> Response:
    page = await services.list_notes(
        listing.where(caller, kinds),
        caller,
        limit=listing.limit,
        cursor=listing.cursor,
        characters=None if listing.text else PREVIEW,
        containing=listing.containing,
    )
    part = "text" if listing.text else "preview"
    newer = page.replaced_by
    notes = [NoteOut.of(note, **{part: text}, replaced_by=newer.get(note.note_id)) for note, text in page.notes]
    return answered(NotePage(notes=notes, next_cursor=page.next_cursor))


@router.get("/notes", response_model=NotePage, responses=documented())
async def list_notes(listing: Annotated[Listing, Query()], services: OpenServices, caller: CurrentCaller) -> Response:
    """List notes of every kind, newest first."""
    return await _page(listing, frozenset(listing.kind or Kind), services, caller)


def _list_kind(kind: Kind, plural: str) -> None:
    """Add a route that lists one kind."""

    async def listed(
        listing: Annotated[KindListing, Query()], services: OpenServices, caller: CurrentCaller
    ) -> Response:
        return await _page(listing, frozenset({kind}), services, caller)

    router.add_api_route(
        f"/{plural}",
        listed,
        name=f"list_{plural}",
        description=f"List {plural}, newest first. `/v2/notes` reads, edits and deletes them by their ids.",
        response_model=NotePage,
        responses=documented(),
    )


for _kind, _plural in ((Kind.ARTIFACT, "artifacts"), (Kind.MEMORY, "memories"), (Kind.EVENT, "events")):
    _list_kind(_kind, _plural)


class TextOut(BaseModel):
    """A part of a note's text: `text == note.text[start_char:end_char]`, in code points."""

    note_id: str
    start_char: int
    end_char: int
    text: str
    next_start: int | None = Field(description="send it as `start` for the next part; null at the text's end")


@router.get("/notes/{note_id:any}/text", response_model=TextOut, responses=documented(404))
async def get_text(
    note_id: NoteName,
    services: OpenServices,
    caller: CurrentCaller,
    start: Annotated[int, Query(ge=0, le=MAX_CHARACTERS, description="first character, from 0")] = 0,
    end: Annotated[
        int | None, Query(ge=0, le=MAX_CHARACTERS, description="end offset, exclusive; default: the end of the text")
    ] = None,
) -> Response:
    """Get a part of a note's text by offsets, for example a passage with more of its context."""
    part = await services.read_note.part(note_id, caller, start, end)
    shown = TextOut(
        note_id=part.note.public_id,
        start_char=part.start_char,
        end_char=part.end_char,
        text=part.text,
        next_start=part.next_start,
    )
    return answered(shown, ETag=etag(part.note.revision))


@router.get("/notes/{note_id:any}", response_model=NoteOut, responses=documented(404))
async def get_note(
    note_id: NoteName,
    services: OpenServices,
    caller: CurrentCaller,
    text: Annotated[bool, Query(description="include the text")] = True,
    chunks: Annotated[bool, Query(description="include the chunks")] = False,
    near_duplicates: Annotated[bool, Query(description="include notes with nearly the same content")] = False,
) -> Response:
    """Get a note of any kind, with its whole text unless `text` is false."""
    full = await services.read_note(note_id, caller, text=text, chunks=chunks, near_duplicates=near_duplicates)
    near, cut = full.near_duplicates, full.chunks
    shown = NoteOut.of(
        full.note,
        text=full.text,
        index_state=full.index_state,
        replaced_by=full.replaced_by,
        near_duplicates=None if near is None else [NearDuplicateOut.of(one) for one in near],
        chunks=None if cut is None else [ChunkOut.of(full.note, one) for one in cut],
    )
    return answered(shown, ETag=etag(full.note.revision))


class NotePatch(Body):
    """Changes to a note. Omitted fields stay as they are; null clears a field."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Staging port", "resolved": True}]})

    text: Text | None = Field(default=None, description="only for notes, events and memories; null: no change")
    type: Name | None = None
    key: Key | None = Field(default=None, description="only for notes and events")
    title: Title | None = None
    importance: Share | None = None
    confidence: Share | None = None
    ttl_days: Days | None = None
    expires_at: Moment | None = None
    ts: Said | None = Field(default=None, description="when it was said; null: no change")
    source: Source | None = Field(default=None, description="replaced as a whole")
    sensitivity: Sensitivity | None = Field(default=None, description="null: normal")
    visibility_scope: Visibility | None = Field(default=None, description="null: me")
    retention_policy: Retention | None = Field(default=None, description="null: forever")
    metadata: Metadata | None = Field(default=None, description="replaced as a whole")
    resolved: Flag | None = Field(
        default=None, description="resolving a note with retention until_resolved moves it to the trash"
    )

    def fields(self, zone: Zone) -> dict[str, Any]:
        """Return the metadata fields that were sent; null becomes a new note's default."""
        plain = self.model_fields_set & {"type", "key", "title", "importance", "confidence", "expires_at"}
        changed = {name: getattr(self, name) for name in plain}
        source = self.source or Source()
        translated: dict[str, dict[str, Any]] = {
            "source": {"source_system": source.system, "source_id": source.id, "source_url": source.url},
            "sensitivity": {"sensitivity": self.sensitivity or Sensitivity.NORMAL},
            "visibility_scope": {"visibility": self.visibility_scope or Visibility.ME},
            "retention_policy": {"retention": self.retention_policy or Retention.FOREVER},
            "metadata": {"metadata": self.metadata or {}},
        }
        for name in self.model_fields_set & translated.keys():
            changed |= translated[name]
        if self.ts is not None:
            changed["occurred_at"] = in_utc(self.ts, zone)
        return changed


@router.patch("/notes/{note_id:any}", response_model=Receipt, responses=documented(404, 409, 412))
async def edit_note(
    note_id: NoteName, body: NotePatch, services: OpenServices, write: CurrentWrite, if_match: IfMatch = None
) -> Response:
    """Change the fields that are sent, and nothing else."""
    edit = Edit(fields=body.fields(services.zone), text=body.text, ttl_days=body.ttl_days, resolved=body.resolved)
    return await write(lambda: services.edit_note(note_id, edit, write.caller, revision=expected_revision(if_match)))


@router.delete("/notes/{note_id:any}", status_code=204, responses=documented(404, 409, 412))
async def delete_note(
    note_id: NoteName,
    request: Request,
    services: OpenServices,
    caller: CurrentCaller,
    if_match: IfMatch = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Move a note to the trash, where it stays for 30 days. Searches no longer find it."""
    keyed = replace(caller, idempotency_key=idempotency_key)

    async def act() -> Response:
        await services.forget(note_id, None, keyed, revision=expected_revision(if_match))
        return answered(None, 204)

    return await execute_once(request, services, keyed, act)

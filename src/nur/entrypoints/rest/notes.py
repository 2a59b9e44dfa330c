"""/v2/notes, /v2/events, /v2/memories."""

import base64
import json
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field

from nur.bootstrap import Services
from nur.domain.chunks import chunk_public_id
from nur.domain.errors import BadRequest, IndexDown
from nur.domain.notes import Kind, NoteId
from nur.domain.selection import Selection
from nur.domain.writes import IndexState, OnEmbeddingFailure, Outcome, Stored
from nur.entrypoints.rest.doors import Caller, IfMatch, Open, etag, expected_revision
from nur.entrypoints.rest.fields import Body, Moment, Name, Share
from nur.entrypoints.rest.note_models import (
    ChunkOut,
    EventIn,
    MemoryIn,
    NearDuplicateOut,
    NoteIn,
    NoteOut,
    NotePage,
    NotePatch,
    Receipt,
)
from nur.entrypoints.rest.once import IdempotencyKey, answered, once
from nur.entrypoints.rest.problems import Responses, documented
from nur.ports.ledger import Place
from nur.services.edit_note import Edit

router = APIRouter(prefix="/v2", tags=["notes"])

PREVIEW = 200

Wait = Annotated[
    Literal["indexed"] | None, Query(description="`indexed`: answer when the note is indexed, or time is up")
]
WaitSeconds = Annotated[float, Query(ge=0, le=30, description="how long to wait at most")]
NoteName = Annotated[
    str, Path(min_length=1, max_length=400, description="any public id: note_…, evt_…, mem_…, art_…, a turn's")
]
_CREATED: Responses = {201: {"model": Receipt, "description": "Created"}}


async def _receipt(services: Services, stored: Stored, wait: str | None, seconds: float) -> Response:
    """The receipt, after a wait where that was asked for; then with near duplicates."""
    state, near = stored.index_state, None
    if wait is not None:
        state = await services.wait_until_indexed(stored.note.note_id, seconds)
        if state is IndexState.INDEXED:
            try:
                near = await services.find_duplicates(stored.note)
            except IndexDown:  # a courtesy: the note is stored all the same
                near = None
    status = 201 if stored.outcome is Outcome.CREATED else 200
    place = f"/v2/notes/{stored.note.public_id}"
    return answered(Receipt.of(stored, state, near), status, ETag=etag(stored.note.revision), Location=place)


@router.post("/notes", response_model=Receipt, responses={**_CREATED, **documented(409)})
async def add_note(
    body: NoteIn,
    request: Request,
    services: Open,
    caller: Caller,
    wait: Wait = None,
    wait_seconds: WaitSeconds = 10,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Store a note. It is committed and found by its words when this returns; its vectors follow."""

    async def act() -> Response:
        stored = await services.add_note(body.text, body.description(), caller, ttl_days=body.ttl_days)
        return await _receipt(services, stored, wait, wait_seconds)

    return await once(request, services, caller, idempotency_key, act)


@router.post("/events", response_model=Receipt, responses={**_CREATED, **documented(409)})
async def add_event(
    body: EventIn,
    request: Request,
    services: Open,
    caller: Caller,
    wait: Wait = None,
    wait_seconds: WaitSeconds = 10,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Store an event: a note of something that happened at a time."""

    async def act() -> Response:
        stored = await services.add_event(body.text, body.description(), caller, ttl_days=body.ttl_days)
        return await _receipt(services, stored, wait, wait_seconds)

    return await once(request, services, caller, idempotency_key, act)


@router.post("/memories", response_model=Receipt, responses={**_CREATED, **documented(409)})
async def add_memory(
    body: MemoryIn,
    request: Request,
    services: Open,
    caller: Caller,
    wait: Wait = None,
    wait_seconds: WaitSeconds = 10,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Store a memory, as the tool `memory_store` does, but without waiting for the embedding provider."""

    async def act() -> Response:
        stored = await services.remember(
            body.content,
            type=body.type,
            confidence=body.confidence,
            conversation_id=body.conversation_id,
            principal=caller,
            on_failure=OnEmbeddingFailure.LATER,
        )
        services.work.wake()
        return await _receipt(services, stored, wait, wait_seconds)

    return await once(request, services, caller, idempotency_key, act)


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


@router.get("/notes", response_model=NotePage, responses=documented())
async def list_notes(listing: Annotated[Listing, Query()], services: Open, caller: Caller) -> Response:
    """List notes of every kind, newest first."""
    selection = Selection(
        tenant=caller.tenant,
        kinds=frozenset(listing.kind or Kind),
        **{name: getattr(listing, name) for name in _SELECTED},
    )
    notes = await services.ledger.notes(selection, limit=listing.limit, after=_place(listing.cursor))
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


@router.get("/notes/{note_id:path}", response_model=NoteOut, responses=documented(404))
async def get_note(
    note_id: NoteName,
    services: Open,
    caller: Caller,
    chunks: Annotated[bool, Query(description="with its chunks")] = False,
    near_duplicates: Annotated[bool, Query(description="with notes that say nearly the same")] = False,
) -> Response:
    """Get a note of any kind, with its whole text."""
    note = await services.get_note(note_id, caller)
    text = await services.get_note.text(note)
    near = await services.find_duplicates(note) if near_duplicates else None
    held = await services.ledger.chunks(note.note_id) if chunks else None
    shown = NoteOut.of(
        note,
        text=text,
        near_duplicates=None if near is None else [NearDuplicateOut.of(one) for one in near],
        chunks=None
        if held is None
        else [
            ChunkOut(
                chunk_id=chunk_public_id(note.public_id, one.chunk.index, one.content_hash),
                chunk_index=one.chunk.index,
                start_char=one.chunk.start_char,
                end_char=one.chunk.end_char,
                token_count=one.chunk.token_count,
                text=one.chunk.content,
                embedded=one.has_vector,
            )
            for one in held
        ],
    )
    return answered(shown, ETag=etag(note.revision))


@router.patch("/notes/{note_id:path}", response_model=Receipt, responses=documented(404, 409, 412))
async def edit_note(
    note_id: NoteName,
    body: NotePatch,
    request: Request,
    services: Open,
    caller: Caller,
    if_match: IfMatch = None,
    wait: Wait = None,
    wait_seconds: WaitSeconds = 10,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Change a note: what is sent, and nothing else."""
    edit = Edit(fields=body.fields(), text=body.text, ttl_days=body.ttl_days, resolved=body.resolved)

    async def act() -> Response:
        stored = await services.edit_note(note_id, edit, caller, revision=expected_revision(if_match))
        return await _receipt(services, stored, wait, wait_seconds)

    return await once(request, services, caller, idempotency_key, act)


@router.delete("/notes/{note_id:path}", status_code=204, responses=documented(404, 409, 412))
async def delete_note(
    note_id: NoteName,
    request: Request,
    services: Open,
    caller: Caller,
    if_match: IfMatch = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Move a note to the trash, where it stays for 30 days; nothing finds it from then on."""

    async def act() -> Response:
        await services.get_note(note_id, caller)
        await services.forget(note_id, None, caller, revision=expected_revision(if_match))
        services.work.wake()
        return answered(None, 204)

    return await once(request, services, caller, idempotency_key, act)


def _cursor(ingested_at: datetime, note_id: NoteId) -> str:
    return base64.urlsafe_b64encode(json.dumps([ingested_at.isoformat(), note_id.hex]).encode()).decode()


def _place(cursor: str | None) -> Place | None:
    if cursor is None:
        return None
    try:
        moment, name = json.loads(base64.urlsafe_b64decode(cursor))
        place = Place(datetime.fromisoformat(moment), NoteId(UUID(name)))
        place.ingested_at.astimezone()
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        raise BadRequest("cursor: send the next_cursor of a page, as it came") from None
    if place.ingested_at.tzinfo is None:
        raise BadRequest("cursor: send the next_cursor of a page, as it came")
    return place

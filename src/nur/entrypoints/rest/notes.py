"""/v2/notes, /v2/events, /v2/memories."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from nur.domain.writes import IndexState
from nur.entrypoints.rest.answers import answered
from nur.entrypoints.rest.deps import CurrentCaller, IfMatch, OpenServices, etag, expected_revision
from nur.entrypoints.rest.idempotency import IdempotencyKey, once
from nur.entrypoints.rest.note_answers import ChunkOut, NearDuplicateOut, NoteOut, Receipt
from nur.entrypoints.rest.note_models import EventIn, MemoryIn, NoteIn, NotePatch
from nur.entrypoints.rest.problems import Responses, documented
from nur.entrypoints.rest.receipts import receipt
from nur.services.notes.edit_note import Edit

router = APIRouter(prefix="/v2", tags=["notes"])

Wait = Annotated[
    Literal["indexed"] | None, Query(description="`indexed`: answer when the note is indexed, or time is up")
]
WaitSeconds = Annotated[float, Query(ge=0, le=30, description="how long to wait at most")]
NoteName = Annotated[
    str, Path(min_length=1, max_length=400, description="any public id: note_…, evt_…, mem_…, art_…, a turn's")
]
_CREATED: Responses = {201: {"model": Receipt, "description": "Created"}}


@router.post("/notes", response_model=Receipt, responses={**_CREATED, **documented(409)})
async def add_note(
    body: NoteIn,
    request: Request,
    services: OpenServices,
    caller: CurrentCaller,
    wait: Wait = None,
    wait_seconds: WaitSeconds = 10,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Store a note. It is committed and found by its words when this returns.

    Its vectors follow, unless ON_EMBEDDING_FAILURE is reject: then they are there, or nothing is written.
    """

    async def act() -> Response:
        stored = await services.add_note(
            body.text,
            body.description(),
            body.protection(),
            caller=caller,
            on_failure=services.on_failure.for_others,
            ttl_days=body.ttl_days,
        )
        return await receipt(services, stored, wait, wait_seconds)

    return await once(request, services, caller, idempotency_key, act)


@router.post("/events", response_model=Receipt, responses={**_CREATED, **documented(409)})
async def add_event(
    body: EventIn,
    request: Request,
    services: OpenServices,
    caller: CurrentCaller,
    wait: Wait = None,
    wait_seconds: WaitSeconds = 10,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Store an event: a note of something that happened at a time."""

    async def act() -> Response:
        stored = await services.add_event(
            body.text,
            body.description(),
            body.protection(),
            caller=caller,
            on_failure=services.on_failure.for_others,
            ttl_days=body.ttl_days,
        )
        return await receipt(services, stored, wait, wait_seconds)

    return await once(request, services, caller, idempotency_key, act)


@router.post("/memories", response_model=Receipt, responses={**_CREATED, **documented(409)})
async def add_memory(
    body: MemoryIn,
    request: Request,
    services: OpenServices,
    caller: CurrentCaller,
    wait: Wait = None,
    wait_seconds: WaitSeconds = 10,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Store a memory, as the tool `memory_store` does; its vectors follow unless ON_EMBEDDING_FAILURE is reject."""

    async def act() -> Response:
        stored = await services.remember(
            body.content,
            type=body.type,
            confidence=body.confidence,
            conversation_id=body.conversation_id,
            caller=caller,
            on_failure=services.on_failure.for_others,
        )
        services.index_worker.wake()
        return await receipt(services, stored, wait, wait_seconds)

    return await once(request, services, caller, idempotency_key, act)


@router.get("/notes/{note_id:path}", response_model=NoteOut, responses=documented(404))
async def get_note(
    note_id: NoteName,
    services: OpenServices,
    caller: CurrentCaller,
    chunks: Annotated[bool, Query(description="with its chunks")] = False,
    near_duplicates: Annotated[bool, Query(description="with notes that say nearly the same")] = False,
) -> Response:
    """Get a note of any kind, with its whole text."""
    note = await services.get_note(note_id, caller)
    text = await services.get_note.text(note)
    near = await services.find_duplicates(note) if near_duplicates else None
    existing = await services.stores.chunks.of_note(note.note_id) if chunks else None
    indexed = await services.stores.index_marks.is_indexed(note.note_id)
    shown = NoteOut.of(
        note,
        text=text,
        index_state=IndexState.INDEXED if indexed else IndexState.PENDING,
        near_duplicates=None if near is None else [NearDuplicateOut.of(one) for one in near],
        chunks=None if existing is None else [ChunkOut.of(note, one) for one in existing],
    )
    return answered(shown, ETag=etag(note.revision))


@router.patch("/notes/{note_id:path}", response_model=Receipt, responses=documented(404, 409, 412))
async def edit_note(
    note_id: NoteName,
    body: NotePatch,
    request: Request,
    services: OpenServices,
    caller: CurrentCaller,
    if_match: IfMatch = None,
    wait: Wait = None,
    wait_seconds: WaitSeconds = 10,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Change a note: what is sent, and nothing else."""
    edit = Edit(fields=body.fields(), text=body.text, ttl_days=body.ttl_days, resolved=body.resolved)

    async def act() -> Response:
        stored = await services.edit_note(note_id, edit, caller, revision=expected_revision(if_match))
        return await receipt(services, stored, wait, wait_seconds)

    return await once(request, services, caller, idempotency_key, act)


@router.delete("/notes/{note_id:path}", status_code=204, responses=documented(404, 409, 412))
async def delete_note(
    note_id: NoteName,
    request: Request,
    services: OpenServices,
    caller: CurrentCaller,
    if_match: IfMatch = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Move a note to the trash, where it stays for 30 days; nothing finds it from then on."""

    async def act() -> Response:
        await services.get_note(note_id, caller)
        await services.forget(note_id, None, caller, revision=expected_revision(if_match))
        services.index_worker.wake()
        return answered(None, 204)

    return await once(request, services, caller, idempotency_key, act)

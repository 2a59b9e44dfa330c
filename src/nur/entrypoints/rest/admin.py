"""/v2/admin: traces, the index, the outbox, the trash, what is stored."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from nur.domain.errors import NotFound
from nur.domain.notes import Kind
from nur.entrypoints.rest.answers import answered
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, etag
from nur.entrypoints.rest.fields import Body, Flag
from nur.entrypoints.rest.note_answers import NoteOut, Receipt
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.trace_answers import ExplainedItem, Trace
from nur.services.indexing.rebuild import RebuildReport, RebuildState

router = APIRouter(prefix="/v2/admin", tags=["admin"])

PREVIEW = 200
DEAD_SHOWN = 50


@router.get("/traces/{trace_id}", response_model=Trace, responses=documented(404))
async def get_trace(trace_id: UUID, services: OpenServices, caller: CurrentCaller) -> Response:
    """Every candidate of a search, and why it was kept or dropped."""
    found = await services.search_log.find(caller.tenant, trace_id)
    if found is None:
        raise NotFound(f"Trace {trace_id} not found")
    return answered(Trace.of(found))


@router.get("/trace-items/{item_id}", response_model=ExplainedItem, responses=documented(404))
async def get_trace_item(item_id: UUID, services: OpenServices, caller: CurrentCaller) -> Response:
    """One item of an answer, with its chunk, its scores a stage, its ranks, and why it stands at its place."""
    item = await services.search_log.find_item(caller.tenant, item_id)
    if item is None:
        raise NotFound(f"Trace item {item_id} not found")
    explained = await services.explain(item.trace_id, caller, item.public_id)
    return answered(ExplainedItem.explained(item, explained.note))


class RebuildIn(Body):
    """How to rebuild."""

    rechunk: Flag = Field(
        default=False, description="chunk notes again whose chunking policy changed", examples=[False]
    )


class RebuildOut(BaseModel):
    """How a rebuild stands; in the end chunks = rebuilt + missing_vectors + errors."""

    state: RebuildState
    chunks: int
    rebuilt: int
    missing_vectors: int
    errors: int
    rechunked: int
    error: str | None

    @classmethod
    def of(cls, report: RebuildReport) -> "RebuildOut":
        """From the service's."""
        return cls(**{name: getattr(report, name) for name in cls.model_fields})


@router.post("/index/rebuild", status_code=202, response_model=RebuildOut, responses=documented())
async def start_rebuild(services: OpenServices, body: RebuildIn | None = None) -> Response:
    """Rebuild the vector index from stored vectors, beside everything else; makes no embedding call."""
    return answered(RebuildOut.of(services.rebuild.start(rechunk=body is not None and body.rechunk)), 202)


@router.get("/index/rebuild", response_model=RebuildOut, responses=documented())
async def rebuild_progress(services: OpenServices) -> Response:
    """How the rebuild stands."""
    return answered(RebuildOut.of(services.rebuild.report))


class DeadLetterOut(BaseModel):
    """A job that was given up."""

    note_id: str | None
    revision: int
    attempts: int
    error: str | None


class OutboxOut(BaseModel):
    """What waits to be indexed."""

    pending: int
    dead: int
    oldest_seconds: float
    last_error: str | None
    dead_letters: list[DeadLetterOut]


@router.get("/outbox", response_model=OutboxOut, responses=documented())
async def outbox(services: OpenServices) -> Response:
    """What waits to be indexed, and what was given up."""
    backlog = await services.stores.outbox.backlog(services.clock.now())
    letters = await services.stores.outbox.dead_letters(DEAD_SHOWN)
    shown = [
        DeadLetterOut(note_id=one.public_id, revision=one.revision, attempts=one.attempts, error=one.error)
        for one in letters
    ]
    return answered(
        OutboxOut(
            pending=backlog.pending,
            dead=backlog.dead,
            oldest_seconds=max(0.0, backlog.oldest_seconds),
            last_error=backlog.last_error,
            dead_letters=shown,
        )
    )


class Retried(BaseModel):
    """How many dead letters are tried again."""

    retried: int


@router.post("/outbox/retry", response_model=Retried, responses=documented())
async def retry_outbox(services: OpenServices) -> Response:
    """Try every dead letter again."""
    retried = await services.stores.outbox.retry_dead(services.clock.now())
    services.index_worker.wake()
    return answered(Retried(retried=retried))


class StatsOut(BaseModel):
    """What is stored."""

    notes: dict[Kind, int] = Field(description="by kind; what is in the trash or has expired does not count")


@router.get("/stats", response_model=StatsOut, responses=documented())
async def stats(services: OpenServices, caller: CurrentCaller) -> Response:
    """How many notes of each kind there are."""
    return answered(StatsOut(notes=await services.list_notes.count(caller)))


class NoteNamed(Body):
    """A note by its id."""

    note_id: str = Field(min_length=1, max_length=400, examples=["note_0123456789ab"])


class TrashOut(BaseModel):
    """Deleted notes, oldest first."""

    notes: list[NoteOut]


@router.get("/trash", response_model=TrashOut, responses=documented())
async def trash(
    services: OpenServices, caller: CurrentCaller, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> Response:
    """What was deleted and can be restored."""
    notes = await services.stores.notes.trash(services.clock.now(), limit)
    ids = [note.note_id for note in notes if services.privacy.can_access(note, caller.principal)]
    heads = await services.stores.notes.texts(ids, PREVIEW)
    shown = [NoteOut.of(note, preview=heads[note.note_id]) for note in notes if note.note_id in heads]
    return answered(TrashOut(notes=shown))


@router.post("/trash/restore", response_model=Receipt, responses=documented(404, 409))
async def restore_note(body: NoteNamed, services: OpenServices, caller: CurrentCaller) -> Response:
    """Bring a deleted note back under its id."""
    stored = await services.trash.restore(body.note_id, caller)
    return answered(Receipt.of(stored), ETag=etag(stored.note.revision))


@router.post("/trash/purge", status_code=204, responses=documented(404, 409))
async def purge_note(body: NoteNamed, services: OpenServices, caller: CurrentCaller) -> Response:
    """Erase a note for good, deleted or not, with its former texts."""
    await services.trash.purge(body.note_id, caller)
    return answered(None, 204)

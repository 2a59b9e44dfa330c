"""Admin routes: vector index, embedding model, outbox, counts and trash."""

from typing import Self

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from nur.domain.notes import Kind
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered, etag
from nur.entrypoints.rest.fields import NO_NUL, Body, Flag
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.schemas import PREVIEW, Cursor, Limit, NextCursor, NoteOut
from nur.entrypoints.rest.writes import Receipt
from nur.services.health import EmbeddingReport
from nur.services.indexing.inspect_outbox import OutboxReport
from nur.services.indexing.rebuild import RebuildReport, RebuildState
from nur.services.jobs.reembed_online import EmbeddingStatus, ReembedState

router = APIRouter(prefix="/v2/admin", tags=["admin"])


class RebuildIn(Body):
    """Options of a rebuild."""

    rechunk: Flag = Field(default=False, description="re-chunk notes whose chunking policy changed", examples=[False])


class RebuildOut(BaseModel):
    """Progress of a rebuild. At the end, chunks = rebuilt + missing_vectors + errors."""

    state: RebuildState
    chunks: int
    rebuilt: int
    missing_vectors: int
    errors: int
    rechunked: int
    error: str | None

    @classmethod
    def of(cls, report: RebuildReport) -> "RebuildOut":
        """Build it from the service's report."""
        return cls(**{name: getattr(report, name) for name in cls.model_fields})


@router.post("/index/rebuild", status_code=202, response_model=RebuildOut, responses=documented())
async def start_rebuild(services: OpenServices, body: RebuildIn | None = None) -> Response:
    """Rebuild the vector index from stored vectors while the server runs. Makes no embedding call."""
    return answered(RebuildOut.of(await services.rebuild.start(rechunk=body is not None and body.rechunk)), 202)


@router.get("/index/rebuild", response_model=RebuildOut, responses=documented())
async def rebuild_progress(services: OpenServices) -> Response:
    """Progress of the rebuild."""
    return answered(RebuildOut.of(await services.rebuild.status()))


class DeadLetterOut(BaseModel):
    """An indexing job that failed too often."""

    note_id: str | None
    revision: int
    attempts: int
    error: str | None


class OutboxOut(BaseModel):
    """Jobs that wait for the index worker."""

    pending: int
    dead: int
    oldest_seconds: float
    last_error: str | None
    dead_letters: list[DeadLetterOut]

    @classmethod
    def of(cls, report: OutboxReport) -> "OutboxOut":
        """Build it from the service's report."""
        backlog = report.backlog
        return cls(
            pending=backlog.pending,
            dead=backlog.dead,
            oldest_seconds=max(0.0, backlog.oldest_seconds),
            last_error=backlog.last_error,
            dead_letters=[
                DeadLetterOut(note_id=one.public_id, revision=one.revision, attempts=one.attempts, error=one.error)
                for one in report.dead_letters
            ],
        )


@router.get("/outbox", response_model=OutboxOut, responses=documented())
async def outbox(services: OpenServices) -> Response:
    """Jobs that wait for the index worker, and dead letters."""
    return answered(OutboxOut.of(await services.inspect_outbox()))


class Retried(BaseModel):
    """How many dead letters are retried."""

    retried: int


@router.post("/outbox/retry", response_model=Retried, responses=documented())
async def retry_outbox(services: OpenServices) -> Response:
    """Retry every dead letter."""
    return answered(Retried(retried=await services.inspect_outbox.retry_dead()))


class StatsOut(BaseModel):
    """Counts of stored notes, without the trash and expired notes."""

    notes: dict[Kind, int] = Field(description="by kind")
    projects: dict[str, int] = Field(description="by project, largest first; notes without one are left out")


@router.get("/stats", response_model=StatsOut, responses=documented())
async def stats(services: OpenServices, caller: CurrentCaller) -> Response:
    """Count notes by kind and by project."""
    counts = await services.list_notes.count(caller)
    return answered(StatsOut(notes=counts.kinds, projects=counts.projects))


class NoteNamed(Body):
    """A note by its id."""

    note_id: str = Field(min_length=1, max_length=400, examples=["note_0123456789ab"])


class TrashOut(BaseModel):
    """A page of deleted notes, oldest first."""

    notes: list[NoteOut]
    next_cursor: NextCursor


@router.get("/trash", response_model=TrashOut, responses=documented())
async def trash(services: OpenServices, caller: CurrentCaller, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List deleted notes that can be restored."""
    page = await services.trash.list(caller, limit=limit, characters=PREVIEW, cursor=cursor)
    notes = [NoteOut.of(note, preview=text) for note, text in page.notes]
    return answered(TrashOut(notes=notes, next_cursor=page.next_cursor))


@router.post("/trash/restore", response_model=Receipt, responses=documented(404, 409))
async def restore_note(body: NoteNamed, services: OpenServices, caller: CurrentCaller) -> Response:
    """Restore a deleted note under its id."""
    stored = await services.trash.restore(body.note_id, caller)
    return answered(Receipt.of(stored), ETag=etag(stored.note.revision))


@router.post("/trash/purge", status_code=204, responses=documented(404, 409))
async def purge_note(body: NoteNamed, services: OpenServices, caller: CurrentCaller) -> Response:
    """Erase a note for good, deleted or not, with its previous texts."""
    await services.trash.purge(body.note_id, caller)
    return answered(None, 204)


class ReembedIn(Body):
    """The model to switch to."""

    to: str = Field(
        min_length=1,
        max_length=200,
        pattern=NO_NUL,
        examples=["openai:text-embedding-3-small:1536"],
        description="models, local, openai (as configured), or provider:model:dimensions",
    )


class ComparisonOut(BaseModel):
    """How similar the results of the two models are."""

    questions: int = Field(description="number of test queries")
    same_top: float = Field(description="mean share of the previous model's top ten that is in the new model's top ten")
    found_itself: float = Field(description="share of test queries whose source chunk is in the new model's top ten")


class ReembeddedOut(BaseModel):
    """Result of the last completed re-embedding."""

    from_version: str
    to_version: str
    embedded: int = Field(description="chunks that had no vector of the new model")
    comparison: ComparisonOut | None


class EmbeddingOut(BaseModel):
    """The store's model, and the progress of a switch to another one."""

    embedding_version: str = Field(examples=["local:wordllama-l2-supercat-2:256"])
    held_versions: dict[str, int] = Field(
        description="stored chunk vectors by model; the store can switch back to a model that has vectors"
    )
    state: ReembedState
    to_version: str | None = Field(description="the model that is being switched to")
    done: int = Field(description="chunks that have a vector of that model")
    total: int
    error: str | None
    last: ReembeddedOut | None

    @classmethod
    def of(cls, status: EmbeddingStatus) -> Self:
        """Build it from the service's report."""
        report = status.report
        return cls(
            embedding_version=status.version,
            held_versions=status.stored_versions,
            state=report.state,
            to_version=report.to_version,
            done=report.done,
            total=report.total,
            error=report.error,
            last=None if status.last is None else ReembeddedOut.model_validate(status.last),
        )


@router.get("/embedding", response_model=EmbeddingOut, responses=documented())
async def embedding(services: OpenServices) -> Response:
    """The store's model, the models that have vectors, and the progress of a switch."""
    return answered(EmbeddingOut.of(await services.reembed.status()))


@router.post("/embedding", status_code=202, response_model=EmbeddingOut, responses=documented(409))
async def start_reembedding(body: ReembedIn, services: OpenServices) -> Response:
    """Embed everything with another model while the server runs, then switch atomically.

    After an interruption, the same call continues.
    """
    return answered(EmbeddingOut.of(await services.reembed.start(body.to)), 202)


class EmbeddingHealthOut(BaseModel):
    """Result of a small test embedding."""

    embedding_version: str
    healthy: bool
    latency_ms: int
    dimensions: int | None = Field(description="dimensions of the test embedding")
    key_configured: bool = Field(description="whether OPENAI_API_KEY is set")
    error: str | None

    @classmethod
    def of(cls, report: EmbeddingReport) -> Self:
        """Build it from the service's report."""
        probe = report.probe
        return cls(
            embedding_version=report.model.version,
            healthy=probe.healthy,
            latency_ms=probe.latency_ms,
            dimensions=probe.dimensions,
            key_configured=report.key_configured,
            error=probe.error,
        )


@router.get("/embedding/health", response_model=EmbeddingHealthOut, responses=documented())
async def embedding_health(services: OpenServices) -> Response:
    """Embed a small text now and report whether the model works. Every call sends a request to a hosted model."""
    return answered(EmbeddingHealthOut.of(await services.embedding_health()))


class Forgotten(BaseModel):
    """How many chunk vectors were deleted, by model."""

    forgotten: dict[str, int]


@router.post("/embedding/purge", response_model=Forgotten, responses=documented(409))
async def purge_other_vectors(services: OpenServices) -> Response:
    """Delete the vectors of all models but the store's own. The store can then no longer switch back."""
    return answered(Forgotten(forgotten=await services.reembed.purge()))

"""Ingest an artifact: a document, an e-mail, a chat or a transcript, whole or cut into chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.notes import Kind
from nur.domain.writes import Outcome
from nur.observability import metrics
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.domain.access import Caller
    from nur.domain.notes import NoteMetadata
    from nur.domain.writes import OnEmbeddingFailure, Protection, Stored
    from nur.ports.clock import Clock
    from nur.services.notes.store_note import Plan, StoreNote

log = EventLog("IngestionService")


@dataclass(frozen=True, slots=True)
class Ingest:
    """Stores an artifact; its source's id, or else its text, identifies it."""

    store: StoreNote
    clock: Clock

    async def __call__(
        self,
        content: str,
        meta: NoteMetadata,
        stated: Protection,
        *,
        caller: Caller,
        on_failure: OnEmbeddingFailure,
        progress: Callable[[int, int], None] | None = None,
    ) -> Stored:
        """Store the artifact, all of it or nothing. Raises BadRequest, EmbedderDown, KeyRefused, Conflict."""
        started = self.clock.monotonic()
        stored = await self.store(
            Kind.ARTIFACT, content, meta, caller, on_failure, stated=stated, progress=progress, planned=_LogStart()
        )
        self._report(stored, self.clock.monotonic() - started)
        return stored

    def _report(self, stored: Stored, seconds: float) -> None:
        note, written = stored.note, stored.outcome in (Outcome.CREATED, Outcome.REPLACED)
        metrics.ARTIFACTS.labels(stored.outcome.value).inc()
        metrics.INGESTION_LATENCY.observe(seconds)
        if written and note.is_chunked:
            metrics.ARTIFACTS_CHUNKED.inc()
            metrics.CHUNKS.inc(note.chunk_count)
        log.info(
            "artifact_ingest_completed",
            artifact_id=note.public_id,
            source_id=note.meta.source_id,
            outcome=stored.outcome.value,
            is_chunked=note.is_chunked,
            num_chunks=note.chunk_count if note.is_chunked else 0,
            token_count=note.token_count,
            total_latency_ms=round(seconds * 1000),
        )


class _LogStart:
    """Logs the start of an ingest, once: a write is planned again whenever another writer came first."""

    def __init__(self) -> None:
        self._logged = False

    def __call__(self, plan: Plan) -> None:
        if self._logged:
            return
        self._logged = True
        note = plan.note
        log.info(
            "artifact_ingest_started",
            artifact_id=note.public_id,
            artifact_type=note.meta.type,
            source_system=note.meta.source_system,
            source_id=note.meta.source_id,
            token_count=note.token_count,
            will_chunk=note.is_chunked,
        )
        if plan.chunked is not None and note.is_chunked:
            log.info(
                "artifact_chunked",
                artifact_id=note.public_id,
                num_chunks=note.chunk_count,
                chunk_size_avg=plan.chunked.average_chunk_tokens,
                overlap=plan.policy.overlap,
            )

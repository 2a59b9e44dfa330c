"""Ingest an artifact: a document, an e-mail, a chat or a transcript, whole or cut into chunks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.errors import BadRequest
from nur.domain.notes import Kind, Retention, Sensitivity, Visibility
from nur.domain.writes import Draft, Outcome
from nur.observability import metrics
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.domain.notes import Description, Principal
    from nur.domain.writes import OnEmbeddingFailure, Stored
    from nur.ports.clock import Clock
    from nur.services.store_note import Plan, StoreNote

log = EventLog("IngestionService")


@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    """What the caller says about privacy; None: nothing."""

    sensitivity: Sensitivity | None = None
    visibility: Visibility | None = None


@dataclass(frozen=True, slots=True)
class Ingest:
    """Stores an artifact; its source's id, or else its text, says which one it is."""

    store: StoreNote
    clock: Clock
    sensitive_sources: frozenset[str]

    async def __call__(
        self,
        content: str,
        about: Description,
        privacy: Privacy,
        *,
        principal: Principal,
        on_failure: OnEmbeddingFailure,
        progress: Callable[[int, int], None] | None = None,
    ) -> Stored:
        """Store the artifact, all of it or nothing. Raises BadRequest, EmbedderDown, KeyRefused, Conflict."""
        if about.retention is Retention.CUSTOM and about.expires_at is None:
            raise BadRequest("retention_policy custom needs expires_at")
        about = self._with_privacy(about, privacy)
        started = self.clock.monotonic()
        draft = Draft(kind=Kind.ARTIFACT, text=content, about=about)
        stored = await self.store(draft, principal, on_failure, progress, _Beginning())
        self._account(stored, self.clock.monotonic() - started)
        return stored

    def _with_privacy(self, about: Description, privacy: Privacy) -> Description:
        """Children's and medical sources are highly sensitive and for me alone, unless the caller says otherwise."""
        delicate = (about.source_system or "").casefold() in self.sensitive_sources
        default = Sensitivity.HIGHLY_SENSITIVE if delicate else Sensitivity.NORMAL
        return replace(
            about, sensitivity=privacy.sensitivity or default, visibility=privacy.visibility or Visibility.ME
        )

    def _account(self, stored: Stored, seconds: float) -> None:
        note, written = stored.note, stored.outcome in (Outcome.CREATED, Outcome.REPLACED)
        metrics.ARTIFACTS.labels(stored.outcome.value).inc()
        metrics.INGESTION_LATENCY.observe(seconds)
        if written and note.is_chunked:
            metrics.ARTIFACTS_CHUNKED.inc()
            metrics.CHUNKS.inc(note.chunk_count)
        log.info(
            "artifact_ingest_completed",
            artifact_id=note.public_id,
            outcome=stored.outcome.value,
            is_chunked=note.is_chunked,
            num_chunks=note.chunk_count if note.is_chunked else 0,
            token_count=note.token_count,
            total_latency_ms=round(seconds * 1000),
        )


class _Beginning:
    """Logs how an ingest begins, once: the write is planned anew whenever another writer came first."""

    def __init__(self) -> None:
        self._told = False

    def __call__(self, plan: Plan) -> None:
        if self._told:
            return
        self._told = True
        note = plan.note
        log.info(
            "artifact_ingest_started",
            artifact_id=note.public_id,
            artifact_type=note.about.type,
            source_system=note.about.source_system,
            token_count=note.token_count,
            will_chunk=note.is_chunked,
        )
        if plan.cut is not None and note.is_chunked:
            log.info(
                "artifact_chunked",
                artifact_id=note.public_id,
                num_chunks=note.chunk_count,
                chunk_size_avg=plan.cut.average_chunk_tokens,
                overlap=plan.policy.overlap,
            )

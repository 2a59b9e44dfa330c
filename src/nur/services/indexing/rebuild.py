"""Rebuild the vector index and derived rows from the store, while searches continue. Makes no embedding call."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from nur.domain.access import Caller, Principal
from nur.domain.errors import Conflict, NurError
from nur.observability.events import EventLog, traced
from nur.retrieval.text.analysis import ANALYZER_VERSION
from nur.services.jobs.stored_report import StoredReport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nur.domain.notes import Kind, NoteId
    from nur.ports.clock import Clock
    from nur.ports.stores import Stores
    from nur.ports.vector_index import VectorIndex
    from nur.retrieval.chunking import ChunkingPolicy
    from nur.services.notes.store_note import StoreNote

log = EventLog("Index")

ANALYZER_FACT = "analyzer_version"
REPORT = "rebuild_report"  #: name of the fact with the last report
STOPPED = "The process that rebuilt the index has stopped; servers and workers finish what is queued."
CALL_ID = "rechunk"  #: of its writes, in the audit log
PAGE = 200
LOOK_EVERY_SECONDS = 0.1
#: Counting reads every chunk: it pauses this many times as long as it took.
PAUSE_PER_COUNT = 9


class RebuildState(StrEnum):
    """State of a rebuild."""

    IDLE = "idle"
    RECHUNKING = "rechunking"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """Progress of a rebuild; in the end chunks = rebuilt + missing_vectors + errors."""

    state: RebuildState = RebuildState.IDLE
    chunks: int = 0
    rebuilt: int = 0  #: chunks in the new index
    missing_vectors: int = 0  #: chunks that wait for the embedding provider
    errors: int = 0  #: chunks that the index did not accept; the worker retries
    rechunked: int = 0  #: notes that were chunked again
    error: str | None = None

    @property
    def is_running(self) -> bool:
        """Whether it is not finished yet."""
        return self.state in (RebuildState.RECHUNKING, RebuildState.RUNNING)


@dataclass(slots=True)
class Rebuild:
    """Runs one rebuild at a time. If the process dies, the outbox keeps the rest for the next one."""

    stores: Stores
    index: VectorIndex
    store_note: StoreNote
    clock: Clock
    embedding_version: str
    policies: Mapping[Kind, ChunkingPolicy]
    wake: Callable[[], None]
    report: RebuildReport = field(default_factory=RebuildReport)
    _stored: StoredReport = field(init=False)
    _task: asyncio.Task[RebuildReport] | None = None

    def __post_init__(self) -> None:
        self._stored = StoredReport(self.stores.facts, REPORT, self.clock)

    async def start(self, *, rechunk: bool = False) -> RebuildReport:
        """Start a rebuild unless this or another process runs one; returns the report of the running one."""
        current = await self.status()
        if current.is_running:
            return current
        self.report = RebuildReport(RebuildState.RUNNING)
        self._task = asyncio.create_task(self(rechunk=rechunk))
        return self.report

    async def status(self) -> RebuildReport:
        """Report of the running or last rebuild, in any process of this store."""
        if self._task is not None and not self._task.done():
            return self.report
        kept = await self._stored.read()
        if kept is None:
            return self.report
        fields, is_recent = kept
        report = RebuildReport(**fields | {"state": RebuildState(fields["state"])})
        if report.is_running and not is_recent:
            return replace(report, state=RebuildState.FAILED, error=STOPPED)
        return report

    async def stop(self) -> None:
        """Cancel; the next process's worker does the rest."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def __call__(self, *, rechunk: bool = False) -> RebuildReport:
        """Rebuild and return the final report; `report` has the progress. Failures are reported, not raised."""
        self.report = RebuildReport(RebuildState.RUNNING)
        with traced():
            try:
                if rechunk:
                    await self._rechunk()
                await self._rebuild()
            except NurError as error:
                self.report = replace(self.report, state=RebuildState.FAILED, error=str(error))
                log.warning("rebuild_failed", index=self.index.name, error=error.code)
            else:
                self.report = replace(self.report, state=RebuildState.DONE)
                log.info("rebuild_done", index=self.index.name, rebuilt=self.report.rebuilt, errors=self.report.errors)
            with contextlib.suppress(NurError):  # the report of a store that cannot be written stays in this process
                await self._stored.write(self.report, at_once=True)
        return self.report

    async def _rebuild(self) -> None:
        """Reset the index and wait until the worker has filled it. Until then the exact scan covers missing chunks."""
        await self.stores.index_marks.clear(self.clock.now())
        chunks = (await self.stores.chunks.statistics()).chunks
        self.report = replace(self.report, state=RebuildState.RUNNING, chunks=chunks)
        await self.index.reset()  # also removes records that are not in the store
        await self.stores.index_marks.clear(self.clock.now())  # marks that were set before the index was empty
        await self.stores.derivations.queue(self.clock.now())
        if self.index.follows_commits:
            await self.index.open()  # fills itself from the store
            if await self.index.count() >= chunks - await self.stores.vectors.count_missing(self.embedding_version):
                await self.stores.index_marks.mark_all(self.embedding_version, self.clock.now())
        self.wake()
        while await self.stores.outbox.count_due(self.clock.now()):
            started = self.clock.monotonic()
            await self._count()
            counting = self.clock.monotonic() - started
            await self.clock.sleep(max(LOOK_EVERY_SECONDS, PAUSE_PER_COUNT * counting))
        await self._count()

    async def _count(self) -> None:
        rebuilt = await self.stores.index_marks.count(self.embedding_version)
        missing = await self.stores.vectors.count_missing(self.embedding_version)
        chunks = (await self.stores.chunks.statistics()).chunks
        errors = max(0, chunks - rebuilt - missing)
        self.report = replace(self.report, chunks=chunks, rebuilt=rebuilt, missing_vectors=missing, errors=errors)
        await self._stored.write(self.report)

    async def _rechunk(self) -> None:
        """Re-chunk notes whose chunking policy changed, or all notes if the analyzer changed. Resumable."""
        self.report = replace(self.report, state=RebuildState.RECHUNKING)
        same_words = await self.stores.facts.get(ANALYZER_FACT) == str(ANALYZER_VERSION)
        after: NoteId | None = None
        while page := await self.stores.notes.all(after, PAGE):
            for note in page:
                if same_words and note.chunking_version == self.policies[note.kind].version:
                    continue
                try:
                    await self.store_note.rechunk(note, Caller(Principal(note.owner, note.tenant), CALL_ID))
                except Conflict:
                    log.info("rechunk_conflict", note=note.public_id)  # its writer used the current policy
                    continue
                self.report = replace(self.report, rechunked=self.report.rechunked + 1)
            await self._stored.write(self.report)
            after = page[-1].note_id
        await self.stores.facts.set(ANALYZER_FACT, str(ANALYZER_VERSION))

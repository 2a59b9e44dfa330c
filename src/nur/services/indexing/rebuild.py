"""Rebuild the vector index from the ledger's vectors, while searches go on. Makes no embedding call."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from nur.domain.errors import Conflict, NurError
from nur.domain.notes import Principal
from nur.observability.events import EventLog, traced
from nur.retrieval.text.analysis import ANALYZER_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nur.domain.notes import Kind, NoteId
    from nur.ports.clock import Clock
    from nur.ports.ledger import Ledger
    from nur.ports.vector_index import VectorIndex
    from nur.retrieval.chunking import ChunkingPolicy
    from nur.services.notes.store_note import StoreNote

log = EventLog("Index")

ANALYZER_FACT = "analyzer_version"
PAGE = 200
LOOK_EVERY_SECONDS = 0.1


class RebuildState(StrEnum):
    """Where a rebuild is."""

    IDLE = "idle"
    RECHUNKING = "rechunking"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What a rebuild has done so far; in the end chunks = rebuilt + missing_vectors + errors."""

    state: RebuildState = RebuildState.IDLE
    chunks: int = 0
    rebuilt: int = 0  #: chunks that the new index holds
    missing_vectors: int = 0  #: chunks that wait for the embedding provider
    errors: int = 0  #: chunks that the index did not take; the worker keeps trying
    rechunked: int = 0  #: notes that were cut anew
    error: str | None = None

    @property
    def is_running(self) -> bool:
        """Whether it is still at work."""
        return self.state in (RebuildState.RECHUNKING, RebuildState.RUNNING)


@dataclass(slots=True)
class Rebuild:
    """One rebuild at a time; a process that dies half-way leaves rows in the outbox, and the next one goes on."""

    ledger: Ledger
    index: VectorIndex
    store: StoreNote
    clock: Clock
    embedding_version: str
    policies: Mapping[Kind, ChunkingPolicy]
    wake: Callable[[], None]
    report: RebuildReport = field(default_factory=RebuildReport)
    _task: asyncio.Task[RebuildReport] | None = None

    def start(self, *, rechunk: bool = False) -> RebuildReport:
        """Begin, unless one is running; gives back how it stands."""
        if self._task is None or self._task.done():
            self.report = RebuildReport(RebuildState.RUNNING)
            self._task = asyncio.create_task(self(rechunk=rechunk))
        return self.report

    async def stop(self) -> None:
        """Leave the rest to the worker of the next process."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def __call__(self, *, rechunk: bool = False) -> RebuildReport:
        """Rebuild, and give back what came of it; `report` tells on the way. Never raises but when cancelled."""
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
        return self.report

    async def _rebuild(self) -> None:
        """From here to the end every chunk counts as not indexed, and the exact scan answers for it."""
        await self.ledger.mark_all_unindexed(self.embedding_version)
        chunks = (await self.ledger.corpus([])).chunks
        self.report = replace(self.report, state=RebuildState.RUNNING, chunks=chunks)
        await self.index.reset()  # what the ledger does not know of is gone with it
        if self.index.follows_commits:
            await self.index.open()  # fills itself from the ledger
            if await self.index.count() >= chunks - await self.ledger.count_missing(self.embedding_version):
                await self.ledger.mark_all_indexed(self.embedding_version, self.clock.now())
        self.wake()
        while await self.ledger.count_due(self.clock.now()):
            await self._count()
            await self.clock.sleep(LOOK_EVERY_SECONDS)
        await self._count()

    async def _count(self) -> None:
        rebuilt = await self.ledger.count_indexed(self.embedding_version)
        missing = await self.ledger.count_missing(self.embedding_version)
        chunks = (await self.ledger.corpus([])).chunks
        errors = max(0, chunks - rebuilt - missing)
        self.report = replace(self.report, chunks=chunks, rebuilt=rebuilt, missing_vectors=missing, errors=errors)

    async def _rechunk(self) -> None:
        """Cut every note anew whose policy is another one now; a crash leaves the rest for the next time.

        All of them when the analyzer is another one: their words are stored as it found them.
        """
        self.report = replace(self.report, state=RebuildState.RECHUNKING)
        same_words = await self.ledger.fact(ANALYZER_FACT) == str(ANALYZER_VERSION)
        after: NoteId | None = None
        while page := await self.ledger.all_notes(after, PAGE):
            for note in page:
                if same_words and note.chunking_version == self.policies[note.kind].version:
                    continue
                try:
                    await self.store.rechunk(note, Principal(note.owner, note.tenant))
                except Conflict:
                    log.info("rechunk_conflict", note=note.public_id)  # whoever wrote it cut it by the present policy
                    continue
                self.report = replace(self.report, rechunked=self.report.rechunked + 1)
            after = page[-1].note_id
        await self.ledger.set_fact(ANALYZER_FACT, str(ANALYZER_VERSION))

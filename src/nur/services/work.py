"""Work off the outbox: embed what was deferred and bring the vector index up to date."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.errors import Conflict, EmbedderRefused, KeyRefused, NurError, Unavailable
from nur.domain.notes import Note, NoteId, Status
from nur.observability import metrics
from nur.observability.events import EventLog, traced
from nur.ports.vector_index import IndexOp
from nur.retrieval.pooling import pool
from nur.services.embed_texts import embed_texts
from nur.services.index_note import index_note

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.ledger import Job, Ledger
    from nur.ports.vector_index import VectorIndex

log = EventLog("Worker")

BATCH = 16
LEASE_SECONDS = 120.0  #: longer than the longest embedding call, so that nobody takes a job that is being done
IDLE_SECONDS = 1.0
FIRST_RETRY_SECONDS = 2.0
LONGEST_RETRY_SECONDS = 300.0
#: Tries before a job whose failure is its own fault becomes a dead letter. An outage or a refused key never makes one.
MOST_TRIES = 8


def retry_in(failures: int, jitter: float) -> float:
    """Seconds to wait after that many failures: doubling, up to a limit, spread by up to a quarter."""
    wait = min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2.0 ** (failures - 1))
    return wait * (1 + jitter / 4)


@dataclass(slots=True)
class Work:
    """Takes jobs from the outbox and does them, one batch after another."""

    ledger: Ledger
    index: VectorIndex
    embedder: Embedder
    clock: Clock
    jitter: Callable[[], float] = random.random
    name: str = field(default_factory=lambda: f"worker-{uuid4().hex[:8]}")

    async def forever(self) -> None:
        """Work until cancelled; what is under way is finished by whoever leases it next."""
        while True:
            try:
                done = await self.once()
            except Unavailable as error:
                log.warning("worker_waits", error=error.code)
                done = 0
            if not done:
                await self.clock.sleep(IDLE_SECONDS)

    async def once(self) -> int:
        """Do one batch of jobs that are due; gives back how many there were."""
        jobs = await self.ledger.lease(self.name, BATCH, self.clock.now(), LEASE_SECONDS)
        if jobs:
            await asyncio.gather(*(self._do(job) for job in jobs))
            backlog = await self.ledger.backlog(self.clock.now())
            metrics.OUTBOX_PENDING.set(backlog.pending)
            metrics.OUTBOX_DEAD.set(backlog.dead)
        return len(jobs)

    async def _do(self, job: Job) -> None:
        with traced():
            try:
                await self._bring_up_to_date(job.note_id)
            except Conflict:
                await self.ledger.finish(job, self.clock.now())  # its row was raised to the newer revision: not closed
            except NurError as error:
                await self._failed(job, error)
            else:
                await self.ledger.finish(job, self.clock.now())

    async def _bring_up_to_date(self, note_id: NoteId) -> None:
        """Make the index show the note as it is now, whatever the job said."""
        note = (await self.ledger.by_ids([note_id])).get(note_id)
        if note is None:
            await self.index.apply([IndexOp(note_id, _PURGED)])
            return
        if note.status is Status.ACTIVE:
            await self._embed(note)
        await index_note(self.ledger, self.index, note, self.embedder.model.version)
        if not await self.ledger.mark_indexed(note_id, note.revision):
            raise Conflict("The note moved on while it was indexed.")
        log.info("note_indexed", note=note.public_id, revision=note.revision)

    async def _embed(self, note: Note) -> None:
        """Embed the chunks that have no vector yet: each once."""
        version = self.embedder.model.version
        missing = await self.ledger.missing_vectors(note.note_id, version)
        if not missing:
            return
        vectors = await embed_texts(self.embedder, [stored.chunk.searchable for stored in missing])
        found = {stored.chunk_key: vector for stored, vector in zip(missing, vectors, strict=True)}
        keys = [stored.chunk_key for stored in await self.ledger.chunks(note.note_id)]
        every = await self.ledger.vectors(keys, version) | found
        await self.ledger.attach_vectors(note, found, pool([every[key] for key in keys]), version)

    async def _failed(self, job: Job, error: NurError) -> None:
        """Try again later; give up only on what fails by its own fault, again and again."""
        failures = job.attempts + 1
        hopeless = isinstance(error, EmbedderRefused) or not isinstance(error, Unavailable | KeyRefused)
        if hopeless and failures >= MOST_TRIES:
            log.error("job_dead", attempts=failures, error=error.code)
            await self.ledger.postpone(job, str(error), None)
            return
        wait = retry_in(failures, self.jitter())
        log.warning("job_postponed", attempts=failures, error=error.code, backoff_ms=round(wait * 1000))
        await self.ledger.postpone(job, str(error), self.clock.now() + timedelta(seconds=wait))


#: Higher than any revision: a purged note has no row to read one from.
_PURGED = 2**31 - 1

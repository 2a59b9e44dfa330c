"""Work off the outbox: embed deferred chunks, update the vector index, derive rows."""

from __future__ import annotations

import asyncio
import contextlib
import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.errors import BadConfiguration, Conflict, EmbedderRefused, NurError, Unavailable
from nur.domain.filters import is_alive
from nur.observability import metrics
from nur.observability.events import EventLog, traced
from nur.ports.outbox import Task
from nur.ports.vector_index import IndexOp
from nur.services.notes.trash import PURGED

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from nur.domain.notes import Note, NoteId
    from nur.ports.clock import Clock
    from nur.ports.notes import NoteStore
    from nur.ports.outbox import Job, Outbox
    from nur.ports.vector_index import VectorIndex
    from nur.services.indexing.derive import Derive
    from nur.services.indexing.embed_missing import EmbedMissing
    from nur.services.indexing.index_note import IndexNote

log = EventLog("Worker")

BATCH = 32
LEASE_SECONDS = 60.0
#: A lease is renewed well before it ends; a worker that dies is replaced within a minute.
HEARTBEAT_SECONDS = 20.0
IDLE_SECONDS = 1.0
FIRST_RETRY_SECONDS = 2.0
MAX_RETRY_SECONDS = 300.0
#: After an outage vectors should come soon. Batches are tried one after another, so a
#: provider that is down gets no more requests for it.
MAX_OUTAGE_RETRY_SECONDS = 30.0
#: Attempts before a failing job becomes a dead letter. An outage or a refused key never makes one.
MAX_TRIES = 8


def retry_in(failures: int, jitter: float, longest: float) -> float:
    """Seconds to wait after this many failures: exponential, capped, with up to 25 % jitter."""
    doublings = min(failures - 1, 16)  # 2.0 ** 1024 would overflow
    wait = min(longest, FIRST_RETRY_SECONDS * 2.0**doublings)
    return wait * (1 + jitter / 4)


def is_own_fault(error: NurError) -> bool:
    """Whether retrying cannot help: neither an outage nor a failure that the operator can fix."""
    return isinstance(error, EmbedderRefused) or not isinstance(error, Unavailable | BadConfiguration)


@dataclass(slots=True)
class IndexWorker:
    """Processes jobs of the outbox in batches."""

    outbox: Outbox
    notes: NoteStore
    index: VectorIndex
    index_note: IndexNote
    embed_missing: EmbedMissing
    derive: Derive
    clock: Clock
    jitter: Callable[[], float] = random.random
    name: str = field(default_factory=lambda: f"worker-{uuid4().hex[:8]}")
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    def wake(self) -> None:
        """End the sleep: there is a new job."""
        self._woken.set()

    async def forever(self) -> None:
        """Work until cancelled; unfinished jobs are done by the next worker that leases them."""
        while True:
            self._woken.clear()
            if not await self._round():
                await self._idle()

    async def once(self) -> int:
        """Process one batch of due jobs; returns how many."""
        jobs = await self.outbox.lease(self.name, BATCH, self.clock.now(), LEASE_SECONDS)
        if jobs:
            with traced():
                async with self._heartbeat(jobs):
                    await self._do(jobs)
        backlog = await self.outbox.backlog(self.clock.now())
        metrics.OUTBOX_PENDING.set(backlog.pending)
        metrics.OUTBOX_DEAD.set(backlog.dead)
        return len(jobs)

    async def _round(self) -> int:
        try:
            return await self.once()
        except NurError as error:
            log.warning("worker_waits", error=error.code)
        except Exception:  # noqa: BLE001  # a bug in one round must not end all indexing; its leases run out
            log.crash("worker_crashed")
        return 0

    async def _idle(self) -> None:
        """Sleep until woken, but only briefly: another process may have queued a job."""
        waits = [asyncio.ensure_future(wait) for wait in (self._woken.wait(), self.clock.sleep(IDLE_SECONDS))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    @contextlib.asynccontextmanager
    async def _heartbeat(self, jobs: Sequence[Job]) -> AsyncIterator[None]:
        """Renew the leases for as long as the work takes."""

        async def beat() -> None:
            while True:
                await asyncio.sleep(HEARTBEAT_SECONDS)  # not the injected clock: a test's clock would loop forever
                with contextlib.suppress(Unavailable):
                    await self.outbox.renew(jobs, self.clock.now() + timedelta(seconds=LEASE_SECONDS))

        beating = asyncio.create_task(beat())
        try:
            yield
        finally:
            beating.cancel()

    async def _do(self, jobs: Sequence[Job]) -> None:
        notes = await self.notes.by_ids([job.note_id for job in jobs])
        to_index = {job.note_id for job in jobs if job.task is Task.INDEX}
        # A note that no search finds any more need not be embedded.
        alive = [note for note in notes.values() if note.note_id in to_index and is_alive(note, self.clock.now())]
        failed = await self.embed_missing(alive)
        failed |= await self._index([job for job in jobs if job.note_id in to_index - failed.keys()], notes)
        await asyncio.gather(*(self._conclude(job, notes.get(job.note_id), failed.get(job.note_id)) for job in jobs))

    async def _conclude(self, job: Job, note: Note | None, failure: NurError | None) -> None:
        """Close the job's row, once it is done, or schedule a retry."""
        try:
            if job.task is Task.DERIVE:
                await self._derive(job, note)
            elif failure is None:
                await self._close(job, note)
            elif isinstance(failure, Conflict):
                await self.outbox.finish(
                    job, self.clock.now()
                )  # its row now asks for the newer revision, so it stays open
            else:
                raise failure
        except NurError as error:
            await self._failed(job, error)

    async def _index(self, jobs: Sequence[Job], notes: Mapping[NoteId, Note]) -> dict[NoteId, NurError]:
        """Index the notes' current state, whatever revision their jobs name; returns the failures by note.

        All at once, since most of the cost is per request. If that fails, one by one: a note that the index refuses
        does not hold up the others.
        """
        if not jobs:
            return {}
        try:
            await self.index.apply(await asyncio.gather(*(self._operation(job, notes) for job in jobs)))
            if any(job.note_id not in notes for job in jobs):
                await self.index.scrub()
        except NurError as error:
            if len(jobs) == 1:
                return {jobs[0].note_id: error}
            failed: dict[NoteId, NurError] = {}
            for job in jobs:
                failed |= await self._index([job], notes)
            return failed
        return {}

    async def _operation(self, job: Job, notes: Mapping[NoteId, Note]) -> IndexOp:
        note = notes.get(job.note_id)
        return IndexOp(job.note_id, PURGED) if note is None else await self.index_note.operation(note)

    async def _close(self, job: Job, note: Note | None) -> None:
        if note is None:
            await self.outbox.finish(job, self.clock.now())
            return
        # One transaction: an index that is emptied in between must not count as filled.
        await self.outbox.finish(job, self.clock.now(), indexed=note.revision)
        log.info("note_indexed", note=note.public_id, revision=note.revision)

    async def _derive(self, job: Job, note: Note | None) -> None:
        """Derive the note as it is now. Raises NurError; a note that changed meanwhile is tried again."""
        if note is not None:
            await self.derive(note)
        await self.outbox.finish(job, self.clock.now())

    async def _failed(self, job: Job, error: NurError) -> None:
        """Try again later; give up only on what fails by its own fault, again and again."""
        failures, own_fault = job.attempts + 1, is_own_fault(error)
        if own_fault and failures >= MAX_TRIES:
            log.error("job_dead", attempts=failures, error=error.code)
            await self.outbox.postpone(job, str(error), None)
            return
        longest = MAX_RETRY_SECONDS if own_fault else MAX_OUTAGE_RETRY_SECONDS
        wait = retry_in(failures, self.jitter(), longest)
        log.warning("job_postponed", attempts=failures, error=error.code, backoff_ms=round(wait * 1000))
        await self.outbox.postpone(job, str(error), self.clock.now() + timedelta(seconds=wait))

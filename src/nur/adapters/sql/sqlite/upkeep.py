"""The Upkeep part of SqliteLedger."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from nur.adapters.sql import outbox, reading, searching, upkeep
from nur.adapters.sql.sqlite.bodies import Bodies
from nur.adapters.sql.sqlite.failures import translate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.embedder import Floats
    from nur.ports.stored import ChunkWithNote, StoredChunk
    from nur.ports.upkeep import Backlog, DeadLetter, Job


class SqliteUpkeep(Bodies):
    """Looking after what is stored."""

    async def missing_vectors(self, note_id: NoteId, embedding_version: str) -> list[StoredChunk]:
        """A note's chunks that have no vector of this version."""
        existing = await self._read(reading.chunks, note_id, embedding_version)
        return [chunk for chunk in existing if not chunk.has_vector]

    async def attach_vectors(
        self, note: Note, vectors: Mapping[ChunkKey, Floats], pooled: Floats | None, embedding_version: str
    ) -> None:
        """Add vectors to chunks that are still there."""
        now = self._clock.now()
        await self._write(searching.attach_vectors, note, vectors, pooled, embedding_version, now)

    async def mark_indexed(self, note_id: NoteId, revision: int) -> bool:
        """Say that the index holds this revision."""
        return await self._write(searching.mark_indexed, note_id, revision)

    async def mark_all_unindexed(self, embedding_version: str) -> int:  # noqa: ARG002  # one index a store, for now
        """Say that the index holds nothing, and queue every note."""
        return await self._write(outbox.enqueue_all, self._clock.now())

    async def sample_indexed(self, embedding_version: str, limit: int) -> list[ChunkWithNote]:
        """Chunks that the index should hold, drawn at random."""
        return await self._read(searching.sample_indexed, embedding_version, limit, self._clock.now())

    async def count_indexed(self, embedding_version: str) -> int:
        """How many chunks the index should hold."""
        return await self._read(searching.count_indexed, embedding_version)

    async def pages(self, embedding_version: str, after: ChunkKey, limit: int) -> list[ChunkWithNote]:
        """Active chunks with a vector, by key."""
        return await self._read(searching.pages, embedding_version, after, limit, self._clock.now())

    async def lease(self, worker: str, limit: int, now: datetime, lease_seconds: float) -> list[Job]:
        """Take jobs that are due."""
        return await self._write(outbox.lease, worker, limit, now, lease_seconds)

    async def finish(self, job: Job, now: datetime) -> None:
        """The job is done."""
        await self._write(outbox.finish, job, now)

    async def postpone(self, job: Job, error: str, retry_at: datetime | None) -> None:
        """The job failed."""
        await self._write(outbox.postpone, job, error, retry_at)

    async def backlog(self, now: datetime) -> Backlog:
        """What waits to be indexed."""
        return await self._read(outbox.backlog, now)

    async def renew(self, jobs: Sequence[Job], until: datetime) -> None:
        """Hold leases longer."""
        await self._write(outbox.renew, jobs, until)

    async def retry_dead(self, now: datetime) -> int:
        """Give every dead letter a new life."""
        return await self._write(outbox.retry_dead, now)

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Jobs that were given up, newest first."""
        return await self._read(outbox.dead_letters, limit)

    async def count_due(self, now: datetime) -> int:
        """How many jobs wait for nothing but a worker, or are being worked on."""
        return await self._read(outbox.count_due, now)

    async def purge_done(self, before: datetime) -> int:
        """Forget outbox rows that were finished before then."""
        return await self._write(outbox.purge_done, before)

    async def is_indexed(self, note_id: NoteId) -> bool:
        """Whether the index holds every chunk of the note as it is now."""
        return await self._read(upkeep.is_indexed, note_id)

    async def mark_all_indexed(self, embedding_version: str, now: datetime) -> int:
        """Say that the index holds every chunk that has a vector."""
        return await self._write(upkeep.mark_all_indexed, embedding_version, now)

    async def count_missing(self, embedding_version: str) -> int:
        """How many chunks have no vector of this version."""
        return await self._read(upkeep.count_missing, embedding_version)

    async def pooled(self, note_ids: Sequence[NoteId], embedding_version: str) -> dict[NoteId, Floats]:
        """The notes' own vectors."""
        return await self._read(upkeep.pooled, note_ids, embedding_version)

    async def previews(self, note_ids: Sequence[NoteId], characters: int) -> dict[NoteId, str]:
        """The beginnings of notes' texts."""
        return await self._read(upkeep.previews, note_ids, characters)

    async def all_notes(self, after: NoteId | None, limit: int) -> list[Note]:
        """A page of the active notes of every tenant."""
        return await self._read(upkeep.all_notes, after, limit)

    async def expired(self, now: datetime, limit: int) -> list[Note]:
        """Active notes whose time is over."""
        return await self._read(upkeep.expired, now, limit)

    async def trash(self, before: datetime, limit: int) -> list[Note]:
        """Notes that were deleted before then, oldest first."""
        return await self._read(upkeep.trash, before, limit)

    async def purge(self, note: Note, *, principal: str, indexed: bool) -> None:
        """Erase a note for good."""
        context = self._context()
        await self._write(upkeep.purge, self._lexical_index, note, principal, indexed=indexed, context=context)

    async def scrub(self) -> None:
        """Merge the lexical rows and empty the log: deleted rows are overwritten already (`secure_delete`)."""
        await self._write(self._lexical_index.optimize)
        await asyncio.to_thread(self._empty_log)

    def _empty_log(self) -> None:
        try:
            with self._engines[0].connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        except SQLAlchemyError as error:
            raise translate(error) from error

    async def vector_counts(self) -> dict[str, int]:
        """How many chunk vectors there are of each embedding version."""
        return await self._read(upkeep.vector_counts)

    async def switch_embedding(self, embedding_version: str, now: datetime) -> None:
        """Make this the store's version."""
        await self._write(upkeep.switch_embedding, embedding_version, now)

    async def drop_vectors(self, embedding_version: str) -> int:
        """Forget all vectors of a version."""
        return await self._write(upkeep.drop_vectors, embedding_version)

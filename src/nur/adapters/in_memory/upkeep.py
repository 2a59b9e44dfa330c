"""The Upkeep part of InMemoryLedger."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nur.adapters.in_memory.rooms import InMemoryRooms
from nur.domain.notes import TELLING_IDS, Status
from nur.ports.upkeep import NEXT_EMBEDDING_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from nur.adapters.in_memory.chunks import ChunkRow
    from nur.domain.notes import Note, NoteId
    from nur.ports.embedder import Floats
    from nur.ports.upkeep import Backlog, DeadLetter, Job


class InMemoryUpkeep(InMemoryRooms):
    """Looking after what is stored."""

    async def lease(self, worker: str, limit: int, now: datetime, lease_seconds: float) -> list[Job]:
        """Take jobs that are due."""
        return self._outbox.lease(worker, limit, now, lease_seconds)

    async def finish(self, job: Job, now: datetime) -> None:
        """The job is done."""
        self._outbox.finish(job, now)

    async def postpone(self, job: Job, error: str, retry_at: datetime | None) -> None:
        """The job failed."""
        self._outbox.postpone(job, error, retry_at)

    async def backlog(self, now: datetime) -> Backlog:
        """What waits to be indexed."""
        return self._outbox.backlog(now)

    async def renew(self, jobs: Sequence[Job], until: datetime) -> None:
        """Hold leases longer."""
        self._outbox.renew(jobs, until)

    async def retry_dead(self, now: datetime) -> int:
        """Give every dead letter a new life."""
        return self._outbox.retry_dead(now)

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Jobs that were given up, newest first."""
        found = self._outbox.dead_letters()[:limit]
        names = {note.note_id: note.public_id for note in self._notes}
        return [replace(letter, public_id=names.get(letter.note_id)) for letter in found]

    async def count_due(self, now: datetime) -> int:
        """How many jobs wait for nothing but a worker, or are being worked on."""
        return self._outbox.count_due(now)

    async def purge_done(self, before: datetime) -> int:
        """Forget outbox rows that were finished before then."""
        return self._outbox.purge_done(before)

    async def is_indexed(self, note_id: NoteId) -> bool:
        """Whether the index holds every chunk of the note as it is now."""
        return all(self._is_indexed(row) for row in self._chunks.of(note_id))

    async def mark_all_indexed(self, embedding_version: str, now: datetime) -> int:
        """Say that the index holds every chunk that has a vector."""
        existing = self._chunks.with_vector(embedding_version)
        for row in existing:
            row.indexed_revision = self._notes[row.note_id].revision
        stale = {row.note_id for row in self._chunks if not self._is_indexed(row)}
        active = {note.note_id for note in self._notes if note.status is Status.ACTIVE}
        self._outbox.close(active - stale, now)
        return len(existing)

    async def count_missing(self, embedding_version: str) -> int:
        """How many chunks have no vector of this version."""
        return len(self._chunks) - len(self._chunks.with_vector(embedding_version))

    async def pooled(self, note_ids: Sequence[NoteId], embedding_version: str) -> dict[NoteId, Floats]:
        """The notes' own vectors."""
        found = {note_id: self.own_vectors.get((note_id, embedding_version)) for note_id in note_ids}
        return {note_id: vector for note_id, vector in found.items() if vector is not None}

    async def previews(self, note_ids: Sequence[NoteId], characters: int) -> dict[NoteId, str]:
        """The beginnings of notes' texts."""
        return {note_id: self._notes.texts[note_id][:characters] for note_id in self._notes.among(note_ids)}

    async def all_notes(self, after: NoteId | None, limit: int) -> list[Note]:
        """A page of the active notes of every tenant."""
        active = sorted((note for note in self._notes if note.status is Status.ACTIVE), key=lambda note: note.note_id)
        return [note for note in active if after is None or note.note_id > after][:limit]

    async def expired(self, now: datetime, limit: int) -> list[Note]:
        """Active notes whose time is over."""
        active = (note for note in self._notes if note.status is Status.ACTIVE)
        return [note for note in active if note.meta.expires_at is not None and note.meta.expires_at <= now][:limit]

    async def trash(self, before: datetime, limit: int) -> list[Note]:
        """Notes that were deleted before then, oldest first."""
        gone = [
            (note.deleted_at, note.note_id, note)
            for note in self._notes
            if note.status is Status.DELETED and note.deleted_at is not None and note.deleted_at < before
        ]
        return [note for _, _, note in sorted(gone, key=lambda place: place[:2])][:limit]

    async def purge(self, note: Note, *, principal: str, indexed: bool) -> None:
        """Erase a note for good."""
        self._notes.existing(note, note.revision)
        self._drop_chunks(note.note_id)
        self._notes.drop(note)
        if not indexed:
            self._outbox.enqueue(note.note_id, note.revision + 1, self._clock.now())
        self._traces = {
            name: trace
            for name, trace in self._traces.items()
            if all(item.note_id != note.note_id for item in trace.items)
        }
        self._conclude(note, "purge", principal, indexed=True)
        if note.kind in TELLING_IDS:
            self.audit = [
                replace(line, public_id=None) if line.note_id == note.note_id else line for line in self.audit
            ]

    async def scrub(self) -> None:
        """There are no files."""

    async def vector_counts(self) -> dict[str, int]:
        """How many chunk vectors there are of each embedding version."""
        versions = {version for row in self._chunks for version in row.vectors}
        return {version: len(self._chunks.with_vector(version)) for version in versions}

    async def switch_embedding(self, embedding_version: str, now: datetime) -> None:
        """Make this the store's version."""
        self._facts["embedding_version"] = embedding_version
        self._facts.pop(NEXT_EMBEDDING_VERSION, None)
        self._queue_all(now)

    async def drop_vectors(self, embedding_version: str) -> int:
        """Forget all vectors of a version."""
        existing = self._chunks.with_vector(embedding_version)
        for row in existing:
            del row.vectors[embedding_version]
        self.own_vectors = {key: vector for key, vector in self.own_vectors.items() if key[1] != embedding_version}
        return len(existing)

    def _queue_all(self, now: datetime) -> int:
        """Say that the index holds nothing, and queue every note, the oldest first."""
        for row in self._chunks:
            row.indexed_revision = None
        active = [note for note in self._notes if note.status is Status.ACTIVE]
        for note in sorted(active, key=lambda note: (note.ingested_at, note.note_id)):
            self._outbox.enqueue(note.note_id, note.revision, now)
        return len(active)

    def _is_indexed(self, row: ChunkRow) -> bool:
        return row.indexed_revision == self._notes[row.note_id].revision

"""Upkeep: what the worker, the housekeeper and rebuilding ask of the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.embedder import Floats
    from nur.ports.stored import ChunkWithNote, StoredChunk


#: The fact that names the model which the store is to have from its next opening on.
NEXT_EMBEDDING_VERSION = "next_embedding_version"


@dataclass(frozen=True, slots=True)
class Job:
    """A leased outbox row: bring the index to this note's state."""

    job_id: int
    note_id: NoteId
    revision: int
    attempts: int  #: earlier tries
    worker: str = ""  #: whose lease it is; only the holder can finish or postpone


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A job that was given up."""

    note_id: NoteId
    public_id: str | None  #: None for a note that is gone
    revision: int
    attempts: int
    error: str | None


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits to be indexed."""

    pending: int
    dead: int
    oldest_seconds: float
    last_error: str | None  #: of a dead letter, where there is one; else of what is tried again


class Upkeep(Protocol):
    """Looking after what is stored: every method is one transaction."""

    async def missing_vectors(self, note_id: NoteId, embedding_version: str) -> list[StoredChunk]:
        """A note's chunks that have no vector of this version."""
        ...

    async def attach_vectors(
        self,
        note: Note,
        vectors: Mapping[ChunkKey, Floats],
        pooled: Floats | None,
        embedding_version: str,
    ) -> None:
        """Add vectors to the note's chunks; one that is there stays. Raises Conflict when those chunks are gone.

        A change of metadata alone leaves the chunks: their vectors are kept. Without vectors the revision must hold.
        """
        ...

    async def mark_indexed(self, note_id: NoteId, revision: int) -> bool:
        """Say that the index holds this revision; False when the note has moved on."""
        ...

    async def mark_all_unindexed(self, embedding_version: str) -> int:
        """Say that the index holds nothing, and queue every note, the oldest first; gives back how many."""
        ...

    async def sample_indexed(self, embedding_version: str, limit: int) -> list[ChunkWithNote]:
        """Chunks that the index should hold and show, drawn at random: those of expired notes are left out."""
        ...

    async def count_indexed(self, embedding_version: str) -> int:
        """How many chunks the index should hold."""
        ...

    async def pages(self, embedding_version: str, after: ChunkKey, limit: int) -> list[ChunkWithNote]:
        """Active chunks with a vector, by key, for reading the whole store in order."""
        ...

    async def lease(self, worker: str, limit: int, now: datetime, lease_seconds: float) -> list[Job]:
        """Take jobs that are due, oldest first; nobody else gets them until the lease ends."""
        ...

    async def finish(self, job: Job, now: datetime) -> None:
        """The job is done."""
        ...

    async def postpone(self, job: Job, error: str, retry_at: datetime | None) -> None:
        """The job failed: try again then, or never (None: a dead letter)."""
        ...

    async def backlog(self, now: datetime) -> Backlog:
        """What waits to be indexed."""
        ...

    async def renew(self, jobs: Sequence[Job], until: datetime) -> None:
        """Hold leases longer; those that others have taken over stay theirs."""
        ...

    async def retry_dead(self, now: datetime) -> int:
        """Give every dead letter a new life; gives back how many there were."""
        ...

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Jobs that were given up, newest first."""
        ...

    async def count_due(self, now: datetime) -> int:
        """How many jobs wait for nothing but a worker, or are being worked on."""
        ...

    async def purge_done(self, before: datetime) -> int:
        """Forget outbox rows that were finished before then; gives back how many."""
        ...

    async def is_indexed(self, note_id: NoteId) -> bool:
        """Whether the index holds every chunk of the note as it is now; True for a note without chunks."""
        ...

    async def mark_all_indexed(self, embedding_version: str, now: datetime) -> int:
        """Say that the index holds every chunk that has a vector, and close the rows of complete notes.

        Gives back how many chunks the index holds.
        """
        ...

    async def count_missing(self, embedding_version: str) -> int:
        """How many chunks have no vector of this version."""
        ...

    async def pooled(self, note_ids: Sequence[NoteId], embedding_version: str) -> dict[NoteId, Floats]:
        """The notes' own vectors; a note without one is left out."""
        ...

    async def previews(self, note_ids: Sequence[NoteId], characters: int) -> dict[NoteId, str]:
        """The beginnings of notes' texts."""
        ...

    async def all_notes(self, after: NoteId | None, limit: int) -> list[Note]:
        """A page of the active notes of every tenant, in the order of their internal ids; expired ones too."""
        ...

    async def expired(self, now: datetime, limit: int) -> list[Note]:
        """Active notes whose time is over."""
        ...

    async def trash(self, before: datetime, limit: int) -> list[Note]:
        """Notes that were deleted before then, oldest first."""
        ...

    async def purge(self, note: Note, *, principal: str, indexed: bool) -> None:
        """Erase a note for good, its former texts too. Raises Conflict when the revision no longer holds."""
        ...

    async def scrub(self) -> None:
        """Leave no bytes of what was purged in the files."""
        ...

    async def vector_counts(self) -> dict[str, int]:
        """How many chunk vectors there are of each embedding version."""
        ...

    async def switch_embedding(self, embedding_version: str, now: datetime) -> None:
        """Make this the store's version, and no other one its next, in one step; the index is to be filled anew."""
        ...

    async def drop_vectors(self, embedding_version: str) -> int:
        """Forget all vectors of a version; gives back how many chunk vectors there were."""
        ...

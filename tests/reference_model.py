"""A reference model of the stores in dictionaries, for the state machine tests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from nur.domain.derivations import FingerprintBand
from nur.domain.filters import is_alive, matches
from nur.domain.kinds import identity_of
from nur.domain.notes import ChunkKey, Note, NoteId, Status
from nur.ports.notes import VERSIONS_KEPT
from nur.ports.outbox import Backlog, Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from nur.domain.derivations import Derivation
    from nur.domain.filters import NoteFilter
    from nur.ports.embedder import Floats
    from nur.ports.notes import NewChunk, NoteWrite


@dataclass(slots=True)
class ModelChunk:
    """A chunk, its vector (there is one embedding version), and its revision in the index."""

    note_id: NoteId
    new: NewChunk
    vector: Floats | None
    indexed_revision: int | None


@dataclass(slots=True)
class ModelJob:
    """An outbox row."""

    note_id: NoteId
    revision: int
    created_at: datetime
    available_at: datetime
    attempts: int = 0
    state: str = "pending"
    task: Task = Task.INDEX
    leased_until: datetime | None = None
    last_error: str | None = None

    def ask(self, revision: int, now: datetime) -> None:
        """Queue this revision."""
        self.revision, self.available_at = revision, now
        self.attempts, self.state, self.last_error = 0, "pending", None


@dataclass(slots=True)
class ReferenceModel:
    """Notes, chunks, vectors, index marks and jobs. Chunk keys come from the real database."""

    notes: dict[NoteId, Note] = field(default_factory=dict)
    texts: dict[NoteId, str] = field(default_factory=dict)
    previous: dict[NoteId, dict[int, str]] = field(default_factory=dict)
    chunks: dict[ChunkKey, ModelChunk] = field(default_factory=dict)
    derived: dict[NoteId, set[int]] = field(default_factory=dict)  #: bands; always at the note's revision
    jobs: list[ModelJob] = field(default_factory=list)

    # Notes

    def accepts(self, write: NoteWrite) -> bool:
        """Whether the write is based on the current revision, and its identity and public id are free."""
        note, existing = write.note, self.notes.get(write.note.note_id)
        if (existing.revision if existing else None) != write.replaces:
            return False
        others = [other for other in self.notes.values() if other.note_id != note.note_id]
        same_tenant = [other for other in others if other.tenant == note.tenant]
        active = [other for other in same_tenant if other.status is Status.ACTIVE]
        is_identity_taken = any(identity_of(other) == identity_of(note) for other in active)
        return not is_identity_taken and note.public_id not in {other.public_id for other in same_tenant}

    def write(self, write: NoteWrite, keys: Sequence[ChunkKey], now: datetime) -> None:
        """Apply an accepted write."""
        note, existing = write.note, self.notes.get(write.note.note_id)
        self._put(note)
        if write.text is None:
            self._mark_chunks(note) if write.indexed else None
        else:
            if existing is not None and existing.version != note.version:
                versions = self.previous.setdefault(note.note_id, {})
                versions[existing.version] = self.texts[note.note_id]
                for version in [old for old in versions if old < note.version - VERSIONS_KEPT]:
                    del versions[version]
            self.texts[note.note_id] = write.text
            self._drop_chunks(note.note_id)
            indexed = note.revision if write.indexed else None
            for key, new in zip(keys, write.chunks, strict=True):
                self.chunks[key] = ModelChunk(note.note_id, new, new.vector, indexed)
            self.derived.pop(note.note_id, None)
        self._derive(note.note_id, write.derived)
        if not write.indexed:
            self._enqueue(note.note_id, note.revision, now)
        if write.text is not None and not write.is_derived and note.status is Status.ACTIVE:
            self._enqueue(note.note_id, note.revision, now, Task.DERIVE)

    def is_at(self, note: Note) -> bool:
        """Whether the note is still at this revision."""
        existing = self.notes.get(note.note_id)
        return existing is not None and existing.revision == note.revision

    def remove(self, note: Note, now: datetime, *, indexed: bool) -> Note:
        """Move a note to the trash."""
        gone = replace(note, status=Status.DELETED, revision=note.revision + 1, deleted_at=now, updated_at=now)
        self._put(gone)
        self._drop_chunks(note.note_id)
        self.derived.pop(note.note_id, None)
        if not indexed:
            self._enqueue(note.note_id, gone.revision, now)
        return gone

    def purge(self, note: Note, now: datetime, *, indexed: bool) -> None:
        """Erase a note."""
        self._drop_chunks(note.note_id)
        del self.notes[note.note_id], self.texts[note.note_id]
        self.derived.pop(note.note_id, None)
        self.jobs = [job for job in self.jobs if (job.note_id, job.task) != (note.note_id, Task.DERIVE)]
        self.previous.pop(note.note_id, None)
        if not indexed:
            self._enqueue(note.note_id, note.revision + 1, now)

    def page(self, where: NoteFilter, now: datetime) -> list[Note]:
        """The notes that match, newest first."""
        found = [note for note in self.notes.values() if matches(note, where, now)]
        return sorted(found, key=lambda note: (note.ingested_at, note.note_id), reverse=True)

    # Chunks and vectors

    def chunks_of(self, note_id: NoteId) -> dict[ChunkKey, ModelChunk]:
        """A note's chunks, in order."""
        own = {key: chunk for key, chunk in self.chunks.items() if chunk.note_id == note_id}
        return dict(sorted(own.items(), key=lambda item: item[1].new.chunk.index))

    def with_words(self, terms: Iterable[str], where: NoteFilter, now: datetime) -> set[ChunkKey]:
        """Matching chunks that contain any of the terms."""
        asked = set(terms)
        found = self._matching(where, now)
        return {key for key, chunk in found.items() if asked & set(" ".join(chunk.new.terms).split())}

    def compared(self, where: NoteFilter, now: datetime, *, compare_all: bool) -> dict[ChunkKey, Floats]:
        """Matching chunks with a vector: all, or those not indexed at their note's revision."""
        found = self._matching(where, now).items()
        return {
            key: chunk.vector
            for key, chunk in found
            if chunk.vector is not None and (compare_all or not self._is_indexed(chunk))
        }

    def paged(self, now: datetime) -> list[ChunkKey]:
        """Chunks of current notes that have a vector, by key."""
        current = {note_id for note_id, note in self.notes.items() if is_alive(note, now)}
        return sorted(k for k, chunk in self.chunks.items() if chunk.vector is not None and chunk.note_id in current)

    def statistics(self, terms: Iterable[str]) -> tuple[int, int, int, dict[str, tuple[int, int]]]:
        """Number of chunks, pieces and terms; and for each term the pieces that contain it, and its occurrences."""
        rows = [piece.split() for chunk in self.chunks.values() for piece in chunk.new.terms]
        counts = {term: [row.count(term) for row in rows if term in row] for term in terms}
        found = {term: (len(times), sum(times)) for term, times in counts.items() if times}
        return len(self.chunks), len(rows), sum(map(len, rows)), found

    def attach(self, vectors: Mapping[ChunkKey, Floats]) -> None:
        """Add vectors to chunks that have none."""
        for key, vector in vectors.items():
            self.chunks[key].vector = vector if self.chunks[key].vector is None else self.chunks[key].vector

    # Derived rows

    def put(self, note: Note, derived: Sequence[Derivation]) -> bool:
        """Replace a note's derived rows; False if it is no longer active at this revision."""
        is_current = self.is_at(note) and note.status is Status.ACTIVE
        if is_current:
            self._derive(note.note_id, derived)
        return is_current

    def queue_derivations(self, now: datetime, *, outdated: bool) -> int:
        """Queue all active notes, oldest first, or only those without derived rows."""
        active = [note for note in self.notes.values() if note.status is Status.ACTIVE]
        queued = [note for note in active if not outdated or note.note_id not in self.derived]
        for note in sorted(queued, key=lambda note: (note.ingested_at, note.note_id)):
            self._enqueue(note.note_id, note.revision, now, Task.DERIVE).leased_until = None
        return len(queued)

    # Index marks

    def mark_all(self) -> int:
        """Mark every chunk with a vector as indexed; jobs of fully indexed notes are done."""
        embedded = [chunk for chunk in self.chunks.values() if chunk.vector is not None]
        for chunk in embedded:
            chunk.indexed_revision = self.notes[chunk.note_id].revision
        for job in self.jobs:
            note = self.notes.get(job.note_id)
            is_active = note is not None and note.status is Status.ACTIVE
            is_open = job.state == "pending" and job.task is Task.INDEX
            if is_open and is_active and self.is_indexed(job.note_id):
                job.state = "done"
        return len(embedded)

    def clear(self, now: datetime) -> int:
        """Mark every chunk as not indexed, and queue all active notes, oldest first."""
        for chunk in self.chunks.values():
            chunk.indexed_revision = None
        active = [note for note in self.notes.values() if note.status is Status.ACTIVE]
        for note in sorted(active, key=lambda note: (note.ingested_at, note.note_id)):
            self._enqueue(note.note_id, note.revision, now).leased_until = None
        return len(active)

    def is_indexed(self, note_id: NoteId) -> bool:
        """Whether every chunk of the note is indexed at its revision."""
        return all(self._is_indexed(chunk) for chunk in self.chunks_of(note_id).values())

    def count_indexed(self) -> int:
        """Chunks that are indexed at any revision."""
        return sum(c.indexed_revision is not None and c.vector is not None for c in self.chunks.values())

    def sampled(self, now: datetime) -> set[ChunkKey]:
        """Chunks of current notes that are indexed at their revision."""
        return {key for key in self.paged(now) if self._is_indexed(self.chunks[key])}

    # Jobs

    def lease(self, limit: int, now: datetime, seconds: float) -> list[ModelJob]:
        """Jobs that are due, oldest first."""
        due = [job for job in self.jobs if job.state == "pending" and job.available_at <= now]
        free = [job for job in due if job.leased_until is None or job.leased_until <= now]
        leased = sorted(free, key=lambda job: job.available_at)[:limit]
        for job in leased:
            job.leased_until = now + timedelta(seconds=seconds)
        return leased

    def finish(self, job: ModelJob, indexed: int | None = None) -> None:
        """Finish the job; mark the note as indexed at this revision, if that is still current."""
        note = self.notes.get(job.note_id)
        if note is not None and note.revision == indexed:
            self._mark_chunks(note)
        job.state, job.leased_until = "done", None

    def postpone(self, job: ModelJob, error: str, retry_at: datetime | None) -> None:
        """Record a failed attempt; None means that the job is dead."""
        job.attempts, job.last_error, job.leased_until = job.attempts + 1, error, None
        job.state, job.available_at = ("dead", job.available_at) if retry_at is None else ("pending", retry_at)

    def backlog(self, now: datetime) -> Backlog:
        """Counts of waiting jobs."""
        pending = [job for job in self.jobs if job.state == "pending"]
        dead = [job for job in self.jobs if job.state == "dead"]
        errors = [job.last_error for job in (*pending, *dead) if job.last_error is not None]
        oldest = min((job.created_at for job in pending), default=now)
        return Backlog(len(pending), len(dead), (now - oldest).total_seconds(), errors[-1] if errors else None)

    def _enqueue(self, note_id: NoteId, revision: int, now: datetime, task: Task = Task.INDEX) -> ModelJob:
        for job in self.jobs:
            if (job.note_id, job.task) == (note_id, task) and job.state != "done":
                job.ask(revision, now)
                return job
        self.jobs.append(ModelJob(note_id, revision, now, now, task=task))
        return self.jobs[-1]

    def _put(self, note: Note) -> None:
        happened = note.meta.occurred_at or note.ingested_at
        self.notes[note.note_id] = replace(note, meta=replace(note.meta, occurred_at=happened))

    def _derive(self, note_id: NoteId, derived: Sequence[Derivation]) -> None:
        for one in derived:
            self.derived[note_id] = {row.band_hash for row in one.rows if isinstance(row, FingerprintBand)}

    def _drop_chunks(self, note_id: NoteId) -> None:
        for key in self.chunks_of(note_id):
            del self.chunks[key]

    def _mark_chunks(self, note: Note) -> None:
        for chunk in self.chunks_of(note.note_id).values():
            chunk.indexed_revision = note.revision

    def _matching(self, where: NoteFilter, now: datetime) -> dict[ChunkKey, ModelChunk]:
        matching = {note_id for note_id, note in self.notes.items() if matches(note, where, now)}
        return {key: chunk for key, chunk in self.chunks.items() if chunk.note_id in matching}

    def _is_indexed(self, chunk: ModelChunk) -> bool:
        return chunk.indexed_revision == self.notes[chunk.note_id].revision

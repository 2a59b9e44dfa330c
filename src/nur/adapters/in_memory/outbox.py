"""The outbox in a list: which notes the index has still to learn about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from itertools import count
from typing import TYPE_CHECKING

from nur.ports.upkeep import Backlog, DeadLetter, Job

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from nur.domain.notes import NoteId


class _State(Enum):
    PENDING = auto()
    DONE = auto()
    DEAD = auto()


@dataclass(slots=True)
class _Row:
    job_id: int
    note_id: NoteId
    revision: int
    created_at: datetime
    available_at: datetime
    state: _State = _State.PENDING
    attempts: int = 0
    leased_by: str = ""
    leased_until: datetime | None = None
    finished_at: datetime | None = None
    last_error: str | None = None

    def is_due(self, now: datetime) -> bool:
        free = self.leased_until is None or self.leased_until <= now
        return self.state is _State.PENDING and free and self.available_at <= now


class InMemoryOutbox:
    """At most one row of a note is open: later writes raise its revision."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._ids = count(1)  #: an id is never used twice

    def enqueue(self, note_id: NoteId, revision: int, now: datetime) -> None:
        """Ask for the index to be brought to this revision; an open row of the note is raised to it."""
        for row in self._rows:
            if row.note_id == note_id and row.state is not _State.DONE:
                row.revision, row.state, row.attempts = revision, _State.PENDING, 0
                row.available_at, row.last_error = now, None
                return
        self._rows.append(_Row(next(self._ids), note_id, revision, now, now))

    def lease(self, worker: str, limit: int, now: datetime, lease_seconds: float) -> list[Job]:
        """Take jobs that are due, oldest first; nobody else gets them until the lease ends."""
        due = sorted((row for row in self._rows if row.is_due(now)), key=lambda row: (row.available_at, row.job_id))
        for row in due[:limit]:
            row.leased_by, row.leased_until = worker, now + timedelta(seconds=lease_seconds)
        return [Job(row.job_id, row.note_id, row.revision, row.attempts, worker) for row in due[:limit]]

    def finish(self, job: Job, now: datetime) -> None:
        """Close the row if nothing newer was asked meanwhile, else free it for another round."""
        row = self._release(job)
        if row is not None and row.revision == job.revision:
            row.state, row.finished_at = _State.DONE, now

    def renew(self, jobs: Sequence[Job], until: datetime) -> None:
        """Hold leases longer; those that others have taken over stay theirs."""
        for job in jobs:
            row = self._held(job)
            if row is not None:
                row.leased_until = until

    def retry_dead(self, now: datetime) -> int:
        """Give every dead letter a new life."""
        dead = [row for row in self._rows if row.state is _State.DEAD]
        for row in dead:
            row.state, row.attempts, row.available_at = _State.PENDING, 0, now
            row.leased_by, row.leased_until = "", None
        return len(dead)

    def dead_letters(self) -> list[DeadLetter]:
        """Jobs that were given up, newest first."""
        dead = [row for row in reversed(self._rows) if row.state is _State.DEAD]
        return [DeadLetter(row.note_id, None, row.revision, row.attempts, row.last_error) for row in dead]

    def count_due(self, now: datetime) -> int:
        """How many rows wait for nothing but a worker, or are being worked on."""
        return sum(row.state is _State.PENDING and row.available_at <= now for row in self._rows)

    def purge_done(self, before: datetime) -> int:
        """Forget rows that were finished before then."""
        old = [row for row in self._rows if row.finished_at is not None and row.finished_at < before]
        self._rows = [row for row in self._rows if row not in old]
        return len(old)

    def close(self, note_ids: Collection[NoteId], now: datetime) -> None:
        """What waits of these notes is done."""
        for row in self._rows:
            if row.note_id in note_ids and row.state is _State.PENDING:
                row.state, row.finished_at, row.leased_by, row.leased_until = _State.DONE, now, "", None

    def postpone(self, job: Job, error: str, retry_at: datetime | None) -> None:
        """Try again then, or give the row up as a dead letter; a newer wish is not put off."""
        row = self._release(job)
        if row is None or row.revision != job.revision:
            return
        row.attempts, row.last_error = job.attempts + 1, error
        if retry_at is None:
            row.state = _State.DEAD
        else:
            row.available_at = retry_at

    def backlog(self, now: datetime) -> Backlog:
        """What waits to be indexed."""
        pending = [row for row in self._rows if row.state is _State.PENDING]
        dead = [row for row in self._rows if row.state is _State.DEAD]
        errors = [row.last_error for row in (*pending, *dead) if row.last_error is not None]
        oldest = min((row.created_at for row in pending), default=now)
        return Backlog(len(pending), len(dead), (now - oldest).total_seconds(), errors[-1] if errors else None)

    def _release(self, job: Job) -> _Row | None:
        row = self._held(job)
        if row is not None:
            row.leased_by, row.leased_until = "", None
        return row

    def _held(self, job: Job) -> _Row | None:
        """The row, while it is this worker's: one whose lease ran out has no say any more."""
        for row in self._rows:
            if row.job_id == job.job_id and row.state is _State.PENDING and row.leased_by == job.worker:
                return row
        return None

"""The outbox in a list: which notes the index has still to learn about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from typing import TYPE_CHECKING

from nur.ports.ledger import Backlog, Job

if TYPE_CHECKING:
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
    leased_until: datetime | None = None
    last_error: str | None = None

    def is_due(self, now: datetime) -> bool:
        free = self.leased_until is None or self.leased_until <= now
        return self.state is _State.PENDING and free and self.available_at <= now


class InMemoryOutbox:
    """At most one row of a note is open: later writes raise its revision."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []  #: a row's id is its place, from 1

    def enqueue(self, note_id: NoteId, revision: int, now: datetime) -> None:
        """Ask for the index to be brought to this revision; an open row of the note is raised to it."""
        for row in self._rows:
            if row.note_id == note_id and row.state is not _State.DONE:
                row.revision, row.state, row.attempts = revision, _State.PENDING, 0
                row.available_at, row.last_error = now, None
                return
        self._rows.append(_Row(len(self._rows) + 1, note_id, revision, now, now))

    def lease(self, limit: int, now: datetime, lease_seconds: float) -> list[Job]:
        """Take jobs that are due, oldest first; nobody else gets them until the lease ends."""
        due = sorted((row for row in self._rows if row.is_due(now)), key=lambda row: (row.available_at, row.job_id))
        for row in due[:limit]:
            row.leased_until = now + timedelta(seconds=lease_seconds)
        return [Job(row.job_id, row.note_id, row.revision, row.attempts) for row in due[:limit]]

    def finish(self, job: Job) -> None:
        """Close the row if nothing newer was asked meanwhile, else free it for another round."""
        row = self._release(job)
        if row is not None and row.revision == job.revision:
            row.state = _State.DONE

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
        errors = [row.last_error for row in self._rows if row.state is not _State.DONE and row.last_error is not None]
        oldest = min((row.created_at for row in pending), default=now)
        return Backlog(len(pending), len(dead), (now - oldest).total_seconds(), errors[-1] if errors else None)

    def _release(self, job: Job) -> _Row | None:
        row = self._rows[job.job_id - 1]
        if row.state is not _State.PENDING:
            return None
        row.leased_until = None
        return row

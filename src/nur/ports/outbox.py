"""Outbox: jobs queued by writes and leased to workers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from nur.domain.notes import NoteId


class Task(StrEnum):
    """What a job does with its note."""

    INDEX = "index"  #: embed missing chunks and update the vector index to the note's revision
    DERIVE = "derive"  #: compute the rows derived from the note's text


@dataclass(frozen=True, slots=True)
class Job:
    """A leased outbox row."""

    job_id: int
    note_id: NoteId
    revision: int
    attempts: int  #: earlier attempts
    worker: str = ""  #: the lease's owner; only it can finish or postpone the job
    task: Task = Task.INDEX


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A job that failed too often and is not retried automatically."""

    note_id: NoteId
    public_id: str | None  #: None if the note is gone
    revision: int
    attempts: int
    error: str | None
    task: Task = Task.INDEX


@dataclass(frozen=True, slots=True)
class Backlog:
    """Size and age of the outbox."""

    pending: int
    dead: int
    oldest_seconds: float
    last_error: str | None  #: error of a dead letter if there is one, else of a job to be retried


class Outbox(Protocol):
    """Jobs, at most one open job per note and task. Every method is one transaction."""

    async def lease(self, worker: str, limit: int, now: datetime, lease_seconds: float) -> list[Job]:
        """Lease due jobs, oldest first. No other worker gets them until the lease ends."""
        ...

    async def renew(self, jobs: Sequence[Job], until: datetime) -> None:
        """Extend the leases that are still this worker's."""
        ...

    async def finish(self, job: Job, now: datetime, *, indexed: int | None = None) -> None:
        """Close the job, or make it due again if a newer revision was queued meanwhile.

        `indexed` is the revision now in the index; recorded only if the lease is valid and the note is at it.
        """
        ...

    async def postpone(self, job: Job, error: str, retry_at: datetime | None) -> None:
        """Record a failure. The job is due again at `retry_at`; None makes it a dead letter."""
        ...

    async def backlog(self, now: datetime) -> Backlog:
        """Return the size and age of the outbox."""
        ...

    async def count_due(self, now: datetime) -> int:
        """Count the jobs that are due or leased."""
        ...

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Return dead letters, newest first."""
        ...

    async def retry_dead(self, now: datetime) -> int:
        """Make every dead letter due again. Returns how many."""
        ...

    async def purge_done(self, before: datetime) -> int:
        """Delete jobs finished before a time. Returns how many."""
        ...

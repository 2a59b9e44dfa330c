"""Outbox: work that follows a write, leased to workers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from nur.domain.notes import NoteId


class Task(StrEnum):
    """What is to be done about a note."""

    INDEX = "index"  #: embed what is missing and bring the vector index to the note's revision
    DERIVE = "derive"  #: compute the rows that are derived from the note's text


@dataclass(frozen=True, slots=True)
class Job:
    """A leased outbox row."""

    job_id: int
    note_id: NoteId
    revision: int
    attempts: int  #: earlier tries
    worker: str = ""  #: whose lease it is; only the holder can finish or postpone it
    task: Task = Task.INDEX


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A job that failed too often and is not tried again by itself."""

    note_id: NoteId
    public_id: str | None  #: None for a note that is gone
    revision: int
    attempts: int
    error: str | None
    task: Task = Task.INDEX


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits in the outbox."""

    pending: int
    dead: int
    oldest_seconds: float
    last_error: str | None  #: of a dead letter if there is one, else of a job that is tried again


class Outbox(Protocol):
    """Jobs, at most one open job per note and task. Every method is one transaction."""

    async def lease(self, worker: str, limit: int, now: datetime, lease_seconds: float) -> list[Job]:
        """Take jobs that are due, oldest first; no other worker gets them until the lease ends."""
        ...

    async def renew(self, jobs: Sequence[Job], until: datetime) -> None:
        """Extend leases; those that others have taken over stay theirs."""
        ...

    async def finish(self, job: Job, now: datetime, *, indexed: int | None = None) -> None:
        """Close the job, unless a newer revision was asked for meanwhile: then it is due again.

        `indexed` is the revision that the index holds now; it is recorded while the lease lasts and the note is at it.
        """
        ...

    async def postpone(self, job: Job, error: str, retry_at: datetime | None) -> None:
        """Record a failure; the job is due again at `retry_at`, or dead with None."""
        ...

    async def backlog(self, now: datetime) -> Backlog:
        """What waits in the outbox."""
        ...

    async def count_due(self, now: datetime) -> int:
        """How many jobs are due or being worked on."""
        ...

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Jobs that were given up, newest first."""
        ...

    async def retry_dead(self, now: datetime) -> int:
        """Make every dead letter due again and return how many there were."""
        ...

    async def purge_done(self, before: datetime) -> int:
        """Delete rows that were finished before then and return how many."""
        ...

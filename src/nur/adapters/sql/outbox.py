"""SqlOutbox: work that follows a write, leased to workers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import and_, case, delete, func, insert, literal, literal_column, or_, select, update

from nur.adapters.sql.tables import indexing_outbox, memory_note_chunks, memory_notes
from nur.domain.notes import NoteId
from nur.ports.outbox import Backlog, DeadLetter, Job, Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection

    from nur.adapters.sql.runner import Runner

PENDING, DONE, DEAD = "pending", "done", "dead"
_rows = indexing_outbox.c
_notes = memory_notes.c


@dataclass(frozen=True, slots=True)
class SqlOutbox:
    """Jobs in one table; at most one open row per note and task."""

    run: Runner

    async def lease(self, worker: str, limit: int, now: datetime, lease_seconds: float) -> list[Job]:
        """Take jobs that are due, oldest first; no other worker gets them until the lease ends."""
        return await self.run.write(lease, worker, limit, now, lease_seconds)

    async def renew(self, jobs: Sequence[Job], until: datetime) -> None:
        """Extend leases, except those that another worker has taken over."""
        await self.run.write(_renew, jobs, until)

    async def finish(self, job: Job, now: datetime, *, indexed: int | None = None) -> None:
        """Close the job, unless a newer revision was queued meanwhile, and record what the index holds."""
        await self.run.write(_finish, job, now, indexed)

    async def postpone(self, job: Job, error: str, retry_at: datetime | None) -> None:
        """Record a failure; the job is due again at `retry_at`, or dead with None."""
        await self.run.write(_postpone, job, error, retry_at)

    async def backlog(self, now: datetime) -> Backlog:
        """Counts and errors of the jobs in the outbox."""
        return await self.run.read(backlog, now)

    async def count_due(self, now: datetime) -> int:
        """Number of jobs that are due or leased."""
        return await self.run.read(count_due, now)

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Jobs that were given up, newest first."""
        return await self.run.read(_dead_letters, limit)

    async def retry_dead(self, now: datetime) -> int:
        """Make every dead letter due again and return how many there were."""
        return await self.run.write(_retry_dead, now)

    async def purge_done(self, before: datetime) -> int:
        """Delete rows that were finished before then and return how many."""
        return await self.run.write(_purge_done, before)


def enqueue(connection: Connection, note_id: NoteId, revision: int, now: datetime, task: Task = Task.INDEX) -> None:
    """Queue a task at this revision; an open row of the note and task, even a dead one, is raised to it."""
    raised = (
        update(indexing_outbox)
        .where(_rows.note_id == note_id, _rows.task == task.value, _rows.state != DONE)
        .values(revision=revision, state=PENDING, attempts=0, available_at=now, last_error=None)
    )
    if connection.execute(raised).rowcount == 0:
        row = {"note_id": note_id, "task": task.value, "revision": revision, "state": PENDING, "attempts": 0}
        connection.execute(insert(indexing_outbox).values(**row, available_at=now, created_at=now))


def enqueue_all(
    connection: Connection, now: datetime, task: Task = Task.INDEX, only: ColumnElement[bool] | None = None
) -> int:
    """Queue a task for every active note, or for these notes, oldest first; returns how many."""
    active = _notes.status == "active" if only is None else and_(_notes.status == "active", only)
    revision = select(_notes.revision).where(_notes.note_id == _rows.note_id).scalar_subquery()
    is_open = and_(_rows.state != DONE, _rows.task == task.value)
    raised = update(indexing_outbox).where(is_open, _rows.note_id.in_(select(_notes.note_id).where(active)))
    due = {"state": PENDING, "attempts": 0, "available_at": now, "last_error": None}
    # End the leases too: a worker may have written to an index that is now emptied, and must not close its row.
    connection.execute(raised.values(revision=revision, **due, leased_by=None, leased_until=None))
    queued = select(_rows.outbox_id).where(_rows.note_id == _notes.note_id, is_open).exists()
    moment = literal(now, _rows.available_at.type)
    columns = ["note_id", "task", "revision", "state", "attempts", "available_at", "created_at"]
    new = select(_notes.note_id, literal(task.value), _notes.revision, literal(PENDING), literal(0), moment, moment)
    new = new.where(active, ~queued).order_by(_notes.ingested_at, _notes.note_id)
    connection.execute(insert(indexing_outbox).from_select(columns, new))
    return connection.execute(select(func.count()).select_from(memory_notes).where(active)).scalar_one()


def cancel(connection: Connection, note_id: NoteId, task: Task) -> None:
    """Delete every row of a note and task."""
    connection.execute(delete(indexing_outbox).where(_rows.note_id == note_id, _rows.task == task.value))


def release_all(connection: Connection) -> None:
    """End all leases. Call it where no other process has the store open: their holders are dead."""
    leased = update(indexing_outbox).where(_rows.leased_by.is_not(None))
    connection.execute(leased.values(leased_by=None, leased_until=None))


def lease(connection: Connection, worker: str, limit: int, now: datetime, lease_seconds: float) -> list[Job]:
    """Take jobs that are due, oldest first."""
    free = or_(_rows.leased_until.is_(None), _rows.leased_until <= now)
    due = (
        select(_rows.outbox_id, _rows.note_id, _rows.revision, _rows.attempts, _rows.task)
        .where(and_(_rows.state == PENDING, _rows.available_at <= now, free))
        .order_by(_rows.available_at, _rows.outbox_id)
        .limit(limit)
        .with_for_update(skip_locked=True)  # rows that another worker is taking now
    )
    rows = connection.execute(due).all()
    until = now + timedelta(seconds=lease_seconds)
    taken = update(indexing_outbox).where(_rows.outbox_id.in_([row.outbox_id for row in rows]))
    connection.execute(taken.values(leased_by=worker, leased_until=until))
    return [Job(r.outbox_id, NoteId(r.note_id), r.revision, r.attempts, worker, Task(r.task)) for r in rows]


def backlog(connection: Connection, now: datetime) -> Backlog:
    """Counts and errors of the jobs in the outbox."""
    rows = connection.execute(
        select(_rows.state, func.count().label("rows"), func.min(_rows.created_at).label("oldest"))
        .where(_rows.state != DONE)
        .group_by(_rows.state)
    ).all()
    by_state = {row.state: row for row in rows}
    pending, dead = by_state.get(PENDING), by_state.get(DEAD)
    errors = select(_rows.last_error).where(_rows.state != DONE, _rows.last_error.is_not(None))
    dead_first = (case((_rows.state == DEAD, 0), else_=1), _rows.outbox_id.desc())
    error = connection.execute(errors.order_by(*dead_first).limit(1)).scalar()
    return Backlog(
        pending=pending.rows if pending else 0,
        dead=dead.rows if dead else 0,
        oldest_seconds=(now - pending.oldest).total_seconds() if pending else 0.0,
        last_error=error,
    )


def count_due(connection: Connection, now: datetime) -> int:
    """Number of jobs that are due or leased."""
    due = (_rows.state == literal_column("'pending'"), _rows.available_at <= now)
    return connection.execute(select(func.count()).select_from(indexing_outbox).where(*due)).scalar_one()


def _is_held(job: Job) -> ColumnElement[bool]:
    """The row, as long as this worker holds its lease."""
    return and_(_rows.outbox_id == job.job_id, _rows.leased_by == job.worker, _rows.state == PENDING)


def _finish(connection: Connection, job: Job, now: datetime, indexed: int | None) -> None:
    if indexed is not None:
        _mark_indexed(connection, job, indexed)
    done = (
        update(indexing_outbox)
        .where(_is_held(job), _rows.revision == job.revision)
        .values(state=DONE, finished_at=now, leased_by=None, leased_until=None)
    )
    if connection.execute(done).rowcount == 0:
        _release(connection, job)


def _mark_indexed(connection: Connection, job: Job, revision: int) -> None:
    """Only with a valid lease: the index may have been emptied since it ended."""
    is_held = select(_rows.outbox_id).where(_is_held(job)).exists()
    is_at = select(_notes.note_id).where(_notes.note_id == job.note_id, _notes.revision == revision).exists()
    chunks = memory_note_chunks.c
    own = update(memory_note_chunks).where(chunks.note_id == job.note_id, is_held, is_at)
    connection.execute(own.values(indexed_revision=revision))


def _postpone(connection: Connection, job: Job, error: str, retry_at: datetime | None) -> None:
    values = {"attempts": job.attempts + 1, "last_error": error, "leased_by": None, "leased_until": None}
    row = update(indexing_outbox).where(_is_held(job), _rows.revision == job.revision)
    changed = row.values(**values, state=DEAD) if retry_at is None else row.values(**values, available_at=retry_at)
    if connection.execute(changed).rowcount == 0:
        _release(connection, job)


def _release(connection: Connection, job: Job) -> None:
    connection.execute(update(indexing_outbox).where(_is_held(job)).values(leased_by=None, leased_until=None))


def _renew(connection: Connection, jobs: Sequence[Job], until: datetime) -> None:
    for job in jobs:
        connection.execute(update(indexing_outbox).where(_is_held(job)).values(leased_until=until))


def _retry_dead(connection: Connection, now: datetime) -> int:
    dead = update(indexing_outbox).where(_rows.state == DEAD)
    revived = dead.values(state=PENDING, attempts=0, available_at=now, leased_by=None, leased_until=None)
    return connection.execute(revived).rowcount


def _dead_letters(connection: Connection, limit: int) -> list[DeadLetter]:
    query = (
        select(_rows.note_id, _notes.public_id, _rows.revision, _rows.attempts, _rows.last_error, _rows.task)
        .select_from(indexing_outbox.outerjoin(memory_notes, _notes.note_id == _rows.note_id))
        .where(_rows.state == DEAD)
        .order_by(_rows.outbox_id.desc())
        .limit(limit)
    )
    rows = connection.execute(query)
    return [
        DeadLetter(NoteId(r.note_id), r.public_id, r.revision, r.attempts, r.last_error, Task(r.task)) for r in rows
    ]


def _purge_done(connection: Connection, before: datetime) -> int:
    return connection.execute(delete(indexing_outbox).where(_rows.state == DONE, _rows.finished_at < before)).rowcount

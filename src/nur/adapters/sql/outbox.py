"""The outbox: which notes the index has still to learn about. Transaction bodies."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import and_, case, delete, func, insert, literal, literal_column, or_, select, update

from nur.adapters.sql.tables import indexing_outbox, memory_note_chunks, memory_notes
from nur.domain.notes import NoteId
from nur.ports.upkeep import Backlog, DeadLetter, Job

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection

o = indexing_outbox.c

PENDING, DONE, DEAD = "pending", "done", "dead"


def enqueue(connection: Connection, note_id: NoteId, revision: int, now: datetime) -> None:
    """Ask for the index to be brought to this revision; an open row of the note, dead or not, is raised to it."""
    raised = (
        update(indexing_outbox)
        .where(o.note_id == note_id, o.state != DONE)
        .values(revision=revision, state=PENDING, attempts=0, available_at=now, last_error=None)
    )
    if connection.execute(raised).rowcount == 0:
        connection.execute(
            insert(indexing_outbox).values(
                note_id=note_id, revision=revision, state=PENDING, attempts=0, available_at=now, created_at=now
            )
        )


def enqueue_all(connection: Connection, now: datetime) -> int:
    """Ask for every active note to be indexed again, the oldest first; gives back how many."""
    c, m = memory_note_chunks.c, memory_notes.c
    connection.execute(update(memory_note_chunks).where(c.indexed_revision.is_not(None)).values(indexed_revision=None))
    active = m.status == "active"
    revision = select(m.revision).where(m.note_id == o.note_id).scalar_subquery()
    raised = update(indexing_outbox).where(o.state != DONE, o.note_id.in_(select(m.note_id).where(active)))
    connection.execute(raised.values(revision=revision, state=PENDING, attempts=0, available_at=now, last_error=None))
    is_open = select(o.outbox_id).where(o.note_id == m.note_id, o.state != DONE).exists()
    moment = literal(now, o.available_at.type)
    rows = select(m.note_id, m.revision, literal(PENDING), literal(0), moment, moment).where(active, ~is_open)
    rows = rows.order_by(m.ingested_at, m.note_id)
    columns = ["note_id", "revision", "state", "attempts", "available_at", "created_at"]
    connection.execute(insert(indexing_outbox).from_select(columns, rows))
    return connection.execute(select(func.count()).select_from(memory_notes).where(active)).scalar_one()


def lease(connection: Connection, worker: str, limit: int, now: datetime, lease_seconds: float) -> list[Job]:
    """Take jobs that are due, oldest first; nobody else gets them until the lease ends."""
    free = or_(o.leased_until.is_(None), o.leased_until <= now)
    due = (
        select(o.outbox_id, o.note_id, o.revision, o.attempts)
        .where(and_(o.state == PENDING, o.available_at <= now, free))
        .order_by(o.available_at, o.outbox_id)
        .limit(limit)
    )
    rows = connection.execute(due).all()
    until = now + timedelta(seconds=lease_seconds)
    taken = update(indexing_outbox).where(o.outbox_id.in_([row.outbox_id for row in rows]))
    connection.execute(taken.values(leased_by=worker, leased_until=until))
    return [Job(row.outbox_id, NoteId(row.note_id), row.revision, row.attempts, worker) for row in rows]


def finish(connection: Connection, job: Job, now: datetime) -> None:
    """Close the row if nothing newer was asked meanwhile, else free it for another round."""
    done = (
        update(indexing_outbox)
        .where(_held(job), o.revision == job.revision)
        .values(state=DONE, finished_at=now, leased_by=None, leased_until=None)
    )
    if connection.execute(done).rowcount == 0:
        _release(connection, job)


def postpone(connection: Connection, job: Job, error: str, retry_at: datetime | None) -> None:
    """Try again then, or give the row up as a dead letter."""
    values = {"attempts": job.attempts + 1, "last_error": error, "leased_by": None, "leased_until": None}
    row = update(indexing_outbox).where(_held(job), o.revision == job.revision)
    changed = row.values(**values, state=DEAD) if retry_at is None else row.values(**values, available_at=retry_at)
    if connection.execute(changed).rowcount == 0:
        _release(connection, job)


def _release(connection: Connection, job: Job) -> None:
    connection.execute(update(indexing_outbox).where(_held(job)).values(leased_by=None, leased_until=None))


def _held(job: Job) -> ColumnElement[bool]:
    """The row, while it is this worker's: one whose lease ran out has no say any more."""
    return and_(o.outbox_id == job.job_id, o.leased_by == job.worker, o.state == PENDING)


def renew(connection: Connection, jobs: Sequence[Job], until: datetime) -> None:
    """Hold leases longer."""
    for job in jobs:
        connection.execute(update(indexing_outbox).where(_held(job)).values(leased_until=until))


def release_all(connection: Connection) -> None:
    """For a process that owns the store alone: whoever held leases is dead."""
    connection.execute(
        update(indexing_outbox).where(o.leased_by.is_not(None)).values(leased_by=None, leased_until=None)
    )


def retry_dead(connection: Connection, now: datetime) -> int:
    """Give every dead letter a new life."""
    dead = update(indexing_outbox).where(o.state == DEAD)
    revived = dead.values(state=PENDING, attempts=0, available_at=now, leased_by=None, leased_until=None)
    return connection.execute(revived).rowcount


def dead_letters(connection: Connection, limit: int) -> list[DeadLetter]:
    """Jobs that were given up, newest first."""
    m = memory_notes.c
    query = (
        select(o.note_id, m.public_id, o.revision, o.attempts, o.last_error)
        .select_from(indexing_outbox.outerjoin(memory_notes, m.note_id == o.note_id))
        .where(o.state == DEAD)
        .order_by(o.outbox_id.desc())
        .limit(limit)
    )
    rows = connection.execute(query)
    return [DeadLetter(NoteId(r.note_id), r.public_id, r.revision, r.attempts, r.last_error) for r in rows]


def count_due(connection: Connection, now: datetime) -> int:
    """How many rows wait for nothing but a worker, or are being worked on."""
    due = (o.state == literal_column("'pending'"), o.available_at <= now)
    return connection.execute(select(func.count()).select_from(indexing_outbox).where(*due)).scalar_one()


def purge_done(connection: Connection, before: datetime) -> int:
    """Forget rows that were finished before then."""
    return connection.execute(delete(indexing_outbox).where(o.state == DONE, o.finished_at < before)).rowcount


def backlog(connection: Connection, now: datetime) -> Backlog:
    """What waits to be indexed."""
    rows = connection.execute(
        select(o.state, func.count().label("rows"), func.min(o.created_at).label("oldest"))
        .where(o.state != DONE)
        .group_by(o.state)
    ).all()
    by_state = {row.state: row for row in rows}
    pending, dead = by_state.get(PENDING), by_state.get(DEAD)
    errors = select(o.last_error).where(o.state != DONE, o.last_error.is_not(None))
    dead_first = (case((o.state == DEAD, 0), else_=1), o.outbox_id.desc())
    error = connection.execute(errors.order_by(*dead_first).limit(1)).scalar()
    return Backlog(
        pending=pending.rows if pending else 0,
        dead=dead.rows if dead else 0,
        oldest_seconds=(now - pending.oldest).total_seconds() if pending else 0.0,
        last_error=error,
    )

"""The audit log: who changed what, and when. `audit` adds a line; SqlChangeLog reads the lines as a feed of changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, text, tuple_

from nur.adapters.sql.idempotency import keep_reservation
from nur.adapters.sql.tables import audit_log, memory_notes, note_versions
from nur.domain.changes import Change, ChangeKind
from nur.domain.notes import NoteId

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection

    from nur.adapters.sql.runner import Runner
    from nur.domain.access import WriteContext
    from nur.domain.notes import Note

_audit, _notes, _versions = audit_log.c, memory_notes.c, note_versions.c

#: Every writer holds this lock, shared, until it commits. Once it can be taken alone, no earlier line is missing.
WRITERS_LOCK = 5_202_013

_INSERT_LINE = insert(audit_log)
_SHARE = text("SELECT pg_advisory_xact_lock_shared(:key)")
_WAIT = text("SELECT pg_advisory_xact_lock(:key)")


def audit(
    connection: Connection,
    note: Note,
    action: str,
    context: WriteContext,
    change: ChangeKind | None = None,
    *,
    other: NoteId | None = None,
) -> None:
    """Add a line, in the transaction of the change. `change` is None where a note was only embedded or chunked again.

    Raises CallInProgress when the call has lost its idempotency key.
    """
    if context.reservation is not None:
        keep_reservation(connection, context, context.reservation)
    if connection.dialect.name == "postgresql":  # line numbers are drawn before lines are committed
        connection.execute(_SHARE, {"key": WRITERS_LOCK})
    connection.execute(
        _INSERT_LINE,
        {
            "at": context.now,
            "tenant_id": note.tenant,
            "principal": context.principal.name,
            "action": action,
            "note_id": note.note_id,
            "public_id": note.public_id,
            "revision": note.revision,
            "call_id": context.call_id,
            "change": None if change is None else change.value,
            "version": note.version,
            "other_id": other,
        },
    )


@dataclass(frozen=True, slots=True)
class SqlChangeLog:
    """The feed of changes. A position is the number of a line."""

    run: Runner

    async def settled(self, tenant: str, after: int) -> int:
        """The last position before which every line is committed; `after` if there is none behind it."""
        last = await self.run.read(_last, tenant)
        if last <= after:
            return after
        # A writer with a lower number either still holds the lock or has committed.
        await self.run.write(_wait_for_writers)
        return last

    async def page(
        self,
        tenant: str,
        after: int,
        last: int,
        *,
        limit: int,
        since: datetime | None = None,
        until: datetime | None = None,
        newest_first: bool = False,
    ) -> list[Change]:
        """Changes after `after` and up to `last`, oldest first unless `newest_first`."""
        return await self.run.read(_page, tenant, after, last, limit, since, until, newest_first)

    async def texts(self, versions: Collection[tuple[NoteId, int]], characters: int) -> dict[tuple[NoteId, int], str]:
        """The first characters of earlier texts, by note and version."""
        return await self.run.read(_texts, versions, characters) if versions else {}


def _wait_for_writers(connection: Connection) -> None:
    """Return when every line numbered so far is committed or rolled back.

    SQLite needs no wait: it has one writer, so lines are numbered in the order of commits.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(_WAIT, {"key": WRITERS_LOCK})


def _last(connection: Connection, tenant: str) -> int:
    found = connection.execute(select(func.max(_audit.audit_id)).where(_audit.tenant_id == tenant)).scalar()
    return int(found or 0)


def _page(
    connection: Connection,
    tenant: str,
    after: int,
    last: int,
    limit: int,
    since: datetime | None,
    until: datetime | None,
    newest_first: bool,
) -> list[Change]:
    query = (
        select(audit_log)
        .where(_audit.tenant_id == tenant, _audit.audit_id > after, _audit.audit_id <= last)
        .where(_audit.change.is_not(None))
        .order_by(_audit.audit_id.desc() if newest_first else _audit.audit_id)
        .limit(limit)
    )
    if since is not None:
        query = query.where(_audit.at >= since)
    if until is not None:
        query = query.where(_audit.at < until)
    return [_change(row) for row in connection.execute(query).mappings()]


def _change(row: Any) -> Change:
    return Change(
        position=row["audit_id"],
        at=row["at"],
        kind=ChangeKind(row["change"]),
        note_id=NoteId(row["note_id"]),
        public_id=row["public_id"],
        version=row["version"],
        by=row["principal"],
        other=None if row["other_id"] is None else NoteId(row["other_id"]),
    )


def _texts(
    connection: Connection, versions: Collection[tuple[NoteId, int]], characters: int
) -> dict[tuple[NoteId, int], str]:
    found: dict[tuple[NoteId, int], str] = {}
    wanted = list(versions)
    sources: tuple[tuple[ColumnElement[Any], ColumnElement[int], ColumnElement[str]], ...] = (
        (_versions.note_id, _versions.version, _versions.text),
        (_notes.note_id, _notes.version, _notes.text),
    )
    for note_id, version, content in sources:
        query = select(note_id, version, func.substr(content, 1, characters).label("text"))
        for row in connection.execute(query.where(tuple_(note_id, version).in_(wanted))):
            found[NoteId(row.note_id), row.version] = row.text
    return found

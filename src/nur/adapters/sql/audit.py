"""Lines of the audit log: who changed what, and when. Written in the transaction that makes the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert, text

from nur.adapters.sql.idempotency import keep_reservation
from nur.adapters.sql.tables import audit_log

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from nur.domain.access import WriteContext
    from nur.domain.changes import ChangeKind
    from nur.domain.notes import Note, NoteId

#: Writers share this lock until they commit. Who waits for all of them knows that no line is missing so far.
WRITERS_LOCK = 5_202_013

_INSERT = insert(audit_log)
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
    """Add a line. Without a `change` it is no change of the note: it was embedded or cut again."""
    if context.reservation is not None:
        keep_reservation(connection, context, context.reservation)
    if connection.dialect.name == "postgresql":  # numbers are drawn before lines are committed
        connection.execute(_SHARE, {"key": WRITERS_LOCK})
    connection.execute(
        _INSERT,
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


def wait_for_writers(connection: Connection) -> None:
    """Return when every line with a number drawn until now is committed or will never be.

    SQLite has one writer: there the numbers are in the order of the commits anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(_WAIT, {"key": WRITERS_LOCK})

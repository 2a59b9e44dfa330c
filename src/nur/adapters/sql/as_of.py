"""What was known at a moment: notes that were stored by then, whatever became of their texts since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from nur.adapters.sql.tables import audit_log, memory_notes

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from nur.ports.chunks import ScoringView

_notes, _audit = memory_notes.c, audit_log.c


def known(connection: Connection, views: list[ScoringView], moment: datetime | None) -> list[ScoringView]:
    """The candidates whose notes were stored by then; all where no moment is asked for.

    A note whose text was replaced since counts as stored when its first text was: the audit log has that.
    """
    if moment is None or not views:
        return views
    earlier = select(_audit.note_id).where(_audit.note_id == _notes.note_id, _audit.at <= moment).exists()
    query = select(_notes.note_id).where(
        _notes.note_id.in_({view.note_id for view in views}), or_(_notes.ingested_at <= moment, earlier)
    )
    found = set(connection.execute(query).scalars())
    return [view for view in views if view.note_id in found]

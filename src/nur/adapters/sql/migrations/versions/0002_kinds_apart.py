"""Make keys and sources identify a note within its kind; index the columns that a purge queries."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

KEYED = "status = 'active' AND kind NOT IN ('artifact', 'turn') AND key IS NOT NULL"
FROM_A_SOURCE = "status = 'active' AND source_id IS NOT NULL AND (kind = 'artifact' OR kind = 'note' AND key IS NULL)"
RENAMED = (("key", "kind || ' key'"), ("source", "'artifact source'"), ("event", "'event text'"))
NOTES = sa.text(
    "SELECT note_id, tenant_id, status, public_id, project_id, agent_id, scope, source_system, source_id"
    " FROM memory_notes"
    " WHERE kind = 'note' AND source_id IS NOT NULL AND key IS NULL ORDER BY status, ingested_at DESC, note_id"
)
RENAME = sa.text("UPDATE memory_notes SET identity = :identity WHERE note_id = :note_id")
GIVE_KEY = sa.text("UPDATE memory_notes SET key = public_id, identity = :identity WHERE note_id = :note_id")


def upgrade() -> None:
    op.drop_index("uq_notes_key", "memory_notes")
    op.drop_index("uq_notes_source", "memory_notes")
    for name, kind in RENAMED:
        prefix = f'["{name}", '
        op.execute(
            f"UPDATE memory_notes SET identity = '[\"' || {kind} || '\", ' || substr(identity, {len(prefix) + 1})"  # noqa: S608  # constants
            f" WHERE substr(identity, 1, {len(prefix)}) = '{prefix}'"
        )
    _name_notes_by_source()
    op.create_index(
        "uq_notes_key",
        "memory_notes",
        ["tenant_id", "kind", "project_id", "agent_id", "scope", "key"],
        unique=True,
        sqlite_where=sa.text(KEYED),
        postgresql_where=sa.text(KEYED),
    )
    op.create_index(
        "uq_notes_source",
        "memory_notes",
        ["tenant_id", "kind", "source_system", "source_id"],
        unique=True,
        sqlite_where=sa.text(FROM_A_SOURCE),
        postgresql_where=sa.text(FROM_A_SOURCE),
    )
    op.create_index("ix_trace_items_note", "search_trace_items", ["note_id"])
    op.create_index("ix_audit_note", "audit_log", ["note_id"])


def _name_notes_by_source() -> None:
    """Let a source identify its newest note; older ones get their public id as key, so that none is lost."""
    connection = op.get_bind()
    named: set[tuple[str, str | None, str]] = set()
    for row in connection.execute(NOTES).all():
        source = (row.tenant_id, row.source_system, row.source_id)
        if row.status == "active" and source in named:
            parts = ["note key", row.project_id, row.agent_id, row.scope, row.public_id]
            identity = json.dumps(parts, ensure_ascii=False)
            connection.execute(GIVE_KEY, {"identity": identity, "note_id": row.note_id})
            continue
        named.add(source)
        identity = json.dumps(["note source", row.source_system, row.source_id], ensure_ascii=False)
        connection.execute(RENAME, {"identity": identity, "note_id": row.note_id})

"""Notes, their versions, the audit log, and which note supersedes which."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    Uuid,
    text,
)

from nur.adapters.sql.columns import Moment
from nur.adapters.sql.tables.schema import BIG_KEY, metadata

ACTIVE = text("status = 'active'")
DELETED = text("status = 'deleted'")


def _unique_while_active(name: str, *columns: str, where: str | None = None) -> Index:
    """Unique among active notes: the trash may hold any number of others."""
    condition = ACTIVE if where is None else text(f"status = 'active' AND {where}")
    return Index(name, *columns, unique=True, sqlite_where=condition, postgresql_where=condition)


memory_notes = Table(
    "memory_notes",
    metadata,
    Column("note_id", Uuid, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("owner_id", String, nullable=False),
    Column("public_id", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("status", String, nullable=False),
    Column("identity", Text, nullable=False),  #: see domain.notes.identity
    Column("revision", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("token_count", Integer, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("chunking_version", String, nullable=False),
    Column("heading", LargeBinary, nullable=False),
    Column("type", String),
    Column("confidence", Float),
    Column("importance", Float),
    Column("title", Text),
    Column("author", Text),
    Column("participants", JSON, nullable=False),
    Column("source_system", String),
    Column("source_id", String),
    Column("source_url", Text),
    Column("conversation_id", String),
    Column("turn_index", BigInteger),
    Column("role", String),
    Column("key", String),
    Column("project_id", String, nullable=False, server_default=""),
    Column("agent_id", String, nullable=False, server_default=""),
    Column("scope", String, nullable=False, server_default=""),
    Column("sensitivity", String, nullable=False),
    Column("visibility_scope", String, nullable=False),
    Column("retention_policy", String, nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("occurred_at", Moment, nullable=False),
    Column("ingested_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("deleted_at", Moment),
    Column("resolved_at", Moment),
    # The text comes last: SQLite then reads the columns above without walking its overflow pages.
    Column("text", Text, nullable=False),
    CheckConstraint("status IN ('active', 'deleted')", name="status"),
    CheckConstraint("kind IN ('memory', 'turn', 'artifact', 'note', 'event')", name="kind"),
    CheckConstraint("revision >= 1 AND version >= 1", name="counters"),
    Index("uq_notes_public_id", "tenant_id", "public_id", unique=True),
    _unique_while_active("uq_notes_identity", "tenant_id", "identity"),
    _unique_while_active(
        "uq_notes_source",
        "tenant_id",
        "kind",
        "source_system",
        "source_id",
        where="source_id IS NOT NULL AND (kind = 'artifact' OR kind = 'note' AND key IS NULL)",
    ),
    _unique_while_active("uq_notes_turn", "tenant_id", "conversation_id", "turn_index", where="kind = 'turn'"),
    _unique_while_active(
        "uq_notes_key",
        "tenant_id",
        "kind",
        "project_id",
        "agent_id",
        "scope",
        "key",
        where="kind NOT IN ('artifact', 'turn') AND key IS NOT NULL",
    ),
    # A source that comes back is looked for in the trash: without this, every new note would mean a scan of all.
    Index("ix_notes_former_identity", "tenant_id", "identity", sqlite_where=DELETED, postgresql_where=DELETED),
    Index("ix_notes_listing", "tenant_id", "kind", "ingested_at", sqlite_where=ACTIVE, postgresql_where=ACTIVE),
    Index("ix_notes_said", "tenant_id", "occurred_at", sqlite_where=ACTIVE, postgresql_where=ACTIVE),
    Index("ix_notes_expiry", "expires_at", sqlite_where=text("expires_at IS NOT NULL")),
    Index("ix_notes_trash", "deleted_at", sqlite_where=DELETED),
)

note_versions = Table(
    "note_versions",
    metadata,
    Column("note_id", Uuid, ForeignKey("memory_notes.note_id", ondelete="CASCADE"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("content_hash", String(64), nullable=False),
    Column("title", Text),
    Column("replaced_at", Moment, nullable=False),
    Column("text", Text, nullable=False),
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("audit_id", BIG_KEY, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("tenant_id", String, nullable=False),
    Column("principal", String, nullable=False),
    Column("action", String, nullable=False),
    Column("note_id", Uuid),
    Column("public_id", String),
    Column("revision", Integer),
    Column("call_id", String),
    Column("change", String),  #: what it did to the note, for those who follow changes; null: nothing
    Column("version", Integer),  #: of the text after it
    Column("other_id", Uuid),  #: the note that supersedes this one
    Index("ix_audit_at", "tenant_id", "at"),
    Index("ix_audit_note", "note_id"),
    sqlite_autoincrement=True,
)


def _note(name: str) -> Column[object]:
    return Column(name, Uuid, ForeignKey("memory_notes.note_id", ondelete="CASCADE"), primary_key=True)


decisions = Table(
    "decisions",
    metadata,
    _note("newer_id"),
    _note("older_id"),
    Column("tenant_id", String, nullable=False),
    Column("review_id", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("newer_hash", String(64), nullable=False),
    Column("older_hash", String(64), nullable=False),
    Column("decided_by", String, nullable=False),
    Column("decided_at", Moment, nullable=False),
    Index("uq_decisions_review", "tenant_id", "review_id", unique=True),
    Index("ix_decisions_older", "older_id"),
)

suggestions = Table(
    "suggestions",
    metadata,
    _note("newer_id"),
    _note("older_id"),
    Column("tenant_id", String, nullable=False),
    Column("review_id", String, nullable=False),
    Column("relation", String, nullable=False),
    Column("newer_hash", String(64), nullable=False),
    Column("older_hash", String(64), nullable=False),
    Column("found_at", Moment, nullable=False),
    Index("uq_suggestions_review", "tenant_id", "review_id", unique=True),
    Index("ix_suggestions_older", "older_id"),
)

"""The tables, described once for every database.

Everything stored is a row of `memory_notes`; search finds rows of `memory_note_chunks`; vectors hang on chunks by
embedding version. `revision` counts every change of a note and orders everything derived from it.

The lexical rows (`chunk_terms`) are an FTS5 table in SQLite and are made in the migration: SQLAlchemy has no words
for a virtual table.
"""

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
    MetaData,
    String,
    Table,
    Text,
    Uuid,
    text,
)

from nur.adapters.ledger.columns import Moment, Vector

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

ACTIVE = text("status = 'active'")
DELETED = text("status = 'deleted'")
PENDING = text("state = 'pending'")
OPEN = text("state <> 'done'")
_BigKey = BigInteger().with_variant(Integer(), "sqlite")  # SQLite counts up only INTEGER PRIMARY KEY


def _unique_while_active(name: str, *columns: str, where: str | None = None) -> Index:
    """Unique among active notes: the trash may hold any number of former ones."""
    condition = ACTIVE if where is None else text(f"status = 'active' AND {where}")
    return Index(name, *columns, unique=True, sqlite_where=condition, postgresql_where=condition)


store_facts = Table(
    "store_facts",
    metadata,
    Column("name", String, primary_key=True),
    Column("value", Text, nullable=False),
)

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
        "source_system",
        "source_id",
        where="kind = 'artifact' AND source_id IS NOT NULL",
    ),
    _unique_while_active("uq_notes_turn", "tenant_id", "conversation_id", "turn_index", where="kind = 'turn'"),
    _unique_while_active(
        "uq_notes_key",
        "tenant_id",
        "project_id",
        "agent_id",
        "scope",
        "key",
        where="kind NOT IN ('artifact', 'turn') AND key IS NOT NULL",
    ),
    # A source that comes back is looked for in the trash: without this, every new note would mean a scan of all.
    Index("ix_notes_former_identity", "tenant_id", "identity", sqlite_where=DELETED, postgresql_where=DELETED),
    Index("ix_notes_listing", "tenant_id", "kind", "ingested_at", sqlite_where=ACTIVE, postgresql_where=ACTIVE),
    Index("ix_notes_expiry", "expires_at", sqlite_where=text("expires_at IS NOT NULL")),
    Index("ix_notes_trash", "deleted_at", sqlite_where=DELETED),
)

memory_note_chunks = Table(
    "memory_note_chunks",
    metadata,
    # The integer key is the row id of the lexical row and of every vector: one lookup instead of two.
    Column("chunk_key", _BigKey, primary_key=True),
    Column("chunk_id", Uuid, nullable=False, unique=True),
    Column("note_id", Uuid, ForeignKey("memory_notes.note_id", ondelete="CASCADE"), nullable=False),
    Column("chunk_index", Integer, nullable=False),
    Column("start_offset", Integer, nullable=False),
    Column("end_offset", Integer, nullable=False),
    Column("token_count", Integer, nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("context", Text, nullable=False, server_default=""),
    Column("revision", Integer, nullable=False),  #: the note's, kept beside so that one index finds what is stale
    Column("indexed_revision", Integer),  #: the revision that the vector index holds
    Column("term_count", Integer, nullable=False),
    Column("profile", LargeBinary, nullable=False),
    Column("sentences", LargeBinary, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("text", Text, nullable=False),
    Index("uq_chunks_place", "note_id", "chunk_index", unique=True),
    Index(
        "ix_chunks_unindexed",
        "note_id",
        sqlite_where=text("indexed_revision IS NULL OR indexed_revision <> revision"),
        postgresql_where=text("indexed_revision IS NULL OR indexed_revision <> revision"),
    ),
    sqlite_autoincrement=True,  # a key is never used twice, so an index can never show the wrong chunk
)

note_chunk_embeddings = Table(
    "note_chunk_embeddings",
    metadata,
    Column("chunk_key", _BigKey, ForeignKey("memory_note_chunks.chunk_key", ondelete="CASCADE"), primary_key=True),
    Column("embedding_version", String, primary_key=True),
    Column("embedding_dim", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("vec", Vector, nullable=False),
)

note_embeddings = Table(
    "note_embeddings",
    metadata,
    Column("note_id", Uuid, ForeignKey("memory_notes.note_id", ondelete="CASCADE"), primary_key=True),
    Column("embedding_version", String, primary_key=True),
    Column("embedding_dim", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("vec", Vector, nullable=False),
)

lexical_totals = Table(
    "lexical_totals",
    metadata,
    Column("row", Integer, primary_key=True),  #: always 1
    Column("chunks", BigInteger, nullable=False),
    Column("terms", BigInteger, nullable=False),
)

indexing_outbox = Table(
    "indexing_outbox",
    metadata,
    Column("outbox_id", _BigKey, primary_key=True),
    Column("note_id", Uuid, nullable=False),  # no foreign key: a purged note's removal is still to be applied
    Column("revision", Integer, nullable=False),
    Column("state", String, nullable=False),  #: pending, done or dead
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("available_at", Moment, nullable=False),
    Column("leased_by", String),
    Column("leased_until", Moment),
    Column("last_error", Text),
    Column("created_at", Moment, nullable=False),
    Column("finished_at", Moment),
    Index("ix_outbox_due", "available_at", "outbox_id", sqlite_where=PENDING, postgresql_where=PENDING),
    # One open row a note: later writes raise its revision instead of queueing behind it, and wake a dead letter.
    Index("uq_outbox_open", "note_id", unique=True, sqlite_where=OPEN, postgresql_where=OPEN),
    sqlite_autoincrement=True,
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

note_acl = Table(
    "note_acl",
    metadata,
    Column("note_id", Uuid, ForeignKey("memory_notes.note_id", ondelete="CASCADE"), primary_key=True),
    Column("principal", String, primary_key=True),
    Column("permission", String, nullable=False),
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("audit_id", _BigKey, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("tenant_id", String, nullable=False),
    Column("principal", String, nullable=False),
    Column("action", String, nullable=False),
    Column("note_id", Uuid),
    Column("public_id", String),
    Column("revision", Integer),
    Column("trace_id", String),
    Index("ix_audit_at", "tenant_id", "at"),
    sqlite_autoincrement=True,
)

api_tokens = Table(
    "api_tokens",
    metadata,
    Column("token_id", Uuid, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("principal", String, nullable=False),
    Column("name", String, nullable=False),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("scopes", JSON, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("last_used_at", Moment),
    Column("expires_at", Moment),
    Column("revoked_at", Moment),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("tenant_id", String, primary_key=True),
    Column("idempotency_key", String, primary_key=True),
    Column("request_hash", String(64), nullable=False),
    Column("trace_id", String, nullable=False),  #: what the call did is in the audit log under it
    Column("status_code", Integer),
    Column("response", JSON),
    Column("created_at", Moment, nullable=False),
    Index("ix_idempotency_created", "created_at"),
)

search_sessions = Table(
    "search_sessions",
    metadata,
    Column("search_id", Uuid, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("principal", String, nullable=False),
    Column("request", JSON, nullable=False),
    Column("result", LargeBinary, nullable=False),  #: compressed JSON
    Column("created_at", Moment, nullable=False),
    Index("ix_sessions_created", "created_at"),
)

search_traces = Table(
    "search_traces",
    metadata,
    Column("trace_id", Uuid, primary_key=True),
    Column("search_id", Uuid, nullable=False),
    Column("tenant_id", String, nullable=False),
    Column("principal", String, nullable=False),
    Column("query", Text),  #: None when queries are kept out of traces
    Column("request", JSON, nullable=False),
    Column("timings", JSON, nullable=False),
    Column("candidates", LargeBinary, nullable=False),  #: compressed JSON: every candidate, why kept or dropped
    Column("created_at", Moment, nullable=False),
    Index("ix_traces_search", "search_id"),
    Index("ix_traces_created", "created_at"),
)

search_trace_items = Table(
    "search_trace_items",
    metadata,
    Column("item_id", Uuid, primary_key=True),
    Column("trace_id", Uuid, ForeignKey("search_traces.trace_id", ondelete="CASCADE"), nullable=False),
    Column("rank", Integer, nullable=False),
    Column("note_id", Uuid, nullable=False),
    Column("chunk_id", Uuid, nullable=False),
    Column("scores", JSON, nullable=False),
    Index("ix_trace_items_trace", "trace_id"),
)

memory_hits = Table(
    "memory_hits",
    metadata,
    Column("hit_id", _BigKey, primary_key=True),
    Column("tenant_id", String, nullable=False),
    Column("principal", String, nullable=False),
    Column("search_id", Uuid, nullable=False),
    Column("note_id", Uuid, ForeignKey("memory_notes.note_id", ondelete="CASCADE"), nullable=False),
    Column("chunk_id", Uuid),
    Column("rank", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("ix_hits_note", "note_id"),
    sqlite_autoincrement=True,
)

"""The first schema."""

import sqlalchemy as sa
from alembic import op

from nur.adapters.sql.columns import Moment, Vector

revision = "0001"
down_revision = None

TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
FTS5 = (
    f'CREATE VIRTUAL TABLE chunk_terms USING fts5(terms, tokenize = "{TOKENIZER}")',
    "CREATE VIRTUAL TABLE chunk_vocabulary USING fts5vocab(chunk_terms, row)",
)


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    op.create_table(
        "api_tokens",
        sa.Column("token_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("last_used_at", Moment(), nullable=True),
        sa.Column("expires_at", Moment(), nullable=True),
        sa.Column("revoked_at", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("token_id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_tokens_token_hash")),
    )
    op.create_table(
        "audit_log",
        sa.Column("audit_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=True),
        sa.Column("public_id", sa.String(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=True),
        sa.Column("trace_id", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("audit_id", name=op.f("pk_audit_log")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_at", "audit_log", ["tenant_id", "at"], unique=False)
    op.create_table(
        "idempotency_keys",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("trace_id", sa.String(), nullable=False),
        sa.Column("status_code", sa.Integer(), nullable=True),
        sa.Column("response", sa.JSON(), nullable=True),
        sa.Column("created_at", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "idempotency_key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index("ix_idempotency_created", "idempotency_keys", ["created_at"], unique=False)
    op.create_table(
        "indexing_outbox",
        sa.Column("outbox_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("available_at", Moment(), nullable=False),
        sa.Column("leased_by", sa.String(), nullable=True),
        sa.Column("leased_until", Moment(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("finished_at", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("outbox_id", name=op.f("pk_indexing_outbox")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_outbox_due",
        "indexing_outbox",
        ["available_at", "outbox_id"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index(
        "uq_outbox_open",
        "indexing_outbox",
        ["note_id"],
        unique=True,
        sqlite_where=sa.text("state <> 'done'"),
        postgresql_where=sa.text("state <> 'done'"),
    )
    op.create_table(
        "lexical_totals",
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("chunks", sa.BigInteger(), nullable=False),
        sa.Column("terms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("row", name=op.f("pk_lexical_totals")),
    )
    op.create_table(
        "memory_notes",
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("public_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("token_count", sa.Integer(), nullable=False),
        sa.Column("chunk_count", sa.Integer(), nullable=False),
        sa.Column("chunking_version", sa.String(), nullable=False),
        sa.Column("heading", sa.LargeBinary(), nullable=False),
        sa.Column("type", sa.String(), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("importance", sa.Float(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("participants", sa.JSON(), nullable=False),
        sa.Column("source_system", sa.String(), nullable=True),
        sa.Column("source_id", sa.String(), nullable=True),
        sa.Column("source_url", sa.Text(), nullable=True),
        sa.Column("conversation_id", sa.String(), nullable=True),
        sa.Column("turn_index", sa.BigInteger(), nullable=True),
        sa.Column("role", sa.String(), nullable=True),
        sa.Column("key", sa.String(), nullable=True),
        sa.Column("project_id", sa.String(), server_default="", nullable=False),
        sa.Column("agent_id", sa.String(), server_default="", nullable=False),
        sa.Column("scope", sa.String(), server_default="", nullable=False),
        sa.Column("sensitivity", sa.String(), nullable=False),
        sa.Column("visibility_scope", sa.String(), nullable=False),
        sa.Column("retention_policy", sa.String(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("occurred_at", Moment(), nullable=False),
        sa.Column("ingested_at", Moment(), nullable=False),
        sa.Column("updated_at", Moment(), nullable=False),
        sa.Column("expires_at", Moment(), nullable=True),
        sa.Column("deleted_at", Moment(), nullable=True),
        sa.Column("resolved_at", Moment(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('memory', 'turn', 'artifact', 'note', 'event')", name=op.f("ck_memory_notes_kind")
        ),
        sa.CheckConstraint("status IN ('active', 'deleted')", name=op.f("ck_memory_notes_status")),
        sa.CheckConstraint("revision >= 1 AND version >= 1", name=op.f("ck_memory_notes_counters")),
        sa.PrimaryKeyConstraint("note_id", name=op.f("pk_memory_notes")),
    )
    op.create_index(
        "ix_notes_expiry", "memory_notes", ["expires_at"], unique=False, sqlite_where=sa.text("expires_at IS NOT NULL")
    )
    op.create_index(
        "ix_notes_former_identity",
        "memory_notes",
        ["tenant_id", "identity"],
        unique=False,
        sqlite_where=sa.text("status = 'deleted'"),
        postgresql_where=sa.text("status = 'deleted'"),
    )
    op.create_index(
        "ix_notes_listing",
        "memory_notes",
        ["tenant_id", "kind", "ingested_at"],
        unique=False,
        sqlite_where=sa.text("status = 'active'"),
        postgresql_where=sa.text("status = 'active'"),
    )
    op.create_index(
        "ix_notes_trash", "memory_notes", ["deleted_at"], unique=False, sqlite_where=sa.text("status = 'deleted'")
    )
    op.create_index(
        "uq_notes_identity",
        "memory_notes",
        ["tenant_id", "identity"],
        unique=True,
        sqlite_where=sa.text("status = 'active'"),
        postgresql_where=sa.text("status = 'active'"),
    )
    op.create_index(
        "uq_notes_key",
        "memory_notes",
        ["tenant_id", "project_id", "agent_id", "scope", "key"],
        unique=True,
        sqlite_where=sa.text("status = 'active' AND kind NOT IN ('artifact', 'turn') AND key IS NOT NULL"),
        postgresql_where=sa.text("status = 'active' AND kind NOT IN ('artifact', 'turn') AND key IS NOT NULL"),
    )
    op.create_index("uq_notes_public_id", "memory_notes", ["tenant_id", "public_id"], unique=True)
    op.create_index(
        "uq_notes_source",
        "memory_notes",
        ["tenant_id", "source_system", "source_id"],
        unique=True,
        sqlite_where=sa.text("status = 'active' AND kind = 'artifact' AND source_id IS NOT NULL"),
        postgresql_where=sa.text("status = 'active' AND kind = 'artifact' AND source_id IS NOT NULL"),
    )
    op.create_index(
        "uq_notes_turn",
        "memory_notes",
        ["tenant_id", "conversation_id", "turn_index"],
        unique=True,
        sqlite_where=sa.text("status = 'active' AND kind = 'turn'"),
        postgresql_where=sa.text("status = 'active' AND kind = 'turn'"),
    )
    op.create_table(
        "search_sessions",
        sa.Column("search_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("result", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("search_id", name=op.f("pk_search_sessions")),
    )
    op.create_index("ix_sessions_created", "search_sessions", ["created_at"], unique=False)
    op.create_table(
        "search_traces",
        sa.Column("trace_id", sa.Uuid(), nullable=False),
        sa.Column("search_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("query", sa.Text(), nullable=True),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("timings", sa.JSON(), nullable=False),
        sa.Column("candidates", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("trace_id", name=op.f("pk_search_traces")),
    )
    op.create_index("ix_traces_created", "search_traces", ["created_at"], unique=False)
    op.create_index("ix_traces_search", "search_traces", ["search_id"], unique=False)
    op.create_table(
        "store_facts",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_store_facts")),
    )
    op.create_table(
        "memory_hits",
        sa.Column("hit_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("search_id", sa.Uuid(), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("chunk_id", sa.Uuid(), nullable=True),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"], ["memory_notes.note_id"], name=op.f("fk_memory_hits_note_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("hit_id", name=op.f("pk_memory_hits")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_hits_note", "memory_hits", ["note_id"], unique=False)
    op.create_table(
        "memory_note_chunks",
        sa.Column("chunk_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("chunk_id", sa.Uuid(), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("chunk_index", sa.Integer(), nullable=False),
        sa.Column("start_offset", sa.Integer(), nullable=False),
        sa.Column("end_offset", sa.Integer(), nullable=False),
        sa.Column("token_count", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("context", sa.Text(), server_default="", nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("indexed_revision", sa.Integer(), nullable=True),
        sa.Column("term_count", sa.Integer(), nullable=False),
        sa.Column("profile", sa.LargeBinary(), nullable=False),
        sa.Column("sentences", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"], ["memory_notes.note_id"], name=op.f("fk_memory_note_chunks_note_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chunk_key", name=op.f("pk_memory_note_chunks")),
        sa.UniqueConstraint("chunk_id", name=op.f("uq_memory_note_chunks_chunk_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_chunks_unindexed",
        "memory_note_chunks",
        ["note_id"],
        unique=False,
        sqlite_where=sa.text("indexed_revision IS NULL OR indexed_revision <> revision"),
        postgresql_where=sa.text("indexed_revision IS NULL OR indexed_revision <> revision"),
    )
    op.create_index("uq_chunks_place", "memory_note_chunks", ["note_id", "chunk_index"], unique=True)
    op.create_table(
        "note_acl",
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("permission", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"], ["memory_notes.note_id"], name=op.f("fk_note_acl_note_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("note_id", "principal", name=op.f("pk_note_acl")),
    )
    op.create_table(
        "note_embeddings",
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("embedding_version", sa.String(), nullable=False),
        sa.Column("embedding_dim", sa.Integer(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("vec", Vector(), nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"], ["memory_notes.note_id"], name=op.f("fk_note_embeddings_note_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("note_id", "embedding_version", name=op.f("pk_note_embeddings")),
    )
    op.create_table(
        "note_versions",
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("replaced_at", Moment(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"], ["memory_notes.note_id"], name=op.f("fk_note_versions_note_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("note_id", "version", name=op.f("pk_note_versions")),
    )
    op.create_table(
        "search_trace_items",
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("trace_id", sa.Uuid(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("chunk_id", sa.Uuid(), nullable=False),
        sa.Column("scores", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["trace_id"], ["search_traces.trace_id"], name=op.f("fk_search_trace_items_trace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_search_trace_items")),
    )
    op.create_index("ix_trace_items_trace", "search_trace_items", ["trace_id"], unique=False)
    op.create_table(
        "note_chunk_embeddings",
        sa.Column("chunk_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("embedding_version", sa.String(), nullable=False),
        sa.Column("embedding_dim", sa.Integer(), nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("vec", Vector(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_key"],
            ["memory_note_chunks.chunk_key"],
            name=op.f("fk_note_chunk_embeddings_chunk_key"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("chunk_key", "embedding_version", name=op.f("pk_note_chunk_embeddings")),
    )

    op.execute('INSERT INTO lexical_totals ("row", chunks, terms) VALUES (1, 0, 0)')
    if op.get_bind().dialect.name == "sqlite":
        for statement in FTS5:
            op.execute(statement)

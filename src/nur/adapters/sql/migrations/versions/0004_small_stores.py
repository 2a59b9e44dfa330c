"""A search's trace is its session; outbox rows name their task; names follow the stores."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

OPEN = "state <> 'done'"


def upgrade() -> None:
    op.drop_table("search_sessions")
    op.drop_table("note_acl")
    op.drop_table("api_tokens")
    op.alter_column("memory_note_chunks", "profile", new_column_name="term_vector")
    op.alter_column("audit_log", "trace_id", new_column_name="call_id")
    op.alter_column("idempotency_keys", "trace_id", new_column_name="call_id")
    op.add_column("search_trace_items", sa.Column("chunk_key", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("search_trace_items", sa.Column("passages", sa.JSON(), nullable=False, server_default="[]"))
    op.add_column("search_trace_items", sa.Column("duplicates", sa.JSON(), nullable=False, server_default="[]"))
    op.add_column("indexing_outbox", sa.Column("task", sa.String(), nullable=False, server_default="index"))
    op.drop_index("uq_outbox_open", "indexing_outbox")
    op.create_index(
        "uq_outbox_open",
        "indexing_outbox",
        ["note_id", "task"],
        unique=True,
        sqlite_where=sa.text(OPEN),
        postgresql_where=sa.text(OPEN),
    )

"""The store's own facts, the outbox, and what is known about callers and their calls."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Index, Integer, String, Table, Text, Uuid, text

from nur.adapters.sql.columns import Moment
from nur.adapters.sql.tables.schema import BIG_KEY, metadata

PENDING = text("state = 'pending'")
OPEN = text("state <> 'done'")

store_facts = Table(
    "store_facts",
    metadata,
    Column("name", String, primary_key=True),
    Column("value", Text, nullable=False),
)

indexing_outbox = Table(
    "indexing_outbox",
    metadata,
    Column("outbox_id", BIG_KEY, primary_key=True),
    Column("note_id", Uuid, nullable=False),  # no foreign key: a purged note's removal is still to be applied
    Column("task", String, nullable=False, server_default="index"),
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
    # One open row per note and task: later writes raise its revision instead of queueing behind it.
    Index("uq_outbox_open", "note_id", "task", unique=True, sqlite_where=OPEN, postgresql_where=OPEN),
    sqlite_autoincrement=True,
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("tenant_id", String, primary_key=True),
    Column("idempotency_key", String, primary_key=True),
    Column("request_hash", String(64), nullable=False),
    Column("call_id", String, nullable=False),  #: what the call committed is in the audit log under it
    Column("status_code", Integer),
    Column("response", JSON),
    Column("owner", Integer),  #: the process that answers the call, where several have the store open
    Column("created_at", Moment, nullable=False),
    Index("ix_idempotency_created", "created_at"),
)

"""Searches: traces and opened results."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, String, Table, Text, Uuid

from nur.adapters.sql.columns import Moment
from nur.adapters.sql.tables.schema import BIG_KEY, metadata

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
    Column("chunk_key", BigInteger, nullable=False, server_default="0"),
    Column("scores", JSON, nullable=False),
    Column("passages", JSON, nullable=False, server_default="[]"),  #: start, end and score of each
    Column("duplicates", JSON, nullable=False, server_default="[]"),
    Column("public_id", String),
    Column("public_chunk_id", String),
    Index("ix_trace_items_trace", "trace_id"),
    Index("ix_trace_items_note", "note_id"),
)

memory_hits = Table(
    "memory_hits",
    metadata,
    Column("hit_id", BIG_KEY, primary_key=True),
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

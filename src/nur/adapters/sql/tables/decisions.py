"""What people decided about pairs of notes, and what waits to be decided."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, String, Table, Uuid

from nur.adapters.sql.columns import Moment
from nur.adapters.sql.tables.schema import metadata


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

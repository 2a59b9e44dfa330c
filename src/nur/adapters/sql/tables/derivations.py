"""What is derived from notes: one table that lists what exists, and one table per deriver for its rows."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, String, Table, Uuid

from nur.adapters.sql.columns import Moment
from nur.adapters.sql.tables.schema import BIG_KEY, metadata

derivations = Table(
    "derivations",
    metadata,
    Column("derivation_id", BIG_KEY, primary_key=True),
    Column("note_id", Uuid, ForeignKey("memory_notes.note_id", ondelete="CASCADE"), nullable=False),
    Column("deriver", String, nullable=False),
    Column("version", Integer, nullable=False),  #: the deriver's
    Column("revision", Integer, nullable=False),  #: the note's
    Column("derived_at", Moment, nullable=False),
    Index("uq_derivations_note", "note_id", "deriver", unique=True),
)

note_times = Table(
    "note_times",
    metadata,
    Column("derivation_id", BIG_KEY, ForeignKey("derivations.derivation_id", ondelete="CASCADE"), primary_key=True),
    Column("start_char", Integer, primary_key=True),
    Column("end_char", Integer, nullable=False),
    Column("first_day", Integer, nullable=False),
    Column("end_day", Integer, nullable=False),
    Index("ix_note_times", "first_day", "end_day"),
    sqlite_with_rowid=False,
)

note_statements = Table(
    "note_statements",
    metadata,
    Column("derivation_id", BIG_KEY, ForeignKey("derivations.derivation_id", ondelete="CASCADE"), primary_key=True),
    Column("start_char", Integer, primary_key=True),
    Column("end_char", Integer, nullable=False),
    Column("kind", String, nullable=False),
    Column("trust", String, nullable=False),
    Column("speaker", String, nullable=False),
    Index("ix_note_statements", "kind", "trust"),
    sqlite_with_rowid=False,
)

fingerprint_bands = Table(
    "fingerprint_bands",
    metadata,
    Column("derivation_id", BIG_KEY, ForeignKey("derivations.derivation_id", ondelete="CASCADE"), primary_key=True),
    Column("band_hash", BigInteger, primary_key=True),
    Index("ix_fingerprint_bands", "band_hash"),
    sqlite_with_rowid=False,  # its rows lie together, in the order in which notes are derived
)

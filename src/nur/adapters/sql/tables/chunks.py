"""Chunks, their vectors, what is counted about their words, and other rows derived from notes."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, String, Table, Text, Uuid, text

from nur.adapters.sql.columns import Moment, Vector
from nur.adapters.sql.tables.schema import BIG_KEY, metadata

#: Rows that each total is spread over, so that concurrent writes of different notes seldom wait for each other.
TOTALS_ROWS = 16

memory_note_chunks = Table(
    "memory_note_chunks",
    metadata,
    # The integer key is the row id of the lexical row and of every vector: one lookup instead of two.
    Column("chunk_key", BIG_KEY, primary_key=True),
    Column("chunk_id", Uuid, nullable=False, unique=True),
    Column("note_id", Uuid, ForeignKey("memory_notes.note_id", ondelete="CASCADE"), nullable=False),
    Column("chunk_index", Integer, nullable=False),
    Column("start_offset", Integer, nullable=False),
    Column("end_offset", Integer, nullable=False),
    Column("token_count", Integer, nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("context", Text, nullable=False, server_default=""),
    Column("revision", Integer, nullable=False),  #: the note's, repeated here so that one index finds stale chunks
    Column("indexed_revision", Integer),  #: the revision that the vector index holds
    Column("term_count", Integer, nullable=False),
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

chunk_pieces = Table(
    "chunk_pieces",
    metadata,
    # All pieces of a chunk in one row: a search scores thousands, and rows cost more than bytes.
    Column("chunk_key", BIG_KEY, ForeignKey("memory_note_chunks.chunk_key", ondelete="CASCADE"), primary_key=True),
    Column("piece_count", Integer, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("pieces", LargeBinary, nullable=False),
    Column("vectors", LargeBinary, nullable=False),
    Column("atoms", LargeBinary, nullable=False),
)

note_chunk_embeddings = Table(
    "note_chunk_embeddings",
    metadata,
    Column("chunk_key", BIG_KEY, ForeignKey("memory_note_chunks.chunk_key", ondelete="CASCADE"), primary_key=True),
    Column("embedding_version", String, primary_key=True),
    Column("embedding_dim", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("vec", Vector, nullable=False),
    Column("pieces", LargeBinary),  #: vectors of its pieces, where the model makes any
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

lexical_words = Table(
    "lexical_words",
    metadata,
    Column("word_key", BIG_KEY, primary_key=True),  #: in the order in which words were first stored
    Column("term", BigInteger, nullable=False, unique=True),
    Column("word", Text, nullable=False),
    sqlite_autoincrement=True,
)

lexical_totals = Table(
    "lexical_totals",
    metadata,
    Column("row", Integer, primary_key=True),  #: 1 to TOTALS_ROWS, by note
    Column("chunks", BigInteger, nullable=False),
    Column("pieces", BigInteger, nullable=False, server_default="0"),
    Column("terms", BigInteger, nullable=False),
)


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

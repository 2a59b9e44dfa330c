"""The tables, described once for every database.

Everything stored is a row of `memory_notes`; search finds rows of `memory_note_chunks` by the pieces in
`chunk_pieces`; vectors hang on chunks by embedding version, other derived rows on `derivations`. `revision` counts
every change of a note and orders everything derived from it.

The lexical rows of pieces (`piece_terms`) are an FTS5 table in SQLite and are made in the migration: SQLAlchemy has no
words for a virtual table.
"""

from __future__ import annotations

from nur.adapters.sql.tables.chunks import (
    chunk_pieces,
    derivations,
    fingerprint_bands,
    lexical_totals,
    lexical_words,
    memory_note_chunks,
    note_chunk_embeddings,
    note_embeddings,
    note_statements,
    note_times,
)
from nur.adapters.sql.tables.notes import audit_log, decisions, memory_notes, note_versions, suggestions
from nur.adapters.sql.tables.schema import metadata
from nur.adapters.sql.tables.searches import memory_hits, search_trace_items, search_traces
from nur.adapters.sql.tables.work import idempotency_keys, indexing_outbox, store_facts

__all__ = [
    "audit_log",
    "chunk_pieces",
    "decisions",
    "derivations",
    "fingerprint_bands",
    "idempotency_keys",
    "indexing_outbox",
    "lexical_totals",
    "lexical_words",
    "memory_hits",
    "memory_note_chunks",
    "memory_notes",
    "metadata",
    "note_chunk_embeddings",
    "note_embeddings",
    "note_statements",
    "note_times",
    "note_versions",
    "search_trace_items",
    "search_traces",
    "store_facts",
    "suggestions",
]

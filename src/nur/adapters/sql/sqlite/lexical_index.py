"""Lexical rows in an FTS5 table.

An ordinary FTS5 table over our own terms: contentless tables of SQLite 3.40 cannot delete. Its row id is the chunk's
key. The tokenizer splits at spaces alone, since the analyzer has done the real work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Float, bindparam, column, func, select, table, text

from nur.adapters.sql.tables import memory_note_chunks, memory_notes
from nur.domain.notes import ChunkKey
from nur.ports.chunks import TermFrequency

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection

#: Everything but spaces and control characters belongs to a term: combining marks, dots, plus signs.
_TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
CREATE = (
    f'CREATE VIRTUAL TABLE chunk_terms USING fts5(terms, tokenize = "{_TOKENIZER}")',
    "CREATE VIRTUAL TABLE chunk_vocabulary USING fts5vocab(chunk_terms, row)",
)

_terms = table("chunk_terms", column("rowid"))
_chunks = memory_note_chunks.c
_BEST = (
    select(_terms.c.rowid, func.bm25(text("chunk_terms"), type_=Float).label("bm25"))
    .select_from(_terms)
    .join(memory_note_chunks, _chunks.chunk_key == _terms.c.rowid)
    .join(memory_notes, memory_notes.c.note_id == _chunks.note_id)
    .where(text("chunk_terms MATCH :match"))
    .order_by(text("bm25"), _terms.c.rowid)
    .limit(bindparam("wanted"))
)


def match_expression(terms: Sequence[str]) -> str:
    """Any of the terms, each quoted so that FTS5 reads no operator into it."""
    quoted = ('"' + term.replace('"', '""') + '"' for term in dict.fromkeys(terms))
    return " OR ".join(quoted)


#: A term in so many chunks is common: FTS5 counts by walking all of them, and a few more or less change nothing.
COMMON = 256
#: Counts of common terms are taken again when this share of the chunks has come or gone.
STALE_SHARE = 0.01


class Fts5LexicalIndex:
    """The lexical rows of a SQLite store.

    Remembers how common the common terms are: counting those of one question costs 2 ms at 10,000 chunks, 6 at 50,000.
    """

    def __init__(self) -> None:
        self._common: dict[str, TermFrequency] = {}
        self._changed = 0  #: chunks that came or went since they were counted

    def add(self, connection: Connection, terms: Mapping[ChunkKey, str]) -> None:
        """Write the lexical rows of new chunks."""
        connection.exec_driver_sql("INSERT INTO chunk_terms (rowid, terms) VALUES (?, ?)", list(terms.items()))
        self._changed += len(terms)

    def remove(self, connection: Connection, keys: Sequence[ChunkKey]) -> None:
        """Remove the lexical rows of chunks that go."""
        connection.exec_driver_sql("DELETE FROM chunk_terms WHERE rowid = ?", [(key,) for key in keys])
        self._changed += len(keys)

    def optimize(self, connection: Connection) -> None:
        """Merge everything into one segment, so that no older one still holds what was removed."""
        connection.exec_driver_sql("INSERT INTO chunk_terms (chunk_terms) VALUES ('optimize')")

    def search(
        self, connection: Connection, terms: Sequence[str], where: ColumnElement[bool], limit: int
    ) -> list[ChunkKey]:
        """Chunks with any of the terms whose notes fulfil the condition, best first."""
        if not terms:
            return []
        found = connection.execute(_BEST.where(where), {"match": match_expression(terms), "wanted": limit})
        return [ChunkKey(row.rowid) for row in found]

    def frequencies(self, connection: Connection, terms: Sequence[str], chunks: int) -> dict[str, TermFrequency]:
        """How common each term is among so many chunks; unknown terms are left out."""
        if self._changed > STALE_SHARE * chunks:
            self._common, self._changed = {}, 0
        common = self._common  # other threads may start a new one meanwhile
        found: dict[str, TermFrequency] = {}
        for term in dict.fromkeys(terms):
            known = common.get(term) or _count(connection, term)
            if known is not None:
                found[term] = known
                if known.chunks >= COMMON:
                    common[term] = known
        return found


def _count(connection: Connection, term: str) -> TermFrequency | None:
    row = connection.exec_driver_sql("SELECT doc, cnt FROM chunk_vocabulary WHERE term = ?", (term,)).first()
    return None if row is None else TermFrequency(row.doc, row.cnt)

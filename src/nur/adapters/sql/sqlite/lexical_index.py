"""Lexical rows in an FTS5 table, one per piece.

An ordinary FTS5 table over our own terms: contentless tables of SQLite 3.40 cannot delete. The tokenizer splits at
spaces alone, since the analyzer has done the real work. A row's id is made of its chunk's key and the piece's number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlalchemy import Float, bindparam, column, func, select, table, text

from nur.adapters.sql.lexical_index import (
    MIN_SHARED_TERMS,
    CommonTerms,
    Counted,
    FoundByWords,
    best_chunks,
    read_totals,
)
from nur.adapters.sql.tables import memory_note_chunks, memory_notes
from nur.domain.notes import ChunkKey
from nur.ports.chunks import StoredWord, TermFrequency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection

    from nur.adapters.sql.lexical_index import Totals

#: Everything but spaces and control characters belongs to a term: combining marks, dots, plus signs.
_TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
CREATE = (
    f'CREATE VIRTUAL TABLE piece_terms USING fts5(terms, tokenize = "{_TOKENIZER}")',
    "CREATE VIRTUAL TABLE piece_vocabulary USING fts5vocab(piece_terms, row)",
)

#: Bits of a row id that number the pieces of one chunk: 16 million, more than the longest note has characters.
PIECE_BITS = 24

_terms = table("piece_terms", column("rowid"))
_chunks = memory_note_chunks.c
_chunk_key = _terms.c.rowid.op(">>")(PIECE_BITS)
_BEST = (
    select(_terms.c.rowid, func.bm25(text("piece_terms"), type_=Float).label("bm25"))
    .select_from(_terms)
    .where(text("piece_terms MATCH :match"))
    .order_by(text("bm25"), _terms.c.rowid)
    .limit(bindparam("wanted"))
)
_BEST_MATCHING = _BEST.join(memory_note_chunks, _chunks.chunk_key == _chunk_key).join(
    memory_notes, memory_notes.c.note_id == _chunks.note_id
)
_WORDS_AFTER = "SELECT word_key, term, word FROM lexical_words WHERE word_key > ? ORDER BY word_key LIMIT ?"
_FORGET_WORDS = (
    "DELETE FROM lexical_words WHERE NOT EXISTS"
    " (SELECT 1 FROM piece_vocabulary AS v WHERE v.term = printf('%08x', lexical_words.term))"
)


def match_expression(terms: Sequence[str]) -> str:
    """An FTS5 query for any of the terms, quoted so that none is read as an operator."""
    return " OR ".join(map(_quoted, dict.fromkeys(terms)))


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


#: Most pieces per term, the newest, that are read to find texts that share it.
NEWEST = 32
#: Most terms that are cached with their number of pieces.
SEEN_TERMS = 50_000
_NEWEST_WITH = "SELECT rowid FROM piece_terms WHERE piece_terms MATCH ? ORDER BY rowid DESC LIMIT ?"

#: Common terms are counted again when this share of the pieces was added or removed.
STALE_SHARE = 0.01


class Fts5LexicalIndex:
    """The lexical rows of a SQLite store.

    Remembers how common the common terms are: counting those of one question costs 2 ms at 10,000 pieces, 6 at 50,000.
    """

    def __init__(self) -> None:
        self._common = CommonTerms()
        self._changed = 0  #: pieces added or removed since the last count
        self._stored_words: set[int] = set()  #: terms whose word is committed
        self._seen: dict[str, int] = {}  #: last known number of pieces per term, at most NEWEST

    def add(self, connection: Connection, terms: Mapping[ChunkKey, Sequence[str]], words: Mapping[int, str]) -> None:
        """Write the lexical rows of new chunks, one per piece, and the words of their terms."""
        rows = [(_row_id(key, at), row) for key, rows in terms.items() for at, row in enumerate(rows)]
        if rows:
            connection.exec_driver_sql("INSERT INTO piece_terms (rowid, terms) VALUES (?, ?)", rows)
        self._changed += len(rows)
        new = [word for word in words.items() if word[0] not in self._stored_words]
        if new:
            connection.exec_driver_sql("INSERT OR IGNORE INTO lexical_words (term, word) VALUES (?, ?)", new)

    def committed(self, words: Iterable[int]) -> None:
        """Remember that the words of these terms are committed; `add` leaves them out from now on."""
        self._stored_words.update(words)

    def remove(self, connection: Connection, pieces: Mapping[ChunkKey, int]) -> None:
        """Remove the lexical rows of chunks."""
        rows = [(_row_id(key, at),) for key, count in pieces.items() for at in range(count)]
        if rows:
            connection.exec_driver_sql("DELETE FROM piece_terms WHERE rowid = ?", rows)
        self._changed += len(rows)

    def optimize(self, connection: Connection) -> None:
        """Merge all segments into one, so that none still contains removed rows, and delete unused words."""
        connection.exec_driver_sql("INSERT INTO piece_terms (piece_terms) VALUES ('optimize')")
        connection.exec_driver_sql(_FORGET_WORDS)
        self._stored_words = set()

    def search(
        self, connection: Connection, terms: Sequence[str], where: ColumnElement[bool], limit: int
    ) -> FoundByWords:
        """The chunks of the best `limit` pieces with any of the terms whose notes match the condition."""
        if not terms:
            return FoundByWords([], has_more=False)
        parameters = {"match": match_expression(terms)}

        def rank(wanted: int, where: ColumnElement[bool] | None = None) -> list[int]:
            best = _BEST if where is None else _BEST_MATCHING.where(where)
            return [row.rowid >> PIECE_BITS for row in connection.execute(best, parameters | {"wanted": wanted})]

        return best_chunks(connection, rank, where, limit)

    def sharing(
        self, connection: Connection, terms: Sequence[str], where: Callable[[], ColumnElement[bool]], most: int
    ) -> list[ChunkKey]:
        """Chunks of any note that share terms with a text, those with the most and rarest terms first.

        Term by term, the rarest first, without BM25: that reads the length of every piece and takes three times as
        long. Which terms are rare is known from the last time: counting all of them takes longer than the look-up.
        """
        del where  # the caller filters: reading the note of every piece would take longer than the lookup
        cursor = connection.connection.cursor()
        seen = self._seen if len(self._seen) < SEEN_TERMS else {}
        counts: dict[int, int] = {}
        weights: dict[int, float] = {}
        looked_at = 0
        for term in sorted(dict.fromkeys(terms), key=lambda term: seen.get(term, 0)):
            rows = cursor.execute(_NEWEST_WITH, (_quoted(term), NEWEST)).fetchall()
            seen[term] = len(rows)
            weight = 1.0 / math.log2(1.0 + len(rows)) if rows else 0.0
            for chunk_key in {rowid >> PIECE_BITS for (rowid,) in rows}:
                counts[chunk_key] = counts.get(chunk_key, 0) + 1
                weights[chunk_key] = weights.get(chunk_key, 0.0) + weight
            looked_at += len(rows)
            if looked_at >= most:
                break
        self._seen = seen
        cursor.close()
        least = min(MIN_SHARED_TERMS, len(terms))
        found = [ChunkKey(key) for key, count in counts.items() if count >= least]
        return sorted(found, key=lambda key: (-weights[key], -key))

    def words(self, connection: Connection, after: int, limit: int) -> list[StoredWord]:
        """Words stored after this key, in order."""
        rows = connection.exec_driver_sql(_WORDS_AFTER, (after, limit)).all()
        found = [StoredWord(*row) for row in rows]
        self._stored_words.update(word.term for word in found)
        return found

    def count(self, connection: Connection, terms: Sequence[str]) -> Counted:
        """Counts of everything, and of each term among all pieces."""
        totals = read_totals(connection)
        return Counted(totals, self.frequencies(connection, terms, totals))

    def frequencies(self, connection: Connection, terms: Sequence[str], totals: Totals) -> dict[str, TermFrequency]:
        """Counts of each term among all pieces, whose number is given; unknown terms are left out."""
        if self._changed > STALE_SHARE * totals.pieces:
            self._common.forget()
            self._changed = 0
        return self._common.count(terms, lambda new: Counted(totals, _count(connection, new))).frequencies


def _row_id(chunk_key: ChunkKey, piece: int) -> int:
    return (chunk_key << PIECE_BITS) | piece


def _count(connection: Connection, terms: Sequence[str]) -> dict[str, TermFrequency]:
    # With the driver's cursor: for the hundred terms of a question, SQLAlchemy would take longer than SQLite.
    cursor = connection.connection.cursor()
    found: dict[str, TermFrequency] = {}
    for term in terms:
        cursor.execute("SELECT doc, cnt FROM piece_vocabulary WHERE term = ?", (term,))
        row = cursor.fetchone()
        if row is not None:
            found[term] = TermFrequency(*row)
    cursor.close()
    return found

"""Lexical rows in PostgreSQL: one per term of each piece, ranked by BM25 as in FTS5.

A covering index, ordered by term, has everything that the ranking reads: a common term is one range scan, without
access to the table. A tsvector has no statistics and no BM25: PostgreSQL would fetch and unpack every piece with the
term.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Float,
    Integer,
    String,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    select,
    table,
    true,
)

from nur.adapters.sql.lexical_index import (
    MIN_SHARED_TERMS,
    TOTALS,
    CommonTerms,
    Counted,
    FoundByWords,
    Totals,
    best_chunks,
)
from nur.adapters.sql.postgres.late_rows import LateRows
from nur.adapters.sql.tables import lexical_words, memory_note_chunks, memory_notes
from nur.domain.notes import ChunkKey
from nur.ports.chunks import StoredWord, TermFrequency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection

    from nur.adapters.sql.lexical_index import Ranking

CREATE = (
    (
        "CREATE TABLE piece_terms ("
        ' term text COLLATE "C" NOT NULL, chunk_key bigint NOT NULL, piece integer NOT NULL,'
        " occurrences integer NOT NULL, length integer NOT NULL)"
    ),
    "CREATE INDEX ix_piece_terms_term ON piece_terms (term, chunk_key, piece) INCLUDE (occurrences, length)",
    "CREATE INDEX ix_piece_terms_chunk ON piece_terms (chunk_key)",
)

#: BM25 parameters, as in FTS5.
K1, B = 1.2, 0.75
#: IDF of a term that more than half of the pieces contain.
MIN_IDF = 1e-6
#: Most pieces per term, the newest, that are read to find texts that share it: all would be more with each note.
NEWEST = 256
#: Common terms are counted again when chunks or pieces have changed by this share.
STALE_SHARE = 0.01

_postings = table("piece_terms", *map(column, ("term", "chunk_key", "piece", "occurrences", "length")))
_rows = _postings.c
_words = lexical_words.c
_chunks = memory_note_chunks.c
_strings = ARRAY(String)

#: Copied, not inserted: a chunk of a document has a thousand rows, and an INSERT of them costs 2.5 times the CPU.
_ADD = "COPY piece_terms (term, chunk_key, piece, occurrences, length) FROM STDIN"
#: Characters that mean something to COPY.
_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
#: Ordered by term, so that two writes cannot deadlock. As JSON, since the driver converts arrays element by element.
_ADD_WORDS = (
    "INSERT INTO lexical_words (term, word) SELECT new.term::bigint, new.word"
    " FROM json_each_text(%s::json) AS new (term, word) ORDER BY 1 ON CONFLICT DO NOTHING"
)
#: Waits for writes that rely on a stored word: they lock this table until they commit.
_LOCK_WORDS = "LOCK TABLE lexical_words IN SHARE ROW EXCLUSIVE MODE"
_FORGET_WORDS = (
    "DELETE FROM lexical_words AS w WHERE NOT EXISTS"
    " (SELECT 1 FROM piece_terms AS p WHERE p.term = lpad(to_hex(w.term), 8, '0'))"
)
_WORDS_AFTER = select(_words.word_key, _words.term, _words.word).order_by(_words.word_key)
_with_terms = (
    select(_rows.term, func.count().label("pieces"), func.sum(_rows.occurrences, type_=BigInteger).label("occurrences"))
    .where(_rows.term == func.any(bindparam("terms", type_=_strings)))
    .group_by(_rows.term)
    .subquery()
)
_totals = TOTALS.subquery()
#: Repeats the totals in every row, one per term: a statement of its own for them takes longer than the rows.
_COUNT = select(_totals, _with_terms).join_from(_totals, _with_terms, true(), isouter=True)

_asked = (
    func.unnest(bindparam("terms", type_=_strings), bindparam("idfs", type_=ARRAY(Float)))
    .table_valued(column("term", String), column("idf", Float), name="asked")
    .render_derived()
)
_length_share = 1 - B + B * _rows.length / bindparam("average", type_=Float)
_BM25 = func.sum(_asked.c.idf * _rows.occurrences * (K1 + 1) / (_rows.occurrences + K1 * _length_share))
_BEST = (
    select(_rows.chunk_key)
    .join_from(_asked, _postings, _rows.term == _asked.c.term)
    .group_by(_rows.chunk_key, _rows.piece)
    .order_by(_BM25.desc(), _rows.chunk_key, _rows.piece)
    .limit(bindparam("wanted", type_=Integer))
)
_BEST_MATCHING = _BEST.join(memory_note_chunks, _chunks.chunk_key == _rows.chunk_key).join(
    memory_notes, memory_notes.c.note_id == _chunks.note_id
)

_given = func.unnest(bindparam("terms", type_=_strings))
_shared = _given.table_valued(column("term", String), name="shared").render_derived()
_newest = (
    select(_rows.chunk_key)
    .where(_rows.term == _shared.c.term)
    .order_by(_rows.chunk_key.desc(), _rows.piece.desc())
    .limit(literal_column(str(NEWEST)))  # not a parameter: PostgreSQL would expect a tenth of all rows
    .lateral("newest")
)
_pieces = func.count().over(partition_by=_shared.c.term).label("pieces")
_with_term = (
    select(_newest.c.chunk_key, _shared.c.term, _pieces).join_from(_shared, _newest, true()).distinct().cte("with_term")
)
_sharing = (  # before notes are looked up: most chunks share one term only
    select(
        _with_term.c.chunk_key,
        func.sum(1.0 / func.ln(1.0 + cast(_with_term.c.pieces, Float), type_=Float)).label("rarity"),
    )
    .group_by(_with_term.c.chunk_key)
    .having(func.count() >= bindparam("least", type_=Integer))
    .cte("sharing")
)
_SHARING = (
    select(_sharing.c.chunk_key)
    .join(memory_note_chunks, _chunks.chunk_key == _sharing.c.chunk_key)
    .join(memory_notes, memory_notes.c.note_id == _chunks.note_id)
    .order_by(_sharing.c.rarity.desc(), _sharing.c.chunk_key.desc())
    .limit(bindparam("most", type_=Integer))
)


class PostgresLexicalIndex:
    """The lexical rows of a PostgreSQL store, which other processes write to as well."""

    def __init__(self) -> None:
        self._common = CommonTerms()
        self._counted = (0, 0)  #: the last chunk and the number of pieces at the last count
        self._late = LateRows("lexical_words")

    def add(self, connection: Connection, terms: Mapping[ChunkKey, Sequence[str]], words: Mapping[int, str]) -> None:
        """Write the lexical rows of new chunks, and the words of their terms."""
        lines = "".join(_lines(terms))
        if lines:
            connection.exec_driver_sql(_ADD, (lines,))
        if words:
            connection.exec_driver_sql(_ADD_WORDS, (json.dumps(words),))

    def committed(self, words: Iterable[int]) -> None:
        """Remember nothing: another process may delete these words."""

    def remove(self, connection: Connection, pieces: Mapping[ChunkKey, int]) -> None:
        """Remove the lexical rows of deleted chunks."""
        connection.exec_driver_sql("DELETE FROM piece_terms WHERE chunk_key = ANY(%s)", (list(pieces),))

    def optimize(self, connection: Connection) -> None:
        """Delete words that no piece contains. PostgreSQL frees the disk space of deleted rows when it vacuums."""
        connection.exec_driver_sql(_LOCK_WORDS)
        connection.exec_driver_sql(_FORGET_WORDS)

    def search(
        self, connection: Connection, terms: Sequence[str], where: ColumnElement[bool], limit: int
    ) -> FoundByWords:
        """The chunks of the best `limit` pieces with any of the terms whose notes match the condition."""
        rank = self._ranking(connection, terms)
        return FoundByWords([], has_more=False) if rank is None else best_chunks(connection, rank, where, limit)

    def sharing(
        self, connection: Connection, terms: Sequence[str], where: Callable[[], ColumnElement[bool]], most: int
    ) -> list[ChunkKey]:
        """Chunks that share terms with a text and whose notes match the condition, most and rarest terms first."""
        if not terms:
            return []
        asked = {"terms": list(terms), "least": min(MIN_SHARED_TERMS, len(terms)), "most": most}
        return [ChunkKey(key) for key in connection.execute(_SHARING.where(where()), asked).scalars()]

    def _ranking(self, connection: Connection, terms: Sequence[str]) -> Ranking | None:
        """A function that ranks pieces by the terms; None if no piece contains any."""
        if not terms:
            return None
        totals, common = self.count(connection, terms)
        if not common:
            return None
        idfs = [_idf(totals.pieces, one.pieces) for one in common.values()]
        # In a write each statement sees the latest commits: terms may exist although the totals were still 0.
        average = totals.terms / totals.pieces if totals.pieces > 0 and totals.terms > 0 else 1.0
        parameters = {"terms": list(common), "idfs": idfs, "average": average}

        def rank(wanted: int, where: ColumnElement[bool] | None = None) -> list[int]:
            best = _BEST if where is None else _BEST_MATCHING.where(where)
            return list(connection.execute(best, parameters | {"wanted": wanted}).scalars())

        return rank

    def words(self, connection: Connection, after: int, limit: int) -> list[StoredWord]:
        """Words stored after the key `after`, in key order, preceded by earlier ones that may have been committed late.

        Must be the first read of its transaction, or be outside of one.
        """
        if limit <= 0:
            return []
        with self._late.reading(connection, after) as reading:
            again = _WORDS_AFTER.where(_words.word_key > reading.settled, _words.word_key <= after)
            late = connection.execute(again).all() if reading.settled < after else []
            new = connection.execute(_WORDS_AFTER.where(_words.word_key > after).limit(limit)).all()
            reading.last = new[-1].word_key if new else after
        return [StoredWord(*row) for row in (*late, *new)]

    def count(self, connection: Connection, terms: Sequence[str]) -> Counted:
        """Counts of everything, and of each term among all pieces."""
        counted = self._common.count(terms, partial(_count, connection))
        totals = counted.totals
        if terms and self._is_stale(totals.last_chunk, totals.pieces):
            self._common.forget()
            self._counted = (totals.last_chunk, totals.pieces)
            counted = self._common.count(terms, partial(_count, connection))
        return counted

    def _is_stale(self, last_chunk: int, pieces: int) -> bool:
        """Whether too many chunks were added or pieces removed since the last count, also by other processes."""
        counted_chunk, counted_pieces = self._counted
        return last_chunk - counted_chunk > STALE_SHARE * last_chunk or counted_pieces - pieces > STALE_SHARE * pieces


def _lines(terms: Mapping[ChunkKey, Sequence[str]]) -> Iterator[str]:
    """The rows as COPY reads them."""
    for key, rows in terms.items():
        for piece, row in enumerate(rows):
            words = row.translate(_ESCAPES).split(" ") if row else []
            for term, occurrences in Counter(words).items():
                yield f"{term}\t{key}\t{piece}\t{occurrences}\t{len(words)}\n"


def _count(connection: Connection, terms: Sequence[str]) -> Counted:
    rows = connection.execute(_COUNT, {"terms": list(terms)}).all()
    width = len(Totals._fields)
    found = {row[width]: TermFrequency(*row[width + 1 :]) for row in rows if row[width] is not None}
    return Counted(Totals._make(rows[0][:width]), found)


def _idf(pieces: int, having: int) -> float:
    # A cached count may be 1 % too high, and exceed the number of pieces.
    return max(math.log((max(pieces, having) - having + 0.5) / (having + 0.5)), MIN_IDF)

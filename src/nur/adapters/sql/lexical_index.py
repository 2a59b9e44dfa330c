"""The lexical index of pieces: its interface, and what all databases share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sqlalchemy import BigInteger, cast, func, select

from nur.adapters.sql.filters import one_of
from nur.adapters.sql.tables import lexical_totals, memory_note_chunks, memory_notes
from nur.domain.notes import ChunkKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection

    from nur.ports.chunks import StoredWord, TermFrequency

#: A term in this many pieces is common: counting it would scan all of them, and its count need not be exact.
COMMON = 256
#: This many times the wanted pieces are ranked before filtering: filtering every piece that contains a word costs more
#: than ranking it. If too few of them match, all pieces are filtered.
UNFILTERED = 4
#: Least number of the looked-up terms that a chunk must share with a text.
MIN_SHARED_TERMS = 2

_chunks = memory_note_chunks.c
_MATCHING = (
    select(_chunks.chunk_key)
    .select_from(memory_note_chunks)
    .join(memory_notes, memory_notes.c.note_id == _chunks.note_id)
)
TOTALS = select(
    *(
        cast(func.coalesce(func.sum(lexical_totals.c[name]), 0), BigInteger).label(name)
        for name in ("chunks", "pieces", "terms")
    ),
    func.coalesce(select(func.max(_chunks.chunk_key)).scalar_subquery(), 0).label("last_chunk"),
)


class Totals(NamedTuple):
    """Counts over everything stored."""

    chunks: int
    pieces: int
    terms: int  #: term occurrences in all pieces
    last_chunk: int = 0  #: the largest chunk key; 0 without chunks


def read_totals(connection: Connection) -> Totals:
    """The counts now."""
    return Totals._make(connection.execute(TOTALS).one())


class Counted(NamedTuple):
    """Counts of everything stored, and of some terms."""

    totals: Totals
    frequencies: dict[str, TermFrequency]  #: to within 1 %; unknown terms are left out


class FoundByWords(NamedTuple):
    """Chunks whose pieces contain the terms."""

    chunks: Sequence[ChunkKey]  #: by their best piece, best first
    has_more: bool  #: whether the limit was reached


class LexicalIndex(Protocol):
    """Finds pieces by their analysed terms, inside the transaction it is given."""

    def add(self, connection: Connection, terms: Mapping[ChunkKey, Sequence[str]], words: Mapping[int, str]) -> None:
        """Write the lexical rows of new chunks, one per piece, and the words of their terms."""
        ...

    def committed(self, words: Iterable[int]) -> None:
        """Take note that the words of these terms are committed: writing them again may be left out."""
        ...

    def remove(self, connection: Connection, pieces: Mapping[ChunkKey, int]) -> None:
        """Remove the lexical rows of chunks, given with their number of pieces."""
        ...

    def search(
        self, connection: Connection, terms: Sequence[str], where: ColumnElement[bool], limit: int
    ) -> FoundByWords:
        """The chunks of the best `limit` pieces with any of the terms whose notes match the condition."""
        ...

    def sharing(
        self, connection: Connection, terms: Sequence[str], where: Callable[[], ColumnElement[bool]], most: int
    ) -> list[ChunkKey]:
        """Chunks that share terms with a text, those with the most and rarest terms first.

        Cheaper than a search, for it looks at about `most` pieces. Notes that do not fulfil the condition may be among
        them; a database that can tell them apart cheaply leaves them out. `where` builds the condition, which takes
        longer than the look-up, so it is called only there.
        """
        ...

    def words(self, connection: Connection, after: int, limit: int) -> list[StoredWord]:
        """Words stored after this key, in order, and earlier ones that may not have been seen yet.

        Inside a transaction nothing else may be read before them.
        """
        ...

    def count(self, connection: Connection, terms: Sequence[str]) -> Counted:
        """Counts of everything, and of each term among all pieces."""
        ...

    def optimize(self, connection: Connection) -> None:
        """Remove the last traces of removed rows, and words that no piece contains."""
        ...


class Ranking(Protocol):
    """The database's own ranking of one question."""

    def __call__(self, wanted: int, where: ColumnElement[bool] | None = None) -> list[int]:
        """The chunk keys of the best pieces, best first; with a condition, only of notes that match it."""
        ...


def best_chunks(connection: Connection, rank: Ranking, where: ColumnElement[bool], limit: int) -> FoundByWords:
    """The chunks of the best `limit` pieces whose notes match the condition."""
    ranked = rank(UNFILTERED * limit)
    distinct = list(dict.fromkeys(ranked))
    among = one_of(connection, _chunks.chunk_key, distinct)
    matching = set(connection.execute(_MATCHING.where(among, where)).scalars())
    found = [key for key in ranked if key in matching]
    if len(found) < limit and len(ranked) == UNFILTERED * limit:
        found = rank(limit, where)
    best = dict.fromkeys(ChunkKey(key) for key in found[:limit])
    return FoundByWords(list(best), has_more=len(found) >= limit)


@dataclass(slots=True)
class CommonTerms:
    """Caches the counts of common terms: counting those of one question takes milliseconds."""

    _known: dict[str, TermFrequency] = field(default_factory=dict)

    def forget(self) -> None:
        """Clear the cache."""
        self._known = {}

    def count(self, terms: Sequence[str], count: Callable[[Sequence[str]], Counted]) -> Counted:
        """Counts of everything and of each term; the terms that are not cached are counted."""
        known = self._known  # other threads may replace it meanwhile
        distinct = list(dict.fromkeys(terms))
        totals, counted = count([term for term in distinct if term not in known])
        found = {term: known.get(term) or counted[term] for term in distinct if term in known or term in counted}
        known.update((term, one) for term, one in counted.items() if one.pieces >= COMMON)
        return Counted(totals, found)

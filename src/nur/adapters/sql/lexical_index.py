"""Lexical rows of pieces: what each database does its own way, and what all of them share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sqlalchemy import select

from nur.adapters.sql.filters import one_of
from nur.adapters.sql.tables import memory_note_chunks, memory_notes
from nur.domain.notes import ChunkKey

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection

    from nur.ports.chunks import StoredWord, TermFrequency

#: A term in so many pieces is common: counting it means walking all of them, and a few more or less change nothing.
COMMON = 256
#: So many times the wanted pieces are ranked before any is filtered: filtering every piece that contains a word costs
#: more than ranking it. Where too few of them pass, all are filtered.
UNFILTERED = 4

_chunks = memory_note_chunks.c
_MATCHING = (
    select(_chunks.chunk_key)
    .select_from(memory_note_chunks)
    .join(memory_notes, memory_notes.c.note_id == _chunks.note_id)
)


class FoundByWords(NamedTuple):
    """Chunks whose pieces contain what was asked for."""

    chunks: Sequence[ChunkKey]  #: by their best piece, best first
    has_more: bool  #: as many pieces were found as were asked for


class LexicalIndex(Protocol):
    """Finds pieces by their analysed terms, inside the transaction it is given."""

    def add(self, connection: Connection, terms: Mapping[ChunkKey, Sequence[str]], words: Mapping[int, str]) -> None:
        """Write the lexical rows of new chunks, one for each of their pieces, and the words of their terms."""
        ...

    def remove(self, connection: Connection, pieces: Mapping[ChunkKey, int]) -> None:
        """Remove the lexical rows of chunks that go, which have so many pieces."""
        ...

    def search(
        self, connection: Connection, terms: Sequence[str], where: ColumnElement[bool], limit: int
    ) -> FoundByWords:
        """The chunks of the best `limit` pieces with any of the terms whose notes fulfil the condition."""
        ...

    def sharing(
        self, connection: Connection, terms: Sequence[str], where: ColumnElement[bool], most: int
    ) -> list[ChunkKey]:
        """Chunks that share terms with a text, those with the rarest and most of them first.

        Cheaper than a search, for it looks at about `most` pieces. Notes that do not fulfil the condition may be among
        them; a database that can tell them apart cheaply leaves them out.
        """
        ...

    def words(self, connection: Connection, after: int, limit: int) -> list[StoredWord]:
        """The words that were stored after this one, in order, and any before it that may not have been seen yet.

        Nothing else may be read before them in the same transaction.
        """
        ...

    def frequencies(self, connection: Connection, terms: Sequence[str], pieces: int) -> dict[str, TermFrequency]:
        """How common each term is among so many pieces, to within a hundredth; unknown terms are left out."""
        ...

    def optimize(self, connection: Connection) -> None:
        """Leave nothing of what was removed, and forget words that no piece has."""
        ...


class Ranking(Protocol):
    """The database's own ranking of one question."""

    def __call__(self, wanted: int, where: ColumnElement[bool] | None = None) -> list[int]:
        """The chunk keys of the best pieces, best first; with a condition, only of notes that fulfil it."""
        ...


def best_chunks(connection: Connection, rank: Ranking, where: ColumnElement[bool], limit: int) -> FoundByWords:
    """The chunks of the best `limit` pieces whose notes fulfil the condition."""
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
    """Remembers how common the common terms are: counting those of one question costs milliseconds."""

    _known: dict[str, TermFrequency] = field(default_factory=dict)

    def forget(self) -> None:
        """Count them again."""
        self._known = {}

    def frequencies(
        self, terms: Sequence[str], count: Callable[[Sequence[str]], dict[str, TermFrequency]]
    ) -> dict[str, TermFrequency]:
        """How common each term is; those that are not known are counted."""
        known = self._known  # other threads may start a new one meanwhile
        distinct = list(dict.fromkeys(terms))
        counted = count([term for term in distinct if term not in known])
        found = {term: known.get(term) or counted[term] for term in distinct if term in known or term in counted}
        known.update((term, one) for term, one in counted.items() if one.pieces >= COMMON)
        return found

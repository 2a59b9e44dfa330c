"""SqlChunkStore: reads chunks for search and indexing. The first read of a search is in `candidates.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, select

from nur.adapters.sql.filters import NOW, STATEMENTS, among, chunks_matching, one_of
from nur.adapters.sql.mapping import (
    CHUNK_COLUMNS,
    NOTE_COLUMNS,
    PIECE_COLUMNS,
    WITH_PIECES,
    has_vector,
    records,
    to_chunk,
    to_chunk_with_note,
)
from nur.adapters.sql.tables import memory_note_chunks, memory_notes
from nur.ports.chunks import CandidateSet, CorpusStatistics
from nur.retrieval.ranking.grouping import lookalikes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.adapters.sql.runner import Runner
    from nur.domain.chunks import StoredChunk
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import ChunkKey, NoteId
    from nur.ports.chunks import CandidateQuery, ChunkWithNote, StoredWord

from nur.adapters.sql.candidates import candidates, candidates_of, not_indexed

_chunks = memory_note_chunks.c
_notes = memory_notes.c

# Built once: building a statement of fifty columns takes longer than running it.
_SHOWN = select(*CHUNK_COLUMNS, *PIECE_COLUMNS, *NOTE_COLUMNS, has_vector()).select_from(WITH_PIECES)


@dataclass(frozen=True, slots=True)
class SqlChunkStore:
    """Chunks for search. Each method reads one snapshot, except those that count."""

    run: Runner
    lexical_index: LexicalIndex

    async def statistics(self, terms: Sequence[str] = ()) -> CorpusStatistics:
        """Counts over everything stored, and for these terms."""
        return await self.run.read_one(statistics, self.lexical_index, terms)

    async def look_up(
        self,
        after: int,
        limit: int,
        terms_of: Callable[[Sequence[StoredWord]], Sequence[str]],
        *,
        with_not_indexed: bool = True,
    ) -> CorpusStatistics:
        """Counts over everything stored, and for the terms that `terms_of` chooses from words stored after `after`."""
        # Without a transaction: counts and words are estimates, and beginning and ending one takes as long as a count.
        return await self.run.read_one(_look_up, self.lexical_index, after, limit, terms_of, with_not_indexed)

    async def candidates(self, query: CandidateQuery) -> CandidateSet:
        """The candidates of a question, and the full chunks of those that have equal terms."""
        return await self.run.read(read_candidates, self.lexical_index, query)

    async def by_words(self, terms: Sequence[str], where: NoteFilter, now: datetime, limit: int) -> list[ChunkKey]:
        """Chunks whose pieces contain any of the terms, best first by the database's own ranking."""
        found = await self.run.read(self.lexical_index.search, terms, chunks_matching(where, now), limit)
        return list(found.chunks)

    async def candidates_of(self, note_id: NoteId, query: CandidateQuery) -> CandidateSet:
        """The chunks of one note as candidates, whether or not a ranker finds them."""
        return await self.run.read(candidates_of, note_id, query)

    async def show(
        self,
        chunks: Mapping[ChunkKey, NoteId],
        where: NoteFilter,
        now: datetime,
        *,
        with_neighbours: bool = False,
        with_texts: bool = False,
    ) -> dict[ChunkKey, ChunkWithNote]:
        """Chunks to show, with their notes, without those that are deleted, expired or filtered out.

        A chunk that was replaced is represented by its note's first chunk.
        """
        read = self.run.read if with_neighbours or with_texts else self.run.read_one
        return await read(_show, chunks, where, now, with_neighbours=with_neighbours, with_texts=with_texts)

    async def of_note(self, note_id: NoteId) -> list[StoredChunk]:
        """A note's chunks, in order."""
        return await self.run.read(chunks_of, note_id)


def statistics(connection: Connection, lexical_index: LexicalIndex, terms: Sequence[str]) -> CorpusStatistics:
    """Counts over everything stored, and for these terms."""
    totals, frequencies = lexical_index.count(connection, terms)
    return CorpusStatistics(totals.chunks, totals.pieces, totals.terms, frequencies)


def _look_up(
    connection: Connection,
    lexical_index: LexicalIndex,
    after: int,
    limit: int,
    terms_of: Callable[[Sequence[StoredWord]], Sequence[str]],
    with_not_indexed: bool,
) -> CorpusStatistics:
    counted = statistics(connection, lexical_index, terms_of(lexical_index.words(connection, after, limit)))
    return replace(counted, not_indexed=not_indexed(connection)) if with_not_indexed else counted


def read_candidates(connection: Connection, lexical_index: LexicalIndex, query: CandidateQuery) -> CandidateSet:
    """The candidates, and the full chunks of those that have equal terms."""
    found = candidates(connection, lexical_index, query)
    return replace(found, lookalikes=_read(connection, lookalikes(found.views)))


def chunks_of(connection: Connection, note_id: NoteId, embedding_version: str | None = None) -> list[StoredChunk]:
    """A note's chunks in order; each tells whether it has a vector of this version (None: of any)."""
    query = (
        select(*CHUNK_COLUMNS, has_vector(embedding_version))
        .where(_chunks.note_id == note_id)
        .order_by(_chunks.chunk_index)
    )
    return [to_chunk(row, note_id, has_vector=row["has_vector"]) for row in records(connection.execute(query))]


def _show(
    connection: Connection,
    chunks: Mapping[ChunkKey, NoteId],
    where: NoteFilter,
    now: datetime,
    *,
    with_neighbours: bool,
    with_texts: bool,
) -> dict[ChunkKey, ChunkWithNote]:
    found = _shown(connection, _shown_keys(connection.dialect.name, where), {"keys": list(chunks), "now": now})
    replaced = {key: note_id for key, note_id in chunks.items() if key not in found}
    if replaced:
        of_notes = _chunks.note_id.in_(set(replaced.values()))
        first = _SHOWN.where(of_notes, _chunks.chunk_index == 0, chunks_matching(where, now))
        current = {one.note.note_id: one for one in _shown(connection, first).values()}
        found |= {key: current[note_id] for key, note_id in replaced.items() if note_id in current}
    found = _between_neighbours(connection, found) if with_neighbours else found
    return _with_texts(connection, found) if with_texts else found


@lru_cache(STATEMENTS)
def _shown_keys(dialect: str, where: NoteFilter) -> Select[*tuple[Any, ...]]:
    return _SHOWN.where(among(dialect, _chunks.chunk_key, "keys"), chunks_matching(where, NOW))


def _with_texts(connection: Connection, found: Mapping[ChunkKey, ChunkWithNote]) -> dict[ChunkKey, ChunkWithNote]:
    """Each chunk with the full text of its note."""
    note_ids = {one.note.note_id for one in found.values()}
    rows = connection.execute(select(_notes.note_id, _notes.text).where(_notes.note_id.in_(note_ids)))
    texts = {row.note_id: row.text for row in rows}
    return {key: replace(one, text=texts[one.note.note_id]) for key, one in found.items()}


def _read(connection: Connection, keys: Sequence[ChunkKey]) -> dict[ChunkKey, ChunkWithNote]:
    return _shown(connection, _SHOWN.where(one_of(connection, _chunks.chunk_key, keys))) if keys else {}


def _shown(
    connection: Connection, statement: Select[*tuple[Any, ...]], values: Mapping[str, Any] | None = None
) -> dict[ChunkKey, ChunkWithNote]:
    rows = records(connection.execute(statement, values))
    found = (to_chunk_with_note(row, has_vector=row["has_vector"]) for row in rows)
    return {one.stored.chunk_key: one for one in found}


def _between_neighbours(
    connection: Connection, found: Mapping[ChunkKey, ChunkWithNote]
) -> dict[ChunkKey, ChunkWithNote]:
    """Each chunk with the chunks before and after it in its note."""
    places = [
        (one.note.note_id, one.stored.chunk.index + step)
        for one in found.values()
        for step in (-1, 1)
        if one.note.is_chunked
    ]
    if not places:
        return dict(found)
    # Not as pairs: SQLite would scan every chunk. This reads a few chunks too many, which are ignored.
    note_ids, indexes = {note_id for note_id, _ in places}, {index for _, index in places}
    near = (one_of(connection, _chunks.note_id, note_ids), one_of(connection, _chunks.chunk_index, indexes))
    statement = select(*CHUNK_COLUMNS, _chunks.note_id).where(*near)
    chunks = {
        (row["note_id"], row["chunk_index"]): to_chunk(row, row["note_id"]).chunk
        for row in records(connection.execute(statement))
    }
    return {
        key: replace(
            one,
            before=chunks.get((one.note.note_id, one.stored.chunk.index - 1)),
            after=chunks.get((one.note.note_id, one.stored.chunk.index + 1)),
        )
        for key, one in found.items()
    }

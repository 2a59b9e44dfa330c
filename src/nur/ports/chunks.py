"""ChunkStore: reads chunks for search and indexing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from nur.domain.chunks import Chunk, StoredChunk
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import ChunkKey, Kind, Note, NoteId
    from nur.ports.embedder import Floats
    from nur.ports.vector_index import Neighbour

#: Characters at the start of a chunk that ranking reads: room for a speaker's name and a colon.
OPENING = 64


class TermFrequency(NamedTuple):
    """How often a term occurs in the store."""

    pieces: int  #: number of pieces that contain it
    occurrences: int


UNKNOWN = TermFrequency(0, 0)


class StoredWord(NamedTuple):
    """A word that occurs in the store."""

    key: int  #: ascending in the order of first storage
    term: int
    word: str


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Counts over everything stored, for idf and query weights."""

    chunks: int
    pieces: int
    terms: int  #: term occurrences in all pieces
    frequencies: Mapping[str, TermFrequency]  #: of the requested terms; unknown terms are left out
    not_indexed: frozenset[ChunkKey] = frozenset()  #: chunks missing from the index; only `look_up` fills this


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkWithNote:
    """A chunk and its note, as they are now. Only `show` fills the fields after `note`."""

    stored: StoredChunk
    note: Note
    pieces: bytes = b""  #: encoded pieces for passage extraction (`retrieval.pieces.stored`)
    atoms: bytes = b""  #: encoded atoms of those pieces
    before: Chunk | None = None  #: the previous chunk of the note
    after: Chunk | None = None  #: the next chunk of the note
    text: str | None = None  #: the note's full text


class ScoringView(NamedTuple):
    """The columns of a chunk that ranking reads. No text: a search ranks hundreds and shows five."""

    chunk_key: ChunkKey
    chunk_index: int
    content_hash: str
    characters: int
    opening: str  #: its first characters, which may name the speaker
    note_id: NoteId
    public_id: str
    kind: Kind
    chunk_count: int
    heading: bytes
    role: str | None
    conversation_id: str | None
    turn_index: int | None
    digest: bytes  #: equal for chunks with the same terms
    pieces: bytes  #: terms and offsets of its pieces (`retrieval.pieces.stored`); empty until analysed again
    piece_vectors: bytes
    is_decided: bool = False  #: whether a decision names its note as the older one of two

    @property
    def is_chunked(self) -> bool:
        """Whether its note has several chunks."""
        return self.chunk_count > 1

    @property
    def turn(self) -> tuple[str, int] | None:
        """Conversation and index of a turn; None for every other kind."""
        if self.conversation_id is None or self.turn_index is None:
            return None
        return self.conversation_id, self.turn_index


@dataclass(frozen=True, slots=True)
class AskedWindow:
    """A period that a query asks about."""

    first_day: int  #: as `date.toordinal` returns it, in the store's time zone
    end_day: int  #: exclusive
    said_from: datetime  #: start of the same period in UTC
    said_until: datetime  #: exclusive


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateQuery:
    """Input of a search's first read, which collects candidates."""

    where: NoteFilter
    now: datetime
    limit: int  #: maximum chunks from the vector index
    lexical_limit: int = 0  #: maximum pieces from the lexical rows
    terms: Sequence[str] = ()  #: lexical terms; a piece must contain one of them. Empty: no lexical candidates
    vector: Floats | None = None  #: the query's vector; None: no vectors are compared
    found_by_words: Sequence[ChunkKey] = ()  #: lexical candidates from a sparse index, added to those found here
    neighbours: Sequence[Neighbour] = ()  #: candidates from the vector index
    compare_found: bool = True  #: compute cosines of lexical candidates too
    with_model_vectors: bool = False  #: read the piece vectors made by the store's embedding model
    not_indexed: frozenset[ChunkKey] = frozenset()  #: chunks missing from the index before it was queried
    index_is_complete: bool = False  #: the index has every committed vector: none is compared one by one
    compare_all: bool = False  #: scan every vector that matches the filter, not only those not indexed yet
    max_compared: int = 0  #: maximum vectors in the exact scan
    embedding_version: str = ""
    windows: Sequence[AskedWindow] = ()  #: notes said in one of them, or naming a time in one, are candidates
    known_at: datetime | None = None  #: only notes stored by then; None: all
    asks_when: bool = False  #: fill `CandidateSet.dated`
    with_updates: bool = False  #: fill `CandidateSet.updated_by`
    turn_distance: int = 0  #: turns this close to a candidate turn become candidates too


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSet:
    """Everything ranking needs, read in one snapshot."""

    views: Sequence[ScoringView]
    context_turns: Sequence[ScoringView] = ()  #: not ranked, but their terms count for neighbouring turns
    cosines: Mapping[ChunkKey, float] = field(default_factory=dict)  #: similarity to the query, for chunks with vectors
    model_vectors: Mapping[ChunkKey, bytes] = field(default_factory=dict)  #: piece vectors by the store's own model
    lookalikes: Mapping[ChunkKey, ChunkWithNote] = field(default_factory=dict)  #: candidates with the same terms
    not_visible: Sequence[ChunkKey] = ()  #: found by a ranker, but deleted, expired or filtered out
    in_window: frozenset[ChunkKey] = frozenset()  #: said in one of the query's windows, or naming a time in one
    dated: frozenset[ChunkKey] = frozenset()  #: naming any time; empty unless `asks_when`
    #: Public ids of the notes that supersede a candidate, by its public id. They are candidates too.
    superseded: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Public ids of memories that may update a candidate, the newest first, by its public id. They are candidates too.
    updated_by: Mapping[str, Sequence[str]] = field(default_factory=dict)
    has_more: bool = False  #: a ranker reached its limit, so there may be more candidates
    is_complete: bool = True  #: False: too many chunks for the exact scan, so no vectors were compared
    missed_by_index: bool = False  #: with `compare_all`: the index lacks a chunk that it should have
    any_stored: bool = True  #: whether any note matches the filter; checked only if there are no candidates


class ChunkStore(Protocol):
    """Reads chunks. Every method uses one snapshot."""

    async def statistics(self, terms: Sequence[str] = ()) -> CorpusStatistics:
        """Return counts over everything stored, and the frequencies of these terms."""
        ...

    async def look_up(
        self,
        after: int,
        limit: int,
        terms_of: Callable[[Sequence[StoredWord]], Sequence[str]],
        *,
        with_not_indexed: bool = True,
    ) -> CorpusStatistics:
        """Return the statistics for the terms that `terms_of` selects, and the chunks that are not indexed yet.

        `terms_of` gets up to `limit` words with a key above `after`. It runs in a thread, inside the snapshot.
        """
        ...

    async def candidates(self, query: CandidateQuery) -> CandidateSet:
        """Collect lexical candidates, index neighbours, chunks not indexed yet and adjacent turns, with their cosines.

        Chunks that are deleted, expired or filtered out go to `not_visible`. If a neighbour's chunk was replaced after
        the index answered, the note's current chunks take its place.
        """
        ...

    async def by_words(self, terms: Sequence[str], where: NoteFilter, now: datetime, limit: int) -> list[ChunkKey]:
        """Return chunks with a piece that contains any of the terms, best first by the database's ranking."""
        ...

    async def candidates_of(self, note_id: NoteId, query: CandidateQuery) -> CandidateSet:
        """Return all chunks of one note as candidates."""
        ...

    async def show(
        self,
        chunks: Mapping[ChunkKey, NoteId],
        where: NoteFilter,
        now: datetime,
        *,
        with_neighbours: bool = False,
        with_texts: bool = False,
    ) -> dict[ChunkKey, ChunkWithNote]:
        """Read the chunks of an answer with their notes, without those deleted, expired or filtered out by now.

        A chunk that was replaced since the first read is represented by its note's current first chunk.
        """
        ...

    async def of_note(self, note_id: NoteId) -> list[StoredChunk]:
        """Return a note's chunks, in order."""
        ...

"""ChunkStore: what search and indexing read of chunks."""

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

#: Characters at the start of a chunk that ranking reads: a speaker's name and the colon behind it.
OPENING = 64


class TermFrequency(NamedTuple):
    """How common a term is."""

    pieces: int  #: pieces that contain it
    occurrences: int


UNKNOWN = TermFrequency(0, 0)


class StoredWord(NamedTuple):
    """A word that occurs in the store."""

    key: int  #: ascending in the order in which words were first stored
    term: int
    word: str


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Counts over everything stored, for idf and query weights."""

    chunks: int
    pieces: int
    terms: int  #: all terms of all pieces
    frequencies: Mapping[str, TermFrequency]  #: of the terms asked for; unknown ones are left out
    not_indexed: frozenset[ChunkKey] = frozenset()  #: chunks that the index did not hold then, by `look_up`


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkWithNote:
    """A chunk and the note it belongs to, as they are now."""

    stored: StoredChunk
    note: Note
    pieces: bytes = b""  #: what passages read (`retrieval.pieces.stored`); only `show` fills these two
    atoms: bytes = b""
    before: Chunk | None = None  #: its neighbours in the note; only `show` fills them
    after: Chunk | None = None
    text: str | None = None  #: the note's full text; only `show` fills it


class ScoringView(NamedTuple):
    """What ranking reads of a chunk: no text. A search ranks hundreds and shows five."""

    chunk_key: ChunkKey
    chunk_index: int
    content_hash: str
    characters: int
    opening: str  #: its first characters, where a speaker is named
    note_id: NoteId
    public_id: str
    kind: Kind
    chunk_count: int
    heading: bytes
    role: str | None
    conversation_id: str | None
    turn_index: int | None
    digest: bytes  #: equal for chunks with the same terms
    pieces: bytes  #: its pieces' terms and offsets (`retrieval.pieces.stored`); empty until it is analysed again
    piece_vectors: bytes

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
    """A stretch of time that a question asks about."""

    first_day: int  #: ordinals of days on the calendar of the store's zone
    end_day: int  #: the day after the last
    said_from: datetime  #: the same in UTC
    said_until: datetime  #: not included


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateQuery:
    """What one search reads in its first snapshot."""

    where: NoteFilter
    now: datetime
    limit: int  #: chunks from the vector index
    lexical_limit: int = 0  #: pieces found by words
    terms: Sequence[str] = ()  #: lexical terms, any of which a piece must contain; none: no lexical candidates
    vector: Floats | None = None  #: of the question; None: nothing is compared by meaning
    found_by_words: Sequence[ChunkKey] = ()  #: what the index found by the terms, beside the lexical rows
    neighbours: Sequence[Neighbour] = ()  #: what the vector index found
    compare_found: bool = True  #: compare chunks found by words with the question, too
    with_model_vectors: bool = False  #: read the vectors of pieces that the store's own model made
    not_indexed: frozenset[ChunkKey] = frozenset()  #: chunks that the index did not hold before it was asked
    compare_all: bool = False  #: compare with every vector that matches the filter, not only those not indexed yet
    most_compared: int = 0  #: vectors that may be compared one by one
    embedding_version: str = ""
    windows: Sequence[AskedWindow] = ()  #: notes said in one of them, or that name a time in one, are candidates
    known_at: datetime | None = None  #: only notes that were stored by then; None: all
    asks_when: bool = False  #: say of each candidate whether it names a time
    turn_distance: int = 0  #: turns this near to a turn among the candidates are candidates too


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSet:
    """Everything that ranking needs, from one snapshot."""

    views: Sequence[ScoringView]
    context_turns: Sequence[ScoringView] = ()  #: not ranked, but their terms count for neighbouring turns
    cosines: Mapping[ChunkKey, float] = field(default_factory=dict)  #: of every candidate that has a vector
    model_vectors: Mapping[ChunkKey, bytes] = field(default_factory=dict)  #: of pieces, by the store's own model
    lookalikes: Mapping[ChunkKey, ChunkWithNote] = field(default_factory=dict)  #: candidates with the same terms
    not_visible: Sequence[ChunkKey] = ()  #: found by a ranker, but gone, expired or filtered out
    in_window: frozenset[ChunkKey] = frozenset()  #: said in an asked window, or naming a time in one
    dated: frozenset[ChunkKey] = frozenset()  #: naming any time; looked at only where the question asks when
    superseded: Mapping[str, Sequence[str]] = field(default_factory=dict)  #: candidates by public id, with the notes
    #: that supersede each, which are candidates too
    has_more: bool = False  #: a ranker returned its limit, so there may be others
    is_complete: bool = True  #: False: too many chunks to compare one by one, so none was compared by meaning
    missed_by_index: bool = False  #: with `compare_all`: the index left out a chunk that it should hold
    any_stored: bool = True  #: whether any note matches the filter; looked at only when there is no candidate


class ChunkStore(Protocol):
    """Chunks for search, each method in one snapshot."""

    async def statistics(self, terms: Sequence[str] = ()) -> CorpusStatistics:
        """Counts over everything stored, and for these terms."""
        ...

    async def look_up(
        self, after: int, limit: int, terms_of: Callable[[Sequence[StoredWord]], Sequence[str]]
    ) -> CorpusStatistics:
        """Counts over everything stored, and for the terms that `terms_of` chooses; and what is not indexed yet.

        It is given the words that were stored after the one with this key, and runs in a thread, inside the snapshot.
        """
        ...

    async def candidates(self, query: CandidateQuery) -> CandidateSet:
        """Lexical candidates, the index's neighbours, chunks not indexed yet, neighbouring turns, and their cosines.

        The filter decides: what is deleted, expired or filtered out is in `not_visible`. A neighbour whose chunk was
        replaced after the index answered stands for the note's current chunks.
        """
        ...

    async def by_words(self, terms: Sequence[str], where: NoteFilter, now: datetime, limit: int) -> list[ChunkKey]:
        """Chunks whose pieces contain any of the terms, best first by the database's own ranking."""
        ...

    async def candidates_of(self, note_id: NoteId, query: CandidateQuery) -> CandidateSet:
        """The chunks of one note as if they had been found."""
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
        """Chunks to show, with their notes; what is deleted, expired or filtered out is left out.

        A chunk that was replaced since it was found is represented by its note's current first chunk.
        """
        ...

    async def of_note(self, note_id: NoteId) -> list[StoredChunk]:
        """A note's chunks, in order."""
        ...

"""Retrieve the candidates of a question, by words and by meaning."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, time
from typing import TYPE_CHECKING

from nur.domain.errors import BadConfiguration, BadRequest, EmbedderDown, IndexDown, NurError, StoreDown
from nur.domain.search import Mode
from nur.domain.times import day_of, in_utc
from nur.observability.events import EventLog
from nur.ports.chunks import UNKNOWN, AskedWindow, CandidateQuery
from nur.ports.vector_index import SparseIndex
from nur.retrieval.calibration import MIN_CANDIDATES
from nur.retrieval.currency.relation import asks_past
from nur.retrieval.ranking.queries import candidate_terms, query_terms, weigh
from nur.retrieval.ranking.term_vectors import row_word
from nur.retrieval.text.analysis import ANALYZER
from nur.retrieval.text.function_words import is_english
from nur.retrieval.times.find import asked_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.domain.notes import ChunkKey, Note
    from nur.domain.search import SearchRequest
    from nur.domain.times import TimeWindow, Zone
    from nur.ports.chunks import CandidateSet, ChunkStore, CorpusStatistics, StoredWord
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder, Floats, TokenTable
    from nur.ports.vector_index import Neighbour, VectorIndex
    from nur.retrieval.ranking.queries import QueryTerm, SimilarTerm, WeightedTerms
    from nur.retrieval.ranking.similar_words import SimilarWords
    from nur.retrieval.times.find import AskedTime
    from nur.services.indexing.watch_index import WatchIndex
    from nur.services.search.query_vector import QueryVector

log = EventLog("RetrievalService")

#: Candidates per ranker and requested hit: several chunks of one note make one hit.
OVERFETCH = 4
#: Factor by which more candidates are read if they make too few hits, and the most that are read.
WIDER = 4
MAX_CANDIDATES = 2_000
#: Most chunks compared one by one because they are not indexed; more would make a search too slow.
MAX_COMPARED = 50_000
#: An answer without vectors is better than one after all the provider's retries.
QUERY_SECONDS = 10.0
#: Turns this near to a candidate are candidates too.
TURN_DISTANCE = 2


@dataclass(frozen=True, slots=True)
class Question:
    """An analysed question; it does not depend on the number of candidates."""

    terms: WeightedTerms
    lexical_terms: Sequence[str]  #: terms to look up candidates by
    statistics: CorpusStatistics
    vector: Floats | None  #: of the store's model; None: chunks are not compared by meaning
    piece_vector: Floats | None  #: of the packaged model; None: pieces are not compared by meaning
    time: AskedTime
    failure: NurError | None = None  #: why there is no vector


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The candidates of a question."""

    question: Question
    candidates: CandidateSet
    limit: int  #: candidates per ranker
    degraded: tuple[str, ...] = ()

    @property
    def is_compared(self) -> bool:
        """Whether the candidates were compared by meaning."""
        return self.question.vector is not None and self.candidates.is_complete

    @property
    def has_more(self) -> bool:
        """Whether reading more candidates could find others."""
        return self.candidates.has_more and self.limit < MAX_CANDIDATES


@dataclass(frozen=True, slots=True)
class Retrieve:
    """Asks both rankers. The store filters what they find and adds chunks that are not indexed."""

    chunks: ChunkStore
    index: VectorIndex
    watch_index: WatchIndex
    embedder: Embedder
    query_vector: QueryVector
    similar_words: SimilarWords  #: the words of the store, as far as searches have read them
    token_table: TokenTable  #: the packaged model's, for words of any language
    usual_share: Callable[[str], float]  #: share of the pieces of everyday text that contain a foreign word
    clock: Clock
    zone: Zone
    min_candidates: int = MIN_CANDIDATES  #: per ranker
    overfetch: int = OVERFETCH
    compares_chunks: bool = True  #: whether chunks are compared by their own vectors instead of their pieces'
    reads_model_vectors: bool = False  #: whether the store's own model embeds pieces
    max_compared: int = MAX_COMPARED

    async def __call__(self, request: SearchRequest) -> Retrieved:
        """Candidates of both rankers and their neighbouring turns, with their cosines."""
        question = await self._analyse(request)
        return await self._read(request, question, max(self.min_candidates, request.limit * self.overfetch))

    async def wider(self, request: SearchRequest, retrieved: Retrieved) -> Retrieved:
        """Retrieve again with more candidates."""
        return await self._read(request, retrieved.question, retrieved.limit * WIDER)

    async def one_note(self, request: SearchRequest, note: Note) -> Retrieved:
        """The chunks of one note as candidates, to explain why they were not found."""
        question = await self._analyse(request)
        candidates = await self.chunks.candidates_of(note.note_id, self._query(request, question, limit=1))
        return Retrieved(question, candidates, limit=1)

    async def _analyse(self, request: SearchRequest) -> Question:
        terms = query_terms(request.query, ANALYZER)
        similar, statistics = await self._look_up(terms)
        ids = [*(term.id for term in terms), *(one.id for one in similar)]
        pieces_with = {term: statistics.frequencies.get(row_word(term), UNKNOWN).pieces for term in ids}
        selective = candidate_terms(terms, pieces_with)
        usual_share = None if is_english(request.query) else self.usual_share
        by_words_alone = request.mode is Mode.LEXICAL
        vector = None if by_words_alone else await self._vector(request, statistics)
        return Question(
            terms=weigh(terms, pieces_with, statistics.pieces, similar, usual_share),
            lexical_terms=[] if request.mode is Mode.DENSE else [row_word(term) for term in selective],
            statistics=statistics,
            vector=None if isinstance(vector, NurError) else vector,
            piece_vector=None if by_words_alone else await self.query_vector.for_pieces(request.query, statistics),
            time=self._asked_time(request),
            failure=vector if isinstance(vector, NurError) else None,
        )

    async def _look_up(self, terms: Sequence[QueryTerm]) -> tuple[list[SimilarTerm], CorpusStatistics]:
        """The stored words similar to those of a question, and how common the words of both are, in one read."""
        similar: list[SimilarTerm] = []

        def expanded(new: Sequence[StoredWord]) -> list[str]:
            similar[:] = self.similar_words.read(new, terms, self.token_table)
            return [row_word(term) for term in (*(term.id for term in terms), *(one.id for one in similar))]

        statistics = await self.chunks.look_up(
            self.similar_words.last_key,
            self.similar_words.room,
            expanded,
            with_not_indexed=not self.index.is_in_store,
        )
        return similar, statistics

    def _asked_time(self, request: SearchRequest) -> AskedTime:
        """The time that the question, or `when`, names. Raises BadRequest if `when` names none."""
        time = asked_time(request.query, request.when, day_of(request.asked_at or self.clock.now(), self.zone))
        if request.when is not None and not time.windows:
            raise BadRequest("when must name a time, such as 2026-05, 2026-05-07 or last week")
        return time

    async def _vector(self, request: SearchRequest, statistics: CorpusStatistics) -> Floats | NurError:
        """The question's vector, or the error that prevented it."""
        try:
            return await asyncio.wait_for(self.query_vector(request.query, statistics), QUERY_SECONDS)
        except (EmbedderDown, BadConfiguration) as error:
            failure: NurError = error
        except TimeoutError:
            failure = EmbedderDown(f"The embedding provider did not answer within {QUERY_SECONDS:.0f} seconds.")
        log.warning("dense_unavailable", error=type(failure).__name__)
        return failure

    async def _read(self, request: SearchRequest, question: Question, limit: int) -> Retrieved:
        """Ask the index, then read everything in one snapshot.

        An index that returns too few neighbours has no more, or has lost records. Comparing all vectors that match the
        filter is cheap in the first case, and makes the answer complete in both.
        """
        neighbours, found = await asyncio.gather(
            self._neighbours(request, question, limit), self._found_by_words(request, question, limit)
        )
        scan = neighbours is None or (len(neighbours) < limit and not self.index.follows_commits)
        query = self._query(request, question, limit=limit, neighbours=neighbours or (), compare_all=scan)
        query = replace(query, found_by_words=found)
        try:
            candidates = await self.chunks.candidates(query)
        except StoreDown as error:  # then neither ranker answers
            raise question.failure or error from error
        if scan and neighbours is not None and candidates.missed_by_index:
            self.watch_index.doubt()
        return Retrieved(question, candidates, limit, self._degraded(request, question, neighbours, candidates))

    def _query(
        self,
        request: SearchRequest,
        question: Question,
        *,
        limit: int,
        neighbours: Sequence[Neighbour] = (),
        compare_all: bool = False,
    ) -> CandidateQuery:
        return CandidateQuery(
            where=request.where,
            now=self.clock.now(),
            limit=limit,
            lexical_limit=limit,
            terms=question.lexical_terms,
            vector=question.vector,
            neighbours=neighbours,
            compare_found=self.compares_chunks,
            with_model_vectors=self.reads_model_vectors and question.vector is not None,
            not_indexed=question.statistics.not_indexed,
            index_is_complete=self.index.is_in_store,
            compare_all=compare_all and question.vector is not None,
            max_compared=self.max_compared,
            embedding_version=self.embedder.model.version,
            windows=[_in_zone(window, self.zone) for window in question.time.windows],
            asks_when=question.time.asks_when,
            with_updates=not question.time.windows and not asks_past(request.query),
            known_at=request.as_of,
            turn_distance=TURN_DISTANCE,
        )

    async def _neighbours(self, request: SearchRequest, question: Question, limit: int) -> list[Neighbour] | None:
        """The index's neighbours; None if it is not trusted or does not answer."""
        if question.vector is None:
            return []
        if not self.watch_index.is_trusted:
            return None
        try:
            return await self.index.query(question.vector, request.where, limit)
        except IndexDown as error:
            log.warning("dense_unavailable", error=type(error).__name__)
            self.watch_index.distrust(error)
            return None

    async def _found_by_words(self, request: SearchRequest, question: Question, limit: int) -> list[ChunkKey]:
        """Chunks that the index finds by words, besides the lexical rows; none if it cannot or does not answer."""
        if not isinstance(self.index, SparseIndex) or not self.watch_index.is_trusted:
            return []
        try:
            found = await self.index.by_words(question.lexical_terms, request.where, limit)
        except IndexDown as error:
            self.watch_index.distrust(error)
            return []
        return [one.chunk_key for one in found]

    def _degraded(
        self,
        request: SearchRequest,
        question: Question,
        neighbours: Sequence[Neighbour] | None,
        candidates: CandidateSet,
    ) -> tuple[str, ...]:
        if request.mode is Mode.LEXICAL:
            return ()
        answered = question.vector is not None and neighbours is not None and candidates.is_complete
        return () if answered else ("dense",)


def _in_zone(window: TimeWindow, zone: Zone) -> AskedWindow:
    start, end = (in_utc(datetime.combine(day, time.min), zone) for day in (window.first, window.end))
    return AskedWindow(window.first.toordinal(), window.end.toordinal(), start, end)

"""Gather what a question might be answered by: every ranker's candidates, re-read from the ledger."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from heapq import nlargest
from typing import TYPE_CHECKING

import numpy as np

from nur.domain.errors import BadConfiguration, EmbedderDown, IndexDown, NurError, StoreDown
from nur.domain.search import Mode
from nur.observability.events import EventLog
from nur.ports.ledger import UNKNOWN
from nur.retrieval.ranking.queries import candidate_terms, query_terms, weigh
from nur.retrieval.ranking.term_vectors import row_word
from nur.retrieval.text.analysis import ANALYZER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import ChunkKey, Note
    from nur.domain.search import SearchRequest
    from nur.ports.embedder import Embedder, Floats
    from nur.ports.ledger import CorpusStatistics, Ledger, ScoringView
    from nur.ports.vector_index import Neighbour, VectorIndex
    from nur.retrieval.ranking.queries import WeighedTerms
    from nur.services.indexing.watch_index import WatchIndex
    from nur.services.privacy import PrivacyFilter
    from nur.services.search.query_vector import QueryVector

log = EventLog("RetrievalService")

#: Candidates asked of each ranker for each hit wanted: several chunks of one note make one hit.
OVERFETCH = 4
#: The best 20 of each ranker and the turns beside them rank as well as everything would, on every set measured.
LEAST_CANDIDATES = 20
#: How many times more candidates are asked for when too few hits came of them, and where that ends.
WIDER = 4
MOST_CANDIDATES = 2_000
#: Chunks compared one by one because the index does not hold them; more would take longer than a search may.
MOST_COMPARED = 50_000
#: An answer without vectors is better than one after the provider's whole patience.
QUERY_SECONDS = 10.0
#: A turn answers for what is said this near to it.
TURNS_BESIDE = 2


@dataclass(frozen=True, slots=True)
class Question:
    """A question, analysed: what does not change however many candidates are asked for."""

    weighed: WeighedTerms
    asked: Sequence[int]  #: the terms that candidates are looked up by
    corpus: CorpusStatistics


@dataclass(frozen=True, slots=True)
class Candidates:
    """Everything that scoring needs."""

    candidates: Sequence[ScoringView]
    beside: Sequence[ScoringView]  #: turns that are no candidates, but whose words count for those beside them
    dropped: Sequence[ChunkKey]  #: what a ranker found and nobody may see: gone, expired, outside the selection
    question: Question
    vector: Floats | None  #: None: nothing is compared by meaning
    cosines: Mapping[ChunkKey, float]  #: of every candidate that has a vector
    wanted: int  #: candidates asked of each ranker
    has_more: bool  #: a ranker gave as many as were wanted, so there may be others
    degraded: tuple[str, ...] = ()
    store_moved: bool = False  #: words found a chunk that was gone when it was read: its note was changed meanwhile

    @property
    def terms(self) -> WeighedTerms:
        """The question's terms with their weights."""
        return self.question.weighed


@dataclass(frozen=True, slots=True)
class _Dense:
    """What the dense ranker found."""

    vector: Floats | None = None  #: None: the question is not compared by meaning
    cosines: Mapping[ChunkKey, float] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    failure: NurError | None = None  #: why the question has no vector


@dataclass(frozen=True, slots=True)
class Retrieve:
    """Asks the rankers, then the ledger, which has the last word on what may be shown."""

    ledger: Ledger
    index: VectorIndex
    watch_index: WatchIndex
    embedder: Embedder
    query_vector: QueryVector
    privacy: PrivacyFilter
    most_compared: int = MOST_COMPARED

    async def __call__(self, request: SearchRequest) -> Candidates:
        """Candidates of both rankers and the turns beside them, with their cosines."""
        question = await self._analysed(request)
        return await self._collect(request, question, max(LEAST_CANDIDATES, request.limit * OVERFETCH))

    async def wider(self, request: SearchRequest, found: Candidates) -> Candidates:
        """The same with more candidates: for when too many of them turned out to be one note, or not to be shown."""
        return await self._collect(request, found.question, found.wanted * WIDER, found.vector)

    async def _collect(
        self, request: SearchRequest, question: Question, wanted: int, vector: Floats | None = None
    ) -> Candidates:
        dense, lexical = await asyncio.gather(
            self._dense(request, question.corpus, wanted, vector), self._lexical(request, question, wanted)
        )
        if isinstance(lexical, StoreDown):
            raise dense.failure or lexical from lexical
        keys = list({**dense.cosines, **dict.fromkeys(lexical)})
        read, beside = await self._with_turns_beside(await self.ledger.scoring_views(keys, request.where), request)
        candidates = self.privacy.filter_results(read, request.principal)
        shown = {candidate.chunk_key for candidate in candidates}
        return Candidates(
            candidates=candidates,
            beside=self.privacy.filter_results(beside, request.principal),
            dropped=[key for key in keys if key not in shown],
            question=question,
            vector=dense.vector,
            cosines={} if dense.vector is None else await self._cosines(dense.vector, candidates, dense.cosines),
            wanted=wanted,
            has_more=wanted < MOST_CANDIDATES and max(len(lexical), len(dense.cosines)) >= wanted,
            degraded=dense.degraded,
            store_moved=not {glance.chunk_key for glance in read}.issuperset(lexical),
        )

    async def alone(self, request: SearchRequest, note: Note) -> Candidates:
        """The chunks of one note as if they had been found, for explaining why they were not."""
        question = await self._analysed(request)
        embedded = None if request.mode is Mode.LEXICAL else await self._vector(request, question.corpus)
        vector = None if isinstance(embedded, NurError) else embedded
        keys = [stored.chunk_key for stored in await self.ledger.chunks(note.note_id)]
        read, beside = await self._with_turns_beside(await self.ledger.scoring_views(keys, request.where), request)
        own = [candidate for candidate in read if candidate.note_id == note.note_id]
        candidates = self.privacy.filter_results(own, request.principal)
        others = [*beside, *(turn for turn in read if turn.note_id != note.note_id)]
        return Candidates(
            candidates=candidates,
            beside=self.privacy.filter_results(others, request.principal),
            dropped=(),
            question=question,
            vector=vector,
            cosines={} if vector is None else await self._cosines(vector, candidates, {}),
            wanted=len(keys),
            has_more=False,
        )

    async def _analysed(self, request: SearchRequest) -> Question:
        terms = query_terms(request.query, ANALYZER)
        corpus = await self.ledger.corpus([row_word(term.id) for term in terms])
        chunks_with = {term.id: corpus.frequencies.get(row_word(term.id), UNKNOWN).chunks for term in terms}
        return Question(
            weighed=weigh(terms, chunks_with, corpus.chunks),
            asked=candidate_terms(terms, chunks_with, corpus.chunks),
            corpus=corpus,
        )

    async def _dense(
        self, request: SearchRequest, corpus: CorpusStatistics, wanted: int, vector: Floats | None
    ) -> _Dense:
        """The question's vector and the cosines of the nearest chunks."""
        if request.mode is Mode.LEXICAL:
            return _Dense()
        found = await self._vector(request, corpus) if vector is None else vector
        if isinstance(found, NurError):
            return _Dense(degraded=("dense",), failure=found)
        return await self._nearest(request, found, wanted)

    async def _vector(self, request: SearchRequest, corpus: CorpusStatistics) -> Floats | NurError:
        """The question's vector, or why there is none."""
        try:
            return await asyncio.wait_for(self.query_vector(request.query, corpus), QUERY_SECONDS)
        except (EmbedderDown, BadConfiguration) as error:
            failure: NurError = error
        except TimeoutError:
            failure = EmbedderDown(f"The embedding provider did not answer within {QUERY_SECONDS:.0f} seconds.")
        log.warning("dense_unavailable", error=type(failure).__name__)
        return failure

    async def _nearest(self, request: SearchRequest, vector: Floats, wanted: int) -> _Dense:
        """The nearest chunks: asks the index, and compares exactly with what it does not hold.

        An index that returns fewer than asked has nothing more, or has lost records. Comparing with everything in
        the selection costs little in the first case, and the answer is complete in both.
        """
        version = self.embedder.model.version
        near, (keys, vectors) = await asyncio.gather(
            self._from_index(request, vector, wanted),
            self.ledger.unindexed(request.where, version, self.most_compared),
        )
        existing = {neighbour.chunk_key: neighbour.similarity for neighbour in near or ()}
        if near is None or (len(near) < wanted and not self.index.follows_commits):
            fresh = len(keys)
            keys, vectors = await self.ledger.selected_vectors(request.where, version, self.most_compared)
            if near is not None and len(existing.keys() & set(keys)) + fresh < len(keys):
                self.watch_index.doubt()
        if len(keys) == self.most_compared:
            return _Dense(degraded=("dense",))
        cosines = existing | _exact(vector, keys, vectors)
        best = dict(nlargest(wanted, cosines.items(), key=lambda item: item[1]))
        return _Dense(vector, best, ("dense",) if near is None else ())

    async def _from_index(self, request: SearchRequest, vector: Floats, wanted: int) -> list[Neighbour] | None:
        """What the index says; None when it is not to be trusted or does not answer."""
        if not self.watch_index.is_trusted:
            return None
        try:
            return await self.index.query(vector, request.where, wanted)
        except IndexDown as error:
            log.warning("dense_unavailable", error=type(error).__name__)
            self.watch_index.distrust(error)
            return None

    async def _lexical(self, request: SearchRequest, question: Question, wanted: int) -> list[ChunkKey] | StoreDown:
        """Chunks that hold the question's telling words, or why they cannot be read."""
        if request.mode is Mode.DENSE:
            return []
        try:
            found = await self.ledger.lexical([row_word(term) for term in question.asked], request.where, wanted)
        except StoreDown as error:
            return error
        return [hit.chunk_key for hit in found]

    async def _with_turns_beside(
        self, found: list[ScoringView], request: SearchRequest
    ) -> tuple[list[ScoringView], list[ScoringView]]:
        """The turns beside each turn found are candidates too; those beside them lend their words."""
        near = _places(found, TURNS_BESIDE)
        far = _places(found, 2 * TURNS_BESIDE) - _places(found, 0)
        if not far:
            return found, []
        turns = await self.ledger.turns_near(far, request.where)
        return found + [turn for turn in turns if turn.place in near], [t for t in turns if t.place not in near]

    async def _cosines(
        self, vector: Floats, candidates: Sequence[ScoringView], known: Mapping[ChunkKey, float]
    ) -> dict[ChunkKey, float]:
        """The cosine of every candidate; those that only their words found are compared now."""
        keys = [candidate.chunk_key for candidate in candidates]
        missing = [key for key in keys if key not in known]
        vectors = await self.ledger.vectors(missing, self.embedder.model.version)
        compared = _exact(vector, list(vectors), np.stack(list(vectors.values()))) if vectors else {}
        return {key: known[key] for key in keys if key in known} | compared


def _exact(vector: Floats, keys: Sequence[ChunkKey], vectors: Floats) -> dict[ChunkKey, float]:
    """Cosines of chunks that are compared one by one."""
    return dict(zip(keys, np.asarray(vectors @ vector).tolist(), strict=True)) if keys else {}


def _places(candidates: Sequence[ScoringView], distance: int) -> set[tuple[str, int]]:
    """Where turns stand within this distance of a turn among the candidates."""
    steps = range(-distance, distance + 1)
    turns = (candidate.place for candidate in candidates)
    return {(turn[0], turn[1] + step) for turn in turns if turn is not None for step in steps if turn[1] + step >= 0}

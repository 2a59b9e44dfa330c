"""Gather what a question might be answered by: every ranker's candidates, re-read from the ledger."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.domain.errors import BadConfiguration, EmbedderDown, IndexDown
from nur.domain.notes import Kind
from nur.domain.search import Mode
from nur.observability.events import EventLog
from nur.ports.ledger import UNKNOWN
from nur.retrieval.analysis import ANALYZER
from nur.retrieval.profiles import row_word
from nur.retrieval.queries import candidate_terms, query_terms, weigh

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import ChunkKey
    from nur.domain.search import SearchRequest
    from nur.ports.embedder import Embedder, Floats
    from nur.ports.ledger import Candidate, Corpus, Ledger
    from nur.ports.vector_index import VectorIndex
    from nur.retrieval.queries import QueryTerm, WeighedTerms
    from nur.services.privacy import PrivacyFilter
    from nur.services.query_vector import QueryVector

log = EventLog("RetrievalService")

#: Candidates asked of each ranker for each hit wanted: several chunks of one note make one hit.
OVERFETCH = 4
#: The best 20 of each ranker and the turns beside them rank as well as everything would; twice that, to be safe.
LEAST_CANDIDATES = 40
#: Chunks compared one by one because the index has not heard of them yet; more would take longer than a search may.
MOST_UNINDEXED = 50_000
#: An answer without vectors is better than one after the provider's whole patience.
QUERY_SECONDS = 10.0
#: A turn answers for what is said this near to it.
TURNS_BESIDE = 2


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that scoring needs."""

    candidates: Sequence[Candidate]
    beside: Sequence[Candidate]  #: turns that are no candidates, but whose words count for those beside them
    terms: WeighedTerms
    corpus: Corpus
    vector: Floats | None  #: None: nothing is compared by meaning
    cosines: Mapping[ChunkKey, float]  #: of every candidate that has a vector
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gather:
    """Asks the rankers, then the ledger, which has the last word on what may be shown."""

    ledger: Ledger
    index: VectorIndex
    embedder: Embedder
    query_vector: QueryVector
    privacy: PrivacyFilter

    async def __call__(self, request: SearchRequest) -> Found:
        """Candidates of both rankers and the turns beside them, with their cosines."""
        wanted = max(LEAST_CANDIDATES, request.limit * OVERFETCH)
        terms = query_terms(request.query, ANALYZER)
        corpus = await self.ledger.corpus([row_word(term.id) for term in terms])
        (vector, dense), lexical = await asyncio.gather(
            self._dense(request, corpus, wanted), self._lexical(request, terms, corpus, wanted)
        )
        keys = list({**(dense or {}), **dict.fromkeys(lexical)})
        found = await self.ledger.candidates(keys, request.selection)
        found, beside = await self._with_turns_beside(found, request)
        candidates = self.privacy.filter_results(found, request.principal)
        cosines = {} if vector is None else await self._cosines(vector, candidates, dense or {})
        return Found(
            candidates=candidates,
            beside=self.privacy.filter_results(beside, request.principal),
            terms=weigh(terms, _by_id(terms, corpus), corpus.chunks),
            corpus=corpus,
            vector=vector,
            cosines=cosines,
            degraded=("dense",) if dense is None else (),
        )

    async def _dense(
        self, request: SearchRequest, corpus: Corpus, wanted: int
    ) -> tuple[Floats | None, Mapping[ChunkKey, float] | None]:
        """The question's vector and the cosines of the nearest chunks; None for both when there is no answer.

        Asks the index, and looks exactly at what it has not heard of yet.
        """
        if request.mode is Mode.LEXICAL:
            return None, {}
        try:
            vector = await asyncio.wait_for(self.query_vector(request.query, corpus), QUERY_SECONDS)
            near, (fresh, vectors) = await asyncio.gather(
                self.index.query(vector, request.selection, wanted),
                self.ledger.unindexed(request.selection, self.embedder.model.version, MOST_UNINDEXED),
            )
        except (EmbedderDown, BadConfiguration, IndexDown, TimeoutError) as error:
            log.warning("dense_unavailable", error=type(error).__name__)
            return None, None
        if len(fresh) == MOST_UNINDEXED:
            return None, None
        return vector, {neighbour.chunk_key: neighbour.similarity for neighbour in near} | _exact(
            vector, fresh, vectors
        )

    async def _lexical(
        self, request: SearchRequest, terms: Sequence[QueryTerm], corpus: Corpus, wanted: int
    ) -> list[ChunkKey]:
        """Chunks that hold the question's telling words."""
        if request.mode is Mode.DENSE:
            return []
        asked = candidate_terms(terms, _by_id(terms, corpus), corpus.chunks)
        found = await self.ledger.lexical([row_word(term) for term in asked], request.selection, wanted)
        return [hit.chunk_key for hit in found]

    async def _with_turns_beside(
        self, found: list[Candidate], request: SearchRequest
    ) -> tuple[list[Candidate], list[Candidate]]:
        """The turns beside each turn found are candidates too; those beside them lend their words."""
        near = _places(found, TURNS_BESIDE)
        far = _places(found, 2 * TURNS_BESIDE) - _places(found, 0)
        if not far:
            return found, []
        turns = await self.ledger.turns_at(far, request.selection)
        return found + [t for t in turns if _place(t) in near], [t for t in turns if _place(t) not in near]

    async def _cosines(
        self, vector: Floats, candidates: Sequence[Candidate], known: Mapping[ChunkKey, float]
    ) -> dict[ChunkKey, float]:
        """The cosine of every candidate; those that only their words found are compared now."""
        keys = [candidate.stored.chunk_key for candidate in candidates]
        missing = [key for key in keys if key not in known]
        vectors = await self.ledger.vectors(missing, self.embedder.model.version)
        compared = _exact(vector, list(vectors), np.stack(list(vectors.values()))) if vectors else {}
        return {key: known[key] for key in keys if key in known} | compared


def _by_id(terms: Sequence[QueryTerm], corpus: Corpus) -> dict[int, int]:
    return {term.id: corpus.frequencies.get(row_word(term.id), UNKNOWN).chunks for term in terms}


def _exact(vector: Floats, keys: Sequence[ChunkKey], vectors: Floats) -> dict[ChunkKey, float]:
    """Cosines of chunks that are compared one by one."""
    return dict(zip(keys, np.asarray(vectors @ vector).tolist(), strict=True)) if keys else {}


def _place(candidate: Candidate) -> tuple[str, int]:
    about = candidate.note.about
    return about.conversation_id or "", about.turn_index or 0


def _places(candidates: Sequence[Candidate], distance: int) -> set[tuple[str, int]]:
    """Where turns stand within this distance of a turn among the candidates."""
    turns = (_place(candidate) for candidate in candidates if candidate.note.kind is Kind.TURN)
    return {
        (conversation, index + step)
        for conversation, index in turns
        for step in range(-distance, distance + 1)
        if index + step >= 0
    }

"""Search: the right passage with its evidence. Read `Search.__call__` from top to bottom."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np

from nur.domain.chunks import chunk_public_id
from nur.domain.errors import EmbedderDown, IndexDown
from nur.domain.search import Hit, Mode, Passage, SearchRequest, SearchResult, Silence, collection_of
from nur.observability import metrics
from nur.observability.events import EventLog
from nur.retrieval.analysis import query_terms
from nur.retrieval.fusion import Evidence, absolute_score, rank_by, reciprocal_ranks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import ChunkKey, NoteId
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder, Floats
    from nur.ports.ledger import Candidate, Ledger
    from nur.ports.vector_index import VectorIndex
    from nur.services.privacy import PrivacyFilter

log = EventLog("RetrievalService")

#: Candidates asked of each ranker for each hit wanted: several chunks of one note make one hit.
OVERFETCH = 10
LEAST_CANDIDATES = 100
#: Chunks compared one by one because the index has not heard of them yet; more would take longer than a search may.
MOST_UNINDEXED = 50_000


@dataclass(frozen=True, slots=True)
class Search:
    """Answers questions from everything stored."""

    ledger: Ledger
    index: VectorIndex
    embedder: Embedder
    privacy: PrivacyFilter
    clock: Clock

    async def __call__(self, request: SearchRequest) -> SearchResult:
        """Best hits first, one a note; `degraded` names each ranker that did not answer."""
        started = self.clock.monotonic()
        wanted = max(LEAST_CANDIDATES, request.limit * OVERFETCH)
        dense, lexical = await asyncio.gather(self._dense(request, wanted), self._lexical(request, wanted))
        keys = list({**(dense or {}), **lexical})
        found = await self.ledger.candidates(keys, request.selection)  # the ledger has the last word
        candidates = self.privacy.filter_results(found, request.principal)
        hits = _best_per_note(candidates, dense or {}, lexical)[: request.limit]
        degraded = ("dense",) if dense is None else ()
        reason = None if hits else await self._silence(request, degraded)
        result = SearchResult(
            hits=tuple(hits), search_id=uuid4(), model=self.embedder.model, degraded=degraded, reason=reason
        )
        self._account(request, result, self.clock.monotonic() - started)
        return result

    async def _dense(self, request: SearchRequest, wanted: int) -> Mapping[ChunkKey, float] | None:
        """Cosine by chunk: the index, and an exact look at what it has not heard of yet. None: no answer."""
        if request.mode is Mode.LEXICAL:
            return {}
        version = self.embedder.model.version
        try:
            vector = await self.embedder.embed_query(request.query)
            near, (fresh, vectors) = await asyncio.gather(
                self.index.query(vector, request.selection, wanted),
                self.ledger.unindexed(request.selection, version, MOST_UNINDEXED),
            )
        except (EmbedderDown, IndexDown) as error:
            log.warning("dense_unavailable", error=error.code)
            return None
        if len(fresh) == MOST_UNINDEXED:
            return None
        return {neighbour.chunk_key: neighbour.similarity for neighbour in near} | _exact(vector, fresh, vectors)

    async def _lexical(self, request: SearchRequest, wanted: int) -> Mapping[ChunkKey, float]:
        """BM25 by chunk, as a share of what a perfect match would have."""
        if request.mode is Mode.DENSE:
            return {}
        terms = query_terms(request.query)
        found, corpus = await asyncio.gather(
            self.ledger.lexical(terms, request.selection, wanted), self.ledger.corpus(terms)
        )
        return absolute_score(found, corpus, terms)

    async def _silence(self, request: SearchRequest, degraded: Sequence[str]) -> Silence:
        if degraded:
            return Silence.DEGRADED
        stored = await self.ledger.count(request.selection)
        return Silence.BELOW_FLOOR if stored else Silence.NOTHING_STORED

    def _account(self, request: SearchRequest, result: SearchResult, seconds: float) -> None:
        metrics.SEARCHES.labels(request.tool).inc()
        metrics.SEARCH_LATENCY.labels(request.tool).observe(seconds)
        metrics.SEARCH_RESULTS.observe(len(result.hits))
        log.info(
            "search_completed",
            tool=request.tool,
            query_length=len(request.query),
            results_count=len(result.hits),
            latency_ms=round(seconds * 1000),
            collections_searched=sorted({collection_of(hit.note) for hit in result.hits}),
            degraded=list(result.degraded),
        )


def _exact(vector: Floats, keys: Sequence[ChunkKey], vectors: Floats) -> dict[ChunkKey, float]:
    """Cosines of chunks that are compared one by one."""
    if not keys:
        return {}
    return dict(zip(keys, np.asarray(vectors @ vector).tolist(), strict=True))


def _best_per_note(
    candidates: Sequence[Candidate], dense: Mapping[ChunkKey, float], lexical: Mapping[ChunkKey, float]
) -> list[Hit]:
    """One hit a note, its best chunk deciding; best first, ties by the older chunk."""
    ranks = rank_by({"dense": dense, "lexical": lexical}, [c.stored.chunk_key for c in candidates])
    by_note: dict[NoteId, list[Hit]] = defaultdict(list)
    for candidate in candidates:
        key = candidate.stored.chunk_key
        evidence = Evidence(dense.get(key, 0.0), lexical.get(key, 0.0))
        by_note[candidate.note.note_id].append(_hit(candidate, evidence.score, ranks[key]))
    best = [max(hits, key=lambda hit: (hit.score, -hit.chunk_key)) for hits in by_note.values()]
    return sorted(best, key=lambda hit: (-hit.score, hit.chunk_key))


def _hit(candidate: Candidate, score: float, ranks: Mapping[str, int]) -> Hit:
    chunk, note = candidate.stored.chunk, candidate.note
    whole = not note.is_chunked
    return Hit(
        note=note,
        chunk_key=candidate.stored.chunk_key,
        chunk_id=note.public_id if whole else chunk_public_id(note.public_id, chunk.index, chunk.content_hash),
        chunk_index=chunk.index,
        score=score,
        rrf_score=reciprocal_ranks(ranks),
        ranks=ranks,
        passages=(Passage(chunk.content, chunk.start_char, chunk.end_char, score),),
    )

"""Baselines for comparison: plain rankers over the same store, and the first specification's fusion.

They return whole chunks and use none of the search's weights, so that they stay the same while the search improves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar
from uuid import UUID

from nur.domain.kinds import collection_of, collections_of
from nur.domain.notes import NoteId
from nur.evaluation.asking import LIMIT, Answer
from nur.evaluation.measures import RowSpan
from nur.retrieval.ranking.queries import candidate_terms, query_terms
from nur.retrieval.ranking.term_vectors import row_word
from nur.retrieval.text.analysis import ANALYZER

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from nur.domain.filters import NoteFilter
    from nur.domain.notes import ChunkKey
    from nur.evaluation.asking import LoadedDataset
    from nur.evaluation.dataset import LabelledQuestion
    from nur.ports.chunks import ChunkWithNote

Name = Literal["lexical", "dense", "specification"]
T = TypeVar("T")

#: Chunks fetched per result, since several chunks of one note are one result.
OVERFETCH = 4
#: The specification fetches this many times the limit from each collection.
SPECIFICATION_OVERFETCH = 3
SPECIFICATION_K = 60
#: Stop fetching after this many chunks, even if a collection has too few results.
MAX_CHUNKS = 8_000


def specified_fusion(
    collections: Sequence[Sequence[T]], limit: int, *, source: Callable[[T], Hashable], is_chunk: Callable[[T], bool]
) -> list[tuple[T, float]]:
    """Fusion exactly as in the first specification (section 4.2.5); returns each result with its RRF score.

    Each collection is one ranked list, scored 1 / (60 + rank). No result is in two collections, so every sum has one
    term and the lists are interleaved. The cut precedes the dedupe, so a long document may leave a single result. A
    later chunk of a document replaces a better one, and is moved to the end of the list.
    """
    merged = [
        (result, 1.0 / (SPECIFICATION_K + rank))
        for ranked in collections
        for rank, result in enumerate(ranked, start=1)
    ]
    cut = sorted(merged, key=lambda item: -item[1])[:limit]
    kept: list[tuple[T, float]] = []
    for result, score in cut:
        seen = any(source(other) == source(result) for other, _ in kept)
        if seen and not is_chunk(result):
            continue
        if seen:
            kept = [item for item in kept if source(item[0]) != source(result)]
        kept.append((result, score))
    return kept


@dataclass(slots=True)
class Baseline:
    """A plain ranker over a data set's store."""

    name: Name
    dataset: LoadedDataset
    _read: dict[ChunkKey, ChunkWithNote] = field(default_factory=dict)  #: cache; nothing is written during a run

    async def answer(self, question: LabelledQuestion, *, scope: str | None = None) -> Answer:
        """Answer one question; `scope` replaces the question's own conversation."""
        where = self.dataset.where(scope or question.scope)
        ranked = await self._rank(question.text[:500], where)
        shown = [(candidate.stored.chunk, self.dataset.row(candidate.note)) for candidate, _ in ranked]
        return Answer(
            ids=list(dict.fromkeys(row for _, row in shown))[:LIMIT],
            spans=[RowSpan(row, chunk.start_char, chunk.end_char) for chunk, row in shown[:LIMIT]],
            score=ranked[0][1] if ranked else 0.0,
        )

    async def answer_within(self, question: LabelledQuestion, budget: int) -> None:
        """None: a baseline shows the same whole chunks at any budget."""
        del question, budget

    async def _rank(self, query: str, where: NoteFilter) -> list[tuple[ChunkWithNote, float]]:
        if self.name == "lexical":
            return await self._visible(await self._lexical(query, where), where)
        if self.name == "dense":
            return await self._visible(await self._nearest(query, where, LIMIT * OVERFETCH), where)
        return await self._specified(query, where)

    async def _lexical(self, query: str, where: NoteFilter) -> Mapping[ChunkKey, float]:
        """BM25 of the full-text table alone: the question's words without stop words, joined by OR."""
        terms = candidate_terms(query_terms(query, ANALYZER), {})
        services = self.dataset.services
        words = [row_word(term) for term in terms]
        keys = await services.stores.chunks.by_words(words, where, services.clock.now(), LIMIT * OVERFETCH)
        return {key: 1 / rank for rank, key in enumerate(keys, 1)}

    async def _nearest(self, query: str, where: NoteFilter, limit: int) -> Mapping[ChunkKey, float]:
        """Chunks nearest to the question's own vector, without any weighting."""
        vector = await self.dataset.services.embedder.embed_query(query)
        nearest = await self.dataset.services.index.query(vector, where, limit)
        return {hit.chunk_key: hit.similarity for hit in nearest}

    async def _specified(self, query: str, where: NoteFilter) -> list[tuple[ChunkWithNote, float]]:
        per_collection = LIMIT * SPECIFICATION_OVERFETCH
        fetched = per_collection
        while True:
            nearest = await self._nearest(query, where, fetched)
            visible = [candidate for candidate, _ in await self._visible(nearest, where)]
            names = collections_of(where.kinds)
            lists = [[one for one in visible if collection_of(one.note) == name][:per_collection] for name in names]
            is_full = all(len(ranked) == per_collection for ranked in lists)
            if is_full or len(nearest) < fetched or fetched >= MAX_CHUNKS:
                break
            fetched *= 4
        return specified_fusion(
            lists,
            LIMIT,
            source=lambda candidate: candidate.note.note_id,
            is_chunk=lambda candidate: candidate.note.is_chunked,
        )

    async def _visible(self, scores: Mapping[ChunkKey, float], where: NoteFilter) -> list[tuple[ChunkWithNote, float]]:
        """Chunks with their scores, in order; chunks that no longer exist are left out."""
        missing = [key for key in scores if key not in self._read]
        if missing:
            services, unknown = self.dataset.services, NoteId(UUID(int=0))
            keys = dict.fromkeys(missing, unknown)
            self._read.update(await services.stores.chunks.show(keys, where, services.clock.now()))
        return [(self._read[key], score) for key, score in scores.items() if key in self._read]

"""What the search is compared with: plain rankers over the same store, and the first specification's own fusion.

They show whole chunks and know nothing of the search's weights, so that they stay what they are while it gets better.
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

#: Chunks asked of a ranker for each note wanted: several chunks of one note are one result.
OVERFETCH = 4
#: The specification asks each collection for this many times the wanted results.
SPECIFICATION_OVERFETCH = 3
SPECIFICATION_K = 60
#: A collection that is still short after this many chunks stays short.
MOST_CHUNKS = 8_000


def specified_fusion(
    collections: Sequence[Sequence[T]], limit: int, *, source: Callable[[T], Hashable], is_chunk: Callable[[T], bool]
) -> list[tuple[T, float]]:
    """The first specification's merge (section 4.2.5) to the letter, with the reciprocal rank score of each result.

    One ranked list a collection, 1 / (60 + rank). No result is in two collections, so every sum has one term and the
    merge takes the lists in turn. The cut comes before the dedupe, so that a long document can leave a single result;
    and a later chunk of a document takes the place of a better one, at the end of the list.
    """
    merged = [(one, 1.0 / (SPECIFICATION_K + rank)) for found in collections for rank, one in enumerate(found, start=1)]
    cut = sorted(merged, key=lambda item: -item[1])[:limit]
    kept: list[tuple[T, float]] = []
    for one, score in cut:
        seen = any(source(other) == source(one) for other, _ in kept)
        if seen and not is_chunk(one):
            continue
        if seen:
            kept = [item for item in kept if source(item[0]) != source(one)]
        kept.append((one, score))
    return kept


@dataclass(slots=True)
class Baseline:
    """A plain ranker over the store that a data set is in."""

    name: Name
    asked: LoadedDataset
    _read: dict[ChunkKey, ChunkWithNote] = field(default_factory=dict)  #: nothing is written while questions are asked

    async def answer(self, question: LabelledQuestion, *, scope: str | None = None) -> Answer:
        """Answer one question; `scope` asks another conversation instead of the question's own."""
        where = self.asked.where(scope or question.scope)
        found = await self._found(question.text[:500], where)
        shown = [(candidate.stored.chunk, self.asked.row(candidate.note)) for candidate, _ in found]
        return Answer(
            ids=list(dict.fromkeys(row for _, row in shown))[:LIMIT],
            spans=[RowSpan(row, chunk.start_char, chunk.end_char) for chunk, row in shown[:LIMIT]],
            score=found[0][1] if found else 0.0,
        )

    async def within(self, question: LabelledQuestion, budget: int) -> None:
        """Whole chunks are shown, whatever the budget: it is spent on the first of them."""
        del question, budget

    async def _found(self, query: str, where: NoteFilter) -> list[tuple[ChunkWithNote, float]]:
        if self.name == "lexical":
            return await self._visible(await self._lexical(query, where), where)
        if self.name == "dense":
            return await self._visible(await self._nearest(query, where, LIMIT * OVERFETCH), where)
        return await self._specified(query, where)

    async def _lexical(self, query: str, where: NoteFilter) -> Mapping[ChunkKey, float]:
        """BM25 by the full-text table alone: the question's words without stop words, joined by OR."""
        terms = candidate_terms(query_terms(query, ANALYZER), {})
        services = self.asked.services
        words = [row_word(term) for term in terms]
        found = await services.stores.chunks.by_words(words, where, services.clock.now(), LIMIT * OVERFETCH)
        return {key: 1 / rank for rank, key in enumerate(found, 1)}

    async def _nearest(self, query: str, where: NoteFilter, limit: int) -> Mapping[ChunkKey, float]:
        """The nearest chunks to the question's own vector, without any weighting."""
        vector = await self.asked.services.embedder.embed_query(query)
        found = await self.asked.services.index.query(vector, where, limit)
        return {one.chunk_key: one.similarity for one in found}

    async def _specified(self, query: str, where: NoteFilter) -> list[tuple[ChunkWithNote, float]]:
        wanted = LIMIT * SPECIFICATION_OVERFETCH
        looked_at = wanted
        while True:
            nearest = await self._nearest(query, where, looked_at)
            found = [candidate for candidate, _ in await self._visible(nearest, where)]
            names = collections_of(where.kinds)
            lists = [[one for one in found if collection_of(one.note) == name][:wanted] for name in names]
            if len(nearest) < looked_at or looked_at >= MOST_CHUNKS or all(len(one) == wanted for one in lists):
                break
            looked_at *= 4
        return specified_fusion(
            lists,
            LIMIT,
            source=lambda candidate: candidate.note.note_id,
            is_chunk=lambda candidate: candidate.note.is_chunked,
        )

    async def _visible(self, scores: Mapping[ChunkKey, float], where: NoteFilter) -> list[tuple[ChunkWithNote, float]]:
        """Chunks with their scores, in order; what has meanwhile gone is left out."""
        missing = [key for key in scores if key not in self._read]
        if missing:
            services, unknown = self.asked.services, NoteId(UUID(int=0))
            wanted = dict.fromkeys(missing, unknown)
            self._read.update(await services.stores.chunks.show(wanted, where, services.clock.now()))
        return [(self._read[key], score) for key, score in scores.items() if key in self._read]

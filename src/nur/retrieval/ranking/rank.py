"""Rank candidates: each chunk by its best piece, on one absolute scale or by fused ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from nur.domain.notes import Kind
from nur.domain.search import Fusion
from nur.retrieval.pieces.stored import decode_pieces
from nur.retrieval.pieces.vectors import decode_vectors
from nur.retrieval.ranking.confidence import coverage, relevance
from nur.retrieval.ranking.scores import Meaning, reciprocal_ranks, score_pieces
from nur.retrieval.ranking.titles import decode_heading
from nur.retrieval.ranking.turns import with_context

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nur.domain.notes import ChunkKey, NoteId
    from nur.ports.chunks import ScoringView
    from nur.ports.embedder import Floats
    from nur.retrieval.calibration import ModelCalibration
    from nur.retrieval.ranking.queries import WeighedTerms

LEXICAL, DENSE = "lexical", "dense"
DIGITS = 6
"""Behind the point of a score: more is noise, and would have to be kept in every trace."""


@dataclass(frozen=True, slots=True)
class PieceQuestion:
    """A question as pieces are compared with it."""

    text: str
    terms: WeighedTerms
    vector: Floats | None  #: of the packaged model; None: pieces are not compared by meaning


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with everything that is known about its fitness, by its best piece."""

    candidate: ScoringView
    score: float  #: lexical + weight · cosine + bonus: comparable between questions
    lexical: float  #: share of the question's weight that its words match
    cosine: float | None  #: None: it has no vector, or nothing was compared
    bonus: float  #: what its context, the whole chunk, its neighbours and its speaker add or take
    rrf_score: float
    ranks: Mapping[str, int]  #: by ranker, from 1
    piece_scores: NDArray[np.float64]  #: of its pieces, in order; none until the chunk is analysed again
    covered: float  #: share of the question's telling words that the best piece has
    missing: float  #: share of the most telling word that it does not have
    relevance: float  #: how likely it is that the store answers, if this is its best hit; the floor looks at it

    @property
    def note_id(self) -> NoteId:
        """Whose chunk it is."""
        return self.candidate.note_id


@dataclass(frozen=True, slots=True)
class _BestPieces:
    """What is known of each chunk by its best piece, in the order of the chunks."""

    scores: NDArray[np.float64]
    lexical: NDArray[np.float64]
    cosines: NDArray[np.float64]
    matched: NDArray[np.float64]
    pieces: Sequence[NDArray[np.float64]]  #: the scores of all pieces of each

    def first(self, count: int) -> _BestPieces:
        """Of the first chunks alone."""
        return _BestPieces(
            self.scores[:count],
            self.lexical[:count],
            self.cosines[:count],
            self.matched[:count],
            self.pieces[:count],
        )


def rank(
    question: PieceQuestion,
    candidates: Sequence[ScoringView],
    beside: Sequence[ScoringView],
    cosines: Mapping[ChunkKey, float],
    calibration: ModelCalibration,
    fusion: Fusion = Fusion.SCORE,
) -> list[Ranked]:
    """Candidates, best first; equal ones by the older chunk. `beside` lend their words and are not ranked.

    Every candidate gets both scores; `fusion` says which of them decides the order.
    """
    if not candidates:
        return []
    best = _best_pieces(question, [*candidates, *beside], cosines, calibration).first(len(candidates))
    shown = _shown_cosines(best, candidates, cosines, calibration, is_compared=question.vector is not None)
    scores, lexical = best.scores.round(DIGITS).tolist(), best.lexical.round(DIGITS).tolist()
    cover = coverage(best.matched, question.terms)
    likely = relevance(best.cosines, cover).round(DIGITS).tolist()
    fused, places = _fused(candidates, lexical, shown, calibration)
    ranked = [
        Ranked(
            candidate=one,
            score=scores[at],
            lexical=lexical[at],
            cosine=shown[at],
            bonus=round(scores[at] - lexical[at] - calibration.shown_weight * (shown[at] or 0.0), DIGITS),
            rrf_score=fused.get(one.chunk_key, 0.0),
            ranks={name: place[one.chunk_key] for name, place in places.items() if one.chunk_key in place},
            piece_scores=best.pieces[at],
            covered=float(cover.covered[at]),
            missing=float(cover.missing[at]),
            relevance=likely[at],
        )
        for at, one in enumerate(candidates)
    ]
    if fusion is Fusion.RRF:
        return sorted(ranked, key=lambda one: (-one.rrf_score, -one.score, one.candidate.chunk_key))
    return sorted(ranked, key=lambda one: (-one.score, one.candidate.chunk_key))


def _fused(
    candidates: Sequence[ScoringView],
    lexical: Sequence[float],
    cosines: Sequence[float | None],
    calibration: ModelCalibration,
) -> tuple[Mapping[int, float], Mapping[str, Mapping[ChunkKey, int]]]:
    """The fused score of every candidate, and its place with each ranker."""
    by_words = {one.chunk_key: share for one, share in zip(candidates, lexical, strict=True) if share > 0}
    by_meaning = {one.chunk_key: near for one, near in zip(candidates, cosines, strict=True) if near is not None}
    orders = {LEXICAL: _order(by_words), DENSE: _order(by_meaning)}
    fused = reciprocal_ranks([(1.0, orders[LEXICAL]), (calibration.rrf_weight, orders[DENSE])])
    return fused, {name: {key: place for place, key in enumerate(order, 1)} for name, order in orders.items()}


def _order(scores: Mapping[ChunkKey, float]) -> list[ChunkKey]:
    return sorted(scores, key=lambda key: (-scores[key], key))


def _shown_cosines(
    best: _BestPieces,
    candidates: Sequence[ScoringView],
    cosines: Mapping[ChunkKey, float],
    calibration: ModelCalibration,
    *,
    is_compared: bool,
) -> list[float | None]:
    """The cosine that each hit reports: its chunk's, or its piece's where the chunk's does not count."""
    if calibration.cosine_weight:
        return [round(near, DIGITS) if (near := cosines.get(one.chunk_key)) is not None else None for one in candidates]
    return best.cosines.round(DIGITS).tolist() if is_compared else [None] * len(candidates)


def _best_pieces(
    question: PieceQuestion,
    views: Sequence[ScoringView],
    cosines: Mapping[ChunkKey, float],
    calibration: ModelCalibration,
) -> _BestPieces:
    """Every chunk by its best piece; one that waits to be analysed has its cosine alone."""
    of_chunk = np.array([cosines.get(view.chunk_key, 0.0) for view in views])
    best = _BestPieces(
        scores=calibration.shown_weight * of_chunk,
        lexical=np.zeros(len(views)),
        cosines=of_chunk.copy(),
        matched=np.zeros((len(views), question.terms.ids.size)),
        pieces=[np.zeros(0)] * len(views),
    )
    table = decode_pieces([view.pieces for view in views])
    if not len(table):
        return best
    meaning = Meaning(
        vectors=decode_vectors([view.piece_vectors for view in views], len(table)),
        question=question.vector,
        weight=calibration.piece_weight,
        chunk_part=calibration.cosine_weight * of_chunk[table.chunks],
    )
    titles = [decode_heading(view.heading) for view in views]
    is_turn = np.array([view.kind is Kind.TURN for view in views])
    found = score_pieces(table, titles, is_turn, question.terms, meaning)
    scores = with_context(question.text, views, table.chunks, found)
    edges = np.searchsorted(table.chunks, np.arange(len(views) + 1)).tolist()
    analysed = [at for at in range(len(views)) if edges[at] < edges[at + 1]]
    chosen = [edges[at] + int(np.argmax(scores[edges[at] : edges[at + 1]])) for at in analysed]
    best.scores[analysed], best.lexical[analysed] = scores[chosen], found.lexical[chosen]
    best.cosines[analysed], best.matched[analysed] = found.cosines[chosen], found.matched[chosen]
    return replace(best, pieces=[scores[first:end] for first, end in pairwise(edges)])

"""Rank candidates: each chunk by its best piece, on one absolute scale or by fused ranks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from nur.domain.kinds import TURNS
from nur.domain.search import Fusion
from nur.retrieval.answer_models import answer_model_of
from nur.retrieval.pieces.stored import decode_pieces
from nur.retrieval.pieces.vectors import cosines as unit_cosines
from nur.retrieval.pieces.vectors import decode_vectors, weighted_mean
from nur.retrieval.ranking.confidence import coverage, relevance
from nur.retrieval.ranking.scores import Meaning, reciprocal_ranks, score_pieces
from nur.retrieval.ranking.term_vectors import decode_heading
from nur.retrieval.ranking.turns import with_context

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from nur.domain.notes import ChunkKey, NoteId
    from nur.ports.chunks import ScoringView
    from nur.ports.embedder import Floats
    from nur.retrieval.calibration import ModelCalibration
    from nur.retrieval.pieces.stored import PieceTable
    from nur.retrieval.ranking.queries import WeighedTerms

LEXICAL, DENSE = "lexical", "dense"
NO_BONUSES: Mapping[ChunkKey, float] = MappingProxyType({})
DIGITS = 6
"""Behind the point of a score: more is noise, and would have to be kept in every trace."""


@dataclass(frozen=True, slots=True)
class PieceQuestion:
    """A question as pieces are compared with it."""

    text: str
    terms: WeighedTerms
    vector: Floats | None  #: of the packaged model; None: pieces are not compared by meaning
    model_vector: Floats | None = None  #: of the store's own model


@dataclass(frozen=True, slots=True)
class ModelEvidence:
    """What the store's own model tells of the candidates."""

    cosines: Mapping[ChunkKey, float]  #: of chunks
    vectors: Mapping[ChunkKey, bytes] = field(default_factory=dict)  #: of their pieces, where the model embeds pieces
    similarity: Callable[[Floats, Floats], Floats] = unit_cosines  #: of vectors to a question's


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
    found: float  #: log of one more than the telling words of the question that the best piece has
    relevance: float  #: how likely it is that the store answers, if this is its best hit; the floor looks at it
    missing: float = 1.0  #: share of the question's most telling word that the best piece does not have

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
    by_model: NDArray[np.float64]  #: cosines, of pieces where the model embeds pieces; NaN where there is none
    matched: NDArray[np.float64]
    pieces: Sequence[NDArray[np.float64]]  #: the scores of all pieces of each

    def first(self, count: int) -> _BestPieces:
        """Of the first chunks alone."""
        return _BestPieces(
            self.scores[:count],
            self.lexical[:count],
            self.cosines[:count],
            self.by_model[:count],
            self.matched[:count],
            self.pieces[:count],
        )


def rank(
    question: PieceQuestion,
    candidates: Sequence[ScoringView],
    beside: Sequence[ScoringView],
    by_model: ModelEvidence,
    calibration: ModelCalibration,
    fusion: Fusion = Fusion.SCORE,
    bonuses: Mapping[ChunkKey, float] = NO_BONUSES,
) -> list[Ranked]:
    """Candidates, best first; equal ones by the older chunk. `beside` lend their words and are not ranked.

    `bonuses` are added to the scores of some. Every candidate gets both scores; `fusion` says which of them decides
    the order.
    """
    if not candidates:
        return []
    best = _best_pieces(question, [*candidates, *beside], by_model, calibration).first(len(candidates))
    shown = _shown_cosines(best, calibration, is_compared=question.vector is not None)
    added = np.array([bonuses.get(one.chunk_key, 0.0) for one in candidates])
    scores, lexical = (best.scores + added).round(DIGITS).tolist(), best.lexical.round(DIGITS).tolist()
    cover = coverage(best.matched, question.terms)
    model = answer_model_of(calibration.embedding_version).relevance
    likely = relevance(best.cosines, best.by_model, cover, model).round(DIGITS).tolist()
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
            found=float(cover.found[at]),
            relevance=likely[at],
            missing=float(cover.missing[at]),
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


def _shown_cosines(best: _BestPieces, calibration: ModelCalibration, *, is_compared: bool) -> list[float | None]:
    """The cosine that each hit reports: the store's own model's, or the packaged one's where that does not count."""
    if calibration.cosine_weight:
        return [None if np.isnan(near) else near for near in best.by_model.round(DIGITS).tolist()]
    return best.cosines.round(DIGITS).tolist() if is_compared else [None] * len(best.cosines)


def _best_pieces(
    question: PieceQuestion,
    views: Sequence[ScoringView],
    by_model: ModelEvidence,
    calibration: ModelCalibration,
) -> _BestPieces:
    """Every chunk by its best piece; one that waits to be analysed has its cosine alone."""
    compared = np.array([by_model.cosines.get(view.chunk_key, np.nan) for view in views])
    of_chunk = np.nan_to_num(compared)
    best = _BestPieces(
        scores=calibration.shown_weight * of_chunk,
        lexical=np.zeros(len(views)),
        cosines=of_chunk.copy(),
        by_model=compared,
        matched=np.zeros((len(views), question.terms.ids.size)),
        pieces=[np.zeros(0)] * len(views),
    )
    table = decode_pieces([view.pieces for view in views])
    if not len(table):
        return best
    own, whole = _model_cosines(question.model_vector, views, by_model, table, compared)
    meaning = Meaning(
        vectors=decode_vectors([view.piece_vectors for view in views], len(table)),
        question=question.vector,
        weight=calibration.piece_weight,
        by_model=calibration.cosine_weight * np.nan_to_num(own),
        whole_by_model=calibration.cosine_weight * np.nan_to_num(whole),
        dilution=calibration.dilution,
    )
    titles = [decode_heading(view.heading) for view in views]
    is_turn = np.array([view.kind in TURNS for view in views])
    found = score_pieces(table, titles, is_turn, question.terms, meaning)
    scores = with_context(question.text, views, table.chunks, found)
    edges = np.searchsorted(table.chunks, np.arange(len(views) + 1)).tolist()
    analysed = [at for at in range(len(views)) if edges[at] < edges[at + 1]]
    chosen = [edges[at] + int(np.argmax(scores[edges[at] : edges[at + 1]])) for at in analysed]
    best.scores[analysed], best.lexical[analysed] = scores[chosen], found.lexical[chosen]
    best.cosines[analysed], best.matched[analysed] = found.cosines[chosen], found.matched[chosen]
    best.by_model[analysed] = own[chosen]
    return replace(best, pieces=[scores[first:end] for first, end in pairwise(edges)])


def _model_cosines(
    question: Floats | None,
    views: Sequence[ScoringView],
    by_model: ModelEvidence,
    table: PieceTable,
    compared: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The cosines of each piece and of its chunk, by the store's own model.

    Where it has no vector of the piece, the chunk's stands for both.
    """
    own, whole = compared[table.chunks], compared[table.chunks]
    places = [place for place, view in enumerate(views) if view.chunk_key in by_model.vectors]
    if question is None or not places:
        return own, whole
    pieces = np.flatnonzero(np.isin(table.chunks, places))
    blobs = [by_model.vectors[views[place].chunk_key] for place in places]
    if sum(map(len, blobs)) != len(pieces) * len(question):  # the text was cut into other pieces since
        return own, whole
    decoded = decode_vectors(blobs, len(pieces))
    own[pieces] = by_model.similarity(decoded, question)
    firsts = np.flatnonzero(np.diff(table.chunks[pieces], prepend=-1))
    means = weighted_mean(decoded, table.characters[pieces], firsts)
    whole[pieces] = np.repeat(by_model.similarity(means, question), np.diff(np.append(firsts, len(pieces))))
    return own, whole

"""Rank candidates, each by its best piece: on an absolute scale (default) or by reciprocal rank fusion."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from nur.domain.kinds import TURNS
from nur.domain.search import Fusion
from nur.retrieval.pieces.stored import decode_pieces
from nur.retrieval.pieces.vectors import cosines as unit_cosines
from nur.retrieval.pieces.vectors import decode_vectors, weighted_mean
from nur.retrieval.ranking.confidence import answer_model_of, coverage, relevance
from nur.retrieval.ranking.scores import Meaning, heading_bonuses, reciprocal_ranks, score_pieces
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
    from nur.retrieval.ranking.queries import WeightedTerms

LEXICAL, DENSE = "lexical", "dense"
NO_BONUSES: Mapping[ChunkKey, float] = MappingProxyType({})
DIGITS = 6
"""Decimals kept of a score; more is noise, and traces would store it."""


@dataclass(frozen=True, slots=True)
class PieceQuestion:
    """A question, prepared for comparison with pieces."""

    text: str
    terms: WeightedTerms
    vector: Floats | None  #: by the packaged model; None: pieces are not compared by meaning
    model_vector: Floats | None = None  #: by the store's own model


@dataclass(frozen=True, slots=True)
class ModelEvidence:
    """Similarity of the candidates to the question, by the store's own model."""

    cosines: Mapping[ChunkKey, float]  #: of chunks
    vectors: Mapping[ChunkKey, bytes] = field(default_factory=dict)  #: of their pieces, where the model embeds pieces
    similarity: Callable[[Floats, Floats], Floats] = unit_cosines  #: compares vectors with the question's


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its scores; those of a piece are its best piece's."""

    candidate: ScoringView
    score: float  #: lexical + weight · cosine + bonus: comparable between questions
    lexical: float  #: share of the question's term weight that the piece matches
    cosine: float | None  #: None: it has no vector, or nothing was compared by meaning
    bonus: float  #: the rest of the score: whole chunk, heading, neighbouring turns, speaker, times
    rrf_score: float
    ranks: Mapping[str, int]  #: by ranker, from 1
    piece_scores: NDArray[np.float64]  #: of all its pieces, in order; empty until the chunk is analysed again
    matched_words: float  #: log1p of the number of the question's content words that the piece contains
    relevance: float  #: probability that the store answers, if this is its best hit; compared with the floor
    missing: float = 1.0  #: weight of the heaviest content word that the piece lacks, 0 to 1

    @property
    def note_id(self) -> NoteId:
        """ID of the note this chunk belongs to."""
        return self.candidate.note_id


@dataclass(frozen=True, slots=True)
class _BestPieces:
    """Per-chunk scores taken from each chunk's best piece, in chunk order."""

    scores: NDArray[np.float64]
    lexical: NDArray[np.float64]
    cosines: NDArray[np.float64]
    model_cosines: NDArray[
        np.float64
    ]  #: of the piece, if the store's own model embeds pieces, else of the chunk; or NaN
    matched: NDArray[np.float64]
    piece_scores: Sequence[NDArray[np.float64]]  #: of all pieces of each chunk

    def first(self, count: int) -> _BestPieces:
        """The same for the first `count` chunks."""
        return _BestPieces(
            self.scores[:count],
            self.lexical[:count],
            self.cosines[:count],
            self.model_cosines[:count],
            self.matched[:count],
            self.piece_scores[:count],
        )


def rank(
    question: PieceQuestion,
    candidates: Sequence[ScoringView],
    context_turns: Sequence[ScoringView],
    evidence: ModelEvidence,
    calibration: ModelCalibration,
    fusion: Fusion = Fusion.SCORE,
    bonuses: Mapping[ChunkKey, float] = NO_BONUSES,
) -> list[Ranked]:
    """Candidates, best first; of equal ones the older chunk first.

    `context_turns` are not ranked, but their terms count for neighbouring turns. `bonuses` are added to scores. Every
    candidate gets both an absolute and an RRF score; `fusion` chooses the one to sort by.
    """
    if not candidates:
        return []
    best = _best_pieces(question, [*candidates, *context_turns], evidence, calibration).first(len(candidates))
    cosines = _reported_cosines(best, calibration, is_compared=question.vector is not None)
    bonus = np.array([bonuses.get(candidate.chunk_key, 0.0) for candidate in candidates])
    scores, lexical = (best.scores + bonus).round(DIGITS).tolist(), best.lexical.round(DIGITS).tolist()
    covered = coverage(best.matched, question.terms)
    model = answer_model_of(calibration.embedding_version).relevance
    relevances = relevance(best.cosines, best.model_cosines, covered, model).round(DIGITS).tolist()
    rrf_scores, ranks = _fused(candidates, lexical, cosines, calibration)
    ranked = [
        Ranked(
            candidate=candidate,
            score=scores[at],
            lexical=lexical[at],
            cosine=cosines[at],
            bonus=round(scores[at] - lexical[at] - calibration.shown_weight * (cosines[at] or 0.0), DIGITS),
            rrf_score=rrf_scores.get(candidate.chunk_key, 0.0),
            ranks={
                ranker: by_key[candidate.chunk_key] for ranker, by_key in ranks.items() if candidate.chunk_key in by_key
            },
            piece_scores=best.piece_scores[at],
            matched_words=float(covered.matched_words[at]),
            relevance=relevances[at],
            missing=float(covered.missing[at]),
        )
        for at, candidate in enumerate(candidates)
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
    """The RRF score of each candidate, and its rank by each ranker that found it."""
    by_words = {one.chunk_key: share for one, share in zip(candidates, lexical, strict=True) if share > 0}
    by_meaning = {one.chunk_key: cosine for one, cosine in zip(candidates, cosines, strict=True) if cosine is not None}
    orders = {LEXICAL: _order(by_words), DENSE: _order(by_meaning)}
    fused = reciprocal_ranks([(1.0, orders[LEXICAL]), (calibration.rrf_weight, orders[DENSE])])
    return fused, {ranker: {key: place for place, key in enumerate(order, 1)} for ranker, order in orders.items()}


def _order(scores: Mapping[ChunkKey, float]) -> list[ChunkKey]:
    return sorted(scores, key=lambda key: (-scores[key], key))


def _reported_cosines(best: _BestPieces, calibration: ModelCalibration, *, is_compared: bool) -> list[float | None]:
    """The cosine that each hit reports: the store's own model's if it counts, else the packaged model's."""
    if calibration.cosine_weight:
        return [None if np.isnan(cosine) else cosine for cosine in best.model_cosines.round(DIGITS).tolist()]
    return best.cosines.round(DIGITS).tolist() if is_compared else [None] * len(best.cosines)


def _best_pieces(
    question: PieceQuestion,
    views: Sequence[ScoringView],
    evidence: ModelEvidence,
    calibration: ModelCalibration,
) -> _BestPieces:
    """Every chunk by its best piece; a chunk that waits to be analysed by its cosine alone."""
    chunk_cosines = np.array([evidence.cosines.get(view.chunk_key, np.nan) for view in views])
    known_cosines = np.nan_to_num(chunk_cosines)
    best = _BestPieces(
        scores=calibration.shown_weight * known_cosines,
        lexical=np.zeros(len(views)),
        cosines=known_cosines.copy(),
        model_cosines=chunk_cosines,
        matched=np.zeros((len(views), question.terms.ids.size)),
        piece_scores=[np.zeros(0)] * len(views),
    )
    table = decode_pieces([view.pieces for view in views])
    if not len(table):
        return best
    of_piece, of_whole = _model_cosines(question.model_vector, views, evidence, table, chunk_cosines)
    meaning = Meaning(
        vectors=decode_vectors([view.piece_vectors for view in views], len(table)),
        question=question.vector,
        weight=calibration.piece_weight,
        by_model=calibration.cosine_weight * np.nan_to_num(of_piece),
        whole_by_model=calibration.cosine_weight * np.nan_to_num(of_whole),
        dilution=calibration.dilution,
    )
    titles = [decode_heading(view.heading) for view in views]
    is_turn = np.array([view.kind in TURNS for view in views])
    pieces = score_pieces(table, titles, is_turn, question.terms, meaning)
    by_heading = heading_bonuses(titles, [view.chunk_count for view in views], question.terms)
    scores = with_context(question.text, views, table.chunks, pieces) + by_heading[table.chunks]
    edges = np.searchsorted(table.chunks, np.arange(len(views) + 1)).tolist()
    analysed = [at for at in range(len(views)) if edges[at] < edges[at + 1]]
    chosen = [edges[at] + int(np.argmax(scores[edges[at] : edges[at + 1]])) for at in analysed]
    best.scores[analysed], best.lexical[analysed] = scores[chosen], pieces.lexical[chosen]
    best.cosines[analysed], best.matched[analysed] = pieces.cosines[chosen], pieces.matched[chosen]
    best.model_cosines[analysed] = of_piece[chosen]
    return replace(best, piece_scores=[scores[first:end] for first, end in pairwise(edges)])


def _model_cosines(
    question: Floats | None,
    views: Sequence[ScoringView],
    evidence: ModelEvidence,
    table: PieceTable,
    chunk_cosines: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosines by the store's own model: of each piece, and of each piece's whole chunk.

    Both are the chunk's cosine where the model has no vectors of the chunk's pieces.
    """
    of_piece, of_whole = chunk_cosines[table.chunks], chunk_cosines[table.chunks]
    embedded = [at for at, view in enumerate(views) if view.chunk_key in evidence.vectors]
    if question is None or not embedded:
        return of_piece, of_whole
    pieces = np.flatnonzero(np.isin(table.chunks, embedded))
    blobs = [evidence.vectors[views[at].chunk_key] for at in embedded]
    if sum(map(len, blobs)) != len(pieces) * len(question):  # the chunks have been cut into other pieces since
        return of_piece, of_whole
    vectors = decode_vectors(blobs, len(pieces))
    of_piece[pieces] = evidence.similarity(vectors, question)
    firsts = np.flatnonzero(np.diff(table.chunks[pieces], prepend=-1))
    means = weighted_mean(vectors, table.characters[pieces], firsts)
    of_whole[pieces] = np.repeat(evidence.similarity(means, question), np.diff(np.append(firsts, len(pieces))))
    return of_piece, of_whole

"""Rank candidates: each one's lexical share, its cosine and its bonus, fused into one absolute score or by ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from nur.domain.notes import Kind
from nur.domain.search import Fusion
from nur.retrieval.ranking.scores import NEIGHBOUR_WEIGHTS, Pool, confidence, lexical_scores, reciprocal_ranks
from nur.retrieval.ranking.speaker_boost import asks_about_the_asker, speaker, turn_prior, words
from nur.retrieval.ranking.title_boost import title_boost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import ChunkKey, NoteId
    from nur.ports.chunks import ScoringView
    from nur.retrieval.calibration import ModelCalibration
    from nur.retrieval.ranking.queries import WeighedTerms
    from nur.retrieval.ranking.scores import Neighbour

LEXICAL, DENSE = "lexical", "dense"
DIGITS = 6
"""Behind the point of a score: more is noise, and would have to be kept in every trace."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with everything that is known about its fitness."""

    candidate: ScoringView
    score: float  #: lexical + weight · cosine + bonus: comparable between questions
    lexical: float  #: share of the question's weight that its words match
    cosine: float | None  #: None: it has no vector, or nothing was compared
    bonus: float  #: what its heading and its speaker tell
    rrf_score: float
    ranks: Mapping[str, int]  #: by ranker, from 1

    @property
    def confidence(self) -> float | None:
        """How sure it is that this answers; None where nothing was compared by meaning. The floor looks at it."""
        return None if self.cosine is None else confidence(self.lexical, self.cosine)

    @property
    def note_id(self) -> NoteId:
        """Whose chunk it is."""
        return self.candidate.note_id


def rank(
    question: str,
    candidates: Sequence[ScoringView],
    beside: Sequence[ScoringView],
    terms: WeighedTerms,
    average_length: float,
    cosines: Mapping[ChunkKey, float],
    calibration: ModelCalibration,
    fusion: Fusion = Fusion.SCORE,
) -> list[Ranked]:
    """Candidates, best first; equal ones by the older chunk. `beside` lend their words and are not ranked.

    Every candidate gets both scores; `fusion` says which of them decides the order.
    """
    if not candidates:
        return []
    everything = [*candidates, *beside]
    keys = [candidate.chunk_key for candidate in candidates]
    shares = lexical_scores(_pool(everything), terms, average_length)[: len(candidates)].round(DIGITS)
    likeness = np.array([cosines.get(key, 0.0) for key in keys]).round(DIGITS)
    bonuses = (
        _bonuses(question, candidates, frozenset(terms.ids.tolist()))
        if calibration.bonuses
        else [0.0] * len(candidates)
    )
    scores = (shares + calibration.cosine_weight * likeness + bonuses).round(DIGITS)
    by_meaning = {key: near for key, near in zip(keys, likeness.tolist(), strict=True) if key in cosines}
    by_words = {key: share for key, share in zip(keys, shares.tolist(), strict=True) if share > 0}
    orders = {LEXICAL: _order(by_words), DENSE: _order(by_meaning)}
    fused = reciprocal_ranks([(1.0, orders[LEXICAL]), (calibration.rrf_weight, orders[DENSE])])
    places = {name: {key: place for place, key in enumerate(order, 1)} for name, order in orders.items()}
    ranked = [
        Ranked(
            candidate=candidate,
            score=score,
            lexical=by_words.get(key, 0.0),
            cosine=by_meaning.get(key),
            bonus=bonus,
            rrf_score=fused.get(key, 0.0),
            ranks={name: place[key] for name, place in places.items() if key in place},
        )
        for candidate, key, score, bonus in zip(candidates, keys, scores.tolist(), bonuses, strict=True)
    ]
    if fusion is Fusion.RRF:
        return sorted(ranked, key=lambda one: (-one.rrf_score, -one.score, one.candidate.chunk_key))
    return sorted(ranked, key=lambda one: (-one.score, one.candidate.chunk_key))


def _order(scores: Mapping[ChunkKey, float]) -> list[ChunkKey]:
    return sorted(scores, key=lambda key: (-scores[key], key))


def _pool(everything: Sequence[ScoringView]) -> Pool:
    turns: dict[str, dict[int, int]] = {}  #: rows by conversation and number; long turns count for themselves alone
    for row, candidate in enumerate(everything):
        if candidate.chunk_count == 1 and (turn := candidate.turn) is not None:
            turns.setdefault(turn[0], {})[turn[1]] = row
    neighbours = [
        (row, other, distance)
        for rows in turns.values()
        for index, row in rows.items()
        for distance in range(1, len(NEIGHBOUR_WEIGHTS) + 1)
        for near in (index - distance, index + distance)
        if (other := rows.get(near)) is not None
    ]
    return Pool(
        [candidate.term_vector for candidate in everything],
        np.array([candidate.characters for candidate in everything], np.float64),
        cast("list[Neighbour]", neighbours),  # plain tuples: named ones take thrice as long to become an array
    )


def _bonuses(question: str, candidates: Sequence[ScoringView], question_ids: frozenset[int]) -> list[float]:
    about_asker, asked = asks_about_the_asker(question), words(question)
    return [
        turn_prior(
            candidate.role or "",
            _speaker(candidate.opening),
            about_asker=about_asker,
            question_words=asked,
        )
        if candidate.kind is Kind.TURN
        else title_boost(candidate.heading, question_ids)
        for candidate in candidates
    ]


def _speaker(opening: str) -> str | None:
    """Who speaks; most texts have no colon where a name would end, and looking for one is sixty times faster."""
    return speaker(opening) if ":" in opening or "：" in opening else None

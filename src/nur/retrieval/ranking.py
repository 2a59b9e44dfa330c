"""Rank candidates: each one's lexical share, its cosine and its prior, fused into one absolute score or by ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.domain.notes import Kind
from nur.domain.search import Fusion
from nur.retrieval.priors import asks_about_the_asker, speaker, turn_prior, words
from nur.retrieval.scoring import NEIGHBOUR_WEIGHTS, Neighbour, Pool, lexical_scores, reciprocal_ranks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import ChunkKey, NoteId
    from nur.ports.ledger import Candidate
    from nur.retrieval.model_profile import ModelProfile
    from nur.retrieval.queries import WeighedTerms

LEXICAL, DENSE = "lexical", "dense"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with everything that is known about its fitness."""

    candidate: Candidate
    score: float  #: lexical + weight · cosine + prior: comparable between questions
    lexical: float  #: share of the question's weight that its words match
    cosine: float | None  #: None: it has no vector, or nothing was compared
    prior: float
    rrf_score: float
    ranks: Mapping[str, int]  #: by ranker, from 1

    @property
    def relevance(self) -> float:
        """The score without the prior, which says who speaks and not whether it answers: what the floor looks at."""
        return self.score - self.prior

    @property
    def note_id(self) -> NoteId:
        """Whose chunk it is."""
        return self.candidate.note.note_id


def rank(
    question: str,
    candidates: Sequence[Candidate],
    beside: Sequence[Candidate],
    terms: WeighedTerms,
    average_length: float,
    cosines: Mapping[ChunkKey, float],
    profile: ModelProfile,
    fusion: Fusion = Fusion.SCORE,
) -> list[Ranked]:
    """Candidates, best first; equal ones by the older chunk. `beside` lend their words and are not ranked.

    Every candidate gets both scores; `fusion` says which of them decides the order.
    """
    if not candidates:
        return []
    everything = [*candidates, *beside]
    lexical = lexical_scores(_pool(everything), terms, average_length)[: len(candidates)].tolist()
    priors = _priors(question, candidates) if profile.priors else [0.0] * len(candidates)
    keys = [candidate.stored.chunk_key for candidate in candidates]
    orders = {
        LEXICAL: _order({key: share for key, share in zip(keys, lexical, strict=True) if share > 0}),
        DENSE: _order({key: cosines[key] for key in keys if key in cosines}),
    }
    fused = reciprocal_ranks([(1.0, orders[LEXICAL]), (profile.rrf_weight, orders[DENSE])])
    places = {name: {key: place for place, key in enumerate(order, 1)} for name, order in orders.items()}
    ranked = [
        Ranked(
            candidate=candidate,
            score=share + profile.cosine_weight * cosines.get(key, 0.0) + prior,
            lexical=share,
            cosine=cosines.get(key),
            prior=prior,
            rrf_score=fused.get(key, 0.0),
            ranks={name: place[key] for name, place in places.items() if key in place},
        )
        for candidate, key, share, prior in zip(candidates, keys, lexical, priors, strict=True)
    ]
    if fusion is Fusion.RRF:
        return sorted(ranked, key=lambda one: (-one.rrf_score, -one.score, one.candidate.stored.chunk_key))
    return sorted(ranked, key=lambda one: (-one.score, one.candidate.stored.chunk_key))


def _order(scores: Mapping[ChunkKey, float]) -> list[ChunkKey]:
    return sorted(scores, key=lambda key: (-scores[key], key))


def _pool(everything: Sequence[Candidate]) -> Pool:
    rows = {
        (candidate.note.about.conversation_id, candidate.note.about.turn_index): row
        for row, candidate in enumerate(everything)
        if candidate.note.kind is Kind.TURN and not candidate.note.is_chunked  # long turns count for themselves alone
    }
    neighbours = [
        Neighbour(row, rows[conversation, index + step], abs(step))
        for (conversation, index), row in rows.items()
        for distance in NEIGHBOUR_WEIGHTS
        for step in (-distance, distance)
        if index is not None and (conversation, index + step) in rows
    ]
    return Pool(
        [candidate.stored.profile for candidate in everything],
        np.array([len(candidate.stored.chunk.content) for candidate in everything], np.float64),
        neighbours,
    )


def _priors(question: str, candidates: Sequence[Candidate]) -> list[float]:
    about_asker, asked = asks_about_the_asker(question), words(question)
    return [
        turn_prior(
            candidate.note.about.role or "",
            speaker(candidate.stored.chunk.content),
            about_asker=about_asker,
            question_words=asked,
        )
        if candidate.note.kind is Kind.TURN
        else 0.0
        for candidate in candidates
    ]

"""Rank candidates: each one's lexical share, its cosine and its bonus, fused into one absolute score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.domain.notes import Kind
from nur.retrieval.headings import heading_bonus
from nur.retrieval.priors import asks_about_the_asker, speaker, turn_prior, words
from nur.retrieval.scoring import (
    COSINE_WEIGHT,
    NEIGHBOUR_WEIGHTS,
    Neighbour,
    Pool,
    lexical_scores,
    reciprocal_ranks,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.notes import ChunkKey
    from nur.ports.ledger import Candidate
    from nur.retrieval.queries import WeighedTerms

LEXICAL, DENSE = "lexical", "dense"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with everything that is known about its fitness."""

    candidate: Candidate
    score: float  #: lexical + COSINE_WEIGHT · cosine + bonus: comparable between questions
    lexical: float  #: share of the question's weight that its words match
    cosine: float | None  #: None: it has no vector, or nothing was compared
    bonus: float  #: what its heading and its speaker tell
    rrf_score: float
    ranks: Mapping[str, int]  #: by ranker, from 1


def rank(
    question: str,
    candidates: Sequence[Candidate],
    beside: Sequence[Candidate],
    terms: WeighedTerms,
    average_length: float,
    cosines: Mapping[ChunkKey, float],
) -> list[Ranked]:
    """Candidates, best first; equal ones by the older chunk. `beside` lend their words and are not ranked."""
    if not candidates:
        return []
    everything = [*candidates, *beside]
    lexical = lexical_scores(_pool(everything), terms, average_length)[: len(candidates)].tolist()
    bonuses = _bonuses(question, candidates, frozenset(terms.ids.tolist()))
    keys = [candidate.stored.chunk_key for candidate in candidates]
    orders = {
        LEXICAL: _order({key: share for key, share in zip(keys, lexical, strict=True) if share > 0}),
        DENSE: _order({key: cosines[key] for key in keys if key in cosines}),
    }
    fused = reciprocal_ranks([(1.0, order) for order in orders.values()])
    places = {name: {key: place for place, key in enumerate(order, 1)} for name, order in orders.items()}
    ranked = [
        Ranked(
            candidate=candidate,
            score=share + COSINE_WEIGHT * cosines.get(key, 0.0) + bonus,
            lexical=share,
            cosine=cosines.get(key),
            bonus=bonus,
            rrf_score=fused.get(key, 0.0),
            ranks={name: place[key] for name, place in places.items() if key in place},
        )
        for candidate, key, share, bonus in zip(candidates, keys, lexical, bonuses, strict=True)
    ]
    return sorted(ranked, key=lambda found: (-found.score, found.candidate.stored.chunk_key))


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
        for distance in range(1, len(NEIGHBOUR_WEIGHTS) + 1)
        for step in (-distance, distance)
        if index is not None and (conversation, index + step) in rows
    ]
    return Pool(
        [candidate.stored.profile for candidate in everything],
        np.array([len(candidate.stored.chunk.content) for candidate in everything], np.float64),
        neighbours,
    )


def _bonuses(question: str, candidates: Sequence[Candidate], question_ids: frozenset[int]) -> list[float]:
    about_asker, asked = asks_about_the_asker(question), words(question)
    return [
        turn_prior(
            candidate.note.about.role or "",
            speaker(candidate.stored.chunk.content),
            about_asker=about_asker,
            question_words=asked,
        )
        if candidate.note.kind is Kind.TURN
        else heading_bonus(candidate.note.heading, question_ids)
        for candidate in candidates
    ]

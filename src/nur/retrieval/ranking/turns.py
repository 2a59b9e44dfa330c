"""Adjust the scores of turns by their neighbours and by who speaks.

A reply often holds the answer, and the turn before it the question's words. So a turn is credited with the words that
its neighbours match, but never above the best of them: a conversation does not outrank a memory by dwelling on a topic.

A question about the asker ("when did I…") is answered by what the user said, not by the long reply to it. A question
that names a speaker is answered by that speaker's turns ("Caroline: …"). In both cases the other turns lose, so that
no turn gains on memories and documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import regex

from nur.retrieval.ranking.asked_speaker import asked_speaker, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nur.ports.chunks import ScoringView
    from nur.retrieval.ranking.scores import PieceScores


_SPEAKER = regex.compile(r"\s{0,4}(\p{L}[\w .'’-]{0,40}?)\s?[:：]\s")

NEIGHBOUR_WEIGHTS = {-1: 0.8, 1: 0.8, -2: 0.5, 2: 0.5}
"""Weight of a word that a neighbouring turn matches, by the neighbour's distance. .9 and .6: within .003. Without the
cap at the best turn's score, everyday loses .02 MRR and LoCoMo .007 recall@10."""

FULL_WEIGHT_CHARACTERS = 600
"""Turns up to this long get their neighbours' full weight; the longer either turn, the less. Neighbours lift short
chats, but ruin long ones (BEAM recall@10 .44 → .34 without this gate)."""

OTHER_ROLE = 0.12
OTHER_SPEAKER = 0.12
"""Penalty of a turn by another role or speaker than the question is about. From half to twice as much: within .01."""

SAID_BONUS = 0.08
"""Bonus of all turns when the question asks what was said: a conversation holds the answer, not a document.
0: everyday who_said recall@5 −.05."""


def speaker(opening: str) -> str | None:
    """The name before the colon that opens a turn ("Caroline: Hey!"), casefolded."""
    if ":" not in opening and "：" not in opening:  # sixty times faster for turns that name nobody, i.e. most
        return None
    match = _SPEAKER.match(opening)
    return match.group(1).casefold() if match else None


def names(question: str) -> frozenset[str]:
    """The question's words, casefolded, without possessives: a speaker named among them is asked about."""
    return frozenset(word.removesuffix("'s").strip("'") for word in words_of(question))


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns among the scored chunks, and their pieces."""

    pieces: NDArray[np.int64]  #: indices of all pieces of turns, grouped by turn
    first: NDArray[np.int64]  #: start of each turn's group in `pieces`
    of_piece: NDArray[np.int64]  #: the turn that each of `pieces` belongs to
    characters: NDArray[np.float64]
    neighbours: Sequence[tuple[float, NDArray[np.int64]]]  #: per distance: weight, and each turn's neighbour or -1
    roles: NDArray[np.str_]
    speakers: Sequence[str | None]


def with_context(
    question: str, views: Sequence[ScoringView], chunks: NDArray[np.int64], pieces: PieceScores
) -> NDArray[np.float64]:
    """The pieces' scores, adjusted by neighbouring turns and speakers; `chunks` has the index of each piece's view."""
    turns = _find(views, chunks)
    if turns is None:
        return pieces.scores
    scores = pieces.scores.copy()
    scores[turns.pieces] += (_from_neighbours(turns, pieces) + _from_speakers(turns, question))[turns.of_piece]
    return scores


def _find(views: Sequence[ScoringView], chunks: NDArray[np.int64]) -> Turns | None:
    """The turns among these chunks, if they have pieces; None if there are none."""
    numbers: dict[tuple[str, int], int] = {}
    has_pieces = np.bincount(chunks, minlength=len(views)) > 0
    turn_of = np.array(
        [
            numbers.setdefault(view.turn, len(numbers)) if view.turn and analysed else -1
            for view, analysed in zip(views, has_pieces.tolist(), strict=True)
        ],
        np.int64,
    )
    if not numbers:
        return None
    of_piece = turn_of[chunks]
    order = np.argsort(of_piece, kind="stable")
    pieces = order[of_piece[order] >= 0]
    characters = np.zeros(len(numbers))
    first_chunks: dict[int, ScoringView] = {}
    for view, turn in zip(views, turn_of.tolist(), strict=True):
        if turn >= 0:
            characters[turn] += view.characters
            first_chunks[turn] = min(view, first_chunks.get(turn, view), key=lambda one: one.chunk_index)
    neighbours = [
        (weight, np.array([numbers.get((conversation, index + step), -1) for conversation, index in numbers], np.int64))
        for step, weight in NEIGHBOUR_WEIGHTS.items()
    ]
    ordered = [first_chunks[turn] for turn in range(len(numbers))]
    return Turns(
        pieces=pieces,
        first=np.flatnonzero(np.diff(of_piece[pieces], prepend=-1)),
        of_piece=of_piece[pieces],
        characters=characters,
        neighbours=neighbours,
        roles=np.array([view.role or "" for view in ordered]),
        speakers=[speaker(view.opening) for view in ordered],
    )


def _from_neighbours(turns: Turns, pieces: PieceScores) -> NDArray[np.float64]:
    """Each turn's gain from words that only its neighbours match; capped at the score of the best of them."""
    matched = np.maximum.reduceat(pieces.matched[turns.pieces], turns.first, axis=0)
    best = np.maximum.reduceat(pieces.scores[turns.pieces], turns.first)
    gate = np.minimum(1.0, FULL_WEIGHT_CHARACTERS / np.maximum(turns.characters, 1.0))
    borrowed = np.zeros_like(matched)
    cap = best.copy()
    for weight, other in turns.neighbours:
        exists = other >= 0
        share = np.where(exists, weight * gate * gate[other], 0.0)
        borrowed = np.maximum(borrowed, share[:, None] * matched[other])
        cap = np.maximum(cap, np.where(exists, best[other], best))
    gain: NDArray[np.float64] = np.minimum(np.maximum(borrowed - matched, 0.0) @ pieces.weights, cap - best)
    return gain


def _from_speakers(turns: Turns, question: str) -> NDArray[np.float64]:
    """Each turn's penalty if the question is about another speaker, and all turns' bonus if it asks what was said."""
    asked, question_words = asked_speaker(question), names(question)
    change = np.full(len(turns.roles), SAID_BONUS if asked.asks_what_was_said else 0.0)
    if asked.role is not None:
        change -= OTHER_ROLE * ((turns.roles != asked.role) & (turns.roles != ""))
    is_named = np.array([name is not None and not question_words.isdisjoint(name.split()) for name in turns.speakers])
    if is_named.any():
        has_name = np.array([name is not None for name in turns.speakers])
        change -= OTHER_SPEAKER * (has_name & ~is_named)
    return change

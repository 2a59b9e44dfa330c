"""How well each sentence of the best chunks answers.

    score = own    the sentence and three on either side, terms weighed by their rarity *among these sentences*
          + wide   sixteen sentences on either side, terms weighed by their rarity in the store
          + 0.2 · the score of its chunk

The two weights do different work. Rarity in the store finds the right part of a document; there, the question's names
are in every other sentence and tell nothing, so rarity among the sentences at hand finds the right one. With the
store's weights for both, chroma_chunking falls from .87 to .84 span_recall@2000c and from .75 to .70 passage_hit@1.
Sentence vectors (static ones) add nothing to this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nur.retrieval.passages.sentence_maps import SentenceMap
    from nur.retrieval.ranking.queries import WeighedTerms
    from nur.retrieval.ranking.term_vectors import TermVector

OWN_CONTEXT = (0.3, 0.2, 0.1)
WIDE_CONTEXT = tuple(1 - distance / 17 for distance in range(1, 17))
"""What a term counts that stands one, two, three … sentences away. 8 to 32 for the wide one: within a point."""

CHUNK_WEIGHT = 0.2

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk that a search found."""

    note: str
    start: int  #: where its text starts in the note, in characters
    text: str
    score: float
    term_vector: TermVector
    sentences: SentenceMap


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of some chunks: those of a note in order, each once."""

    chunks: Sequence[ScoredChunk]  #: the chunk that each is read from
    starts: NDArray[np.int64]  #: characters, in the note
    ends: NDArray[np.int64]
    runs: NDArray[np.int64]  #: sentences with the same number follow each other without a gap
    chunk_scores: NDArray[np.float64]  #: of the best chunk that holds it
    words: NDArray[np.float64]
    counts: NDArray[np.float64]  #: a row a sentence, a column a term of the question


def gather(chunks: Sequence[ScoredChunk], terms: WeighedTerms) -> Sentences:
    """The sentences of all chunks; where chunks of a note overlap, each sentence is taken from one of them."""
    sources: list[ScoredChunk] = []
    starts: list[NDArray[np.int64]] = []
    ends: list[NDArray[np.int64]] = []
    words: list[NDArray[np.float64]] = []
    counts: list[NDArray[np.float64]] = []
    runs: list[int] = []
    scores: list[float] = []
    ordered = sorted(chunks, key=lambda chunk: (chunk.note, chunk.start))
    bounds = [_bounds(chunk) for chunk in ordered]
    run = 0
    first = 0
    for at, chunk in enumerate(ordered):
        edges = bounds[at]
        last = edges.size - 1
        following = ordered[at + 1] if at + 1 < len(ordered) else None
        first_of_next = 0
        is_joined = following is not None and following.note == chunk.note and following.start <= edges[-1]
        if is_joined:
            last, first_of_next = _seam(edges, bounds[at + 1])
        if last > first:
            starts.append(edges[first:last])
            ends.append(edges[first + 1 : last + 1])
            words.append(chunk.sentences.words[first:last].astype(np.float64))
            counts.append(_count(chunk, terms)[first:last])
            sources += [chunk] * (last - first)
            runs += [run] * (last - first)
            scores += [chunk.score] * (last - first)
            if is_joined and following is not None:  # sentences that the next chunk holds too
                shared = int((edges[first:last] >= following.start).sum())
                scores[len(scores) - shared :] = [max(chunk.score, following.score)] * shared
        first = first_of_next
        run += not is_joined
    none = np.zeros(0, np.int64)
    return Sentences(
        sources,
        np.concatenate([none, *starts]),
        np.concatenate([none, *ends]),
        np.array(runs, np.int64),
        np.array(scores, np.float64),
        np.concatenate([np.zeros(0), *words]),
        np.concatenate([np.zeros((0, terms.ids.size)), *counts]),
    )


def _bounds(chunk: ScoredChunk) -> NDArray[np.int64]:
    """Where the chunk's sentences start in the note, and where the last one ends."""
    edges: NDArray[np.int64] = np.cumsum(np.concatenate([[chunk.start], chunk.sentences.characters]), dtype=np.int64)
    return edges


def _seam(edges: NDArray[np.int64], following: NDArray[np.int64]) -> tuple[int, int]:
    """Where to pass from a chunk to one that overlaps it: how many sentences are read of it, and the next one's first.

    A chunk's edges may cut a sentence, so the seam is the first place where both have a sentence end. Without one the
    next chunk is read from its first sentence that starts inside, and the sentence before is cut there.
    """
    common = np.intersect1d(edges[1:], following[:-1])
    common = common[common > following[0]] if common.size > 1 else common
    if common.size:
        return int(np.searchsorted(edges, common[0])), int(np.searchsorted(following, common[0]))
    if following[-1] <= edges[-1]:
        return edges.size - 1, following.size - 1  # the next chunk lies inside this one
    return edges.size - 1, int(np.searchsorted(following, edges[-1]))


def _count(chunk: ScoredChunk, terms: WeighedTerms) -> NDArray[np.float64]:
    """How often each sentence of the chunk holds each term of the question."""
    sentences = chunk.sentences
    column = np.full(chunk.term_vector.ids.size, -1)
    places = np.searchsorted(chunk.term_vector.ids, terms.ids)
    existing = np.flatnonzero(places < chunk.term_vector.ids.size)
    existing = existing[chunk.term_vector.ids[places[existing]] == terms.ids[existing]]
    column[places[existing]] = existing
    columns = column[sentences.terms]
    hits = np.flatnonzero(columns >= 0)
    rows = np.repeat(np.arange(sentences.words.size), sentences.term_counts)[hits]
    size = (sentences.words.size, terms.ids.size)
    flat = np.bincount(rows * terms.ids.size + columns[hits], minlength=size[0] * size[1])
    return flat.reshape(size).astype(np.float64)


def score(sentences: Sentences, terms: WeighedTerms) -> NDArray[np.float64]:
    """Each sentence's score; only comparable within one search."""
    number = sentences.runs.size
    holding = (sentences.counts > 0).sum(axis=0)
    rarity = np.log(1 + (number - holding + 0.5) / (holding + 0.5))
    local = np.where(holding > 0, terms.importance * rarity, 0.0)
    own = _matched(sentences, OWN_CONTEXT, local, float(local.sum()))
    wide = _matched(sentences, WIDE_CONTEXT, terms.weights, terms.total)
    scores: NDArray[np.float64] = own + wide + CHUNK_WEIGHT * sentences.chunk_scores
    return scores


def _matched(
    sentences: Sentences, context: Sequence[float], weights: NDArray[np.float64], total: float
) -> NDArray[np.float64]:
    """BM25F over each sentence and those around it, as a share of ``total``."""
    occurring = np.flatnonzero(sentences.counts.any(axis=0))
    counts = sentences.counts[:, occurring]
    table = np.column_stack([counts, sentences.words, np.ones(len(sentences.words))])
    table = _with_context(table, sentences.runs, context)
    counts, words, share = table[:, :-2], table[:, -2], table[:, -1]
    average = max(float(sentences.words.mean()), 1.0)
    saturation = K1 * (1 - B + B * words / (average * share))
    matched: NDArray[np.float64] = counts / (counts + saturation[:, None]) @ weights[occurring]
    return matched / (total or 1.0)


def _with_context(
    values: NDArray[np.float64], runs: NDArray[np.int64], context: Sequence[float]
) -> NDArray[np.float64]:
    """Each row plus its neighbours' in the same run, weighted by distance."""
    # Empty rows between the runs, as many as the context is wide, let one pass serve all of them.
    reach = len(context)
    places = np.arange(runs.size) + reach * (1 + np.cumsum(np.diff(runs, prepend=runs[0]) != 0))
    padded = np.zeros((int(places[-1]) + reach + 1, values.shape[1]))
    padded[places] = values
    total = padded.copy()
    for distance, weight in enumerate(context, start=1):
        share = weight * padded
        total[distance:] += share[:-distance]
        total[:-distance] += share[distance:]
    gathered: NDArray[np.float64] = total[places]
    return gathered

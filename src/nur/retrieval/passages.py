"""The few sentences that answer, instead of the head of a chunk.

Every sentence of the best chunks is scored by its own words and its neighbours' (a pronoun's noun is usually one
sentence away), its vector, and its chunk. Around the best one a passage grows sentence by sentence; then around the
best of those left, until the budget is spent. Passages that touch become one.

The best passages of *all* chunks are taken, whichever note they are in: one passage a note gives .55 span_recall@2000c on
chroma_chunking, the best of all .83.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nur.retrieval.queries import WeighedTerms
    from nur.retrieval.sentence_maps import SentenceMap

MAX_CHARS = 2000
FIRST_PASSAGE = 700
NEXT_PASSAGES = 330
"""Characters a passage grows to. A longer first one finds more answers at once (passage_hit@1 on LoCoMo .70 → .73)
and costs nothing: 400 for all gives .817 / .767 span_recall@2000c on chroma_chunking / LoCoMo, this .830 / .782."""

OVERSHOOT = 1.25
"""A passage takes one more sentence if that makes it at most this much longer than it should be."""

CONTEXT_WEIGHTS = (0.5, 0.4, 0.3, 0.2)
"""What a word counts that stands one, two, three, four sentences away."""

COSINE_WEIGHT = 0.3
COSINE_SMOOTHING = 0.3  # a sentence's vector is mixed with its neighbours'

SAME_LINE = 0.3
"""How much rather a passage grows inside its line or paragraph than beyond it."""

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk that a search found."""

    note: str
    start: int  #: where its text starts in the note, in characters
    text: str
    score: float
    sentences: SentenceMap


@dataclass(frozen=True, slots=True)
class Passage:
    """A few sentences of a note: ``text == note_text[start:end]``."""

    note: str
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class QueryVector:
    """What a static embedder adds: the question's vector and the table of token vectors."""

    vector: NDArray[np.float32]
    token_vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Sentences:
    """The sentences of all chunks, those of one note in order and each once."""

    chunks: list[ScoredChunk]  #: the chunk that each is read from
    starts: NDArray[np.int64]  #: in the note
    ends: NDArray[np.int64]
    runs: NDArray[np.int64]  #: sentences with the same number follow each other without a gap
    chunk_scores: NDArray[np.float64]
    counts: NDArray[np.float64]  #: a row a sentence, a column a term
    lengths: NDArray[np.float64]  #: in words
    cosines: NDArray[np.float64]
    breaks: NDArray[np.bool_]  #: the line ends with this sentence


def extract(
    chunks: Sequence[ScoredChunk],
    terms: WeighedTerms,
    query: QueryVector | None = None,
    *,
    max_chars: int = MAX_CHARS,
) -> list[Passage]:
    """The best passages of all chunks, best first, together about ``max_chars`` characters and never more."""
    sentences = _gather(chunks, terms, query)
    if not sentences.chunks:
        return []
    scores = _score(sentences, terms)
    return _cut(
        [_passage(sentences, first, last, score) for first, last, score in _choose(sentences, scores, max_chars)],
        max_chars,
    )


# ------------------------------------------------------------------------------------------------------ gathering


def _gather(chunks: Sequence[ScoredChunk], terms: WeighedTerms, query: QueryVector | None) -> _Sentences:
    sources: list[ScoredChunk] = []
    parts: list[
        tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
    ] = []
    runs: list[NDArray[np.int64]] = []
    chunk_scores: list[float] = []
    run = 0
    previous: ScoredChunk | None = None
    for chunk in sorted(chunks, key=lambda chunk: (chunk.note, chunk.start)):
        ends = chunk.start + np.cumsum(chunk.sentences.lengths, dtype=np.int64)
        starts = ends - chunk.sentences.lengths
        keep = np.ones(starts.size, bool)
        if previous is None or previous.note != chunk.note or previous.start + len(previous.text) < chunk.start:
            run += 1
        else:  # they overlap: what the one before has is not read again
            keep = starts >= previous.start + len(previous.text)
            shared = int((~keep).sum())
            for back in range(1, min(shared, len(chunk_scores)) + 1):
                chunk_scores[-back] = max(chunk_scores[-back], chunk.score)
            if not keep.any():
                continue
        counts, lengths = _count_words(chunk.sentences, terms)
        cosines = _cosines(chunk.sentences, query)
        parts.append((starts[keep], ends[keep], counts[keep], lengths[keep], cosines[keep]))
        kept = int(keep.sum())
        runs.append(np.full(kept, run))
        sources += [chunk] * kept
        chunk_scores += [chunk.score] * kept
        previous = chunk
    if not parts:
        nothing = np.zeros(0)
        none = np.zeros(0, np.int64)
        return _Sentences([], none, none, none, nothing, np.zeros((0, 0)), nothing, nothing, np.zeros(0, np.bool_))
    starts, ends = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return _Sentences(
        sources,
        starts,
        ends,
        np.concatenate(runs),
        np.array(chunk_scores),
        np.concatenate([part[2] for part in parts]),
        np.concatenate([part[3] for part in parts]),
        np.concatenate([part[4] for part in parts]),
        np.array(
            [
                "\n" in chunk.text[end - chunk.start - 2 : end - chunk.start]
                for chunk, end in zip(sources, ends.tolist(), strict=True)
            ]
        ),
    )


def _count_words(sentences: SentenceMap, terms: WeighedTerms) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How often each sentence has each of the main terms, and its length in words."""
    ids = terms.ids[terms.is_main]
    of_sentence = np.repeat(np.arange(sentences.lengths.size), sentences.word_counts)
    counts = np.zeros((sentences.lengths.size, ids.size))
    order = np.argsort(ids)
    if ids.size and sentences.words.size:
        places = np.minimum(np.searchsorted(ids, sentences.words, sorter=order), ids.size - 1)
        columns = order[places]
        hit = ids[columns] == sentences.words
        np.add.at(counts, (of_sentence[hit], columns[hit]), 1.0)
    return counts, sentences.word_counts.astype(np.float64)


def _cosines(sentences: SentenceMap, query: QueryVector | None) -> NDArray[np.float64]:
    """Each sentence's cosine with the question: only dot products are summed, the sentences' norms are stored."""
    size = sentences.lengths.size
    if query is None or not sentences.tokens.size:
        return np.zeros(size)
    distinct, place = np.unique(sentences.tokens, return_inverse=True)
    dots = (query.token_vectors[distinct] @ query.vector)[place]
    of_sentence = np.repeat(np.arange(size), sentences.token_counts)
    summed = np.bincount(of_sentence, dots, size)
    cosines: NDArray[np.float64] = summed / np.maximum(sentences.norms, 1e-6)
    return cosines


# -------------------------------------------------------------------------------------------------------- scoring


def _score(sentences: _Sentences, terms: WeighedTerms) -> NDArray[np.float64]:
    counts = _with_context(sentences.counts, sentences.runs, CONTEXT_WEIGHTS)
    lengths = _with_context(sentences.lengths, sentences.runs, CONTEXT_WEIGHTS)
    shares = _with_context(np.ones(lengths.size), sentences.runs, CONTEXT_WEIGHTS)
    average = max(float(sentences.lengths.mean()), 1.0)
    saturation = K1 * (1 - B + B * lengths / (average * shares))
    weights = terms.weights[terms.is_main]
    lexical = counts / (counts + saturation[:, None]) @ weights / (float(weights.sum()) or 1.0)
    near = (COSINE_SMOOTHING,)
    cosines = _with_context(sentences.cosines, sentences.runs, near) / _with_context(
        np.ones(lengths.size), sentences.runs, near
    )
    scores: NDArray[np.float64] = lexical + COSINE_WEIGHT * cosines + sentences.chunk_scores
    return scores


def _with_context(
    values: NDArray[np.float64], runs: NDArray[np.int64], weights: Sequence[float]
) -> NDArray[np.float64]:
    """Each sentence's value plus a share of its neighbours' in the same run."""
    total = values.copy()
    for distance, weight in enumerate(weights, start=1):
        if distance >= len(values):
            break
        same = runs[distance:] == runs[:-distance]
        share = weight * (same if values.ndim == 1 else same[:, None])
        total[distance:] += share * values[:-distance]
        total[:-distance] += share * values[distance:]
    return total


# ------------------------------------------------------------------------------------------------------- choosing


def _choose(sentences: _Sentences, scores: NDArray[np.float64], max_chars: int) -> list[tuple[int, int, float]]:
    """First sentence, last sentence and score of each passage; touching ones merged; best first."""
    sizes = (sentences.ends - sentences.starts).tolist()
    used = [False] * len(sizes)
    chosen: list[tuple[int, int, float]] = []
    left = max_chars
    for seed in np.argsort(-scores, kind="stable").tolist():
        if left <= 0:
            break
        if used[seed]:
            continue
        wanted = min(NEXT_PASSAGES if chosen else FIRST_PASSAGE, left)
        first, last = _grow(seed, wanted, sentences, scores, sizes, used)
        used[first : last + 1] = [True] * (last + 1 - first)
        left -= sum(sizes[first : last + 1])
        chosen.append((first, last, float(scores[seed])))
    return _merge(chosen, sentences.runs)


def _grow(
    seed: int, wanted: int, sentences: _Sentences, scores: NDArray[np.float64], sizes: list[int], used: list[bool]
) -> tuple[int, int]:
    """Take the better neighbour again and again until the passage is long enough."""
    first = last = seed
    size = sizes[seed]
    while size < wanted:
        best: tuple[float, int] | None = None
        for beside, inner in ((first - 1, first - 1), (last + 1, last)):
            if 0 <= beside < len(sizes) and not used[beside] and sentences.runs[beside] == sentences.runs[seed]:
                score = float(scores[beside]) + (0.0 if sentences.breaks[inner] else SAME_LINE)
                if best is None or score > best[0]:
                    best = (score, beside)
        if best is None or size + sizes[best[1]] > wanted * OVERSHOOT:
            break
        size += sizes[best[1]]
        first, last = min(first, best[1]), max(last, best[1])
    return first, last


def _merge(chosen: list[tuple[int, int, float]], runs: NDArray[np.int64]) -> list[tuple[int, int, float]]:
    merged: list[tuple[int, int, float]] = []
    for first, last, score in sorted(chosen):
        if merged and merged[-1][1] + 1 == first and runs[merged[-1][1]] == runs[first]:
            merged[-1] = (merged[-1][0], last, max(merged[-1][2], score))
        else:
            merged.append((first, last, score))
    return sorted(merged, key=lambda passage: -passage[2])


def _passage(sentences: _Sentences, first: int, last: int, score: float) -> Passage:
    """The passage's text, read from its chunks, without white space at its ends."""
    start, end = int(sentences.starts[first]), int(sentences.ends[last])
    text = ""
    read: ScoredChunk | None = None
    for chunk in sentences.chunks[first : last + 1]:
        if chunk is not read:
            text += chunk.text[start + len(text) - chunk.start : end - chunk.start]
            read = chunk
    start += len(text) - len(text.lstrip())
    text = text.strip()
    return Passage(sentences.chunks[first].note, start, start + len(text), text, score)


def _cut(passages: list[Passage], max_chars: int) -> list[Passage]:
    """Keep the first ``max_chars`` characters; the passage at the border keeps its head."""
    kept: list[Passage] = []
    left = max_chars
    for passage in passages:
        if left <= 0:
            break
        if passage.text:
            text = passage.text[:left]
            kept.append(Passage(passage.note, passage.start, passage.start + len(text), text, passage.score))
            left -= len(text)
    return kept

"""SentenceEmbedder: combines two local sentence models, a multilingual one and an English one."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from nur.adapters.local.english_words import in_english, read_table
from nur.adapters.sentences import minilm, universal
from nur.adapters.sentences.package import SENTENCE_MODEL, model_file
from nur.adapters.threaded_embedder import ThreadedEmbedder
from nur.retrieval.pieces.vectors import cosines
from nur.retrieval.text.function_words import is_english, is_known

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats

#: Texts per slice: a query waits for at most one slice of an ingest.
SLICE = 16

#: Characters read per text. Only pieces without sentences and lines are longer.
MAX_CHARACTERS = 2_000

STORED_ENGLISH, QUERY_ENGLISH = 0.6, 0.8
"""Length of the English model's part in the vector of an English text, stored and query. Their product makes the
English model about half of the cosine by which an index finds candidates. It is smaller in stored texts, so that
queries in other languages find them too."""

BOTH_ENGLISH = (0.3, 0.5)
NEITHER_ENGLISH = 0.8
ONE_ENGLISH = 1.0
"""Weights of the cosines in `similarity`, by how many of the two texts are English: the multilingual model's cosine
and, if both are, the English model's. Chosen on half of the everyday set; a third more or less of each changes
recall@5 there by at most .01."""

UNKNOWN_LANGUAGE = 0.5
"""What counts of the English part, and of the similarity, of a text in a language that neither model knows: word for
word, the translation of a sentence is a poor sentence. Hindi passages, nDCG@10: .964; with all of it .939, with a
quarter .956, untranslated .911."""

MIN_ENGLISH = 0.1  #: a vector with a shorter English part is of a text in another language
MIN_KNOWN = 0.45  #: a vector with a shorter one, of a text in a language that neither model knows


class SentenceEmbedder(ThreadedEmbedder):
    """Concatenates both models' vectors, so that a cosine mixes both models' cosines.

    The English part is zero for a text in another language: the English model cannot tell such texts apart. A text in a
    language that the multilingual model does not know either is read in English words, and counts less.
    """

    def __init__(self, *, clock: Clock | None = None) -> None:
        super().__init__(SLICE, threads=1, clock=clock)
        self.model = SENTENCE_MODEL
        self.max_tokens = 512
        self._loading = Lock()

    @cached_property
    def _universal(self) -> universal.UniversalEncoder:
        return universal.UniversalEncoder(model_file("use", "weights.npz"), model_file("use", "sp.model"))

    @cached_property
    def _minilm(self) -> minilm.MiniLm:
        return minilm.MiniLm(model_file("minilm", "model.safetensors"), model_file("minilm", "vocab.txt"))

    @cached_property
    def _english_words(self) -> Mapping[str, str]:
        """One English word for each: the table's two would read as a list."""
        return {word: english.split()[0] for word, english in read_table().items()}

    async def embed_pieces(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One unit vector per piece of a text."""
        return await self.embed(texts, progress)

    def similarity(self, vectors: Floats, question: Floats) -> Floats:
        """Similarity of each text to the query, from the models that know both languages."""
        multilingual, english = vectors[:, : universal.DIMENSIONS], vectors[:, universal.DIMENSIONS :]
        query_multilingual, query_english = question[: universal.DIMENSIONS], question[universal.DIMENSIONS :]
        multilingual_cosine = _cosines(multilingual, query_multilingual)
        lengths, query_length = np.linalg.norm(english, axis=1), np.linalg.norm(query_english[None], axis=1)
        is_english = lengths > MIN_ENGLISH
        if query_length[0] <= MIN_ENGLISH:
            similarity = multilingual_cosine * np.where(is_english, ONE_ENGLISH, NEITHER_ENGLISH)
        else:
            both = BOTH_ENGLISH[0] * multilingual_cosine + BOTH_ENGLISH[1] * _cosines(english, query_english)
            similarity = np.where(is_english, both, ONE_ENGLISH * multilingual_cosine)
        is_unknown = _is_unknown(lengths) | _is_unknown(query_length)
        return np.where(is_unknown, UNKNOWN_LANGUAGE * similarity, similarity).astype(np.float32)

    def _vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        return self._combined(texts, STORED_ENGLISH), _tokens(texts)

    def _query_vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        return self._combined(texts, QUERY_ENGLISH), _tokens(texts)

    def _combined(self, texts: Sequence[str], english_part: float) -> Floats:
        """Unit vectors of both models' parts; `english_part` is the length of the English part in English texts."""
        with self._loading:
            multilingual, english, words = self._universal, self._minilm, self._english_words
        texts = [text[:MAX_CHARACTERS] for text in texts]
        is_unknown = np.array([not is_known(text) for text in texts], bool)
        is_read_as_english = is_unknown | np.array([is_english(text) for text in texts], bool)
        texts = [in_english(text, words) if unknown else text for text, unknown in zip(texts, is_unknown, strict=True)]
        combined = np.zeros((len(texts), self.model.dimensions), np.float32)
        combined[:, : universal.DIMENSIONS] = multilingual.vectors(texts)
        at = np.flatnonzero(is_read_as_english)
        if at.size:
            lengths = np.float32(english_part) * np.where(is_unknown[at, None], np.float32(UNKNOWN_LANGUAGE), 1)
            combined[at, : universal.DIMENSIONS] *= np.sqrt(1 - lengths**2)
            combined[at, universal.DIMENSIONS :] = lengths * english.vectors([texts[index] for index in at])
        return combined


def _is_unknown(english_lengths: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Whether vectors with English parts of these lengths are of texts in a language that neither model knows."""
    is_unknown: NDArray[np.bool_] = (english_lengths > MIN_ENGLISH) & (english_lengths <= MIN_KNOWN)
    return is_unknown


def _cosines(vectors: Floats, other: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(other)
    normalised: Floats = cosines(vectors, other) / np.maximum(lengths, np.float32(1e-9))
    return normalised


def _tokens(texts: Sequence[str]) -> int:
    """Approximate number of tokens, for the metrics: the two models count them differently."""
    return sum(len(text) for text in texts) // 4

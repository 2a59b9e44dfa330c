"""SentenceEmbedder: two sentence models on this machine, one for meaning in many languages and one for English."""

from __future__ import annotations

from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from nur.adapters.sentences import minilm, universal
from nur.adapters.sentences.package import SENTENCE_MODEL, model_file
from nur.adapters.threaded_embedder import ThreadedEmbedder
from nur.retrieval.pieces.vectors import cosines
from nur.retrieval.text.language import is_english

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats

#: Texts embedded in one go: a query waits for one slice of an ingest.
SLICE = 16

#: Characters that are read of a text; a piece has more only where it has neither sentences nor lines.
LONGEST_TEXT = 2_000

STORED_ENGLISH, ASKED_ENGLISH = 0.6, 0.8
"""The English model's part of a stored text's vector and of a question's; together half of a cosine, which an index
finds candidates by. A stored text has less of it, so that questions in other languages find it, too."""

BOTH_ENGLISH = (0.3, 0.5)
NEITHER_ENGLISH = 0.8
ONE_ENGLISH = 1.0
"""What the cosines count by which both texts are compared: the multilingual model's, and between English texts the
English model's. Chosen on half of everyday; a third more or less of each is within .01 recall@5 there."""

LEAST_PART = 0.1  #: a vector with less of the English model is that of another language


class SentenceEmbedder(ThreadedEmbedder):
    """Both models' vectors side by side, so that a cosine is a mixture of theirs.

    A text that is not English has the multilingual one's alone: to the English model, all of those are alike.
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

    async def embed_pieces(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One unit vector per piece of a text."""
        return await self.embed(texts, progress)

    async def embed_query(self, text: str) -> Floats:
        """The vector to search with."""
        found = await self._in_thread(partial(self._mixed, [text], ASKED_ENGLISH))
        self._account([text], _tokens([text]), 0.0)
        vector: Floats = found[0]
        return vector

    def similarity(self, vectors: Floats, question: Floats) -> Floats:
        """How near texts are to a question, by the models that know both languages."""
        many, english = vectors[:, : universal.DIMENSIONS], vectors[:, universal.DIMENSIONS :]
        asked_many, asked_english = question[: universal.DIMENSIONS], question[universal.DIMENSIONS :]
        by_many = _cosines(many, asked_many)
        is_english = np.linalg.norm(english, axis=1) > LEAST_PART
        if np.linalg.norm(asked_english) <= LEAST_PART:
            return by_many * np.where(is_english, ONE_ENGLISH, NEITHER_ENGLISH).astype(np.float32)
        both = BOTH_ENGLISH[0] * by_many + BOTH_ENGLISH[1] * _cosines(english, asked_english)
        return np.where(is_english, both, ONE_ENGLISH * by_many).astype(np.float32)

    def _vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        return self._mixed(texts, STORED_ENGLISH), _tokens(texts)

    def _mixed(self, texts: Sequence[str], english_part: float) -> Floats:
        """The vectors of both models side by side, this much of an English text's being the English model's."""
        with self._loading:
            many, english = self._universal, self._minilm
        texts = [text[:LONGEST_TEXT] for text in texts]
        found = np.zeros((len(texts), self.model.dimensions), np.float32)
        found[:, : universal.DIMENSIONS] = many.vectors(texts)
        at = np.flatnonzero([is_english(text) for text in texts])
        if at.size:
            found[at, : universal.DIMENSIONS] *= np.float32((1 - english_part**2) ** 0.5)
            own = english.vectors([texts[place] for place in at])
            found[at, universal.DIMENSIONS :] = np.float32(english_part) * own
        return found


def _cosines(vectors: Floats, other: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(other)
    found: Floats = cosines(vectors, other) / np.maximum(lengths, np.float32(1e-9))
    return found


def _tokens(texts: Sequence[str]) -> int:
    """About how many tokens were read: models count them differently."""
    return sum(len(text) for text in texts) // 4

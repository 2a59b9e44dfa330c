"""SentenceEmbedder: two sentence models on this machine, one for meaning in many languages and one for English."""

from __future__ import annotations

from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import regex

from nur.adapters.sentences import minilm, universal
from nur.adapters.sentences.package import SENTENCE_MODEL, model_file
from nur.adapters.threaded_embedder import ThreadedEmbedder
from nur.retrieval.pieces.vectors import cosines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats


_WORD = regex.compile(r"\p{L}+")

_ENGLISH = frozenset(
    "a about after again all also am an and any are as at be because been before being between both but by can could "
    "did do does doing down during each for from had has have having he her here him his how i if in into is it its "
    "just me might more most must my no not of off on once only or other our out over own same she should so some such "
    "than that the their them then there these they this those through to too under up us was we were what when where "
    "which while who whom whose why will with would you your".split()
)
# French, Spanish, Portuguese, Italian, German, Dutch, Scandinavian, Polish, Hindi in Latin letters, Turkish.
_OTHERS = (
    frozenset(
        "le la les un une des du de d l et ou où que qui quoi quel quelle est ce cet cette ces je j tu il elle nous "
        "vous ils elles m te se s mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs au aux en dans par "
        "pour sur sous avec sans ne n pas plus ai avons avez ont été être fait y comment quand combien pourquoi c qu "
        "lui si mais donc el los las del con para por una uno qué cuál dónde cuándo cómo es está o os um uma ao da "
        "em não quem qual onde quando di che è il lo gli per non sono chi dove come der die das und ist wie wer wo "
        "wann ich nicht ein eine mit für auf von zu het een van og på det er som til av med den har jeg hva hvem "
        "hvor når hvilket hvilken ikke vi min mitt mine är och att för inte w na z się jest co kto gdzie kiedy jak "
        "ile czy że nie ka ki ke ko hai kya kaun kab kahan mein aur ya tha thi hum mera meri mere ne bhi nahi ve bir "
        "bu ne için mi".split()
    )
    - _ENGLISH
)

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


def is_english(text: str) -> bool:
    """By its function words; a text without any is taken for English where it is plain ASCII."""
    words = _WORD.findall(text.casefold())
    english = sum(word in _ENGLISH for word in words)
    others = sum(word in _OTHERS for word in words)
    return english > others or (english == others and text.isascii())


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

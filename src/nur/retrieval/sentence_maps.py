"""Where a chunk's sentences are and what is in them: stored beside it, so that a search reads no text twice.

Extracting passages needs each sentence's words and, for static embeddings, its tokens. Finding them again costs 25 ms for
ten chunks (most of it tokenizing); reading them back costs 0.3.

    model u32 | sentences u32 | words u32 | tokens u32
    per sentence:  length u16 (characters) · words u16 · tokens u16 · norm f32
    per word:      term id u32          per token: u16
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from nur.retrieval.sentences import pieces as cut_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from nur.retrieval.analysis import Analyzer

_HEADER = np.dtype("<u4")
_FIELDS = 4

LONGEST_SENTENCE = 600
"""Characters after which a piece without an end (a table, minified code, Thai) is cut at the best place before."""


@dataclass(frozen=True, slots=True)
class TokenizedSentences:
    """What a static embedder knows of some sentences."""

    model: int
    tokens: Sequence[NDArray[np.uint16]]
    norms: NDArray[np.float32]  #: the length of each sentence's summed token vectors


@dataclass(frozen=True, slots=True)
class SentenceMap:
    """A chunk's sentences, in order."""

    model: int  #: whose tokens these are (`model_number`); 0 when there are none
    lengths: NDArray[np.uint16]  #: characters of each; they add up to the chunk's
    word_counts: NDArray[np.uint16]
    token_counts: NDArray[np.uint16]  #: all 0 when the embedder is not static
    norms: NDArray[np.float32]
    words: NDArray[np.uint32]  #: the main terms of all sentences, one after the other
    tokens: NDArray[np.uint16]

    def encode(self) -> bytes:
        """The map as stored."""
        sizes = np.array([self.model, self.lengths.size, self.words.size, self.tokens.size], _HEADER)
        parts = (self.lengths, self.word_counts, self.token_counts, self.norms, self.words, self.tokens)
        return sizes.tobytes() + b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in parts)

    @classmethod
    def decode(cls, blob: bytes) -> SentenceMap:
        """The map that was stored."""
        model, sentences, words, tokens = np.frombuffer(blob, _HEADER, _FIELDS).tolist()
        at = _FIELDS * _HEADER.itemsize

        def read(kind: str, count: int) -> NDArray[np.generic]:
            nonlocal at
            found = np.frombuffer(blob, kind, count, at)
            at += found.nbytes
            return found

        return cls(
            model,
            read("<u2", sentences),  # type: ignore[arg-type]
            read("<u2", sentences),  # type: ignore[arg-type]
            read("<u2", sentences),  # type: ignore[arg-type]
            read("<f4", sentences),  # type: ignore[arg-type]
            read("<u4", words),  # type: ignore[arg-type]
            read("<u2", tokens),  # type: ignore[arg-type]
        )


def sentence_map(
    text: str,
    analyzer: Analyzer,
    tokenize: Callable[[list[str]], TokenizedSentences] | None = None,
) -> SentenceMap:
    """The map of a chunk's text; ``tokenize`` is the static embedder's, if that is what the store uses."""
    pieces = [text[start:end] for start, end in cut_sentences(text, LONGEST_SENTENCE)]
    words = [[term for token in analyzer.tokens(piece) for term in analyzer.ids(token).main] for piece in pieces]
    tokenized = tokenize(pieces) if tokenize else TokenizedSentences(0, [], np.zeros(len(pieces), np.float32))
    tokens = list(tokenized.tokens) or [np.zeros(0, np.uint16)] * len(pieces)
    return SentenceMap(
        tokenized.model,
        np.array([len(piece) for piece in pieces], np.uint16),
        np.array([len(found) for found in words], np.uint16),
        np.array([found.size for found in tokens], np.uint16),
        tokenized.norms,
        np.array([term for found in words for term in found], np.uint32),
        np.concatenate([*tokens, np.zeros(0, np.uint16)]),
    )


def model_number(embedding_version: str) -> int:
    """A model's number in sentence maps: vectors of another model are never compared with these tokens."""
    return crc32(embedding_version.encode()) or 1


def token_counts(blobs: Iterable[bytes]) -> NDArray[np.int64]:
    """How often each token occurs in stored maps, by token."""
    tokens = [SentenceMap.decode(blob).tokens for blob in blobs if blob]
    return np.bincount(np.concatenate([*tokens, np.zeros(0, np.uint16)]))

"""The `sentences` policy: whole sentences, as many as fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.retrieval.chunking.packing import Breaks, ChunkSpan, pack
from nur.retrieval.text.sentences import split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.retrieval.chunking.policy import ChunkingPolicy
    from nur.retrieval.text.tokens import Tokens


def sentence_chunks(text: str, tokens: Tokens, policy: ChunkingPolicy) -> Iterator[ChunkSpan]:
    """Chunks that begin and end with sentences.

    Each begins with the last sentences of the one before, as many as have at most `overlap` tokens and leave room for
    the next sentence; that may be none. A sentence of more than `target` tokens is cut into windows, which share their
    first and last chunk with the sentences around.
    """
    marks = [0, *(end for _, end in split(text))]
    return pack(tokens, Breaks.between(marks, tokens, policy.target), policy.target, policy.overlap)

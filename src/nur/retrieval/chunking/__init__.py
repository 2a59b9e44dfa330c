"""Cut a text into chunks.

Every policy guarantees: a chunk's content is the text between its offsets; the chunks cover the text; each chunk ends
after the one before, so none contains another; token counts come from one tokenisation of the whole text and do not
exceed the policy's maximum; characters are never cut; the same input gives the same chunks; time is linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.chunks import Chunk
from nur.retrieval.chunking.packing import ChunkSpan, sentence_chunks, windows
from nur.retrieval.chunking.policy import SENTENCES, STRUCTURE, WHOLE, WINDOW, ChunkingPolicy
from nur.retrieval.chunking.structure import structured_chunks
from nur.retrieval.text.tokens import Tokens, tokenise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["SENTENCES", "STRUCTURE", "WHOLE", "WINDOW", "ChunkingPolicy", "chunk"]


def _spans(text: str, tokens: Tokens, policy: ChunkingPolicy, artifact_type: str | None) -> Iterable[ChunkSpan]:
    if policy.strategy == "whole" or len(tokens) <= policy.whole_max:
        return [ChunkSpan(0, len(text))]
    if policy.strategy == "structure":
        return structured_chunks(text, tokens, policy, artifact_type)
    if policy.strategy == "sentences":
        return sentence_chunks(text, tokens, policy)
    return windows(text, tokens, policy)


def chunk(
    text: str,
    policy: ChunkingPolicy,
    artifact_type: str | None = None,
    *,
    tokeniser: Callable[[str], Tokens] = tokenise,
) -> list[Chunk]:
    """The text's chunks in order, at least one; an empty text is one empty chunk.

    `artifact_type` is a hint for `structure`, which also looks at the text itself.
    """
    tokens = tokeniser(text)
    return [
        Chunk(
            index,
            text[span.start : span.end],
            span.start,
            span.end,
            tokens.touching(span.start, span.end),
            span.context,
        )
        for index, span in enumerate(_spans(text, tokens, policy, artifact_type))
    ]

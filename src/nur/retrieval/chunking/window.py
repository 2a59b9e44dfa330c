"""The `window` policy: as many tokens as fit, wherever that ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.retrieval.chunking.packing import Breaks, ChunkSpan, pack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.retrieval.chunking.policy import ChunkingPolicy
    from nur.retrieval.text.tokens import Tokens


def windows(text: str, tokens: Tokens, policy: ChunkingPolicy) -> Iterator[ChunkSpan]:
    """Windows of `target` tokens, each repeating the last `overlap` tokens of the one before."""
    return pack(tokens, Breaks.anywhere(0, len(text)), policy.target, policy.overlap)

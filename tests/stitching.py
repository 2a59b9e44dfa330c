"""Joins chunks, for the chunking tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.retrieval.passages.neighbours import expand_chunk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.chunks import Chunk


def rebuild(chunks: Sequence[Chunk]) -> str:
    """The original text of these chunks; all chunks must be given."""
    parts: list[str] = []
    reached = 0
    for chunk in chunks:
        assert chunk.start_char <= reached, f"characters {reached} to {chunk.start_char} are in no chunk"
        parts.append(chunk.content[reached - chunk.start_char :])
        reached = max(reached, chunk.end_char)
    return "".join(parts)


def expand(chunks: Sequence[Chunk], index: int) -> str:
    """The chunk at that index with its neighbours, separated by boundary lines."""
    neighbours = [chunks[place] if 0 <= place < len(chunks) else None for place in (index - 1, index + 1)]
    return expand_chunk(chunks[index], *neighbours).text

"""Show a chunk between its neighbours, stitched by offsets so that no overlap is repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.search import ExpandedChunk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nur.domain.chunks import Chunk


def expand_chunk(target: Chunk, previous: Chunk | None, following: Chunk | None) -> ExpandedChunk:
    """The chunk with the text before and after it; neighbours lose the part that overlaps with the chunk."""
    before = after = ""
    start, end = target.start_char, target.end_char
    if previous is not None:
        before = previous.content[: target.start_char - previous.start_char]
        start = previous.start_char
    if following is not None:
        after = following.content[max(0, target.end_char - following.start_char) :]
        end = following.end_char
    return ExpandedChunk(before, target.content, after, start, end)


def room_for_context(max_chars: int, passages: int, notes: int) -> int:
    """Characters that each of `notes` chunked notes may show around its passages; `passages` are used already."""
    return max(0, max_chars - passages) // max(1, notes)


def best_range(passages: Iterable[tuple[int, int]], chunk: Chunk) -> tuple[int, int]:
    """Range of the first passage that overlaps the chunk; an empty range at the chunk's start if none does."""
    overlapping = ((start, end) for start, end in passages if touches(start, end, chunk))
    return next(overlapping, (chunk.start_char, chunk.start_char))


def touches(start: int, end: int, chunk: Chunk) -> bool:
    """Whether the range overlaps the chunk."""
    return start < chunk.end_char and chunk.start_char < end

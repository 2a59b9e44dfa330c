"""A chunk among its neighbours: stitched by offsets, so that no overlap is said twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.errors import StoreDamaged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nur.domain.chunks import Chunk

BOUNDARY = "[CHUNK BOUNDARY]"


@dataclass(frozen=True, slots=True)
class ExpandedChunk:
    """A chunk's text, and what its neighbours add before and after it; empty where there is none."""

    before: str
    target: str
    after: str
    start_char: int  #: where `before` begins
    end_char: int  #: where `after` ends, not included

    @property
    def text(self) -> str:
        """The parts with a boundary line between them."""
        return f"\n{BOUNDARY}\n".join(self.parts)

    @property
    def parts(self) -> tuple[str, ...]:
        """What there is, in order."""
        return tuple(part for part in (self.before, self.target, self.after) if part)

    def around(self, start: int, end: int, room: int) -> ExpandedChunk:
        """The characters from `start` to `end`, and at most `room` more before and after them."""
        first = max(self.start_char, start - room // 2)
        last = min(self.end_char, end + room - (start - first))
        first = max(self.start_char, start - (room - (last - end)))
        middle = self.start_char + len(self.before)
        return ExpandedChunk(
            _cut(self.before, self.start_char, first, last),
            _cut(self.target, middle, first, last),
            _cut(self.after, middle + len(self.target), first, last),
            first,
            last,
        )


def room_for_context(max_chars: int, passages: int, notes: int) -> int:
    """Characters that each of `notes` cut notes may show around its passage, when all passages have so many."""
    return max(0, max_chars - passages) // max(1, notes)


def answering(passages: Iterable[tuple[int, int]], chunk: Chunk) -> tuple[int, int]:
    """Where the best passage in this chunk starts and ends; its very start when no passage is in it."""
    inside = ((start, end) for start, end in passages if chunk.start_char <= start and end <= chunk.end_char)
    return next(inside, (chunk.start_char, chunk.start_char))


def _cut(part: str, offset: int, first: int, last: int) -> str:
    return part[max(0, first - offset) : max(0, last - offset)]


def expand_chunk(target: Chunk, previous: Chunk | None, following: Chunk | None) -> ExpandedChunk:
    """The chunk between its neighbours, which lose what the chunk itself holds."""
    before = after = ""
    start, end = target.start_char, target.end_char
    if previous is not None:
        before = previous.content[: target.start_char - previous.start_char]
        start = previous.start_char
    if following is not None:
        after = following.content[max(0, target.end_char - following.start_char) :]
        end = following.end_char
    return ExpandedChunk(before, target.content, after, start, end)


def expand(chunks: Iterable[Chunk], index: int) -> str:
    """The chunk of that index with its neighbours, boundary lines between; empty when there is no such chunk.

    The chunks may come in any order, and may be only some of the note's.
    """
    by_index = {chunk.index: chunk for chunk in chunks}
    target = by_index.get(index)
    if target is None:
        return ""
    return expand_chunk(target, by_index.get(index - 1), by_index.get(index + 1)).text


def rebuild(chunks: Iterable[Chunk]) -> str:
    """The exact text that was cut into these chunks; StoreDamaged when one is missing between the others."""
    parts: list[str] = []
    reached = 0
    for chunk in sorted(chunks, key=lambda chunk: (chunk.start_char, chunk.end_char)):
        if chunk.start_char > reached:
            raise StoreDamaged(f"The chunks leave out characters {reached} to {chunk.start_char}.")
        parts.append(chunk.content[reached - chunk.start_char :])
        reached = max(reached, chunk.end_char)
    return "".join(parts)

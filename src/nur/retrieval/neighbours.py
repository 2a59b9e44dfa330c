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
class Surroundings:
    """A chunk's text, and what its neighbours add before and after it; empty where there is none."""

    before: str
    target: str
    after: str
    start_char: int  #: where `before` begins
    end_char: int  #: where `after` ends, not included

    @property
    def text(self) -> str:
        """The parts with a boundary line between them."""
        return f"\n{BOUNDARY}\n".join(part for part in (self.before, self.target, self.after) if part)


def surround(target: Chunk, previous: Chunk | None, following: Chunk | None) -> Surroundings:
    """The chunk between its neighbours, which lose what the chunk itself holds."""
    before = after = ""
    start, end = target.start_char, target.end_char
    if previous is not None:
        before = previous.content[: target.start_char - previous.start_char]
        start = previous.start_char
    if following is not None:
        after = following.content[max(0, target.end_char - following.start_char) :]
        end = following.end_char
    return Surroundings(before, target.content, after, start, end)


def expand(chunks: Iterable[Chunk], index: int) -> str:
    """The chunk of that index with its neighbours, boundary lines between; empty when there is no such chunk.

    The chunks may come in any order, and may be only some of the note's.
    """
    by_index = {chunk.index: chunk for chunk in chunks}
    target = by_index.get(index)
    if target is None:
        return ""
    return surround(target, by_index.get(index - 1), by_index.get(index + 1)).text


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

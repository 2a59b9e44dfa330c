"""Lines of a stream of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nur.domain.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator

Line: TypeAlias = "tuple[int, bytes]"  #: its number, from 1, and its bytes

#: More than the longest note has: its text and twenty previous ones, escaped.
MOST_LINE_BYTES = 2 * 1024**3


async def numbered_lines(pieces: AsyncIterable[bytes]) -> AsyncIterator[Line]:
    """The lines that are not blank. Raises BadRequest for one without an end."""
    number, parts, size = 1, list[bytes](), 0
    async for piece in pieces:
        *ended, rest = piece.split(b"\n")
        for line in ended:
            whole = b"".join((*parts, line))
            if whole.strip():
                yield number, whole
            number, parts, size = number + 1, [], 0
        parts.append(rest)
        size += len(rest)
        if size > MOST_LINE_BYTES:
            raise BadRequest(f"line {number}: is longer than any note")
    if b"".join(parts).strip():
        yield number, b"".join(parts)


async def batches(lines: AsyncIterable[Line], *, most: int, most_bytes: int) -> AsyncIterator[list[Line]]:
    """The lines in groups of so many, or of so many bytes."""
    batch: list[Line] = []
    async for line in lines:
        batch.append(line)
        if len(batch) == most or sum(len(text) for _, text in batch) >= most_bytes:
            yield batch
            batch = []
    if batch:
        yield batch

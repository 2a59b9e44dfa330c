"""Fill chunks up to their size, cutting anywhere (windows) or between sentences."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nur.retrieval.text.sentences import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nur.retrieval.chunking.policy import ChunkingPolicy
    from nur.retrieval.text.tokens import Tokens


class ChunkSpan(NamedTuple):
    """The range of a future chunk, and the headings above it."""

    start: int
    end: int
    context: str = ""


@dataclass(frozen=True, slots=True)
class Breaks:
    """Where a text may be cut: at the marks, and anywhere between two marks that are too far apart for one chunk."""

    marks: Sequence[int]  #: ascending offsets; the first and last are the ends of the text to cut
    splittable: Sequence[bool]  #: whether the text after each mark, up to the next, may be cut

    @classmethod
    def anywhere(cls, start: int, end: int) -> Breaks:
        """Cuts at every character."""
        return cls((start, end), (True,))

    @classmethod
    def between(cls, marks: list[int], tokens: Tokens, target: int) -> Breaks:
        """Cuts at the marks; between two marks only if they are more than `target` tokens apart."""
        firsts, afters = tokens.extents(marks)
        return cls(marks, [after - first > target for first, after in zip(firsts, afters, strict=True)])

    def at_or_before(self, char: int) -> int:
        """The last possible cut at or before the character."""
        mark = bisect_right(self.marks, char) - 1
        if mark < len(self.splittable) and self.splittable[mark]:
            return char
        return self.marks[mark]

    def at_or_after(self, char: int) -> int:
        """The first possible cut at or after the character."""
        mark = bisect_left(self.marks, char)
        if self.marks[mark] != char and self.splittable[mark - 1]:
            return char
        return self.marks[mark]


def pack(tokens: Tokens, breaks: Breaks, target: int, overlap: int) -> Iterator[ChunkSpan]:
    """Spans of at most `target` tokens, each beginning with at most `overlap` tokens of the one before.

    Every span ends after the one before it, so none contains another; the last ends at the last mark.
    """
    start, stop = breaks.marks[0], breaks.marks[-1]
    while True:
        end = breaks.at_or_before(min(tokens.reach(start, target), stop))
        if end <= start:  # one character has more tokens than the target
            end = breaks.at_or_after(start + 1)
        yield ChunkSpan(start, end)
        if end == stop:
            return
        start = _next_start(tokens, breaks, end, target, overlap)


def _next_start(tokens: Tokens, breaks: Breaks, end: int, target: int, overlap: int) -> int:
    """The start of the next span: as far back as the overlap allows and the next sentence still fits."""
    following = breaks.at_or_after(end + 1)
    earliest = max(tokens.reach_back(end, overlap), tokens.reach_back(following, target))
    return breaks.at_or_after(earliest) if earliest < end else end


def windows(text: str, tokens: Tokens, policy: ChunkingPolicy) -> Iterator[ChunkSpan]:
    """Windows of `target` tokens, each repeating the last `overlap` tokens of the one before."""
    return pack(tokens, Breaks.anywhere(0, len(text)), policy.target, policy.overlap)


def sentence_chunks(text: str, tokens: Tokens, policy: ChunkingPolicy) -> Iterator[ChunkSpan]:
    """Chunks that begin and end with sentences.

    Each begins with the last sentences of the one before, as many as fit into `overlap` tokens and leave room for the
    next sentence; possibly none. A sentence of more than `target` tokens is cut into windows; the first and last may
    also hold the sentences around it.
    """
    marks = [0, *(end for _, end in split(text))]
    return pack(tokens, Breaks.between(marks, tokens, policy.target), policy.target, policy.overlap)

"""Filling chunks: as much as fits between the places where a text may be cut; anywhere, or between sentences."""

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
    """A chunk to be: a range of characters and what it stands under."""

    start: int
    end: int
    context: str = ""


@dataclass(frozen=True, slots=True)
class Breaks:
    """Where a text may be cut: at the marks, and at any character of a stretch too long to stay whole."""

    marks: Sequence[int]  #: ascending; the first and last are the ends of what is to be cut
    splittable: Sequence[bool]  #: of the stretch after each mark but the last

    @classmethod
    def anywhere(cls, start: int, end: int) -> Breaks:
        """Every character is a place to cut."""
        return cls((start, end), (True,))

    @classmethod
    def between(cls, marks: list[int], tokens: Tokens, target: int) -> Breaks:
        """At the marks; within a stretch only if it alone has more than `target` tokens."""
        firsts, afters = tokens.extents(marks)
        return cls(marks, [after - first > target for first, after in zip(firsts, afters, strict=True)])

    def at_or_before(self, char: int) -> int:
        """The last place to cut that is not after the character."""
        mark = bisect_right(self.marks, char) - 1
        if mark < len(self.splittable) and self.splittable[mark]:
            return char
        return self.marks[mark]

    def at_or_after(self, char: int) -> int:
        """The first place to cut that is not before the character."""
        mark = bisect_left(self.marks, char)
        if self.marks[mark] != char and self.splittable[mark - 1]:
            return char
        return self.marks[mark]


def pack(tokens: Tokens, breaks: Breaks, target: int, overlap: int) -> Iterator[ChunkSpan]:
    """Spans of at most `target` tokens, each beginning with at most `overlap` tokens of the one before.

    Every span ends further than the one before it, so none lies in another; the last ends with the last mark.
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
    """As far back as the overlap allows, if what comes next still fits beside it."""
    following = breaks.at_or_after(end + 1)
    earliest = max(tokens.reach_back(end, overlap), tokens.reach_back(following, target))
    return breaks.at_or_after(earliest) if earliest < end else end


def windows(text: str, tokens: Tokens, policy: ChunkingPolicy) -> Iterator[ChunkSpan]:
    """Windows of `target` tokens, each repeating the last `overlap` tokens of the one before."""
    return pack(tokens, Breaks.anywhere(0, len(text)), policy.target, policy.overlap)


def sentence_chunks(text: str, tokens: Tokens, policy: ChunkingPolicy) -> Iterator[ChunkSpan]:
    """Chunks that begin and end with sentences.

    Each begins with the last sentences of the one before, as many as have at most `overlap` tokens and leave room for
    the next sentence; that may be none. A sentence of more than `target` tokens is cut into windows, which share their
    first and last chunk with the sentences around.
    """
    marks = [0, *(end for _, end in split(text))]
    return pack(tokens, Breaks.between(marks, tokens, policy.target), policy.target, policy.overlap)

"""Term vectors: a text's terms as numbers, how often each occurs, and the text's length in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

MOST = 255
"""A term is counted up to here: BM25 with k1 = 1.2 cannot tell 255 occurrences from more."""


@dataclass(frozen=True, slots=True)
class TermVector:
    """A text's terms and length."""

    ids: NDArray[np.uint32]  #: ascending, distinct
    counts: NDArray[np.uint8]
    length: int  #: in words (bigrams, where a script has no spaces); extra terms do not count

    @classmethod
    def of(cls, counts: Mapping[int, int], length: int) -> TermVector:
        """The term vector of counted terms."""
        order = sorted(counts)
        return cls(np.array(order, np.uint32), np.array([min(counts[term], MOST) for term in order], np.uint8), length)

    def lexical_row(self) -> str:
        """The terms as words for a full-text table (FTS5, tsvector): eight hex digits each, repeated as counted.

        Any tokenizer keeps such words whole, whatever script the text was in. Extra terms are in it for their document
        frequencies; a search asks for the main ones alone.
        """
        return " ".join(
            row_word(term)
            for term, times in zip(self.ids.tolist(), self.counts.tolist(), strict=True)
            for _ in range(times)
        )


def row_word(term: int) -> str:
    """A term's number as a word of a lexical row."""
    return f"{term:08x}"

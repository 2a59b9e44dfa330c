"""A text as ranking stores it: its terms with their counts, its length in words, and the terms of its title."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.retrieval.text.analysis import Analyzer, term_id
from nur.retrieval.text.function_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


MAX_COUNT = 255
"""Highest stored count of a term: BM25 with k1 = 1.2 cannot tell 255 occurrences from more."""

MAX_FIRST_LINE_CHARACTERS = 120
"""A longer first line is a paragraph, not a heading of the note."""


@dataclass(frozen=True, slots=True)
class TermVector:
    """A text's terms and length."""

    ids: NDArray[np.uint32]  #: ascending, distinct
    counts: NDArray[np.uint8]
    length: int  #: in words (bigrams, where a script has no spaces); extra terms do not count

    @classmethod
    def of(cls, counts: Mapping[int, int], length: int) -> TermVector:
        """The vector of these terms, by id; counts are capped at 255."""
        order = sorted(counts)
        return cls(
            np.array(order, np.uint32), np.array([min(counts[term], MAX_COUNT) for term in order], np.uint8), length
        )

    def lexical_row(self) -> str:
        """The terms as words for a full-text table (FTS5, tsvector): eight hex digits each, repeated as counted.

        Any tokenizer keeps such words whole, whatever the text's script. Extra terms are included for their document
        frequencies; a search looks up main terms only.
        """
        return " ".join(
            row_word(term)
            for term, count in zip(self.ids.tolist(), self.counts.tolist(), strict=True)
            for _ in range(count)
        )


def row_word(term: int) -> str:
    """A term id as a word of a lexical row."""
    return f"{term:08x}"


def heading(text: str, title: str | None = None) -> str:
    """The note's title, or its first line if that is short and more text follows; else empty."""
    if title:
        return title
    first, _, rest = text.lstrip().partition("\n")
    is_heading = len(first) <= MAX_FIRST_LINE_CHARACTERS and rest.strip() != ""
    return first if is_heading else ""


def encode_heading(line: str, analyzer: Analyzer) -> bytes:
    """The ids of the heading's content words, as stored with its note: four bytes each."""
    ids = {term_id(term) for term in analyzer.terms(line) if term.word not in FUNCTION_WORDS}
    return np.array(sorted(ids), "<u4").tobytes()


def decode_heading(stored: bytes) -> NDArray[np.uint32]:
    """The term ids that `encode_heading` stored."""
    return np.frombuffer(stored, "<u4")

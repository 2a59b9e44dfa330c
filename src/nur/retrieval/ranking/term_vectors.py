"""Terms as they are stored: words of a lexical row, and the terms of a note's title."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nur.retrieval.text.analysis import Analyzer, term_id
from nur.retrieval.text.function_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray


MAX_FIRST_LINE_CHARACTERS = 120
"""A longer first line is a paragraph, not a heading of the note."""


ROW_WORD = 9
"""Characters of a word in a lexical row, with the space behind it."""


def row_word(term: int) -> str:
    """A term id as a word of a lexical row."""
    return f"{term:08x}"


def row_words(terms: NDArray[np.uint32]) -> str:
    """Term ids as the words of a lexical row, with a space between them."""
    return terms.astype(">u4").tobytes().hex(" ", 4)


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

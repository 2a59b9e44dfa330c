"""A note's title counts as context for all of its pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nur.retrieval.text.analysis import Analyzer, term_id
from nur.retrieval.text.function_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST_HEADING = 120
"""A longer first line is a paragraph."""


def heading(text: str, title: str | None = None) -> str:
    """The note's title, or its first line if that is short and not all there is; empty when there is neither."""
    if title:
        return title
    first, _, rest = text.lstrip().partition("\n")
    is_heading = len(first) <= LONGEST_HEADING and rest.strip() != ""
    return first if is_heading else ""


def encode_heading(line: str, analyzer: Analyzer) -> bytes:
    """The heading's telling terms as stored with its note: four bytes each."""
    ids = {term_id(term) for term in analyzer.terms(line) if term.word not in FUNCTION_WORDS}
    return np.array(sorted(ids), "<u4").tobytes()


def decode_heading(stored: bytes) -> NDArray[np.uint32]:
    """The terms that were stored."""
    return np.frombuffer(stored, "<u4")

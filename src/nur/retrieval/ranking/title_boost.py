"""A heading that the question repeats is a strong sign: "Creating test cases" for "how do I create test cases?".

Every chunk of a note is scored with the note's heading: its title, or its first line when that is short. On a set of
product documentation this lifts nDCG@10 from .75 to .80; sets without headings do not change.
"""

from __future__ import annotations

from struct import pack, unpack

from nur.retrieval.ranking.queries import FUNCTION_WORDS
from nur.retrieval.text.analysis import Analyzer, term_id

HEADING_WEIGHT = 0.25
"""What a heading adds to a chunk's score when the question holds all of its words (.1 to .3: within a point)."""

FULL_WEIGHT_CHARACTERS = 10_000
"""A heading speaks for a note up to this long, and less for a longer one: a book's first line is not about its end."""

LONGEST_HEADING = 120
"""A longer first line is a paragraph."""


def heading(text: str, title: str | None = None) -> str:
    """The note's title, or its first line if that is short and not all there is; empty when there is neither."""
    if title:
        return title
    first, _, rest = text.lstrip().partition("\n")
    is_heading = len(first) <= LONGEST_HEADING and rest.strip() != ""
    return first if is_heading else ""


def encode_heading(line: str, note_characters: int, analyzer: Analyzer) -> bytes:
    """The heading as stored with its note: the note's length, then the heading's telling terms, four bytes each."""
    ids = {term_id(term) for term in analyzer.terms(line) if not term.extra and term.word not in FUNCTION_WORDS}
    return pack(f"<{1 + len(ids)}I", note_characters, *sorted(ids)) if ids else b""


def title_boost(stored: bytes, question_ids: frozenset[int]) -> float:
    """What the heading adds to the score of each chunk of its note.

    The share of its words that the question holds, as if it had one more: a single word is little evidence.
    """
    if not stored:
        return 0.0
    note_characters, *ids = unpack(f"<{len(stored) // 4}I", stored)
    share = sum(term in question_ids for term in ids) / (len(ids) + 1)
    return float(HEADING_WEIGHT * share * min(1.0, FULL_WEIGHT_CHARACTERS / max(note_characters, 1)))

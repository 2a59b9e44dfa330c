"""Statements that disagree: where a question asks whether, one clause says never and another says it happened."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nur.retrieval.currency.statements import covered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nur.retrieval.currency.statements import Shares, Utterance

# Chosen on the first five chats of BEAM (docs/quality.md, "Time and change").
LEAST_COVERED = 0.3
"""Of the question's telling words that each of the two clauses must have."""

SHORTEST_CLAUSE = 9
_ASKS_WHETHER = re.compile(
    r"\s*(?:so |and |but )?(?:have|has|had|did|do|does|am|are|is|was|were|can|could)\b", re.IGNORECASE
)
_DENIES = re.compile(r"\b(?:never|(?:have|has|had)(?:n['’]t| not)|did(?:n['’]t| not)|not yet)\b", re.IGNORECASE)
_SELF = re.compile(r"\b(?:i|my|me|we|our)\b", re.IGNORECASE)
#: A wish, a plan or a question says nothing about what is.
_NOT_A_CLAIM = re.compile(
    r"\b(?:want|trying to|try to|needs?|can you|could you|would|should|will|how (?:can|do|to)|help me|plan(?:ning)? to|"
    r"not sure|wondering|if i|might|what)\b|\?",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE_END = re.compile(r",\s+|;\s*|\s+(?=but\b)|\s+-\s+")
_CODE = "```"


class Clause(NamedTuple):
    """A part of a statement: `note_text[start_char:end_char]`."""

    place: int  #: of its statement
    start_char: int
    end_char: int
    text: str


class Disagreement(NamedTuple):
    """Two clauses on the asked matter that cannot both hold."""

    denies: Clause
    claims: Clause


def asks_whether(question: str) -> bool:
    """Whether a question can be answered with yes or no."""
    return _ASKS_WHETHER.match(question) is not None


def disagreement(shares: Shares, statements: Sequence[Utterance]) -> Disagreement | None:
    """The clearest denial and the clearest claim; None where there are not both."""
    denials: list[tuple[float, Clause]] = []
    claims: list[tuple[float, Clause]] = []
    for clause in (clause for place, one in enumerate(statements) for clause in _clauses(place, one)):
        denies = _DENIES.search(clause.text) is not None
        if not (_SELF.search(clause.text) if denies else not _NOT_A_CLAIM.search(clause.text)):
            continue
        share = covered(clause.text, shares)
        if share >= LEAST_COVERED:
            (denials if denies else claims).append((share, clause))
    if not denials or not claims:
        return None
    return Disagreement(max(denials, key=lambda one: one[0])[1], max(claims, key=lambda one: one[0])[1])


def _clauses(place: int, statement: Utterance) -> Iterator[Clause]:
    """The clauses of a statement up to its first code block."""
    text = statement.text.partition(_CODE)[0]
    for first, last in _split(text, 0, len(text), _SENTENCE_END):
        for start, end in _split(text, first, last, _CLAUSE_END):
            if end - start >= SHORTEST_CLAUSE:
                yield Clause(place, statement.start_char + start, statement.start_char + end, text[start:end])


def _split(text: str, start: int, end: int, at: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for gap in at.finditer(text, start, end):
        yield start, gap.start()
        start = gap.end()
    yield start, end

"""Statements: what people said, as the rules of this package read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from nur.domain.notes import Kind
from nur.retrieval.text.analysis import ANALYZER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from nur.domain.notes import Note
    from nur.retrieval.ranking.queries import WeighedTerms

MOST_CHARACTERS = 2_500
"""Characters of a statement that are read: what people say is short, and the rest of a long turn is pasted."""

MOST_STATEMENTS = 10
"""Statements that are compared, the best ones of an answer."""

_NOT_PEOPLE = frozenset({"assistant", "system", "tool"})

#: Words that ask for a value and do not stand beside it: "how many lamps" is answered by "4 lamps".
_ASKING = frozenset(term for word in ("many", "much", "often", "long", "old") for term in ANALYZER.ids(word).main)

#: By term, the share of the question's telling words that it stands for.
Shares: TypeAlias = "Mapping[int, float]"


@dataclass(frozen=True, slots=True)
class Utterance:
    """A short text that a person said, and when."""

    public_id: str
    text: str
    start_char: int  #: where in its note the text begins
    said: tuple[datetime, int]  #: when, and the place among the turns of a conversation
    score: float
    is_memory: bool  #: a memory, a note or an event, and not a turn


def is_statement(note: Note) -> bool:
    """Whether a person said it: no document, and no turn of an assistant or a tool."""
    return note.kind is not Kind.ARTIFACT and note.meta.role not in _NOT_PEOPLE


def statement(note: Note, text: str, start_char: int, score: float) -> Utterance:
    """What the rules read of a note's chunk."""
    turn = -1 if note.meta.turn_index is None else note.meta.turn_index
    is_memory = note.kind is not Kind.TURN
    return Utterance(note.public_id, text[:MOST_CHARACTERS], start_char, (note.said_at, turn), score, is_memory)


def telling_shares(terms: WeighedTerms) -> dict[int, float]:
    """The question's telling words with their weights, which sum up to 1: no function words, no written-out forms."""
    telling = {
        int(term): float(weight)
        for term, importance, weight in zip(terms.ids, terms.importance, terms.weights, strict=True)
        if importance >= 1.0 and int(term) not in _ASKING
    }
    total = sum(telling.values()) or 1.0
    return {term: weight / total for term, weight in telling.items()}


def covered(text: str, shares: Shares) -> float:
    """How much of the question's telling words a text has, 0 to 1."""
    found = {term for token in ANALYZER.tokens(text) for term in ANALYZER.ids(token).main if term in shares}
    return sum(shares[term] for term in found)

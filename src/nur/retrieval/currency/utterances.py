"""What people said, in the form that the rules of this package read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from nur.domain.notes import Kind
from nur.retrieval.text.analysis import ANALYZER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from nur.domain.notes import Note
    from nur.retrieval.ranking.queries import WeightedTerms

MAX_CHARACTERS = 2_500
"""Characters read of an utterance; people say little, and the rest of a long turn is pasted."""

MAX_UTTERANCES = 10
"""Hits of an answer that are compared, best first."""

_NOT_PEOPLE = frozenset({"assistant", "system", "tool"})

#: Words that ask for a value but do not occur near it: "how many lamps" is answered by "4 lamps".
_ASKING = frozenset(term for word in ("many", "much", "often", "long", "old") for term in ANALYZER.ids(word).main)

#: Weight of each content word of a question, by term id; the weights sum to 1.
Shares: TypeAlias = "Mapping[int, float]"


@dataclass(frozen=True, slots=True)
class Utterance:
    """A short text that a person said, and when."""

    public_id: str
    text: str
    start_char: int  #: offset of the text in its note
    said: tuple[datetime, int]  #: when, and the turn index in its conversation or -1
    score: float
    is_memory: bool  #: a memory, a note or an event; not a turn


def is_utterance(note: Note) -> bool:
    """Whether a person said it: not a document, nor a turn of an assistant, system or tool."""
    return note.kind is not Kind.ARTIFACT and note.meta.role not in _NOT_PEOPLE


def as_utterance(note: Note, text: str, start_char: int, score: float) -> Utterance:
    """A note's chunk as the rules read it."""
    turn = -1 if note.meta.turn_index is None else note.meta.turn_index
    is_memory = note.kind is not Kind.TURN
    return Utterance(note.public_id, text[:MAX_CHARACTERS], start_char, (note.said_at, turn), score, is_memory)


def term_shares(terms: WeightedTerms) -> dict[int, float]:
    """Weights of the question's content words, which sum to 1; without function words and surface forms."""
    content = {
        int(term): float(weight)
        for term, importance, weight in zip(terms.ids, terms.importance, terms.weights, strict=True)
        if importance >= 1.0 and int(term) not in _ASKING
    }
    total = sum(content.values()) or 1.0
    return {term: weight / total for term, weight in content.items()}


def covered_share(text: str, shares: Shares) -> float:
    """Share of the question's content words that a text contains, by weight, 0 to 1."""
    matched = {term for token in ANALYZER.tokens(text) for term in ANALYZER.ids(token).main if term in shares}
    return sum(shares[term] for term in matched)

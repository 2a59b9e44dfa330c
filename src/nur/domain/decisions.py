"""Suggestions and decisions about pairs of memories that may contradict each other.

A rule may suggest that two memories give different values for the same thing. Only a person, or an agent on a
person's behalf, decides. Decisions are stored data; suggestions are derived and can be rebuilt.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import Note, NoteId

_REVIEW_HEX = 16


class Relation(StrEnum):
    """How two memories relate, according to a rule."""

    SAME = "same"  #: nearly the same words, no difference in meaning
    OTHER = "other"  #: the same thing with another value
    CONFLICT = "conflict"  #: one affirms what the other denies


class ReviewState(StrEnum):
    """State of a review."""

    WAITING = "waiting"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"


class DecisionKind(StrEnum):
    """The decision on a pair."""

    SUPERSEDES = "supersedes"  #: the newer note is true; the older one stays as history
    REJECTED = "rejected"  #: both are true: the suggestion was wrong


@dataclass(frozen=True, slots=True)
class NotePair:
    """Two notes, by internal id."""

    newer: NoteId
    older: NoteId

    @property
    def review_id(self) -> str:
        """The pair's public id, the same in every store that has both notes."""
        return f"rev_{sha256(self.newer.bytes + self.older.bytes).hexdigest()[:_REVIEW_HEX]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision about a pair. The hashes identify the texts that were compared."""

    pair: NotePair
    kind: DecisionKind
    newer_hash: str
    older_hash: str
    decided_by: str
    decided_at: datetime  #: UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A pair that awaits a decision."""

    pair: NotePair
    relation: Relation
    newer_hash: str
    older_hash: str
    found_at: datetime  #: UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A pair of notes that was suggested, decided, or both."""

    newer: Note
    older: Note
    relation: Relation | None  #: None: it was never suggested
    decision: Decision | None  #: None: not decided yet
    listed_at: datetime  #: when it was suggested, or decided if it is; lists are ordered by it

    @property
    def review_id(self) -> str:
        """The pair's public id."""
        return NotePair(self.newer.note_id, self.older.note_id).review_id

    @property
    def state(self) -> ReviewState:
        """Whether it awaits a decision, or which one was made."""
        if self.decision is None:
            return ReviewState.WAITING
        supersedes = self.decision.kind is DecisionKind.SUPERSEDES
        return ReviewState.CONFIRMED if supersedes else ReviewState.REJECTED

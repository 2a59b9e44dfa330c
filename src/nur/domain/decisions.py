"""What people decided about pairs of memories, and what waits to be decided.

A rule may suggest that one memory says something else about the same thing as another. Only a person, or an agent on
a person's behalf, decides: decisions are part of the truth, suggestions are derived.
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
    """How two memories stand to each other, as a rule sees it."""

    SAME = "same"  #: nearly the same words, nothing that differs
    OTHER = "other"  #: the same thing with another value
    CONFLICT = "conflict"  #: one says yes where the other says no


class DecisionKind(StrEnum):
    """What was decided."""

    SUPERSEDES = "supersedes"  #: the newer note holds; the older one stays as history
    REJECTED = "rejected"  #: both hold: the suggestion was wrong


@dataclass(frozen=True, slots=True)
class NotePair:
    """Two notes, by internal ids."""

    newer: NoteId
    older: NoteId

    @property
    def review_id(self) -> str:
        """What callers call the pair: the same in every store that has both notes."""
        return f"rev_{sha256(self.newer.bytes + self.older.bytes).hexdigest()[:_REVIEW_HEX]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided about a pair, by whom and when; the hashes name the texts that it was decided about."""

    pair: NotePair
    kind: DecisionKind
    newer_hash: str
    older_hash: str
    decided_by: str
    decided_at: datetime  #: UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A pair that waits for a decision."""

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
    decision: Decision | None  #: None: it waits

    @property
    def review_id(self) -> str:
        """What callers call it."""
        return NotePair(self.newer.note_id, self.older.note_id).review_id

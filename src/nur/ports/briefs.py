"""BriefStore: what a brief is made of, read in one snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from nur.domain.filters import NoteFilter
    from nur.domain.statements import StatedQuote, StatementKind


@dataclass(frozen=True, slots=True)
class BriefQuery:
    """Which notes, and how much of each sort."""

    where: Sequence[NoteFilter]  #: notes that match any of these
    now: datetime
    kinds: Sequence[StatementKind]  #: only what the owner stated is read
    changed_since: datetime
    first_day: int  #: of times to come, as `date.toordinal` counts
    end_day: int
    limit: int  #: of each sort
    characters: int  #: of a note's text


@dataclass(frozen=True, slots=True)
class NoteExcerpt:
    """A part of a note's text."""

    public_id: str
    said_at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class TextChange:
    """A note whose text was replaced."""

    public_id: str
    replaced_at: datetime
    before: str  #: the beginnings of both texts
    after: str


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day that a note's text names, with the text around it."""

    excerpt: NoteExcerpt
    start_char: int  #: of the expression, in the excerpt
    first_day: int
    end_day: int


@dataclass(frozen=True, slots=True)
class BriefMaterial:
    """What is known, newest first; what is to come, soonest first."""

    statements: Sequence[StatedQuote]
    changes: Sequence[TextChange]
    upcoming: Sequence[NamedDay]
    recent: Sequence[NoteExcerpt]  #: memories, notes and events


class BriefStore(Protocol):
    """Reads active notes that match, and what is derived from them."""

    async def mark(self, tenant: str) -> int:
        """A number that grows with the tenant's writes: nothing changed while it stays."""
        ...

    async def material(self, query: BriefQuery) -> BriefMaterial:
        """Everything that a brief may quote."""
        ...

"""BriefStore: reads the material of a brief in one snapshot."""

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
    """Which notes to read, and how much of each kind of material."""

    where: Sequence[NoteFilter]  #: notes that match any of these
    now: datetime
    kinds: Sequence[StatementKind]  #: kinds to read; only statements by the owner
    changed_since: datetime
    first_day: int  #: first upcoming day, as `date.toordinal` returns it
    end_day: int  #: exclusive
    limit: int  #: rows of each kind of material
    characters: int  #: read from each note's text


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
    before: str  #: first characters of the previous text
    after: str  #: first characters of the current text


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day that a note's text names, with the text around it."""

    excerpt: NoteExcerpt
    start_char: int  #: where the time expression starts in the excerpt
    first_day: int
    end_day: int


@dataclass(frozen=True, slots=True)
class BriefMaterial:
    """Everything that a brief may quote: newest first; upcoming days soonest first."""

    statements: Sequence[StatedQuote]
    changes: Sequence[TextChange]
    upcoming: Sequence[NamedDay]
    recent: Sequence[NoteExcerpt]  #: memories, notes and events


class BriefStore(Protocol):
    """Reads active notes and the rows derived from them."""

    async def mark(self, tenant: str) -> int:
        """Return a number that grows with every write of the tenant: while it is the same, nothing has changed."""
        ...

    async def material(self, query: BriefQuery) -> BriefMaterial:
        """Read everything that a brief may quote."""
        ...

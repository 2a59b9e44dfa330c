"""What is derived from one note: rows that a deriver computes from its text, at one revision of the note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.domain.notes import Note


@dataclass(frozen=True, slots=True)
class FingerprintBand:
    """One band of a note's fingerprint: notes with nearly the same words have bands in common."""

    band_hash: int  #: signed, 64 bits


@dataclass(frozen=True, slots=True)
class TimeRow:
    """A time that a note's text names (`retrieval.times`)."""

    start_char: int
    end_char: int
    first_day: int  #: proleptic ordinals, as of `date.toordinal`
    end_day: int  #: the day after the last


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A statement in a note's text (`retrieval.statements`)."""

    start_char: int
    end_char: int
    kind: str  #: a StatementKind
    trust: str  #: a Trust
    speaker: str


#: A row of any deriver. Its fields are the columns of the deriver's table.
DerivedRow: TypeAlias = FingerprintBand | TimeRow | StatementRow


@dataclass(frozen=True, slots=True)
class Derivation:
    """Everything that one deriver computed from a note. No rows means that there are none, not that it failed."""

    deriver: str
    version: int
    rows: Sequence[DerivedRow]


@dataclass(frozen=True, slots=True)
class Deriver:
    """Computes rows from a note and its text, and from nothing else: the same input gives the same rows."""

    name: str  #: the name of its table
    version: int  #: raise it when the same text gives other rows; stored notes are then derived again
    rows: Callable[[Note, str], Sequence[DerivedRow]]

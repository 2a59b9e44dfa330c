"""Derivations: rows that a deriver computes from one note's text, at one revision of the note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.domain.notes import Note


@dataclass(frozen=True, slots=True)
class FingerprintBand:
    """One band of a note's fingerprint. Notes with nearly the same words share bands."""

    band_hash: int  #: signed, 64 bits


@dataclass(frozen=True, slots=True)
class TimeRow:
    """A time that a note's text names (`retrieval.times`)."""

    start_char: int
    end_char: int
    first_day: int  #: as `date.toordinal` returns it
    end_day: int  #: exclusive


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A statement in a note's text (`retrieval.statements`)."""

    start_char: int
    end_char: int
    kind: str  #: a StatementKind
    trust: str  #: a Trust
    speaker: str


#: A row of any deriver. Its fields are the columns of that deriver's table.
DerivedRow: TypeAlias = FingerprintBand | TimeRow | StatementRow


@dataclass(frozen=True, slots=True)
class Derivation:
    """All rows that one deriver computed from a note. Empty means it found none, not that it failed."""

    deriver: str
    version: int
    rows: Sequence[DerivedRow]


@dataclass(frozen=True, slots=True)
class Deriver:
    """Computes rows from a note and its text. Pure: the same input gives the same rows."""

    name: str  #: also the name of its table
    version: int  #: increment when the same text gives different rows; stored notes are then derived again
    rows: Callable[[Note, str], Sequence[DerivedRow]]

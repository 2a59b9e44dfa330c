"""Filter columns: a NoteFilter becomes a mask over rows in a few numpy comparisons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from nur.domain.kinds import TURNS
from nur.domain.notes import SHARED, Kind

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.filters import NoteFilter
    from nur.domain.notes import Note

Mask: TypeAlias = npt.NDArray[np.bool_]

_KINDS = tuple(Kind)
_IS_TURN = np.array([kind in TURNS for kind in _KINDS])

_EQUALS = ("type", "source_system", "sensitivity", "visibility", "project", "agent", "scope")
_CODED = ("tenant", "owner", "conversation_id", *_EQUALS)
_PLACE = {name: place for place, name in enumerate(_CODED)}

_MISSING = -1  #: the note has no such value
_UNKNOWN = -2  #: no note has the value in the filter


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter at one moment, in codes and epoch seconds."""

    equal: tuple[tuple[int, int], ...]  #: index of a coded column, and the code it must have
    kinds: Mask | None  #: by index of the kind; None: all
    conversation: int | None
    min_confidence: float | None
    occurred_from: float | None
    occurred_to: float | None
    visible_to: int | None  #: the owner's code
    shared: tuple[int, ...]  #: codes of the visibilities that others may see
    now: float


def _epoch(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


class ValueCodes:
    """Codes strings as numbers: four bytes per value, and fast to compare in numpy."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def code(self, text: str | None) -> int:
        """The code of a string, added if it is new."""
        return _MISSING if text is None else self._codes.setdefault(text, len(self._codes))

    def codes(self, note: Note) -> list[int]:
        """A note's values in the order of the coded columns."""
        meta = note.meta
        return [
            self.code(note.tenant),
            self.code(note.owner),
            self.code(meta.conversation_id),
            *(self.code(getattr(meta, name)) for name in _EQUALS),
        ]

    def condition(self, where: NoteFilter, now: datetime) -> Condition:
        """The filter in codes."""
        equals = {name: getattr(where, name) for name in ("tenant", *_EQUALS)}
        every_kind = len(where.kinds) == len(_KINDS)
        conversation = where.conversation_id
        return Condition(
            equal=tuple((_PLACE[name], self._known(text)) for name, text in equals.items() if text is not None),
            kinds=None if every_kind else np.array([kind in where.kinds for kind in _KINDS]),
            conversation=None if conversation is None else self._known(conversation),
            min_confidence=where.min_confidence,
            occurred_from=_epoch(where.occurred_from),
            occurred_to=_epoch(where.occurred_to),
            visible_to=None if where.visible_to is None else self._known(where.visible_to),
            shared=tuple(self._known(scope) for scope in SHARED),
            now=now.timestamp(),
        )

    def _known(self, text: str) -> int:
        return self._codes.get(text, _UNKNOWN)


class Columns:
    """The filter columns of a block of rows, one array each.

    A missing number is NaN, of which every comparison is false: `not confidence < minimum` lets it pass,
    `occurred >= start` does not.
    """

    def __init__(self, size: int) -> None:
        self._coded = np.full((len(_CODED), size), _MISSING, np.int32)
        self._kinds = np.zeros(size, np.int8)
        self._confidence = np.full(size, np.nan)
        self._occurred = np.full(size, np.nan)
        self._expires = np.full(size, np.inf)

    def write(self, row: int, note: Note, vocabulary: ValueCodes) -> None:
        """Set the note that a row belongs to."""
        meta = note.meta
        self._coded[:, row] = vocabulary.codes(note)
        self._kinds[row] = _KINDS.index(note.kind)
        self._confidence[row] = math.nan if meta.confidence is None else meta.confidence
        self._occurred[row] = math.nan if meta.occurred_at is None else meta.occurred_at.timestamp()
        self._expires[row] = math.inf if meta.expires_at is None else meta.expires_at.timestamp()

    def mask(self, condition: Condition, rows: int) -> Mask:
        """Which of the first `rows` rows pass the filter."""
        found: Mask = self._expires[:rows] > condition.now
        for place, code in condition.equal:
            found &= self._coded[place, :rows] == code
        if condition.kinds is not None:
            found &= condition.kinds[self._kinds[:rows]]
        if condition.conversation is not None:
            conversations = self._coded[_PLACE["conversation_id"], :rows]
            found &= ~_IS_TURN[self._kinds[:rows]] | (conversations == condition.conversation)
        if condition.min_confidence is not None:
            found &= ~(self._confidence[:rows] < condition.min_confidence)
        if condition.occurred_from is not None:
            found &= self._occurred[:rows] >= condition.occurred_from
        if condition.occurred_to is not None:
            found &= self._occurred[:rows] <= condition.occurred_to
        if condition.visible_to is not None:
            own = self._coded[_PLACE["owner"], :rows] == condition.visible_to
            found &= own | np.isin(self._coded[_PLACE["visibility"], :rows], condition.shared)
        return found

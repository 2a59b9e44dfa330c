"""One hit a note: its best chunk decides its place, its other good passages are listed under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from nur.retrieval.passages import Passage

NEAR_DUPLICATE = 0.9
"""Two notes are near duplicates when their sets of terms share this part (Jaccard)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Group(Generic[T]):
    """Everything that was found of one note, best first."""

    note: Hashable
    members: tuple[T, ...]

    @property
    def best(self) -> T:
        """The member that decides the note's place."""
        return self.members[0]


def by_note(ranked: Iterable[T], note: Callable[[T], Hashable]) -> list[Group[T]]:
    """Gather a ranking, best first, into groups; a group stands where its best member stood."""
    groups: dict[Hashable, list[T]] = {}
    for member in ranked:
        groups.setdefault(note(member), []).append(member)
    return [Group(key, tuple(members)) for key, members in groups.items()]


def passages_by_note(passages: Sequence[Passage]) -> list[Group[Passage]]:
    """The chosen passages under their notes: the note with the best passage first."""
    return by_note(sorted(passages, key=lambda passage: -passage.score), lambda passage: passage.note)


@dataclass(frozen=True, slots=True)
class Collapsed(Generic[T]):
    """A hit that stands for others with almost the same text."""

    shown: T
    duplicates: tuple[T, ...]


def collapse(ranked: Sequence[T], terms: Callable[[T], frozenset[int]]) -> list[Collapsed[T]]:
    """Fold each hit into the first better one whose terms are nearly the same. Order is kept."""
    shown: list[tuple[T, frozenset[int], list[T]]] = []
    for hit in ranked:
        own = terms(hit)
        for _, others, folded in shown:
            if _alike(own, others):
                folded.append(hit)
                break
        else:
            shown.append((hit, own, []))
    return [Collapsed(hit, tuple(folded)) for hit, _, folded in shown]


def _alike(one: frozenset[int], other: frozenset[int]) -> bool:
    if not one or not other or min(len(one), len(other)) < NEAR_DUPLICATE * max(len(one), len(other)):
        return False
    return len(one & other) >= NEAR_DUPLICATE * len(one | other)

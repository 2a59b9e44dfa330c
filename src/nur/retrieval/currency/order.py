"""Put what holds now before what held once, among the best ten of an answer.

Places are only exchanged among the notes that a rule compares: nothing is added, dropped or pushed behind others. What
somebody decided counts before any rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from nur.retrieval.currency.conflicts import asks_whether, disagreement
from nur.retrieval.currency.slots import asks_value, same_slot
from nur.retrieval.currency.statements import telling_shares
from nur.retrieval.currency.updates import asks_past, updates

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nur.retrieval.currency.conflicts import Disagreement
    from nur.retrieval.currency.statements import Utterance
    from nur.retrieval.ranking.queries import WeighedTerms


class MoveRule(StrEnum):
    """Why one note was put before another."""

    DECIDED = "decided"  #: somebody decided that it supersedes the other
    VALUE = "value"  #: it gives the asked thing a newer value
    UPDATE = "update"  #: it reports a change of the same thing


class Move(NamedTuple):
    """One note stands before another one because it is newer, by public ids."""

    newer: str
    older: str
    rule: MoveRule


@dataclass(frozen=True, slots=True)
class CurrentOrder:
    """In which order statements are shown."""

    places: Sequence[int]  #: the statement that stands at each place
    moves: tuple[Move, ...] = ()
    conflict: Disagreement | None = None


def order_current(
    question: str, terms: WeighedTerms, statements: Sequence[Utterance], *, names_time: bool
) -> CurrentOrder:
    """The order of the statements, which come best first; `names_time`: the question asks about a stretch of time."""
    shares = telling_shares(terms)
    places, moves = list(range(len(statements))), []
    if not names_time and asks_value(question):
        slot = same_slot(question, shares, statements)
        newest_first = sorted(slot, key=lambda place: statements[place].said, reverse=True)
        for at, place in zip(slot, newest_first, strict=True):
            places[at] = place
        moves = _moves(statements, newest_first[1:], newest_first[:1] * (len(slot) - 1), MoveRule.VALUE)
    if not moves and not names_time and not asks_past(question):
        before = updates(statements)
        at_places = sorted({*before, *(other for others in before.values() for other in others)})
        for at, place in zip(at_places, _behind(at_places, before, statements), strict=True):
            places[at] = place
        for place, others in before.items():
            newest = max(others, key=lambda other: statements[other].said)
            moves += _moves(statements, [place], [newest], MoveRule.UPDATE)
    conflict = disagreement(shares, statements) if asks_whether(question) else None
    return CurrentOrder(places, tuple(moves), conflict)


def decided_first(public_ids: Sequence[str], superseded: Mapping[str, Sequence[str]]) -> tuple[list[int], list[Move]]:
    """The order of notes in which each stands right behind the note that supersedes it, and what was moved."""
    at = {public_id: place for place, public_id in enumerate(public_ids)}
    before = {
        at[older]: [at[newer] for newer in newers if newer in at] for older, newers in superseded.items() if older in at
    }
    order: list[int] = []
    for place in range(len(public_ids)):
        _put(place, before, order, set())
    moves = [
        Move(public_ids[newer], public_ids[older], MoveRule.DECIDED)
        for older, newers in before.items()
        for newer in newers[:1]
    ]
    return order, moves


def _behind(
    places: Sequence[int], before: Mapping[int, Sequence[int]], statements: Sequence[Utterance]
) -> Iterable[int]:
    """The places, each behind those that are to come before it, the newest of those first."""
    newest_first = {
        place: sorted(others, key=lambda other: statements[other].said, reverse=True)
        for place, others in before.items()
    }
    order: list[int] = []
    for place in places:
        _put(place, newest_first, order, set())
    return order


def _put(place: int, before: Mapping[int, Sequence[int]], order: list[int], on_the_way: set[int]) -> None:
    if place in order or place in on_the_way:
        return
    for other in before.get(place, ()):
        _put(other, before, order, on_the_way | {place})
    order.append(place)


def _moves(statements: Sequence[Utterance], older: Sequence[int], newer: Sequence[int], rule: MoveRule) -> list[Move]:
    return [
        Move(statements[new].public_id, statements[old].public_id, rule)
        for old, new in zip(older, newer, strict=True)
        if old != new
    ]

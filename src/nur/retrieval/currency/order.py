"""Put what is current before what is outdated, among the best ten of an answer, and find statements that disagree.

Places are only exchanged among the notes that a rule compares: nothing is added, dropped or pushed behind others. What
somebody decided counts before any rule. Two statements disagree where a question asks whether, one clause says never
and another says it happened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from nur.domain.search import Newer, Quote
from nur.retrieval.currency.slots import asks_value, same_slot
from nur.retrieval.currency.statements import MOST_STATEMENTS, covered, is_statement, statement, telling_shares
from nur.retrieval.currency.updates import asks_past, updates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nur.domain.notes import ChunkKey
    from nur.domain.search import Hit, SearchRequest
    from nur.ports.chunks import ChunkWithNote
    from nur.retrieval.currency.statements import Shares, Utterance
    from nur.retrieval.ranking.grouping import HitGroup
    from nur.retrieval.ranking.queries import WeighedTerms

# Chosen on the first five chats of BEAM (docs/quality.md, "Time and change").
LEAST_COVERED = 0.3
"""Of the question's telling words that each of the two clauses must have."""

SHORTEST_CLAUSE = 9
_ASKS_WHETHER = re.compile(
    r"\s*(?:so |and |but )?(?:have|has|had|did|do|does|am|are|is|was|were|can|could)\b", re.IGNORECASE
)
_DENIES = re.compile(r"\b(?:never|(?:have|has|had)(?:n['’]t| not)|did(?:n['’]t| not)|not yet)\b", re.IGNORECASE)
_SELF = re.compile(r"\b(?:i|my|me|we|our)\b", re.IGNORECASE)
#: A wish, a plan or a question says nothing about what is.
_NOT_A_CLAIM = re.compile(
    r"\b(?:want|trying to|try to|needs?|can you|could you|would|should|will|how (?:can|do|to)|help me|plan(?:ning)? to|"
    r"not sure|wondering|if i|might|what)\b|\?",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE_END = re.compile(r",\s+|;\s*|\s+(?=but\b)|\s+-\s+")
_CODE = "```"


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


class Clause(NamedTuple):
    """A part of a statement: `note_text[start_char:end_char]`."""

    place: int  #: of its statement
    start_char: int
    end_char: int
    text: str


class Disagreement(NamedTuple):
    """Two clauses on the asked matter that cannot both hold."""

    denies: Clause
    claims: Clause


def asks_whether(question: str) -> bool:
    """Whether a question can be answered with yes or no."""
    return _ASKS_WHETHER.match(question) is not None


def disagreement(shares: Shares, statements: Sequence[Utterance]) -> Disagreement | None:
    """The clearest denial and the clearest claim; None where there are not both."""
    denials: list[tuple[float, Clause]] = []
    claims: list[tuple[float, Clause]] = []
    for clause in (clause for place, one in enumerate(statements) for clause in _clauses(place, one)):
        denies = _DENIES.search(clause.text) is not None
        if not (_SELF.search(clause.text) if denies else not _NOT_A_CLAIM.search(clause.text)):
            continue
        share = covered(clause.text, shares)
        if share >= LEAST_COVERED:
            (denials if denies else claims).append((share, clause))
    if not denials or not claims:
        return None
    return Disagreement(max(denials, key=lambda one: one[0])[1], max(claims, key=lambda one: one[0])[1])


def _clauses(place: int, statement: Utterance) -> Iterator[Clause]:
    """The clauses of a statement up to its first code block."""
    text = statement.text.partition(_CODE)[0]
    for first, last in _split(text, 0, len(text), _SENTENCE_END):
        for start, end in _split(text, first, last, _CLAUSE_END):
            if end - start >= SHORTEST_CLAUSE:
                yield Clause(place, statement.start_char + start, statement.start_char + end, text[start:end])


def _split(text: str, start: int, end: int, at: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for gap in at.finditer(text, start, end):
        yield start, gap.start()
        start = gap.end()
    yield start, end


@dataclass(frozen=True, slots=True)
class CurrentFirst:
    """Groups in the order in which they are shown, and why some were moved."""

    groups: Sequence[HitGroup]
    moves: tuple[Move, ...] = ()
    conflict: tuple[Quote, Quote] | None = None

    def marked(self, hits: Iterable[Hit]) -> list[Hit]:
        """The hits, each with the newer one that replaces it, where there is one."""
        newer = {move.older: Newer(move.newer, move.rule) for move in reversed(self.moves)}
        return [replace(hit, newer=newer.get(hit.note.public_id)) for hit in hits]

    def conflicts_of(self, hits: Sequence[Hit]) -> tuple[tuple[Quote, Quote], ...]:
        """What disagrees, where both notes are among the hits."""
        shown = {hit.note.public_id for hit in hits}
        if self.conflict is None or not shown.issuperset(quote.public_id for quote in self.conflict):
            return ()
        return (self.conflict,)


def decided(groups: Sequence[HitGroup], superseded: Mapping[str, Sequence[str]]) -> CurrentFirst:
    """The groups, each right behind the one that supersedes it where somebody decided so, by public ids."""
    order, moves = decided_first([group.shown.candidate.public_id for group in groups], superseded)
    return CurrentFirst([groups[place] for place in order], tuple(moves))


def by_rules(
    request: SearchRequest,
    terms: WeighedTerms,
    current: CurrentFirst,
    read: Mapping[ChunkKey, ChunkWithNote],
    *,
    names_time: bool,
) -> CurrentFirst:
    """The best ten as the rules order them: newer values first. What was decided stays where it is."""
    behind = {move.older for move in current.moves}
    places = [
        place
        for place, group in enumerate(current.groups[:MOST_STATEMENTS])
        if (one := read.get(group.shown.candidate.chunk_key)) is not None
        and is_statement(one.note)
        and one.note.public_id not in behind
        and not (request.as_of is not None and one.note.changed_since(request.as_of))
    ]
    groups = [current.groups[place] for place in places]
    statements = [
        statement(one.note, one.stored.chunk.content, one.stored.chunk.start_char, group.shown.score)
        for group in groups
        for one in (read[group.shown.candidate.chunk_key],)
    ]
    ordered = order_current(request.query, terms, statements, names_time=names_time)
    result = list(current.groups)
    for place, chosen in zip(places, ordered.places, strict=True):
        result[place] = groups[chosen]
    conflict = None
    if ordered.conflict is not None:
        names = [one.public_id for one in statements]
        conflict = _quote(ordered.conflict.denies, names), _quote(ordered.conflict.claims, names)
    return CurrentFirst(result, (*current.moves, *ordered.moves), conflict)


def _quote(clause: Clause, names: Sequence[str]) -> Quote:
    return Quote(names[clause.place], clause.text, clause.start_char, clause.end_char)

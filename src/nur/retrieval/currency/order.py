"""Put current utterances before outdated ones, among the best ten hits, and find contradictions.

Only notes that a rule compares swap positions: nothing is added, dropped or pushed behind other notes. A recorded
decision takes precedence over any rule. Two utterances contradict each other if the question is a yes-or-no question,
one clause denies it and another claims it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from nur.domain.search import Newer, Quote
from nur.retrieval.currency.relation import asks_past, updates
from nur.retrieval.currency.slots import asks_value, same_slot
from nur.retrieval.currency.utterances import MAX_UTTERANCES, as_utterance, covered_share, is_utterance, term_shares

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nur.domain.notes import ChunkKey
    from nur.domain.search import Hit, SearchRequest
    from nur.ports.chunks import ChunkWithNote
    from nur.retrieval.currency.utterances import Shares, Utterance
    from nur.retrieval.ranking.grouping import HitGroup
    from nur.retrieval.ranking.queries import WeightedTerms

# Chosen on the first five chats of BEAM (docs/quality-log.md, "Time and change").
MIN_COVERED = 0.3
"""Least share of the question's content words in each of the two clauses."""

MIN_CLAUSE_CHARACTERS = 9
_ASKS_WHETHER = re.compile(
    r"\s*(?:so |and |but )?(?:have|has|had|did|do|does|am|are|is|was|were|can|could)\b", re.IGNORECASE
)
_DENIES = re.compile(r"\b(?:never|(?:have|has|had)(?:n['’]t| not)|did(?:n['’]t| not)|not yet)\b", re.IGNORECASE)
_SELF = re.compile(r"\b(?:i|my|me|we|our)\b", re.IGNORECASE)
#: Signs of a wish, a plan or a question, which claim nothing.
_NOT_A_CLAIM = re.compile(
    r"\b(?:want|trying to|try to|needs?|can you|could you|would|should|will|how (?:can|do|to)|help me|plan(?:ning)? to|"
    r"not sure|wondering|if i|might|what)\b|\?",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE_END = re.compile(r",\s+|;\s*|\s+(?=but\b)|\s+-\s+")
_CODE = "```"


class MoveRule(StrEnum):
    """Why one note comes before another."""

    DECIDED = "decided"  #: by a recorded decision, it supersedes the other
    VALUE = "value"  #: it has a newer value for what is asked
    UPDATE = "update"  #: it reports a change of the same thing


class Move(NamedTuple):
    """One note comes before an older one; both by public id."""

    newer: str
    older: str
    rule: MoveRule


@dataclass(frozen=True, slots=True)
class CurrentOrder:
    """The order in which utterances are shown."""

    order: Sequence[int]  #: indices of the utterances
    moves: tuple[Move, ...] = ()
    conflict: Disagreement | None = None


def order_current(
    question: str, terms: WeightedTerms, utterances: Sequence[Utterance], *, names_time: bool
) -> CurrentOrder:
    """Order utterances, given best first; `names_time`: the question asks about a period, so newer is not better."""
    shares = term_shares(terms)
    order, moves = list(range(len(utterances))), []
    if not names_time and asks_value(question):
        slot = same_slot(question, shares, utterances)
        newest_first = sorted(slot, key=lambda index: utterances[index].said, reverse=True)
        for position, index in zip(slot, newest_first, strict=True):
            order[position] = index
        moves = _moves(utterances, newest_first[1:], newest_first[:1] * (len(slot) - 1), MoveRule.VALUE)
    if not moves and not names_time and not asks_past(question):
        newer = updates(utterances)
        positions = sorted({*newer, *(other for others in newer.values() for other in others)})
        for position, index in zip(positions, _newer_first(positions, newer, utterances), strict=True):
            order[position] = index
        for index, others in newer.items():
            newest = max(others, key=lambda other: utterances[other].said)
            moves += _moves(utterances, [index], [newest], MoveRule.UPDATE)
    conflict = disagreement(shares, utterances) if asks_whether(question) else None
    return CurrentOrder(order, tuple(moves), conflict)


def decided_first(public_ids: Sequence[str], superseded: Mapping[str, Sequence[str]]) -> tuple[list[int], list[Move]]:
    """Order notes so that each directly follows the note that supersedes it; returns their indices and the moves."""
    index_of = {public_id: index for index, public_id in enumerate(public_ids)}
    newer_than = {
        index_of[older]: [index_of[newer] for newer in newers if newer in index_of]
        for older, newers in superseded.items()
        if older in index_of
    }
    order: list[int] = []
    for index in range(len(public_ids)):
        _append_after_newer(index, newer_than, order, set())
    moves = [
        Move(public_ids[newer], public_ids[older], MoveRule.DECIDED)
        for older, newers in newer_than.items()
        for newer in newers[:1]
    ]
    return order, moves


def _newer_first(
    indices: Sequence[int], newer: Mapping[int, Sequence[int]], utterances: Sequence[Utterance]
) -> Iterable[int]:
    """The indices, each after those of its newer utterances, of which the newest comes first."""
    newest_first = {
        index: sorted(others, key=lambda other: utterances[other].said, reverse=True) for index, others in newer.items()
    }
    order: list[int] = []
    for index in indices:
        _append_after_newer(index, newest_first, order, set())
    return order


def _append_after_newer(index: int, newer: Mapping[int, Sequence[int]], order: list[int], visiting: set[int]) -> None:
    """Append an index to the order, after those that are newer; `visiting` breaks cycles."""
    if index in order or index in visiting:
        return
    for other in newer.get(index, ()):
        _append_after_newer(other, newer, order, visiting | {index})
    order.append(index)


def _moves(utterances: Sequence[Utterance], older: Sequence[int], newer: Sequence[int], rule: MoveRule) -> list[Move]:
    return [
        Move(utterances[new].public_id, utterances[old].public_id, rule)
        for old, new in zip(older, newer, strict=True)
        if old != new
    ]


class Clause(NamedTuple):
    """A part of an utterance: `note_text[start_char:end_char]`."""

    utterance: int  #: index of its utterance
    start_char: int
    end_char: int
    text: str


class Disagreement(NamedTuple):
    """Two clauses on what is asked that cannot both be true."""

    denies: Clause
    claims: Clause


def asks_whether(question: str) -> bool:
    """Whether it is a yes-or-no question."""
    return _ASKS_WHETHER.match(question) is not None


def disagreement(shares: Shares, utterances: Sequence[Utterance]) -> Disagreement | None:
    """The denial and the claim that cover the question best; None unless there are both."""
    denials: list[tuple[float, Clause]] = []
    claims: list[tuple[float, Clause]] = []
    for clause in (clause for index, one in enumerate(utterances) for clause in _clauses(index, one)):
        denies = _DENIES.search(clause.text) is not None
        if not (_SELF.search(clause.text) if denies else not _NOT_A_CLAIM.search(clause.text)):
            continue
        share = covered_share(clause.text, shares)
        if share >= MIN_COVERED:
            (denials if denies else claims).append((share, clause))
    if not denials or not claims:
        return None
    return Disagreement(max(denials, key=lambda one: one[0])[1], max(claims, key=lambda one: one[0])[1])


def _clauses(index: int, utterance: Utterance) -> Iterator[Clause]:
    """The clauses of an utterance up to its first code block."""
    text = utterance.text.partition(_CODE)[0]
    for first, last in _split(text, 0, len(text), _SENTENCE_END):
        for start, end in _split(text, first, last, _CLAUSE_END):
            if end - start >= MIN_CLAUSE_CHARACTERS:
                yield Clause(index, utterance.start_char + start, utterance.start_char + end, text[start:end])


def _split(text: str, start: int, end: int, at: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for gap in at.finditer(text, start, end):
        yield start, gap.start()
        start = gap.end()
    yield start, end


@dataclass(frozen=True, slots=True)
class CurrentFirst:
    """Hit groups in the order to show, why some were moved, and a contradiction among them."""

    groups: Sequence[HitGroup]
    moves: tuple[Move, ...] = ()
    conflict: tuple[Quote, Quote] | None = None

    def marked(self, hits: Iterable[Hit]) -> list[Hit]:
        """The hits, each with a reference to the newer one that comes before it, if any."""
        newer = {move.older: Newer(move.newer, move.rule) for move in reversed(self.moves)}
        return [replace(hit, newer=newer.get(hit.note.public_id)) for hit in hits]

    def conflicts_of(self, hits: Sequence[Hit]) -> tuple[tuple[Quote, Quote], ...]:
        """The contradiction, if both of its notes are among the hits."""
        shown = {hit.note.public_id for hit in hits}
        if self.conflict is None or not shown.issuperset(quote.public_id for quote in self.conflict):
            return ()
        return (self.conflict,)


def decided(groups: Sequence[HitGroup], superseded: Mapping[str, Sequence[str]]) -> CurrentFirst:
    """The groups, each after the one that supersedes it by a recorded decision; `superseded` has public ids."""
    order, moves = decided_first([group.shown.candidate.public_id for group in groups], superseded)
    return CurrentFirst([groups[index] for index in order], tuple(moves))


def with_update(groups: Sequence[HitGroup], updated_by: Mapping[str, Sequence[str]]) -> Sequence[HitGroup]:
    """The groups, with the newest memory that may update the first one right behind it, for the rules to compare.

    A change often shares no word with the question: "Barry is retiring, the books go to Priti" answers "who does my
    tax?" only together with "Accountant: Barry".
    """
    newer = updated_by.get(groups[0].shown.candidate.public_id, ()) if groups else ()
    at = {group.shown.candidate.public_id: position for position, group in enumerate(groups)}
    position = next((at[public_id] for public_id in newer if public_id in at), 0)
    if position == 0:
        return groups
    return [groups[0], groups[position], *groups[1:position], *groups[position + 1 :]]


def by_rules(
    request: SearchRequest,
    terms: WeightedTerms,
    current: CurrentFirst,
    read: Mapping[ChunkKey, ChunkWithNote],
    *,
    names_time: bool,
) -> CurrentFirst:
    """The groups, with the best ten ordered by the rules: newer values first. Notes moved by a decision stay."""
    decided_older = {move.older for move in current.moves}
    positions = [
        position
        for position, group in enumerate(current.groups[:MAX_UTTERANCES])
        if (one := read.get(group.shown.candidate.chunk_key)) is not None
        and is_utterance(one.note)
        and one.note.public_id not in decided_older
        and not (request.as_of is not None and one.note.changed_since(request.as_of))
    ]
    groups = [current.groups[position] for position in positions]
    utterances = [
        as_utterance(one.note, one.stored.chunk.content, one.stored.chunk.start_char, group.shown.score)
        for group in groups
        for one in (read[group.shown.candidate.chunk_key],)
    ]
    ordered = order_current(request.query, terms, utterances, names_time=names_time)
    result = list(current.groups)
    for position, index in zip(positions, ordered.order, strict=True):
        result[position] = groups[index]
    conflict = None
    if ordered.conflict is not None:
        public_ids = [one.public_id for one in utterances]
        conflict = _quote(ordered.conflict.denies, public_ids), _quote(ordered.conflict.claims, public_ids)
    return CurrentFirst(result, (*current.moves, *ordered.moves), conflict)


def _quote(clause: Clause, public_ids: Sequence[str]) -> Quote:
    return Quote(public_ids[clause.utterance], clause.text, clause.start_char, clause.end_char)

"""Put what holds now first among the best hits, and find what disagrees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.search import Newer, Quote
from nur.retrieval.currency.order import Move, decided_first, order_current
from nur.retrieval.currency.statements import MOST_STATEMENTS, is_statement, statement
from nur.services.search.as_known import changed_since

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nur.domain.notes import ChunkKey
    from nur.domain.search import Hit, SearchRequest
    from nur.ports.chunks import ChunkWithNote
    from nur.retrieval.currency.order import Clause
    from nur.retrieval.ranking.grouping import HitGroup
    from nur.services.search.retrieve import Retrieved


@dataclass(frozen=True, slots=True)
class CurrentFirst:
    """Groups in the order in which they are shown, and why some were moved."""

    groups: list[HitGroup]
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


def decided(found: Retrieved, groups: Sequence[HitGroup]) -> CurrentFirst:
    """The groups, each right behind the one that supersedes it where somebody decided so."""
    superseded = found.candidates.superseded
    if not superseded:
        return CurrentFirst(list(groups))
    order, moves = decided_first([group.shown.candidate.public_id for group in groups], superseded)
    return CurrentFirst([groups[place] for place in order], tuple(moves))


def by_rules(
    request: SearchRequest, found: Retrieved, current: CurrentFirst, read: Mapping[ChunkKey, ChunkWithNote]
) -> CurrentFirst:
    """The best ten as the rules order them: newer values first. What was decided stays where it is."""
    behind = {move.older for move in current.moves}
    places = [
        place
        for place, group in enumerate(current.groups[:MOST_STATEMENTS])
        if (one := read.get(group.shown.candidate.chunk_key)) is not None
        and is_statement(one.note)
        and one.note.public_id not in behind
        and not (request.as_of is not None and changed_since(one.note, request.as_of))
    ]
    groups = [current.groups[place] for place in places]
    statements = [
        statement(one.note, one.stored.chunk.content, one.stored.chunk.start_char, group.shown.score)
        for group in groups
        for one in (read[group.shown.candidate.chunk_key],)
    ]
    ordered = order_current(
        request.query, found.question.terms, statements, names_time=bool(found.question.time.windows)
    )
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

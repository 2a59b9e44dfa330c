"""SqlDecisionStore: decisions about pairs of notes, and the reviews that wait for one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, delete, insert, or_, select, tuple_

from nur.adapters.sql.changes import audit
from nur.adapters.sql.filters import chunks_matching, notes_matching
from nur.adapters.sql.mapping import NOTE_COLUMNS, records, to_note
from nur.adapters.sql.suggestions import alike, suggest, wait_for_comparisons
from nur.adapters.sql.tables import decisions, memory_notes, suggestions
from nur.domain.changes import ChangeKind
from nur.domain.decisions import Decision, DecisionKind, NotePair, Relation, Review
from nur.domain.errors import Conflict, NotFound
from nur.domain.notes import NoteId

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Select, Table

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.adapters.sql.runner import Runner
    from nur.domain.access import WriteContext
    from nur.domain.decisions import Suggestion
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import Note
    from nur.ports.decisions import AlikeMemory, ReviewCursor

_decided, _suggested, _notes = decisions.c, suggestions.c, memory_notes.c
#: Longest chain of notes that supersede each other. Longer ones are refused: every decision walks the chain.
MAX_CHAIN_LENGTH = 1_000
_SUPERSEDES = _decided.kind == DecisionKind.SUPERSEDES.value


class Superseder(NamedTuple):
    """A note that supersedes another one."""

    note_id: NoteId
    public_id: str


@dataclass(frozen=True, slots=True)
class SqlDecisionStore:
    """Two tables of pairs: decisions, and suggestions derived by rules."""

    run: Runner
    lexical_index: LexicalIndex

    async def decide(self, decision: Decision, context: WriteContext) -> None:
        """Store a decision, replacing any other about the pair in either direction. Raises NotFound, Conflict."""
        await self.run.write(_decide, decision, context)

    async def undo(self, pair: NotePair, context: WriteContext) -> bool:
        """Take a decision back; returns whether there was one."""
        return await self.run.write(_undo, pair, context)

    async def suggest(self, newer: NoteId, suggestions: Sequence[Suggestion]) -> None:
        """Replace the suggestions for a note. Pairs that somebody has decided on are not suggested again."""
        await self.run.write(suggest, newer, suggestions)

    async def reviews(
        self, where: NoteFilter, now: datetime, *, decided: bool, limit: int, after: ReviewCursor | None = None
    ) -> list[Review]:
        """Pairs waiting for review, or decided ones, latest first; both notes must match the filter."""
        return await self.run.read(_reviews, where, now, decided, limit, after)

    async def review(self, review_id: str, where: NoteFilter, now: datetime) -> Review | None:
        """One pair; both notes must match the filter."""
        return await self.run.read(_review, review_id, where, now)

    async def superseded(self, note_ids: Sequence[NoteId], where: NoteFilter, now: datetime) -> dict[NoteId, str]:
        """The superseded ones of these notes, each with the public id of the note that replaces it."""
        found = await self.run.read(superseders, note_ids, where, now)
        return {note_id: newers[0].public_id for note_id, newers in found.items()}

    async def alike(
        self, note_id: NoteId, terms: Sequence[str], where: NoteFilter, now: datetime, limit: int
    ) -> list[AlikeMemory]:
        """Other notes that match the filter and share terms with this one, best first."""
        if not terms:
            return []
        await self.run.write(wait_for_comparisons, where.tenant, terms)
        return await self.run.read(alike, self.lexical_index, note_id, terms, where, now, limit)

    async def page(self, tenant: str, after: NotePair | None, limit: int) -> list[Decision]:
        """The decisions of a tenant, by their pairs."""
        return await self.run.read(_page, tenant, after, limit)


def superseders(
    connection: Connection,
    note_ids: Sequence[NoteId],
    where: NoteFilter,
    now: datetime,
    decided_by: datetime | None = None,
) -> dict[NoteId, list[Superseder]]:
    """The superseded ones of these notes, with all their direct and indirect superseders, the final ones first.

    A chain is followed as far as its notes match the filter. `decided_by`: decisions made later do not count.
    """
    direct: dict[NoteId, list[Superseder]] = {}
    edge = set(note_ids)
    for _ in range(MAX_CHAIN_LENGTH):
        query = (
            select(_decided.older_id, _decided.newer_id, _notes.public_id)
            .join(memory_notes, _notes.note_id == _decided.newer_id)
            .where(_decided.older_id.in_(edge), _SUPERSEDES, chunks_matching(where, now))
            .where(_decided.decided_at <= (decided_by or now))
            .order_by(_decided.decided_at.desc(), _decided.newer_id)
        )
        rows = connection.execute(query).all()
        for row in rows:
            direct.setdefault(NoteId(row.older_id), []).append(Superseder(NoteId(row.newer_id), row.public_id))
        edge = {NoteId(row.newer_id) for row in rows} - direct.keys()
        if not edge:
            break
    return {note_id: _ends_first(note_id, direct) for note_id in note_ids if note_id in direct}


def _ends_first(note_id: NoteId, direct: dict[NoteId, list[Superseder]]) -> list[Superseder]:
    """All superseders of a note; those that nothing supersedes come first."""
    found: dict[NoteId, Superseder] = {}
    edge = [note_id]
    while edge:
        further = [one for older in edge for one in direct.get(older, ()) if one.note_id not in found]
        found |= {one.note_id: one for one in further}
        edge = [one.note_id for one in further]
    return sorted(found.values(), key=lambda one: one.note_id in direct)


def _decide(connection: Connection, decision: Decision, context: WriteContext) -> None:
    pair = decision.pair
    older = _both(connection, pair, context)
    supersedes = decision.kind is DecisionKind.SUPERSEDES
    if supersedes and _reaches(connection, start=pair.older, goal=pair.newer):
        raise Conflict("The older note supersedes the newer one already, through others. Undo that first.")
    either = [(pair.newer, pair.older), (pair.older, pair.newer)]
    connection.execute(delete(decisions).where(tuple_(_decided.newer_id, _decided.older_id).in_(either)))
    connection.execute(insert(decisions), {**_values(decision), "tenant_id": older.tenant})
    change = ChangeKind.SUPERSEDED if supersedes else None
    audit(connection, older, "supersede" if supersedes else "reject", context, change, other=pair.newer)


def _both(connection: Connection, pair: NotePair, context: WriteContext) -> Note:
    """The older note. Locks both notes, in the order that all writers use. Raises NotFound."""
    query = select(*NOTE_COLUMNS).where(
        _notes.note_id.in_([pair.newer, pair.older]), _notes.tenant_id == context.principal.tenant
    )
    found = {
        note.note_id: note
        for note in map(to_note, records(connection.execute(query.order_by(_notes.note_id).with_for_update())))
    }
    if len(found) < len({pair.newer, pair.older}) or pair.newer == pair.older:
        raise NotFound("One of the two notes does not exist; nothing was decided.")
    return found[pair.older]


def _reaches(connection: Connection, start: NoteId, goal: NoteId) -> bool:
    """Whether `start` supersedes `goal` indirectly."""
    reached, edge = {start}, {start}
    for step in range(MAX_CHAIN_LENGTH):
        query = select(_decided.older_id).where(_decided.newer_id.in_(edge), _SUPERSEDES)
        edge = {NoteId(found) for found in connection.execute(query).scalars()} - reached
        if step and goal in edge:
            return True
        edge.discard(goal)
        if not edge:
            return False
        reached |= edge
    return True


def _undo(connection: Connection, pair: NotePair, context: WriteContext) -> bool:
    own = and_(_decided.newer_id == pair.newer, _decided.older_id == pair.older)
    kind = connection.execute(select(_decided.kind).where(own)).scalar()
    if kind is None:
        return False
    older = _both(connection, pair, context)
    connection.execute(delete(decisions).where(own))
    change = ChangeKind.REINSTATED if kind == DecisionKind.SUPERSEDES.value else None
    audit(connection, older, "undo", context, change, other=pair.newer)
    return True


def _pairs(where: NoteFilter, now: datetime, table: Table) -> Select[Any]:
    """Pairs of a table with their details; both notes must match the filter."""
    visible = select(_notes.note_id).where(notes_matching(where, now))
    other = suggestions if table is decisions else decisions
    joined = table.outerjoin(other, and_(other.c.newer_id == table.c.newer_id, other.c.older_id == table.c.older_id))
    columns = [table.c.newer_id, table.c.older_id, _suggested.relation, _listed_at(table).label("listed_at")]
    decided = [_decided[name] for name in ("kind", "decided_by", "decided_at")]
    hashes = [_decided.newer_hash.label("decided_newer"), _decided.older_hash.label("decided_older")]
    return (
        select(*columns, *decided, *hashes)
        .select_from(joined)
        .where(table.c.tenant_id == where.tenant, table.c.newer_id.in_(visible), table.c.older_id.in_(visible))
    )


def _reviews(
    connection: Connection, where: NoteFilter, now: datetime, decided: bool, limit: int, after: ReviewCursor | None
) -> list[Review]:
    table = decisions if decided else suggestions
    at = _listed_at(table)
    query = _pairs(where, now, table).order_by(at.desc(), table.c.review_id).limit(limit)
    if not decided:
        query = query.where(_waits())
    if after is not None:
        query = query.where(or_(at < after.at, and_(at == after.at, table.c.review_id > after.review_id)))
    return _read(connection, query)


def _listed_at(table: Table) -> ColumnElement[Any]:
    return _decided.decided_at if table is decisions else _suggested.found_at


def _waits() -> ColumnElement[bool]:
    """The pair's texts have no decision."""
    changed = or_(_decided.newer_hash != _suggested.newer_hash, _decided.older_hash != _suggested.older_hash)
    return or_(_decided.kind.is_(None), changed)


def _review(connection: Connection, review_id: str, where: NoteFilter, now: datetime) -> Review | None:
    for table in (decisions, suggestions):
        found = _read(connection, _pairs(where, now, table).where(table.c.review_id == review_id))
        if found:
            return found[0]
    return None


def _read(connection: Connection, query: Select[Any]) -> list[Review]:
    rows = connection.execute(query).mappings().all()
    ids = {row[name] for row in rows for name in ("newer_id", "older_id")}
    read = records(connection.execute(select(*NOTE_COLUMNS).where(_notes.note_id.in_(ids)))) if ids else []
    notes = {note.note_id: note for note in map(to_note, read)}
    return [_to_review(row, notes[row["newer_id"]], notes[row["older_id"]]) for row in rows]


def _to_review(row: Any, newer: Note, older: Note) -> Review:
    decision = None
    if row["kind"] is not None:
        decision = Decision(
            pair=NotePair(newer.note_id, older.note_id),
            kind=DecisionKind(row["kind"]),
            newer_hash=row["decided_newer"],
            older_hash=row["decided_older"],
            decided_by=row["decided_by"],
            decided_at=row["decided_at"],
        )
    relation = None if row["relation"] is None else Relation(row["relation"])
    return Review(newer=newer, older=older, relation=relation, decision=decision, listed_at=row["listed_at"])


def _page(connection: Connection, tenant: str, after: NotePair | None, limit: int) -> list[Decision]:
    query = select(decisions).where(_decided.tenant_id == tenant)
    query = query.order_by(_decided.newer_id, _decided.older_id).limit(limit)
    if after is not None:
        further = and_(_decided.newer_id == after.newer, _decided.older_id > after.older)
        query = query.where(or_(_decided.newer_id > after.newer, further))
    return [
        Decision(
            pair=NotePair(NoteId(row["newer_id"]), NoteId(row["older_id"])),
            kind=DecisionKind(row["kind"]),
            newer_hash=row["newer_hash"],
            older_hash=row["older_hash"],
            decided_by=row["decided_by"],
            decided_at=row["decided_at"],
        )
        for row in connection.execute(query).mappings()
    ]


def _values(decision: Decision) -> dict[str, Any]:
    pair = decision.pair
    return {
        "newer_id": pair.newer,
        "older_id": pair.older,
        "review_id": pair.review_id,
        "kind": decision.kind.value,
        "newer_hash": decision.newer_hash,
        "older_hash": decision.older_hash,
        "decided_by": decision.decided_by,
        "decided_at": decision.decided_at,
    }

"""The candidates of a search, read and filtered in one snapshot."""

from __future__ import annotations

from functools import lru_cache
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy import Select, and_, func, or_, select, true

from nur.adapters.sql.chunk_times import by_time, dated, in_window, known
from nur.adapters.sql.decisions import superseders
from nur.adapters.sql.filters import NOW, STATEMENTS, among, chunks_matching, notes_matching, one_of
from nur.adapters.sql.lexical_index import FoundByWords
from nur.adapters.sql.mapping import (
    SCORING_COLUMNS,
    WITH_PIECES,
    to_scoring_view,
)
from nur.adapters.sql.tables import (
    decisions,
    memory_note_chunks,
    memory_notes,
    note_chunk_embeddings,
    suggestions,
)
from nur.domain.decisions import Relation
from nur.domain.kinds import turn_identity
from nur.domain.notes import ChunkKey, Kind, NoteId
from nur.ports.chunks import CandidateSet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.domain.filters import NoteFilter
    from nur.ports.chunks import CandidateQuery, ScoringView
    from nur.ports.embedder import Floats

#: Chunks that get indexed while a search runs are read by key; if there are more than this, all vectors are compared.
MAX_LATE = 1_000
#: If more chunks than this wait for the index, searches compare none of them and report that they are degraded.
MAX_STALE = 50_000

_chunks = memory_note_chunks.c
_notes = memory_notes.c
_vectors = note_chunk_embeddings.c

# Built once: building a statement of fifty columns takes longer than running it.
_SCORING_VIEWS = select(*SCORING_COLUMNS).select_from(WITH_PIECES)
_SAME_PAIR = or_(
    and_(decisions.c.newer_id == suggestions.c.newer_id, decisions.c.older_id == suggestions.c.older_id),
    and_(decisions.c.newer_id == suggestions.c.older_id, decisions.c.older_id == suggestions.c.newer_id),
)
_UPDATES = (
    select(suggestions.c.older_id, suggestions.c.newer_id, _notes.public_id)
    .join(memory_notes, _notes.note_id == suggestions.c.newer_id)
    .where(suggestions.c.relation != Relation.SAME)
    .where(~select(decisions.c.newer_id).where(_SAME_PAIR).exists())  # decided: the decision counts
    .order_by(_notes.occurred_at.desc(), suggestions.c.newer_id)
)


def candidates(connection: Connection, lexical_index: LexicalIndex, query: CandidateQuery) -> CandidateSet:
    """Candidates of both rankers, read and filtered in one snapshot."""
    by_words = _by_words(connection, lexical_index, query)
    near = _nearest(connection, query)
    timed = by_time(connection, lexical_index, query) if query.windows else []
    keys = list(dict.fromkeys([*near.cosines, *by_words.chunks, *timed]))
    views = scoring_views(connection, keys, query.where, query.now)
    views += _replaced(connection, query, near.cosines, {view.chunk_key for view in views})
    visible = {view.chunk_key for view in views}
    views, context_turns = _with_turns(connection, views, query)
    views, superseded = with_superseders(connection, views, query)
    views, updated_by = _with_updates(connection, views, query) if query.with_updates else (views, {})
    if query.known_at is not None:
        views = known(connection, views, query.known_at)
    return CandidateSet(
        views=views,
        context_turns=context_turns,
        cosines=_cosines(connection, query, views, near.cosines) if near.is_complete else {},
        model_vectors=_model_vectors(connection, query, [*views, *context_turns]),
        not_visible=[key for key in keys if key not in visible],
        in_window=in_window(connection, views, query.windows) if query.windows else frozenset(),
        dated=dated(connection, views) if query.asks_when else frozenset(),
        superseded=superseded,
        updated_by=updated_by,
        has_more=by_words.has_more or len(near.cosines) >= query.limit,
        is_complete=near.is_complete,
        missed_by_index=near.missed_by_index,
        any_stored=bool(views) or _any_stored(connection, query.where, query.now),
    )


def candidates_of(connection: Connection, note_id: NoteId, query: CandidateQuery) -> CandidateSet:
    """The chunks of one note as candidates, whether or not a ranker finds them."""
    statement = _SCORING_VIEWS.where(_chunks.note_id == note_id, chunks_matching(query.where, query.now))
    own = [to_scoring_view(row) for row in connection.execute(statement).all()]
    near, context_turns = _with_turns(connection, own, query)
    others = [view for view in near if view.note_id != note_id]
    return CandidateSet(
        views=own,
        context_turns=[*context_turns, *others],
        cosines=_cosines(connection, query, own, {}),
        model_vectors=_model_vectors(connection, query, [*near, *context_turns]),
        in_window=in_window(connection, own, query.windows) if query.windows else frozenset(),
        dated=dated(connection, own) if query.asks_when else frozenset(),
    )


def scoring_views(
    connection: Connection, keys: Sequence[ChunkKey], where: NoteFilter, now: datetime
) -> list[ScoringView]:
    """Scoring views of these chunks, without those that are deleted, expired or filtered out."""
    statement = _views_of_keys(connection.dialect.name, where)
    return [to_scoring_view(row) for row in connection.execute(statement, {"keys": list(keys), "now": now}).all()]


@lru_cache(STATEMENTS)
def _views_of_keys(dialect: str, where: NoteFilter) -> Select[*tuple[Any, ...]]:
    return _SCORING_VIEWS.where(among(dialect, _chunks.chunk_key, "keys"), chunks_matching(where, NOW))


def turns_near(
    connection: Connection, turns: Collection[tuple[str, int]], where: NoteFilter, now: datetime
) -> list[ScoringView]:
    """Scoring views of turns, given as pairs of conversation and index.

    Looked up by identity: by conversation and index it would take one statement per conversation.
    """
    identities = [turn_identity(conversation_id, turn_index) for conversation_id, turn_index in turns]
    query = _SCORING_VIEWS.where(one_of(connection, _notes.identity, identities), notes_matching(where, now))
    return [to_scoring_view(row) for row in connection.execute(query).all()]


def to_compare(connection: Connection, query: CandidateQuery) -> tuple[list[ChunkKey], Floats]:
    """Keys and vectors of the chunks to compare one by one: those not indexed at their note's revision, or all.

    Includes chunks that were indexed after the index answered and before this snapshot: neither would find them.
    """
    selections: list[ColumnElement[bool]] = [true()] if query.compare_all else []
    if not query.compare_all and not query.index_is_complete:
        stale = not_indexed(connection)
        late = query.not_indexed - stale
        selections = [_among(connection, stale)] if stale else []
        if late:
            selections.append(_vectors.chunk_key.in_(late) if len(late) <= MAX_LATE else true())
    rows: dict[ChunkKey, Floats] = {}
    for selection in selections:
        found = connection.execute(_to_compare(query).where(selection).limit(query.max_compared))
        rows.update((ChunkKey(row.chunk_key), row.vec) for row in found)
    return list(rows), np.stack(list(rows.values())) if rows else np.empty((0, 0), dtype=np.float32)


def _to_compare(query: CandidateQuery) -> Select[int, Floats]:
    return (
        select(_chunks.chunk_key, _vectors.vec)
        .select_from(memory_note_chunks)
        .join(memory_notes, _notes.note_id == _chunks.note_id)
        .join(note_chunk_embeddings, _vectors.chunk_key == _chunks.chunk_key)
        .where(_vectors.embedding_version == query.embedding_version, chunks_matching(query.where, query.now))
    )


def _by_words(connection: Connection, lexical_index: LexicalIndex, query: CandidateQuery) -> FoundByWords:
    """Chunks found by the lexical rows, then those that only the index found.

    The rows are always queried. Otherwise nothing would find a chunk that was indexed after the index answered and
    before this snapshot.
    """
    found = FoundByWords([], has_more=False)
    if query.terms:
        matching = chunks_matching(query.where, query.now)
        found = lexical_index.search(connection, query.terms, matching, query.lexical_limit)
    if not query.found_by_words:
        return found
    known = set(found.chunks)
    return FoundByWords([*found.chunks, *(key for key in query.found_by_words if key not in known)], found.has_more)


def _stale() -> Select[int]:
    """Keys of chunks not indexed at their note's revision. The condition is spelled as in the partial index."""
    chunk = memory_note_chunks.alias("stale").c
    return select(chunk.chunk_key).where(
        or_(chunk.indexed_revision.is_(None), chunk.indexed_revision != chunk.revision)
    )


def not_indexed(connection: Connection) -> frozenset[ChunkKey]:
    """Keys of chunks not indexed at their note's revision; mostly none."""
    return frozenset(map(ChunkKey, connection.execute(_NOT_INDEXED[connection.dialect.name]).scalars()))


def _among(connection: Connection, stale: Collection[ChunkKey]) -> ColumnElement[bool]:
    """Select by key, so that the query starts from the few stale chunks (30,000 chunks: 1 ms; a join: 130 ms)."""
    if connection.dialect.name == "sqlite":  # does not accept a list of 50,000
        return _vectors.chunk_key.in_(_stale())
    return one_of(connection, _vectors.chunk_key, stale)


_NOT_INDEXED: Mapping[str, Select[int]] = {
    "sqlite": _stale().limit(MAX_STALE),
    "postgresql": select(func.stale_chunks(MAX_STALE)),  # see migration 0012
}


class _Nearest(NamedTuple):
    cosines: dict[ChunkKey, float]
    is_complete: bool
    missed_by_index: bool


def _nearest(connection: Connection, query: CandidateQuery) -> _Nearest:
    """The nearest of the index's neighbours and of the chunks compared one by one."""
    if query.vector is None:
        return _Nearest({}, is_complete=True, missed_by_index=False)
    keys, vectors = to_compare(connection, query)
    indexed = {one.chunk_key: one.similarity for one in query.neighbours}
    left_out = set(keys) - indexed.keys() - query.not_indexed if query.compare_all else frozenset[ChunkKey]()
    missed = bool(left_out and left_out - not_indexed(connection))
    if keys and len(keys) >= query.max_compared:
        return _Nearest(
            {}, is_complete=False, missed_by_index=missed
        )  # the nearest of some would pass for the nearest of all
    cosines = indexed | _exact(query.vector, keys, vectors)
    nearest = nlargest(query.limit, cosines.items(), key=lambda item: item[1])
    return _Nearest(dict(nearest), is_complete=True, missed_by_index=missed)


def _replaced(
    connection: Connection, query: CandidateQuery, nearest: Collection[ChunkKey], visible: Collection[ChunkKey]
) -> list[ScoringView]:
    """Current chunks of notes whose indexed chunk was replaced after the index answered."""
    keys = {one.chunk_key: one.note_id for one in query.neighbours if one.chunk_key in nearest}
    moved = {note_id for key, note_id in keys.items() if key not in visible}
    if not moved:
        return []
    statement = _SCORING_VIEWS.where(_chunks.note_id.in_(moved), chunks_matching(query.where, query.now))
    found = map(to_scoring_view, connection.execute(statement).all())
    return [view for view in found if view.chunk_key not in visible]


def _with_turns(
    connection: Connection, views: list[ScoringView], query: CandidateQuery
) -> tuple[list[ScoringView], list[ScoringView]]:
    """The candidates with the turns near them, and the turns near those, which only lend their terms."""
    turns = {turn for view in views if (turn := view.turn) is not None}
    near = _around(turns, query.turn_distance)
    wanted = _around(turns, 2 * query.turn_distance) - turns
    if not wanted:
        return views, []
    found = turns_near(connection, wanted, query.where, query.now)
    return views + [view for view in found if view.turn in near], [view for view in found if view.turn not in near]


def with_superseders(
    connection: Connection, views: list[ScoringView], query: CandidateQuery
) -> tuple[list[ScoringView], Mapping[str, Sequence[str]]]:
    """The candidates with the notes that supersede them; and for each superseded public id, its superseders'."""
    if not any(view.is_decided for view in views):
        return views, {}
    ids = {view.note_id: view.public_id for view in views}
    found = superseders(connection, list(ids), query.where, query.now, query.known_at)
    missing = {newer.note_id for newers in found.values() for newer in newers} - ids.keys()
    views = views + _views_of(connection, missing, query)
    return views, {ids[older]: [newer.public_id for newer in newers] for older, newers in found.items()}


def _with_updates(
    connection: Connection, views: list[ScoringView], query: CandidateQuery
) -> tuple[list[ScoringView], Mapping[str, Sequence[str]]]:
    """The candidates with the memories that were found to say something else about the same thing later."""
    ids = {view.note_id: view.public_id for view in views if view.kind is Kind.MEMORY}
    if not ids:
        return views, {}
    statement = _UPDATES.where(one_of(connection, suggestions.c.older_id, list(ids)))
    rows = connection.execute(statement.where(chunks_matching(query.where, query.now))).all()
    updated_by: dict[str, list[str]] = {}
    for row in rows:
        updated_by.setdefault(ids[NoteId(row.older_id)], []).append(row.public_id)
    missing = {NoteId(row.newer_id) for row in rows} - ids.keys()
    return views + _views_of(connection, missing, query), updated_by


def _views_of(connection: Connection, notes: Collection[NoteId], query: CandidateQuery) -> list[ScoringView]:
    """Scoring views of all chunks of these notes."""
    if not notes:
        return []
    statement = _SCORING_VIEWS.where(_chunks.note_id.in_(notes), chunks_matching(query.where, query.now))
    return [to_scoring_view(row) for row in connection.execute(statement).all()]


def _around(turns: Iterable[tuple[str, int]], distance: int) -> set[tuple[str, int]]:
    steps = range(-distance, distance + 1)
    return {(conversation, index + step) for conversation, index in turns for step in steps if index + step >= 0}


def _cosines(
    connection: Connection, query: CandidateQuery, views: Sequence[ScoringView], known: Mapping[ChunkKey, float]
) -> dict[ChunkKey, float]:
    """Cosines of all candidates with a vector; computes those of candidates found by words alone, if wanted."""
    if query.vector is None or not query.compare_found:
        return {view.chunk_key: known[view.chunk_key] for view in views if view.chunk_key in known}
    keys = [view.chunk_key for view in views]
    missing = [key for key in keys if key not in known]
    statement = select(_vectors.chunk_key, _vectors.vec).where(
        one_of(connection, _vectors.chunk_key, missing), _vectors.embedding_version == query.embedding_version
    )
    rows = connection.execute(statement).all() if missing else []
    compared = _exact(query.vector, [ChunkKey(row.chunk_key) for row in rows], [row.vec for row in rows])
    return {key: known[key] for key in keys if key in known} | compared


def _model_vectors(
    connection: Connection, query: CandidateQuery, views: Sequence[ScoringView]
) -> dict[ChunkKey, bytes]:
    """Piece vectors by the store's own model, by chunk."""
    if not query.with_model_vectors:
        return {}
    statement = select(_vectors.chunk_key, _vectors.pieces).where(
        one_of(connection, _vectors.chunk_key, [view.chunk_key for view in views]),
        _vectors.embedding_version == query.embedding_version,
    )
    return {ChunkKey(row.chunk_key): row.pieces for row in connection.execute(statement).all() if row.pieces}


def _exact(vector: Floats, keys: Sequence[ChunkKey], vectors: Floats | Sequence[Floats]) -> dict[ChunkKey, float]:
    return dict(zip(keys, (np.asarray(vectors) @ vector).tolist(), strict=True)) if keys else {}


def _any_stored(connection: Connection, where: NoteFilter, now: datetime) -> bool:
    return connection.execute(select(_notes.note_id).where(notes_matching(where, now)).limit(1)).first() is not None

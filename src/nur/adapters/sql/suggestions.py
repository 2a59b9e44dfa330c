"""Suggestions: pairs of memories that may repeat or contradict each other, found when one of them is written."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

from sqlalchemy import and_, bindparam, delete, insert, or_, select, text

from nur.adapters.sql.filters import IS_ACTIVE, chunks_matching
from nur.adapters.sql.tables import decisions, memory_note_chunks, memory_notes, suggestions
from nur.domain.notes import NoteId
from nur.ports.decisions import AlikeMemory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import BindParameter, ColumnElement, Connection, Select, Table

    from nur.adapters.sql.lexical_index import LexicalIndex
    from nur.domain.decisions import Suggestion
    from nur.domain.filters import NoteFilter
    from nur.domain.notes import ChunkKey, Note
    from nur.ports.decisions import FoundPair, MemoryComparison

_decided, _suggested, _notes = decisions.c, suggestions.c, memory_notes.c
#: First half of the advisory locks that comparisons hold until they commit, one for each of their terms.
COMPARING = 5_202_014
_TRY_ALONE = text("SELECT bool_and(pg_try_advisory_xact_lock(:lock, term)) FROM unnest(CAST(:terms AS int[])) AS term")
_WAIT = text("SELECT pg_advisory_xact_lock(:lock, term) FROM unnest(CAST(:terms AS int[])) AS term")
#: Most pieces that are read to find memories on the same subject.
MAX_LOOKED_AT = 64
#: Chunks whose memories are read by one query.
READ_AT_ONCE = 8


def _either_way(table: Table) -> ColumnElement[bool]:
    """Rows about the pair of notes, in either order."""
    newer: BindParameter[Any] = bindparam("newer")
    older: BindParameter[Any] = bindparam("older")
    columns = table.c
    return or_(
        and_(columns.newer_id == newer, columns.older_id == older),
        and_(columns.newer_id == older, columns.older_id == newer),
    )


# Built once: building one costs more than running it.
_DROP_SUGGESTIONS = delete(suggestions).where(
    or_(_suggested.newer_id == bindparam("of_note"), _suggested.older_id == bindparam("of_note"))
)
_OTHERS = (
    select(_notes.note_id, _notes.content_hash)
    .where(_notes.note_id.in_(bindparam("others", expanding=True)), IS_ACTIVE)
    .with_for_update(read=True, skip_locked=True)
)
_DECIDED_TEXTS = select(_decided.newer_hash, _decided.older_hash).where(_either_way(decisions))
_DROP_PAIR = delete(suggestions).where(_either_way(suggestions))
_INSERT_SUGGESTION = insert(suggestions)
_ALIKE = select(
    memory_note_chunks.c.chunk_key,
    _notes.note_id,
    _notes.public_id,
    _notes.content_hash,
    _notes.occurred_at,
    _notes.text,
).join(memory_note_chunks, memory_note_chunks.c.note_id == _notes.note_id)
_OWN_CHUNKS = select(memory_note_chunks.c.chunk_key).where(memory_note_chunks.c.note_id == bindparam("of_note"))


def drop_suggestions(connection: Connection, note_id: NoteId) -> None:
    """Delete every suggestion about a note."""
    connection.execute(_DROP_SUGGESTIONS, {"of_note": note_id})


def is_alone(connection: Connection, tenant: str, terms: Sequence[str]) -> bool:
    """Whether no other write is comparing a memory with any of these terms; none can begin until this one commits.

    Two writes that run at the same time do not see each other's rows. SQLite has one writer.
    """
    if connection.dialect.name != "postgresql" or not terms:
        return True
    return bool(connection.execute(_TRY_ALONE, {"lock": COMPARING, "terms": _term_locks(tenant, terms)}).scalar())


def wait_for_comparisons(connection: Connection, tenant: str, terms: Sequence[str]) -> None:
    """Return when the writes that are comparing a memory with one of these terms have ended."""
    if connection.dialect.name == "postgresql":
        connection.execute(_WAIT, {"lock": COMPARING, "terms": _term_locks(tenant, terms)})


def _term_locks(tenant: str, terms: Sequence[str]) -> list[int]:
    """Second halves of the locks: signed 32-bit numbers, in order, so that those who wait cannot block each other."""
    return sorted({crc32(f"{tenant} {term}".encode()) - 2**31 for term in terms})


def compare(
    connection: Connection, lexical_index: LexicalIndex, note: Note, comparison: MemoryComparison, now: datetime
) -> Sequence[FoundPair]:
    """Find the memories that a new one should be reviewed with, and store them as suggestions, within its own write.

    Call it before the memory has lexical rows, so that it does not find itself.
    """
    terms, where = comparison.terms, comparison.where
    matching = partial(chunks_matching, where, now)
    keys = lexical_index.sharing(connection, terms, matching, MAX_LOOKED_AT) if terms else []
    alike = _read_alike(connection, keys, where, now, comparison.limit) if keys else []
    found = comparison.rule(alike) if alike else ()
    if found:
        # Notes that another transaction is writing are left out: two writers must not wait for each other.
        rows = connection.execute(_OTHERS, {"others": [one.other.note_id for one in found]})
        texts = {note.note_id: note.content_hash} | {NoteId(row.note_id): row.content_hash for row in rows}
        kept = _add_suggestions(connection, note.tenant, [one.suggestion for one in found], texts)
        found = [one for one in found if one.suggestion in kept]
    return found


def suggest(connection: Connection, newer: NoteId, found: Sequence[Suggestion]) -> None:
    """Replace the suggestions for a note. Pairs that somebody has decided on are not suggested again."""
    connection.execute(delete(suggestions).where(_suggested.newer_id == newer))
    ids = {newer, *(note for one in found for note in (one.pair.newer, one.pair.older))}
    query = select(_notes.note_id, _notes.tenant_id, _notes.content_hash).where(_notes.note_id.in_(ids), IS_ACTIVE)
    # Two notes that are compared at the same time find each other: the second waits, then writes the same row again.
    rows = connection.execute(query.order_by(_notes.note_id).with_for_update()).all()
    texts = {NoteId(row.note_id): row.content_hash for row in rows}
    for tenant in {row.tenant_id for row in rows if row.note_id == newer}:
        _add_suggestions(connection, tenant, found, texts)


def _add_suggestions(
    connection: Connection, tenant: str, found: Sequence[Suggestion], texts: Mapping[NoteId, str]
) -> list[Suggestion]:
    """Store suggestions, except about notes that changed since the comparison and pairs already decided."""
    kept: list[Suggestion] = []
    for one in found:
        pair = one.pair
        if texts.get(pair.newer) != one.newer_hash or texts.get(pair.older) != one.older_hash:
            continue  # changed or gone since they were compared
        both = {"newer": pair.newer, "older": pair.older}
        hashes = {one.newer_hash, one.older_hash}
        if any({row.newer_hash, row.older_hash} == hashes for row in connection.execute(_DECIDED_TEXTS, both)):
            continue
        connection.execute(_DROP_PAIR, both)  # the other note may have suggested it
        row = {"newer_id": pair.newer, "older_id": pair.older, "review_id": pair.review_id, "relation": one.relation}
        row |= {"newer_hash": one.newer_hash, "older_hash": one.older_hash, "found_at": one.found_at}
        connection.execute(_INSERT_SUGGESTION, {**row, "tenant_id": tenant})
        kept.append(one)
    return kept


def alike(
    connection: Connection,
    lexical_index: LexicalIndex,
    note_id: NoteId,
    terms: Sequence[str],
    where: NoteFilter,
    now: datetime,
    limit: int,
) -> list[AlikeMemory]:
    """Other notes that match the filter and share terms with this one, best first."""
    own = set(connection.execute(_OWN_CHUNKS, {"of_note": note_id}).scalars())
    keys = lexical_index.sharing(connection, terms, partial(chunks_matching, where, now), MAX_LOOKED_AT)
    return _read_alike(connection, [key for key in keys if key not in own], where, now, limit)


def _read_alike(
    connection: Connection, keys: Sequence[ChunkKey], where: NoteFilter, now: datetime, limit: int
) -> list[AlikeMemory]:
    """The notes of these chunks that match the filter, in chunk order."""
    query = _alike_query(where)
    found: dict[NoteId, AlikeMemory] = {}
    for start in range(0, len(keys), READ_AT_ONCE):  # the first few are usually enough
        if len(found) >= limit:
            break
        some = keys[start : start + READ_AT_ONCE]
        parameters = {f"key_{place}": some[min(place, len(some) - 1)] for place in range(READ_AT_ONCE)}
        rows = {key: AlikeMemory(*rest) for key, *rest in connection.execute(query, {**parameters, "now": now}).all()}
        found |= {rows[key].note_id: rows[key] for key in some if key in rows}
    return list(found.values())[:limit]


@lru_cache(64)
def _alike_query(where: NoteFilter) -> Select[Any]:
    """Built once per filter: building and compiling it costs four times what SQLite takes to run it.

    It always takes the same number of keys, the last one repeated: another number would be compiled again.
    """
    keys: list[BindParameter[Any]] = [bindparam(f"key_{place}") for place in range(READ_AT_ONCE)]
    now = bindparam("now", type_=_notes.expires_at.type)
    return _ALIKE.where(memory_note_chunks.c.chunk_key.in_(keys), chunks_matching(where, now))

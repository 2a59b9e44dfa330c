"""For random notes and filters, every engine finds exactly the notes that `matches` accepts."""

from __future__ import annotations

import itertools
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nur.domain.filters import NoteFilter, matches
from nur.domain.notes import Kind, Status
from nur.ports.vector_index import Neighbour
from tests import index_notes, store_notes
from tests.note_filters import CONDITIONS, DrawnNote, filters, moments, notes
from tests.store_notes import a_query, at, creation, vector_of

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.ports.stores import Stores
    from nur.ports.vector_index import IndexOp, VectorIndex
    from tests.index_backends import Backend

_numbers = itertools.count(1)  #: ids are never reused, although notes of earlier examples are deleted
several_notes = st.lists(notes, min_size=4, max_size=8)
several_filters = st.lists(filters, min_size=6, max_size=12)
#: One database or index for all examples; each example leaves it empty.
shared = settings(
    deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def test_every_condition_of_a_filter_is_drawn() -> None:
    assert CONDITIONS.keys() | {"tenant"} == {field.name for field in fields(NoteFilter)}


async def write_all(stores: Stores, drawn: list[DrawnNote]) -> tuple[list[Note], dict[ChunkKey, NoteId]]:
    """The notes as they are stored, some in the trash, and the chunks that each has or had."""
    written: list[Note] = []
    keys: dict[ChunkKey, NoteId] = {}
    for one in drawn:
        number = next(_numbers)
        text = f"tea {number}"
        meta = replace(one.meta, turn_index=number if one.kind is Kind.TURN else None)
        note = store_notes.a_note(text, kind=one.kind, tenant=one.tenant, owner=one.owner, meta=meta)
        new_keys = (await stores.notes.write(creation(note, text), at())).chunk_keys
        keys |= dict.fromkeys(new_keys, note.note_id)
        note = await store_notes.current(stores, note)
        written.append(await store_notes.remove(stores, note) if one.is_deleted else note)
    return written, keys


@shared
@given(drawn=several_notes, asked=several_filters, now=moments)
async def test_sql_finds_what_matches(
    stores: Stores, drawn: list[DrawnNote], asked: list[NoteFilter], now: datetime
) -> None:
    written, keys = await write_all(stores, drawn)
    try:
        for where in asked:
            await compare(stores, written, keys, where, now)
    finally:
        for note in written:
            await stores.notes.purge(note, at(), indexed=True)


async def compare(
    stores: Stores, written: list[Note], keys: dict[ChunkKey, NoteId], where: NoteFilter, now: datetime
) -> None:
    """Check that every way to search finds the matching notes."""
    expected = {note.note_id for note in written if matches(note, where, now)}
    query = a_query(where=where, now=now)
    neighbours = [Neighbour(key, note_id, 0.5) for key, note_id in keys.items()]

    page = await stores.notes.page(where, now, limit=100)
    by_words = await stores.chunks.candidates(replace(query, terms=["tea"]))
    by_meaning = await stores.chunks.candidates(replace(query, vector=vector_of("tea"), compare_all=True))
    by_index = await stores.chunks.candidates(replace(query, vector=vector_of("tea"), neighbours=neighbours))
    one_by_one = [await stores.chunks.candidates_of(note.note_id, query) for note in written]
    shown = await stores.chunks.show(keys, where, now)

    assert {note.note_id for note in page} == expected
    for found in (by_words, by_meaning, by_index):
        assert {view.note_id for view in found.views} == expected
        assert found.any_stored is bool(expected)
    assert {keys[key] for key in by_index.not_visible} == set(keys.values()) - expected
    assert {view.note_id for found in one_by_one for view in found.views} == expected
    assert {each.note.note_id for each in shown.values()} == expected


@shared
@given(drawn=several_notes, asked=several_filters)
async def test_an_index_finds_what_matches(
    index: VectorIndex, backend: Backend, drawn: list[DrawnNote], asked: list[NoteFilter]
) -> None:
    written = [_as_indexed(one) for one in drawn]
    now = backend.clock.now()
    ops = [index_notes.an_upsert(note, [backend.vector(1)]) for note in written]
    await backend.apply(index, *(replace(op, records=()) if _is_deleted(op) else op for op in ops))
    try:
        for where in asked:
            found = await index.query(backend.vector(1), where, 100)
            expected = [note.note_id for note in written if matches(note, where, now)]
            assert sorted(one.note_id for one in found) == sorted(expected)
    finally:
        await backend.apply(index, *(index_notes.a_removal(note.note_id.int, revision=2) for note in written))


def _as_indexed(drawn: DrawnNote) -> Note:
    """The note as the store passes it to an index: without a time of its own, it occurred when it was stored."""
    note = index_notes.a_note(next(_numbers), drawn.kind, tenant=drawn.tenant)
    status = Status.DELETED if drawn.is_deleted else Status.ACTIVE
    meta = replace(drawn.meta, occurred_at=drawn.meta.occurred_at or note.ingested_at)
    return replace(note, owner=drawn.owner, meta=meta, status=status)


def _is_deleted(op: IndexOp) -> bool:
    return op.note is not None and op.note.status is Status.DELETED

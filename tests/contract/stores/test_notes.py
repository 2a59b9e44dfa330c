"""Contract of NoteStore: writing, reading and paging."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from nur.domain.chunks import sha256
from nur.domain.filters import NoteFilter, Order
from nur.domain.kinds import identity_of
from nur.domain.notes import Kind, Note, NoteMetadata, Retention, Sensitivity, Visibility
from nur.ports.notes import PageCursor
from tests.store_notes import (
    ALL,
    START,
    a_note,
    a_query,
    a_turn,
    after,
    at,
    chunks_of,
    creation,
    current,
    description,
    remove,
    store,
    write,
)

if TYPE_CHECKING:
    from nur.ports.stores import Stores
    from tests.store_backends import StoreBackend

DAY = timedelta(days=1)


# Writing and reading


EVERYTHING = NoteMetadata(
    type="fact",
    confidence=0.1 + 0.2,  # no short decimal: must come back to the last bit
    importance=0.7,
    title="Tea",
    author="Ann",
    participants=("Ann", "Bob"),
    source_system="gmail",
    source_id="msg-1",
    source_url="https://example.org/1",
    conversation_id="c1",
    turn_index=2**40,
    role="user",
    key="tea",
    project="p",
    agent="a",
    scope="s",
    sensitivity=Sensitivity.SENSITIVE,
    visibility=Visibility.TEAM,
    retention=Retention.CUSTOM,
    occurred_at=START - timedelta(days=400, microseconds=1),
    expires_at=START + timedelta(days=1, microseconds=999_999),
    metadata={"nested": {"list": [1, 2.5, None, True, "ü"]}, "": "empty key"},
)


async def test_every_field_of_a_note_comes_back_as_it_was(stores: Stores) -> None:
    defaults = NoteMetadata()
    assert all(getattr(EVERYTHING, f.name) != getattr(defaults, f.name) for f in fields(NoteMetadata))
    note = a_note(
        meta=EVERYTHING,
        tenant="acme",
        owner="ann",
        kind=Kind.NOTE,
        version=3,
        revision=5,
        token_count=7,
        chunking_version="window:900:100",
        heading=b"\x00tea\xff",
        updated_at=after(1),
        deleted_at=after(2),
        resolved_at=after(3),
    )

    await stores.notes.write(creation(note), at())

    assert await stores.notes.get("acme", note.public_id) == note
    assert await stores.notes.by_identity("acme", identity_of(note)) == note
    assert await stores.notes.by_ids([note.note_id, a_note().note_id]) == {note.note_id: note}
    assert await stores.notes.page(NoteFilter(tenant="acme"), START, limit=5) == [note]


async def test_a_note_without_a_time_of_its_own_happened_when_it_was_stored(stores: Stores) -> None:
    note = await store(stores, ingested_at=after(3600))
    assert note.meta.occurred_at == after(3600)


async def test_an_unknown_note_is_not_found(stores: Stores) -> None:
    unknown = a_note()
    assert await stores.notes.get("default", "mem_nobody") is None
    assert await stores.notes.by_identity("default", identity_of(unknown)) is None
    assert await stores.notes.by_ids([unknown.note_id]) == {}
    assert await stores.notes.texts([unknown.note_id]) == {}


ODD_TEXTS = {
    "emoji": "👩‍👩‍👧‍👦 🎉 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "right to left": "مرحبا \u202eבעולם\u202c",
    "combining marks": "e\u0301 \u1112\u1161\u11ab ü\u0308",
    "line and paragraph separators": "one\u2028two\u2029three\x85four",
    "private use": "\ue000\U000f0000\U0010fffd",
    "no characters": "\ufffe\uffff\U0001ffff",
    "control": "a\x01\x1b[0m\x7f",
    "line ends": "one\r\ntwo\rthree\n",
    "only spaces": " \t\n ",
    "quotes": '\'; DROP TABLE memory_notes; -- "%s" ? :x \\',
    "1 MB": ("ü" * 1000 + " ") * 500,
}


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
async def test_odd_texts_come_back_byte_for_byte(stores: Stores, text: str) -> None:
    note = await write(stores, creation(a_note(text, pieces=2, title=text, metadata={"text": text}), text))

    chunks = await stores.chunks.of_note(note.note_id)
    assert (await stores.notes.texts([note.note_id]))[note.note_id].encode() == text.encode()
    assert "".join(stored.chunk.content for stored in chunks).encode() == text.encode()
    assert note.content_hash == sha256(text)
    assert (note.meta.title, note.meta.metadata) == (text, {"text": text})


async def test_texts_are_read_in_bulk_whole_or_by_their_first_characters(stores: Stores) -> None:
    tea, milk = await store(stores, "Tea is drunk at four."), await store(stores, "Milk.")
    ids = [tea.note_id, milk.note_id]
    assert await stores.notes.texts(ids) == {tea.note_id: "Tea is drunk at four.", milk.note_id: "Milk."}
    assert await stores.notes.texts(ids, 3) == {tea.note_id: "Tea", milk.note_id: "Mil"}


async def test_a_part_of_a_text_is_read_in_code_points(stores: Stores) -> None:
    note = await store(stores, "a🦓ü\u0308z")
    ids = [note.note_id]
    assert await stores.notes.texts(ids, 2, 1) == {note.note_id: "🦓ü"}
    assert await stores.notes.texts(ids, start=2) == {note.note_id: "ü\u0308z"}
    assert await stores.notes.texts(ids, 9, 4) == {note.note_id: "z"}
    assert await stores.notes.texts(ids, 1, 9) == {note.note_id: ""}


async def test_the_turns_before_a_turn_are_read_even_when_that_turn_is_gone(stores: Stores) -> None:
    for i in (0, 1, 3):
        await write(stores, creation(a_turn("c", i)))
    found = await stores.notes.page(ALL, START, limit=5, order=Order.LAST_TURNS, after=2)
    assert [note.meta.turn_index for note in found] == [1, 0]


async def test_a_text_without_chunks_is_kept(stores: Stores) -> None:
    note = a_note("")
    assert (await stores.notes.write(replace(creation(note, ""), chunks=(), pooled=None), at())).chunk_keys == []
    assert await stores.notes.texts([note.note_id]) == {note.note_id: ""}
    assert await stores.chunks.of_note(note.note_id) == []


async def test_every_write_leaves_a_line_in_the_audit_log(stores: Stores, store_backend: StoreBackend) -> None:
    note = a_note()
    await stores.notes.write(creation(note), at(call_id="c1"))
    note = await current(stores, note)
    await stores.notes.write(description(note, title="Tea"), at(call_id="c2"))
    note = await current(stores, note)
    gone = await stores.notes.remove(note, at(call_id="c3"), action="expire", indexed=True)
    await stores.notes.purge(gone, at(call_id="c4"), indexed=True)

    assert store_backend.audit() == [
        ("ann", "store", note.public_id, 1, "c1"),
        ("ann", "update", note.public_id, 2, "c2"),
        ("ann", "expire", note.public_id, 3, "c3"),
        ("ann", "purge", note.public_id, 3, "c4"),
    ]


# Pages


@pytest.mark.parametrize("order", Order)
async def test_pages_are_complete_and_without_repeats_when_everything_was_stored_at_one_moment(
    stores: Stores, order: Order
) -> None:
    for i in range(12):
        await write(stores, creation(a_turn(f"c{i}", 5)))
        await store(stores, f"Text {i}.")
    whole = await stores.notes.page(ALL, START, order=order, limit=100)

    seen: list[Note] = []
    last: str | None = None
    while page := await stores.notes.page(ALL, START, order=order, limit=5, after=last):
        assert len(page) <= 5
        seen += page
        last = page[-1].public_id

    assert len(seen) == 24
    assert seen == whole


async def test_a_page_continues_behind_the_last_note_seen_even_if_that_was_deleted(stores: Stores) -> None:
    for i in range(4):
        await store(stores, f"Text {i}.", ingested_at=after(i))
    first, second, *rest = await stores.notes.page(ALL, START, limit=4)
    await remove(stores, second)

    assert await stores.notes.page(ALL, START, limit=4, after=second.public_id) == rest
    assert await stores.notes.page(ALL, START, limit=4, after="mem_nobody") == []
    assert first.ingested_at > second.ingested_at


async def test_a_cursor_holds_even_when_its_note_was_purged(stores: Stores) -> None:
    notes = [await store(stores, f"Text {i}.", ingested_at=after(i)) for i in range(4)]
    first = await stores.notes.page(ALL, START, limit=2)
    last = first[-1]
    await stores.notes.purge(await remove(stores, last), at(), indexed=True)

    rest = await stores.notes.page(ALL, START, limit=9, after=PageCursor(last.ingested_at, last.note_id))

    assert [note.note_id for note in [*first, *rest]] == [note.note_id for note in reversed(notes)]


async def test_a_cursor_continues_by_when_notes_were_said(stores: Stores) -> None:
    for i in (2, 0, 3, 1):
        await store(stores, f"Text {i}.", occurred_at=after(i))
    first = await stores.notes.page(ALL, START, order=Order.SAID, limit=2)
    reached = PageCursor(first[-1].said_at, first[-1].note_id)
    rest = await stores.notes.page(ALL, START, order=Order.SAID, limit=9, after=reached)
    assert [note.said_at for note in [*first, *rest]] == [after(3), after(2), after(1), after(0)]


async def test_last_turns_come_highest_first_and_other_notes_after_them(stores: Stores) -> None:
    for index in (2, 0, 10, 1):
        await write(stores, creation(a_turn("c", index)))
    await store(stores)

    notes = await stores.notes.page(ALL, START, order=Order.LAST_TURNS, limit=10)

    assert [note.meta.turn_index for note in notes] == [10, 2, 1, 0, None]


async def test_every_active_note_of_every_tenant_is_paged_through(stores: Stores) -> None:
    notes = [await store(stores, f"Text {i}.", tenant="acme" if i % 2 else "default") for i in range(4)]
    notes.append(await store(stores, "Expired.", expires_at=START - DAY))
    await remove(stores, notes.pop(0))

    first = await stores.notes.all(None, 3)
    rest = await stores.notes.all(first[-1].note_id, 3)

    assert len(first) == 3
    assert [note.note_id for note in [*first, *rest]] == sorted(note.note_id for note in notes)


async def test_tenants_share_nothing(stores: Stores) -> None:
    ours, theirs = await store(stores, public_id="mem_1"), await store(stores, public_id="mem_1", tenant="acme")
    keys = {chunk.chunk_key: chunk.note_id for n in (ours, theirs) for chunk in await stores.chunks.of_note(n.note_id)}
    acme = NoteFilter(tenant="acme")

    assert identity_of(ours) == identity_of(theirs)
    for where, note in ((ALL, ours), (acme, theirs)):
        assert await stores.notes.get(where.tenant, "mem_1") == note
        assert await stores.notes.by_identity(where.tenant, identity_of(note)) == note
        assert await stores.notes.page(where, START, limit=5) == [note]
        shown = await stores.chunks.show(keys, where, START)
        assert [each.note.note_id for each in shown.values()] == [note.note_id]
        by_words = await stores.chunks.candidates(a_query(where=where, terms=["tea"]))
        assert [view.note_id for view in by_words.views] == [note.note_id]
        vector = chunks_of("Tea is drunk at four.")[0].vector
        by_meaning = await stores.chunks.candidates(a_query(where=where, vector=vector))
        assert [view.note_id for view in by_meaning.views] == [note.note_id]
    await remove(stores, ours)
    assert await stores.notes.page(acme, START, limit=5) == [theirs]

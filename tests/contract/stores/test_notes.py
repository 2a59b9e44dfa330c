"""What every NoteStore does: reading, conflicts, versions, the trash."""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from nur.domain.chunks import sha256
from nur.domain.errors import Conflict
from nur.domain.filters import NoteFilter, Order
from nur.domain.kinds import identity_of
from nur.domain.notes import Kind, Note, NoteMetadata, Retention, Sensitivity, Status, Visibility
from nur.ports.notes import VERSIONS_KEPT, PageCursor
from nur.ports.search_log import HitRecord
from tests.store_notes import (
    ALL,
    EMBEDDING,
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
    replacement,
    store,
    write,
)

if TYPE_CHECKING:
    from nur.domain.notes import NoteId
    from nur.ports.stores import Stores
    from tests.store_backends import StoreBackend

DAY = timedelta(days=1)


async def found_by(stores: Stores, *terms: str) -> list[NoteId]:
    """The notes whose chunks contain any of the terms, one id per chunk."""
    return [view.note_id for view in (await stores.chunks.candidates(a_query(terms=terms))).views]


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
    "NUL and control": "a\x00b\x01\x1b[0m\x7f",
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


async def test_a_text_without_chunks_is_kept(stores: Stores) -> None:
    note = a_note("")
    assert await stores.notes.write(replace(creation(note, ""), chunks=(), pooled=None), at()) == []
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


# Conflicts


async def everything(stores: Stores, backend: StoreBackend) -> dict[str, Any]:
    """All there is, to show that nothing changed."""
    notes = await stores.notes.page(ALL, START, limit=100)
    ids = [note.note_id for note in notes]
    return {
        "notes": notes,
        "texts": await stores.notes.texts(ids),
        "previous": [backend.previous_texts(note_id) for note_id in ids],
        "chunks": [await stores.chunks.of_note(note_id) for note_id in ids],
        "statistics": await stores.chunks.statistics(["tea", "coffee"]),
        "indexed": [await stores.index_marks.is_indexed(note_id) for note_id in ids],
        "backlog": await stores.outbox.backlog(START),
        "audit": backend.audit(),
    }


SAME_IDENTITY = [
    ({"kind": Kind.MEMORY}, {"kind": Kind.MEMORY}),  # the same text
    ({"kind": Kind.TURN, "conversation_id": "c", "turn_index": 0},) * 2,
    ({"kind": Kind.ARTIFACT, "source_system": "gmail", "source_id": "1"},) * 2,
    ({"kind": Kind.ARTIFACT, "source_id": "1"},) * 2,  # no system: None is one name, not many
    ({"kind": Kind.NOTE, "key": "k", "scope": "s"},) * 2,
    ({"kind": Kind.NOTE, "source_system": "github", "source_id": "1"},) * 2,
]
OTHER_IDENTITY = [
    ({"kind": Kind.NOTE, "key": "k"}, {"kind": Kind.EVENT, "key": "k"}),  # a key is a name within its kind
    ({"kind": Kind.NOTE, "source_id": "1"}, {"kind": Kind.ARTIFACT, "source_id": "1"}),  # so is a source
    ({"kind": Kind.NOTE, "source_id": "1", "key": "k"}, {"kind": Kind.NOTE, "source_id": "1", "key": "l"}),
    (
        {"kind": Kind.EVENT, "source_id": "1", "occurred_at": START},
        {"kind": Kind.EVENT, "source_id": "1", "occurred_at": START.replace(hour=1)},
    ),
    ({"kind": Kind.MEMORY}, {"kind": Kind.NOTE}),
    ({"kind": Kind.MEMORY}, {"kind": Kind.MEMORY, "owner": "bob"}),
    ({"kind": Kind.MEMORY}, {"kind": Kind.MEMORY, "tenant": "acme"}),
    (
        {"kind": Kind.TURN, "conversation_id": "c", "turn_index": 0},
        {"kind": Kind.TURN, "conversation_id": "c", "turn_index": 1},
    ),
    (
        {"kind": Kind.ARTIFACT, "source_system": "a", "source_id": "b:c"},
        {"kind": Kind.ARTIFACT, "source_system": "a:b", "source_id": "c"},  # the parts are kept apart
    ),
    ({"kind": Kind.NOTE, "key": "k"}, {"kind": Kind.NOTE, "key": "k", "project": "p"}),
    # A key names notes, memories and events; on an artifact or a turn it is only a label.
    ({"kind": Kind.NOTE, "key": "k"}, {"kind": Kind.ARTIFACT, "source_id": "1", "key": "k"}),
    ({"kind": Kind.TURN, "conversation_id": "c", "turn_index": 0, "key": "k"}, {"kind": Kind.NOTE, "key": "k"}),
]


@pytest.mark.parametrize(("first", "second"), SAME_IDENTITY)
async def test_an_identity_belongs_to_one_active_note(
    stores: Stores, store_backend: StoreBackend, first: dict[str, Any], second: dict[str, Any]
) -> None:
    await store(stores, **first)
    before = await everything(stores, store_backend)

    with pytest.raises(Conflict):
        await store(stores, **second)

    assert await everything(stores, store_backend) == before


@pytest.mark.parametrize(("first", "second"), OTHER_IDENTITY)
async def test_notes_of_different_identities_live_side_by_side(
    stores: Stores, first: dict[str, Any], second: dict[str, Any]
) -> None:
    notes = [await store(stores, **changes) for changes in (first, second)]
    assert [await stores.notes.by_identity(note.tenant, identity_of(note)) for note in notes] == notes


async def test_an_identity_is_free_again_when_its_note_is_in_the_trash(stores: Stores) -> None:
    gone = await remove(stores, await store(stores))
    new = await store(stores)
    assert identity_of(new) == identity_of(gone)

    with pytest.raises(Conflict):  # the first one cannot be restored while another has its identity
        await write(stores, replacement(gone, "Tea is drunk at four."))


async def test_a_note_cannot_take_another_notes_identity(stores: Stores, store_backend: StoreBackend) -> None:
    await store(stores, "Tea.")
    other = await store(stores, "Coffee.")
    before = await everything(stores, store_backend)

    with pytest.raises(Conflict):
        await write(stores, replacement(other, "Tea."))

    assert await everything(stores, store_backend) == before


async def test_a_public_id_is_never_used_twice_not_even_after_its_note_was_deleted(
    stores: Stores, store_backend: StoreBackend
) -> None:
    await remove(stores, await store(stores, public_id="mem_1"))
    before = await everything(stores, store_backend)

    with pytest.raises(Conflict):
        await store(stores, "Coffee.", public_id="mem_1")

    assert await everything(stores, store_backend) == before
    await store(stores, "Coffee.", public_id="mem_1", tenant="acme")


async def test_a_stale_write_is_refused_and_changes_nothing(stores: Stores, store_backend: StoreBackend) -> None:
    old = await store(stores)
    new = await write(stores, replacement(old, "Tea is drunk at five."))
    before = await everything(stores, store_backend)

    for stale in (replacement(old, "Coffee."), description(old, title="Coffee"), creation(old)):
        with pytest.raises(Conflict):
            await stores.notes.write(stale, at())
    with pytest.raises(Conflict):
        await remove(stores, old)
    with pytest.raises(Conflict):
        await stores.notes.purge(old, at(), indexed=False)
    with pytest.raises(Conflict):
        await stores.notes.write(replacement(a_note(revision=new.revision), "No such note."), at())

    assert await everything(stores, store_backend) == before


async def test_of_sixteen_writers_of_one_identity_exactly_one_wins(stores: Stores, store_backend: StoreBackend) -> None:
    rivals = [a_note(kind=Kind.ARTIFACT, source_system="s", source_id="1") for _ in range(16)]
    writes = (stores.notes.write(creation(rival), at()) for rival in rivals)

    results = await asyncio.gather(*writes, return_exceptions=True)

    (winner,) = [rival for rival, result in zip(rivals, results, strict=True) if isinstance(result, list)]
    assert [type(result) for result in results].count(Conflict) == 15
    assert await stores.notes.page(ALL, START, limit=20) == [await current(stores, winner)]
    assert (await stores.chunks.statistics(["tea"])).frequencies["tea"].pieces == 1
    assert len(store_backend.audit()) == 1


async def test_of_sixteen_changes_of_one_revision_exactly_one_wins(stores: Stores) -> None:
    note = await store(stores)
    changes = (stores.notes.write(replacement(note, f"Text {i}."), at()) for i in range(16))

    results = await asyncio.gather(*changes, return_exceptions=True)

    assert [type(result) for result in results].count(Conflict) == 15
    (number,) = [i for i, result in enumerate(results) if isinstance(result, list)]
    assert await stores.notes.texts([note.note_id]) == {note.note_id: f"Text {number}."}
    assert (await current(stores, note)).revision == 2


async def test_different_notes_written_at_once_are_all_kept(stores: Stores) -> None:
    texts = [f"Text {i}." for i in range(100)]
    await asyncio.gather(*(stores.notes.write(creation(a_note(text, pieces=2), text), at()) for text in texts))

    notes = await stores.notes.page(ALL, START, limit=200)
    assert sorted((await stores.notes.texts([n.note_id for n in notes])).values()) == sorted(texts)
    assert (await stores.chunks.statistics()).chunks == 200
    assert (await stores.outbox.backlog(START)).pending == 100


# Versions and metadata


async def test_a_replaced_text_is_found_no_more_and_kept_as_a_version(
    stores: Stores, store_backend: StoreBackend
) -> None:
    old = await store(stores, "Tea at four.", pieces=2)
    old_keys = [stored.chunk_key for stored in await stores.chunks.of_note(old.note_id)]

    keys = await stores.notes.write(replacement(old, "Coffee at five.", pieces=3), at())

    assert len(keys) == 3
    assert not set(keys) & set(old_keys)  # a key is never used twice
    assert await stores.vectors.of_chunks(old_keys, EMBEDDING) == {}
    assert await found_by(stores, "tea") == []
    assert set(await found_by(stores, "coffee")) == {old.note_id}
    assert await stores.notes.texts([old.note_id]) == {old.note_id: "Coffee at five."}
    assert store_backend.previous_texts(old.note_id) == {1: "Tea at four."}


async def test_the_last_twenty_previous_texts_are_kept(stores: Stores, store_backend: StoreBackend) -> None:
    note = await store(stores, "Text 1.")
    for version in range(2, 25):
        note = await write(stores, replacement(note, f"Text {version}."))

    assert VERSIONS_KEPT == 20
    assert store_backend.previous_texts(note.note_id) == {version: f"Text {version}." for version in range(4, 24)}


async def test_the_same_version_written_again_keeps_no_previous_text(
    stores: Stores, store_backend: StoreBackend
) -> None:
    note = await store(stores)
    again = replacement(note, "Tea is drunk at four.", pieces=3)  # cut another way: the text is the same
    await stores.notes.write(replace(again, note=replace(again.note, version=1)), at())

    assert store_backend.previous_texts(note.note_id) == {}
    assert len(await stores.chunks.of_note(note.note_id)) == 3


async def test_new_metadata_leaves_text_chunks_and_vectors_as_they_are(
    stores: Stores, store_backend: StoreBackend
) -> None:
    note = await store(stores, pieces=2)
    chunks = await stores.chunks.of_note(note.note_id)
    before = await everything(stores, store_backend)

    assert await stores.notes.write(description(note, title="Tea", confidence=0.5), at()) == []

    expected = replace(note, meta=replace(note.meta, title="Tea", confidence=0.5), revision=2)
    assert await current(stores, note) == expected
    changed = await everything(stores, store_backend)
    for same in ("texts", "previous", "chunks", "statistics"):
        assert changed[same] == before[same]
    assert len(await stores.vectors.of_chunks([stored.chunk_key for stored in chunks], EMBEDDING)) == 2
    assert (await stores.vectors.of_notes([note.note_id], EMBEDDING)).keys() == {note.note_id}


# The trash


async def test_a_deleted_note_loses_everything_derived_from_it_and_keeps_its_text(stores: Stores) -> None:
    note = await store(stores, pieces=2)
    keys = [stored.chunk_key for stored in await stores.chunks.of_note(note.note_id)]

    gone = await remove(stores, note, after(60))

    assert gone == replace(note, status=Status.DELETED, revision=2, deleted_at=after(60), updated_at=after(60))
    assert await current(stores, note) == gone
    assert await stores.notes.by_identity("default", identity_of(note)) == gone
    assert await stores.notes.texts([note.note_id]) == {note.note_id: "Tea is drunk at four."}
    assert await stores.chunks.of_note(note.note_id) == []
    assert await stores.vectors.of_chunks(keys, EMBEDDING) == {}
    assert await stores.vectors.of_notes([note.note_id], EMBEDDING) == {}
    assert await found_by(stores, "tea") == []
    assert await stores.chunks.show(dict.fromkeys(keys, note.note_id), ALL, START) == {}
    assert await stores.notes.page(ALL, START, limit=5) == []
    statistics = await stores.chunks.statistics(["tea"])
    assert (statistics.chunks, statistics.terms, statistics.frequencies) == (0, 0, {})


async def test_a_note_is_restored_from_the_trash_under_its_own_id(stores: Stores, store_backend: StoreBackend) -> None:
    gone = await remove(stores, await store(stores))

    back = await write(stores, replacement(gone, "Coffee at five."))

    assert (back.note_id, back.public_id, back.status, back.revision) == (gone.note_id, gone.public_id, "active", 3)
    assert await found_by(stores, "coffee") == [gone.note_id]
    assert await found_by(stores, "tea") == []
    assert store_backend.previous_texts(gone.note_id) == {1: "Tea is drunk at four."}


async def test_the_active_note_of_an_identity_is_preferred_then_the_one_deleted_last(stores: Stores) -> None:
    notes = [await remove(stores, await store(stores), after(second)) for second in range(3)]
    identity = identity_of(notes[0])
    assert await stores.notes.by_identity("default", identity) == notes[-1]

    back = await write(stores, replacement(notes[0], "Tea is drunk at four."))

    assert identity_of(back) == identity
    assert await stores.notes.by_identity("default", identity) == back


async def test_notes_are_counted_by_kind_without_the_trash_and_other_tenants(stores: Stores) -> None:
    for text in ("One.", "Two."):
        await store(stores, text)
    await write(stores, creation(a_turn("chat", 0), "Three."))
    await remove(stores, await store(stores, "Four."))
    kind = (await store(stores, "Five.")).kind

    assert await stores.notes.count(ALL, START) == {kind: 3, Kind.TURN: 1}
    assert await stores.notes.count(replace(ALL, kinds=frozenset({Kind.TURN})), START) == {Kind.TURN: 1}
    assert await stores.notes.count(replace(ALL, tenant="other"), START) == {}


async def test_the_trash_lists_what_was_deleted_before_then_the_oldest_first(stores: Stores) -> None:
    late, early, later = [await store(stores, f"Text {i}.") for i in range(3)]
    for note, second in ((late, 2), (early, 1), (later, 3)):
        await remove(stores, note, after(second))

    assert await stores.notes.trash(after(1), 10) == []
    assert [note.note_id for note in await stores.notes.trash(after(3), 10)] == [early.note_id, late.note_id]
    assert [note.note_id for note in await stores.notes.trash(after(9), 1)] == [early.note_id]


async def test_a_purged_note_leaves_nothing(stores: Stores, store_backend: StoreBackend) -> None:
    note = await write(stores, replacement(await store(stores, "Tea."), "Coffee."))
    await stores.search_log.record_hits([HitRecord("default", "ann", uuid4(), note.note_id, None, 1)], START)
    gone = await remove(stores, note, indexed=True)

    with pytest.raises(Conflict):
        await stores.notes.purge(note, at(), indexed=True)
    await stores.notes.purge(gone, at(), indexed=True)
    await stores.scrub()

    assert await stores.notes.get(note.tenant, note.public_id) is None
    assert await stores.notes.texts([note.note_id]) == {}
    assert store_backend.previous_texts(note.note_id) == {}
    assert store_backend.opened() == []
    assert await stores.notes.trash(after(9), 10) == []
    assert store_backend.audit()[-1].action == "purge"


@pytest.mark.parametrize(
    ("kind", "keeps_its_id"),
    [(Kind.MEMORY, True), (Kind.NOTE, True), (Kind.EVENT, True), (Kind.TURN, False), (Kind.ARTIFACT, False)],
)
async def test_the_audit_log_keeps_a_purged_notes_id_only_if_it_tells_nothing(
    stores: Stores, store_backend: StoreBackend, kind: Kind, keeps_its_id: bool
) -> None:
    other = await store(stores, "Milk.", kind=kind, conversation_id="dairy", turn_index=0)
    note = await store(stores, "Tea.", kind=kind, conversation_id="secret", turn_index=0)

    await stores.notes.purge(await remove(stores, note), at(), indexed=True)

    name = note.public_id if keeps_its_id else None
    told = [(line.action, line.public_id) for line in store_backend.audit()]
    assert told == [("store", other.public_id), ("store", name), ("delete", name), ("purge", name)]


async def test_an_active_note_can_be_purged_and_the_index_gets_a_job(stores: Stores) -> None:
    note = await write(stores, creation(a_note(), indexed=True))

    await stores.notes.purge(note, at(), indexed=False)

    (job,) = await stores.outbox.lease("w", 10, START, 60)
    assert (job.note_id, job.revision) == (note.note_id, 2)
    assert (await stores.chunks.statistics(["tea"])).chunks == 0
    again = await write(stores, creation(replace(note, note_id=a_note().note_id)))
    assert again.public_id == note.public_id


async def test_expired_notes_are_listed_from_their_second_on(stores: Stores) -> None:
    note = await store(stores, "Tea.", expires_at=after(5))
    await store(stores, "Milk.")
    await remove(stores, await store(stores, "In the trash.", expires_at=after(5)))
    assert await stores.notes.expired(after(4.999999), 10) == []
    assert [each.note_id for each in await stores.notes.expired(after(5), 10)] == [note.note_id]
    assert await stores.notes.page(ALL, after(5), limit=9) != []
    assert await current(stores, note) == note  # by its id it is still found


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

"""What every ledger keeps to, whatever it is made of."""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nur.domain.chunks import sha256
from nur.domain.errors import Conflict
from nur.domain.filters import NoteFilter
from nur.domain.notes import ChunkKey, Kind, Note, NoteId, NoteMetadata, Retention, Sensitivity, Status, Visibility
from nur.ports.ledger import VERSIONS_KEPT, Backlog, Order, Written
from tests.ledger_notes import (
    DIMENSIONS,
    EMBEDDING,
    START,
    a_note,
    a_turn,
    chunks_of,
    creation,
    description,
    replacement,
    vector_of,
    words,
)

if TYPE_CHECKING:
    from datetime import datetime

    from nur.adapters.in_memory.clock import ManualClock
    from nur.ports.ledger import Ledger, NoteWrite
    from tests.ledger_stores import Store

ALL = NoteFilter()
OTHER_EMBEDDING = "test:other:3"


async def existing(ledger: Ledger, note: Note) -> Note:
    found = await ledger.note(note.tenant, note.public_id)
    assert found is not None
    return found


async def keep(ledger: Ledger, write: NoteWrite) -> Note:
    await ledger.write(write)
    return await existing(ledger, write.note)


async def remove(ledger: Ledger, note: Note) -> Note:
    return await ledger.remove(note, action="delete", principal="ann", indexed=False)


async def found_by(ledger: Ledger, *terms: str, where: NoteFilter = ALL) -> list[NoteId]:
    """The notes whose chunks hold any of the terms, best first."""
    lexical = await ledger.lexical(terms, where, 100)
    candidates = await ledger.candidates([hit.chunk_key for hit in lexical], where)
    notes = {candidate.stored.chunk_key: candidate.note.note_id for candidate in candidates}
    return [notes[hit.chunk_key] for hit in lexical]


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


async def test_every_field_of_a_note_comes_back_as_it_was(ledger: Ledger) -> None:
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
        updated_at=START + timedelta(seconds=1),
        deleted_at=START + timedelta(seconds=2),
        resolved_at=START + timedelta(seconds=3),
    )

    written = await ledger.write(creation(note))

    assert written.note == note
    assert await ledger.note("acme", note.public_id) == note
    assert await ledger.by_identity("acme", note.identity) == note
    assert await ledger.by_ids([note.note_id, NoteId(a_note().note_id)]) == {note.note_id: note}
    assert await ledger.notes(NoteFilter(tenant="acme"), limit=5) == [note]


async def test_a_note_without_a_time_of_its_own_happened_when_it_was_stored(ledger: Ledger) -> None:
    note = await keep(ledger, creation(a_note(ingested_at=START + timedelta(hours=1))))
    assert note.meta.occurred_at == START + timedelta(hours=1)


async def test_what_is_not_there_is_not_found(ledger: Ledger) -> None:
    nobody = a_note()
    assert await ledger.note("default", "mem_nobody") is None
    assert await ledger.by_identity("default", nobody.identity) is None
    assert await ledger.by_ids([nobody.note_id]) == {}
    assert await ledger.texts([nobody.note_id]) == {}
    assert await ledger.chunks(nobody.note_id) == []
    assert await ledger.vectors([ChunkKey(99)], EMBEDDING) == {}
    assert await ledger.candidates([ChunkKey(99)], ALL) == []
    assert not await ledger.mark_indexed(nobody.note_id, 1)


async def test_chunks_come_back_in_order_with_all_that_is_stored_beside_them(ledger: Ledger) -> None:
    text = "One two. Three four. Five six."
    note = a_note(text, pieces=3)
    given = [replace(new, chunk=replace(new.chunk, context="Tea > Times")) for new in chunks_of(text, 3)]

    written = await ledger.write(replace(creation(note, text), chunks=given))

    stored = await ledger.chunks(note.note_id)
    assert [s.chunk for s in stored] == [new.chunk for new in given]
    assert [s.profile for s in stored] == [new.profile for new in given]
    assert [s.content_hash for s in stored] == [new.chunk.content_hash for new in given]
    assert {
        each.stored.chunk_key: each.sentences
        for each in await ledger.candidates([*written.chunk_keys, ChunkKey(99)], ALL)
    } == {key: new.sentences for key, new in zip(written.chunk_keys, given, strict=True)}
    assert [s.chunk_key for s in stored] == list(written.chunk_keys)
    assert {s.note_id for s in stored} == {note.note_id}
    assert all(s.has_vector for s in stored)
    assert await ledger.texts([note.note_id]) == {note.note_id: text}


async def test_a_range_of_chunks_is_read_by_place(ledger: Ledger) -> None:
    note = await keep(ledger, creation(a_note("One two three four five.", pieces=5), "One two three four five."))

    assert [stored.chunk.index for stored in await ledger.chunk_range(note.note_id, 1, 3)] == [1, 2, 3]
    assert await ledger.chunk_range(note.note_id, -5, 99) == await ledger.chunks(note.note_id)
    assert await ledger.chunk_range(note.note_id, 3, 1) == []


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
async def test_odd_texts_come_back_byte_for_byte(ledger: Ledger, text: str) -> None:
    note = await keep(ledger, creation(a_note(text, pieces=2, title=text, metadata={"text": text}), text))

    chunks = await ledger.chunks(note.note_id)
    assert (await ledger.texts([note.note_id]))[note.note_id].encode() == text.encode()
    assert "".join(stored.chunk.content for stored in chunks).encode() == text.encode()
    assert note.content_hash == sha256(text)
    assert (note.meta.title, note.meta.metadata) == (text, {"text": text})


async def test_vectors_come_back_to_the_last_bit(ledger: Ledger) -> None:
    limits = np.finfo(np.float32)
    given = np.array([limits.smallest_subnormal, -0.0, limits.max, limits.min, 1 / 3, limits.eps], dtype=np.float32)
    note = a_note()
    write = creation(note)
    written = await ledger.write(
        replace(write, chunks=[replace(write.chunks[0], vector=given)], pooled=given[::-1])  # not contiguous
    )

    (found,) = (await ledger.vectors(written.chunk_keys, EMBEDDING)).values()

    assert found.dtype == np.float32
    assert found.tobytes() == given.tobytes()


async def test_a_note_has_its_own_vector_beside_those_of_its_chunks(store: Store) -> None:
    note = a_note(pieces=2)
    write = creation(note)
    await store.ledger.write(write)

    pooled = store.pooled(note.note_id)

    assert write.pooled is not None
    assert pooled is not None
    assert pooled.tobytes() == write.pooled.tobytes()


async def test_each_embedding_version_has_its_own_vectors(ledger: Ledger) -> None:
    written = await ledger.write(creation(a_note()))
    note, key = written.note, written.chunk_keys[0]

    await ledger.attach_vectors(note, {key: np.ones(3, np.float32)}, None, OTHER_EMBEDDING)

    assert (await ledger.vectors([key], EMBEDDING))[key].shape == (DIMENSIONS,)
    assert (await ledger.vectors([key], OTHER_EMBEDDING))[key].shape == (3,)
    assert await ledger.vectors([key], "test:unknown:1") == {}


async def test_what_was_written_is_there_after_closing_and_opening_again(ledger: Ledger) -> None:
    note = await keep(ledger, creation(a_note()))
    await ledger.set_fact("a_fact", "s1")

    await ledger.close()
    await ledger.open()

    assert await existing(ledger, note) == note
    assert await found_by(ledger, "tea") == [note.note_id]
    assert await ledger.fact("a_fact") == "s1"
    await ledger.ping()


async def test_every_write_leaves_a_line_in_the_audit_log(store: Store) -> None:
    note = await keep(store.ledger, creation(a_note()))
    note = await keep(store.ledger, description(note, title="Tea"))
    await remove(store.ledger, note)

    public_id = note.public_id
    assert store.audit() == [
        ("ann", "store", public_id, 1),
        ("ann", "update", public_id, 2),
        ("ann", "delete", public_id, 3),
    ]


# Conflicts


async def everything(store: Store) -> dict[str, Any]:
    """All there is, to show that nothing changed."""
    ledger = store.ledger
    notes = await ledger.notes(ALL, limit=100)
    ids = [note.note_id for note in notes]
    return {
        "notes": notes,
        "texts": await ledger.texts(ids),
        "former": [store.former_texts(note_id) for note_id in ids],
        "chunks": [await ledger.chunks(note_id) for note_id in ids],
        "corpus": await ledger.corpus(["tea", "coffee"]),
        "unindexed": (await ledger.unindexed(ALL, EMBEDDING, 100))[0],
        "backlog": await ledger.backlog(START),
        "audit": store.audit(),
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
    store: Store, first: dict[str, Any], second: dict[str, Any]
) -> None:
    await store.ledger.write(creation(a_note(**first)))
    before = await everything(store)

    with pytest.raises(Conflict):
        await store.ledger.write(creation(a_note(**second)))

    assert await everything(store) == before


@pytest.mark.parametrize(("first", "second"), OTHER_IDENTITY)
async def test_notes_of_different_identities_live_side_by_side(
    ledger: Ledger, first: dict[str, Any], second: dict[str, Any]
) -> None:
    notes = [await keep(ledger, creation(a_note(**changes))) for changes in (first, second)]
    assert [await ledger.by_identity(note.tenant, note.identity) for note in notes] == notes


async def test_an_identity_is_free_again_when_its_note_is_in_the_trash(ledger: Ledger) -> None:
    gone = await remove(ledger, await keep(ledger, creation(a_note())))
    fresh = await keep(ledger, creation(a_note()))
    assert fresh.identity == gone.identity

    with pytest.raises(Conflict):  # the trash cannot bring it back while another has it
        await ledger.write(replacement(gone, "Tea is drunk at four."))


async def test_a_note_cannot_change_into_another_ones_identity(store: Store) -> None:
    await store.ledger.write(creation(a_note("Tea."), "Tea."))
    other = await keep(store.ledger, creation(a_note("Coffee."), "Coffee."))
    before = await everything(store)

    with pytest.raises(Conflict):
        await store.ledger.write(replacement(other, "Tea."))

    assert await everything(store) == before


async def test_a_public_id_is_never_given_twice_not_even_after_its_note_was_deleted(store: Store) -> None:
    await remove(store.ledger, await keep(store.ledger, creation(a_note(public_id="mem_1"))))
    before = await everything(store)

    with pytest.raises(Conflict):
        await store.ledger.write(creation(a_note("Coffee.", public_id="mem_1"), "Coffee."))

    assert await everything(store) == before
    await store.ledger.write(creation(a_note("Coffee.", public_id="mem_1", tenant="acme"), "Coffee."))


async def test_a_stale_write_is_refused_and_changes_nothing(store: Store) -> None:
    ledger = store.ledger
    old = await keep(ledger, creation(a_note()))
    new = await keep(ledger, replacement(old, "Tea is drunk at five."))
    before = await everything(store)

    for stale in (replacement(old, "Coffee."), description(old, title="Coffee"), creation(old)):
        with pytest.raises(Conflict):
            await ledger.write(stale)
    with pytest.raises(Conflict):
        await remove(ledger, old)
    with pytest.raises(Conflict):
        await ledger.write(replacement(a_note(revision=new.revision), "No such note."))

    assert await everything(store) == before


async def test_of_sixteen_writers_of_one_identity_exactly_one_wins(store: Store) -> None:
    ledger = store.ledger
    rivals = [a_note(kind=Kind.ARTIFACT, source_system="s", source_id="1") for _ in range(16)]

    results = await asyncio.gather(*(ledger.write(creation(rival)) for rival in rivals), return_exceptions=True)

    won = [result for result in results if isinstance(result, Written)]
    assert len(won) == 1
    assert [type(result) for result in results].count(Conflict) == 15
    assert await ledger.notes(ALL, limit=20) == [await existing(ledger, won[0].note)]
    assert (await ledger.corpus(["tea"])).frequencies["tea"].chunks == 1
    assert len(store.audit()) == 1


async def test_of_sixteen_changes_of_one_revision_exactly_one_wins(ledger: Ledger) -> None:
    note = await keep(ledger, creation(a_note()))
    changes = [replacement(note, f"Text {i}.") for i in range(16)]

    results = await asyncio.gather(*map(ledger.write, changes), return_exceptions=True)

    assert [type(result) for result in results].count(Conflict) == 15
    (number,) = [i for i, result in enumerate(results) if isinstance(result, Written)]
    assert await ledger.texts([note.note_id]) == {note.note_id: f"Text {number}."}
    assert (await existing(ledger, note)).revision == 2


async def test_different_notes_written_at_once_all_land(ledger: Ledger) -> None:
    texts = [f"Text {i}." for i in range(100)]
    await asyncio.gather(*(ledger.write(creation(a_note(text, pieces=2), text)) for text in texts))

    notes = await ledger.notes(ALL, limit=200)
    assert sorted((await ledger.texts([n.note_id for n in notes])).values()) == sorted(texts)
    assert (await ledger.corpus([])).chunks == 200
    assert (await ledger.backlog(START)).pending == 100


# A note's life


async def test_a_replaced_text_is_found_no_more_and_kept_as_a_version(store: Store) -> None:
    ledger = store.ledger
    old = await keep(ledger, creation(a_note("Tea at four.", pieces=2), "Tea at four."))
    old_keys = [stored.chunk_key for stored in await ledger.chunks(old.note_id)]

    written = await ledger.write(replacement(old, "Coffee at five.", pieces=3))

    assert len(written.chunk_keys) == 3
    assert not set(written.chunk_keys) & set(old_keys)  # a key is never used twice
    assert await ledger.candidates(old_keys, ALL) == []
    assert await ledger.vectors(old_keys, EMBEDDING) == {}
    assert await found_by(ledger, "tea") == []
    assert set(await found_by(ledger, "coffee")) == {old.note_id}
    assert await ledger.texts([old.note_id]) == {old.note_id: "Coffee at five."}
    assert store.former_texts(old.note_id) == {1: "Tea at four."}


async def test_the_last_twenty_former_texts_are_kept(store: Store) -> None:
    note = await keep(store.ledger, creation(a_note("Text 1."), "Text 1."))
    for version in range(2, 25):
        note = await keep(store.ledger, replacement(note, f"Text {version}."))

    assert VERSIONS_KEPT == 20
    assert store.former_texts(note.note_id) == {version: f"Text {version}." for version in range(4, 24)}


async def test_the_same_version_written_again_keeps_no_former_text(store: Store) -> None:
    note = await keep(store.ledger, creation(a_note()))
    again = replacement(note, "Tea is drunk at four.", pieces=3)  # cut another way: the text is the same
    await store.ledger.write(replace(again, note=replace(again.note, version=1)))

    assert store.former_texts(note.note_id) == {}
    assert len(await store.ledger.chunks(note.note_id)) == 3


async def test_new_metadata_leaves_text_chunks_and_vectors_as_they_are(store: Store) -> None:
    ledger = store.ledger
    note = await keep(ledger, creation(a_note(pieces=2)))
    chunks = await ledger.chunks(note.note_id)
    before = await everything(store)

    written = await ledger.write(description(note, title="Tea", confidence=0.5))

    after = await everything(store)
    assert written.chunk_keys == []
    assert await existing(ledger, note) == replace(
        note, meta=replace(note.meta, title="Tea", confidence=0.5), revision=2
    )
    for same in ("texts", "former", "chunks", "corpus"):
        assert after[same] == before[same]
    assert len(await ledger.vectors([stored.chunk_key for stored in chunks], EMBEDDING)) == 2
    assert store.pooled(note.note_id) is not None


async def test_a_deleted_note_loses_all_that_was_derived_from_it_and_keeps_its_text(
    store: Store, clock: ManualClock
) -> None:
    ledger = store.ledger
    note = await keep(ledger, creation(a_note(pieces=2)))
    keys = [stored.chunk_key for stored in await ledger.chunks(note.note_id)]
    clock.advance(60)

    gone = await remove(ledger, note)

    deleted_at = START + timedelta(seconds=60)
    assert gone == replace(note, status=Status.DELETED, revision=2, deleted_at=deleted_at, updated_at=deleted_at)
    assert await existing(ledger, note) == gone
    assert await ledger.by_identity("default", note.identity) == gone
    assert await ledger.texts([note.note_id]) == {note.note_id: "Tea is drunk at four."}
    assert await ledger.chunks(note.note_id) == []
    assert await ledger.vectors(keys, EMBEDDING) == {}
    assert store.pooled(note.note_id) is None
    assert await ledger.lexical(["tea"], ALL, 5) == []
    assert await ledger.candidates(keys, ALL) == []
    assert (await ledger.unindexed(ALL, EMBEDDING, 5))[0] == []
    assert (await ledger.notes(ALL, limit=5), await ledger.count(ALL)) == ([], 0)
    corpus = await ledger.corpus(["tea"])
    assert (corpus.chunks, corpus.terms, corpus.frequencies) == (0, 0, {})


async def test_a_note_comes_back_from_the_trash_under_its_own_id(store: Store) -> None:
    ledger = store.ledger
    gone = await remove(ledger, await keep(ledger, creation(a_note())))

    back = await keep(ledger, replacement(gone, "Coffee at five."))

    assert (back.note_id, back.public_id, back.status, back.revision) == (gone.note_id, gone.public_id, "active", 3)
    assert await found_by(ledger, "coffee") == [gone.note_id]
    assert await found_by(ledger, "tea") == []
    assert store.former_texts(gone.note_id) == {1: "Tea is drunk at four."}


async def test_the_active_note_of_an_identity_is_preferred_then_the_one_last_deleted(
    ledger: Ledger, clock: ManualClock
) -> None:
    notes = []
    for _ in range(3):
        notes.append(await remove(ledger, await keep(ledger, creation(a_note()))))
        clock.advance(1)
    identity = notes[0].identity
    assert await ledger.by_identity("default", identity) == notes[-1]

    back = await keep(ledger, replacement(notes[0], "Tea is drunk at four."))

    assert back.identity == identity
    assert await ledger.by_identity("default", identity) == back


async def test_a_text_without_chunks_is_kept(ledger: Ledger) -> None:
    note = a_note("")
    await ledger.write(replace(creation(note, ""), chunks=(), pooled=None))
    assert await ledger.texts([note.note_id]) == {note.note_id: ""}
    assert await ledger.chunks(note.note_id) == []


async def test_tenants_share_nothing(ledger: Ledger) -> None:
    ours, theirs = a_note(public_id="mem_1"), a_note(public_id="mem_1", tenant="acme")
    for note in (ours, theirs):
        await ledger.write(creation(note))
    acme = NoteFilter(tenant="acme")
    keys = [stored.chunk_key for note in (ours, theirs) for stored in await ledger.chunks(note.note_id)]

    assert ours.identity == theirs.identity
    for where, note in ((ALL, ours), (acme, theirs)):
        assert (await existing(ledger, note)).note_id == note.note_id
        assert [n.note_id for n in await ledger.notes(where, limit=5)] == [note.note_id]
        assert [c.note.note_id for c in await ledger.candidates(keys, where)] == [note.note_id]
        assert await found_by(ledger, "tea", where=where) == [note.note_id]
        assert len((await ledger.unindexed(where, EMBEDDING, 5))[0]) == 1
    await remove(ledger, await existing(ledger, ours))
    assert await ledger.count(acme) == 1


# Listing and selecting


@pytest.mark.parametrize("order", Order)
async def test_pages_are_complete_and_without_repeats_when_all_was_stored_at_one_moment(
    ledger: Ledger, order: Order
) -> None:
    for i in range(12):
        await ledger.write(creation(a_turn(f"c{i}", 5)))
        await ledger.write(creation(a_note(f"Text {i}."), f"Text {i}."))
    whole = await ledger.notes(ALL, order=order, limit=100)

    seen: list[Note] = []
    while page := await ledger.notes(ALL, order=order, limit=5, after=seen[-1].public_id if seen else None):
        assert len(page) <= 5
        seen += page

    assert len(seen) == 24
    assert seen == whole


async def test_a_page_goes_on_where_the_last_note_seen_was_even_if_that_is_deleted_meanwhile(ledger: Ledger) -> None:
    for i in range(4):
        await ledger.write(creation(a_note(f"Text {i}.", ingested_at=START + timedelta(seconds=i)), f"Text {i}."))
    first, second, *rest = await ledger.notes(ALL, limit=4)
    await remove(ledger, second)

    assert await ledger.notes(ALL, limit=4, after=second.public_id) == rest
    assert await ledger.notes(ALL, limit=4, after="mem_nobody") == []
    assert first.ingested_at > second.ingested_at


async def test_last_turns_come_highest_first_and_what_is_no_turn_after_them(ledger: Ledger) -> None:
    for index in (2, 0, 10, 1):
        await ledger.write(creation(a_turn("c", index)))
    await ledger.write(creation(a_note()))

    notes = await ledger.notes(ALL, order=Order.LAST_TURNS, limit=10)

    assert [note.meta.turn_index for note in notes] == [10, 2, 1, 0, None]


DAY = timedelta(days=1)
FILTERS: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    # asked, what has it, what has it not
    ({"tenant": "acme"}, {"tenant": "acme"}, {}),
    ({"kinds": frozenset({Kind.NOTE, Kind.EVENT})}, {"kind": Kind.EVENT}, {"kind": Kind.MEMORY}),
    ({"kinds": frozenset()}, None, {"kind": Kind.MEMORY}),  # type: ignore[list-item]  # nothing has no kind
    ({"type": "fact"}, {"type": "fact"}, {"type": "decision"}),
    ({"type": "fact"}, {"type": "fact"}, {"type": None}),
    ({"min_confidence": 0.7}, {"confidence": 0.7}, {"confidence": 0.69}),
    ({"min_confidence": 0.7}, {"confidence": None}, {"confidence": 0.0}),
    (
        {"conversation_id": "c"},
        {"kind": Kind.TURN, "conversation_id": "c"},
        {"kind": Kind.TURN, "conversation_id": "d"},
    ),
    ({"conversation_id": "c"}, {"kind": Kind.MEMORY}, {"kind": Kind.TURN, "conversation_id": None}),
    ({"source_system": "gmail"}, {"source_system": "gmail"}, {"source_system": "Gmail"}),
    ({"sensitivity": "sensitive"}, {"sensitivity": Sensitivity.SENSITIVE}, {}),
    ({"visibility": "team"}, {"visibility": Visibility.TEAM}, {}),
    ({"occurred_from": START}, {"occurred_at": START}, {"occurred_at": START - timedelta(microseconds=1)}),
    ({"occurred_to": START}, {"occurred_at": START}, {"occurred_at": START + timedelta(microseconds=1)}),
    (
        {"occurred_from": START, "occurred_to": START + DAY},
        {"occurred_at": START + DAY / 2},
        {"occurred_at": START - DAY},
    ),
    ({"project": "p"}, {"project": "p"}, {"project": "q"}),
    ({"project": ""}, {}, {"project": "q"}),
    ({"agent": "a"}, {"agent": "a"}, {}),
    ({"scope": "s"}, {"scope": "s"}, {"scope": "S"}),
    ({"type": "fact", "project": "p"}, {"type": "fact", "project": "p"}, {"type": "fact"}),  # all must hold
]


@pytest.mark.parametrize(("asked", "has", "lacks"), FILTERS)
async def test_a_selection_limits_every_way_of_finding(
    ledger: Ledger, asked: dict[str, Any], has: dict[str, Any] | None, lacks: dict[str, Any]
) -> None:
    inside = [] if has is None else [(await ledger.write(creation(a_note("Tea in.", **has), "Tea in."))).note.note_id]
    await ledger.write(creation(a_note("Tea out.", **lacks), "Tea out."))
    where = NoteFilter(**asked)
    keys = [ChunkKey(1), ChunkKey(2)]

    assert [note.note_id for note in await ledger.notes(where, limit=5)] == inside
    assert await ledger.count(where) == len(inside)
    assert await found_by(ledger, "tea", where=where) == inside
    assert [candidate.note.note_id for candidate in await ledger.candidates(keys, where)] == inside
    unindexed, vectors = await ledger.unindexed(where, EMBEDDING, 5)
    assert len(unindexed) == len(vectors) == len(inside)


async def test_a_note_expires_at_its_second_in_every_way_of_finding(ledger: Ledger, clock: ManualClock) -> None:
    note = await keep(ledger, creation(a_note(expires_at=START + timedelta(seconds=10)), indexed=False))
    sampled = a_note("Coffee.", expires_at=START + timedelta(seconds=10))
    await ledger.write(creation(sampled, "Coffee.", indexed=True))
    (key,) = [stored.chunk_key for stored in await ledger.chunks(note.note_id)]

    async def ways() -> list[int]:
        return [
            len(await ledger.notes(ALL, limit=5)) - 1,
            await ledger.count(ALL) - 1,
            len(await ledger.lexical(["tea"], ALL, 5)),
            len(await ledger.candidates([key], ALL)),
            len((await ledger.unindexed(ALL, EMBEDDING, 5))[0]),
            len(await ledger.pages(EMBEDDING, ChunkKey(0), 5)) - 1,
            len(await ledger.sample_indexed(EMBEDDING, 5)),
        ]

    clock.advance(9.999999)
    assert await ways() == [1] * 7
    clock.advance(0.000001)
    assert await ways() == [-1, -1, 0, 0, 0, -1, 0]
    assert await existing(ledger, note) == note  # by its name it is still there


async def test_turns_are_found_by_their_places(ledger: Ledger, clock: ManualClock) -> None:
    turns = {i: await keep(ledger, creation(a_turn("c", i, pieces=2))) for i in (0, 1, 2, 9)}
    other = await keep(ledger, creation(a_turn("other", 2), embedded=False))
    await ledger.write(creation(a_turn("c", 3, tenant="acme")))
    await ledger.write(creation(a_turn("c", 5, expires_at=START + timedelta(seconds=1))))
    await ledger.write(creation(a_note(conversation_id="c", turn_index=6)))  # no turn, whatever it says
    await remove(ledger, await keep(ledger, creation(a_turn("c", 4))))
    clock.advance(1)
    places = {("c", 1), ("c", 2), ("c", 3), ("c", 4), ("c", 5), ("c", 6), ("c", 7), ("other", 2), ("nobody", 1)}

    found = await ledger.turns_near(places, ALL)

    assert sorted((each.public_id, each.chunk_index) for each in found) == [
        ("c_turn_1", 0),
        ("c_turn_1", 1),
        ("c_turn_2", 0),
        ("c_turn_2", 1),
        ("other_turn_2", 0),
    ]
    assert {each.note_id for each in found} == {turns[1].note_id, turns[2].note_id, other.note_id}
    assert await ledger.turns_near(places, NoteFilter(kinds=frozenset({Kind.MEMORY}))) == []
    assert await ledger.turns_near([], ALL) == []


# Lexical search


async def test_any_of_the_terms_finds_a_chunk(ledger: Ledger) -> None:
    for text in ("Tea at four.", "Coffee at five.", "Water."):
        await ledger.write(creation(a_note(text), text))

    assert len(await ledger.lexical(["tea", "coffee", "tea"], ALL, 10)) == 2
    assert await ledger.lexical(["tea"], ALL, 0) == []
    assert len(await ledger.lexical(["at"], ALL, 1)) == 1
    assert await ledger.lexical([], ALL, 10) == []
    assert await ledger.lexical(["wine"], ALL, 10) == []
    assert await ledger.lexical(["te"], ALL, 10) == []  # a term, not a prefix


async def test_rarer_terms_more_often_in_shorter_chunks_rank_higher(ledger: Ledger) -> None:
    texts = [
        "tea water water water",  # once
        "tea tea water water",  # twice
        "tea",  # alone
        "milk water water water",  # another, rarer term
        *(f"water {i}" for i in range(20)),
    ]
    notes = {text: await keep(ledger, creation(a_note(text), text)) for text in texts}

    found = await ledger.lexical(["tea", "milk"], ALL, 10)

    assert await found_by(ledger, "tea") == [notes[texts[i]].note_id for i in (2, 1, 0)]
    both = await found_by(ledger, "tea", "milk")
    assert both.index(notes[texts[3]].note_id) < both.index(notes[texts[0]].note_id)
    assert all(hit.score > 0 for hit in found)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


async def test_equal_chunks_are_ranked_by_age(ledger: Ledger) -> None:
    written = [await ledger.write(creation(a_note(owner=f"o{i}"))) for i in range(5)]
    assert [hit.chunk_key for hit in await ledger.lexical(["tea"], ALL, 3)] == [w.chunk_keys[0] for w in written[:3]]


ODD_TERMS = [
    '"',
    '""',
    "or",
    "near(a",
    "a*",
    "-a",
    "c++",
    "a.b",
    "e\u0301",
    "記憶",
    "\ue000",
    "❤",
    "it's",
    "terms:a",
    "^a",
]


@pytest.mark.parametrize("term", ODD_TERMS)
async def test_no_term_is_read_as_an_operator(ledger: Ledger, term: str) -> None:
    note = a_note()
    write = creation(note)
    await ledger.write(replace(write, chunks=[replace(write.chunks[0], terms=f"x {term} y")]))
    await ledger.write(creation(a_note("z"), "z"))

    assert await found_by(ledger, term) == [note.note_id]
    assert (await ledger.corpus([term])).frequencies[term].chunks == 1


async def test_statistics_follow_every_change(ledger: Ledger) -> None:
    one = await keep(ledger, creation(a_note("tea tea milk", pieces=1), "tea tea milk"))
    two = await keep(ledger, creation(a_note("tea water"), "tea water"))
    await ledger.write(creation(a_note("tea", tenant="acme"), "tea"))

    corpus = await ledger.corpus(["tea", "milk", "wine", "tea"])
    assert (corpus.chunks, corpus.terms) == (3, 6)
    assert {term: found.chunks for term, found in corpus.frequencies.items()} == {"tea": 3, "milk": 1}
    assert corpus.average_length == 2.0

    one = await keep(ledger, replacement(one, "wine wine"))
    await ledger.write(description(one, title="Wine"))
    await remove(ledger, two)

    corpus = await ledger.corpus(["tea", "milk", "wine", "water"])
    assert (corpus.chunks, corpus.terms) == (2, 3)
    assert {term: found.chunks for term, found in corpus.frequencies.items()} == {"tea": 1, "wine": 1}


# What the index holds


async def test_a_chunk_is_unindexed_until_the_index_holds_its_notes_revision(ledger: Ledger) -> None:
    text = "Tea at four. Coffee at five."
    written = await ledger.write(creation(a_note(text, pieces=2), text))
    note = written.note

    keys, vectors = await ledger.unindexed(ALL, EMBEDDING, 10)
    assert sorted(keys) == sorted(written.chunk_keys)
    stored = {s.chunk_key: s.chunk.content for s in await ledger.chunks(note.note_id)}
    assert vectors.tobytes() == np.stack([vector_of(stored[key]) for key in keys]).tobytes()
    assert len((await ledger.unindexed(ALL, EMBEDDING, 1))[0]) == 1

    assert await ledger.mark_indexed(note.note_id, 1)
    assert (await ledger.unindexed(ALL, EMBEDDING, 10))[0] == []

    note = await keep(ledger, description(note, title="Tea"))
    assert sorted((await ledger.unindexed(ALL, EMBEDDING, 10))[0]) == sorted(written.chunk_keys)
    assert not await ledger.mark_indexed(note.note_id, 1)  # the note has moved on
    assert not await ledger.mark_indexed(note.note_id, 3)
    assert len((await ledger.unindexed(ALL, EMBEDDING, 10))[0]) == 2
    assert await ledger.mark_indexed(note.note_id, 2)
    assert (await ledger.unindexed(ALL, EMBEDDING, 10))[0] == []


async def test_selected_vectors_are_those_of_the_selection_whatever_the_index_holds(ledger: Ledger) -> None:
    text = "Tea at four. Coffee at five."
    indexed = await ledger.write(creation(a_note(text, pieces=2), text))
    assert await ledger.mark_indexed(indexed.note.note_id, 1)
    keys, vectors = await ledger.selected_vectors(ALL, EMBEDDING, 10)
    assert sorted(keys) == sorted(indexed.chunk_keys)
    stored = {s.chunk_key: s.chunk.content for s in await ledger.chunks(indexed.note.note_id)}
    assert vectors.tobytes() == np.stack([vector_of(stored[key]) for key in keys]).tobytes()
    assert len((await ledger.selected_vectors(ALL, EMBEDDING, 1))[0]) == 1
    assert (await ledger.selected_vectors(replace(ALL, tenant="other"), EMBEDDING, 10))[0] == []
    assert (await ledger.selected_vectors(ALL, "another:model:4", 10))[0] == []


async def test_a_write_that_an_index_follows_is_indexed_at_once_and_queues_nothing(ledger: Ledger) -> None:
    note = await keep(ledger, creation(a_note(), indexed=True))
    assert (await ledger.unindexed(ALL, EMBEDDING, 10))[0] == []
    note = await keep(ledger, description(note, indexed=True, title="Tea"))
    assert (await ledger.unindexed(ALL, EMBEDDING, 10))[0] == []
    note = await keep(ledger, replacement(note, "Coffee.", indexed=True))
    assert (await ledger.unindexed(ALL, EMBEDDING, 10))[0] == []
    await ledger.remove(note, action="delete", principal="ann", indexed=True)

    assert await ledger.backlog(START) == Backlog(0, 0, 0.0, None)


async def test_a_chunk_without_a_vector_waits_for_one(store: Store) -> None:
    ledger = store.ledger
    written = await ledger.write(creation(a_note(pieces=2), embedded=False))
    note, (first, second) = written.note, written.chunk_keys

    missing = await ledger.missing_vectors(note.note_id, EMBEDDING)
    assert [stored.chunk_key for stored in missing] == [first, second]
    assert not any(stored.has_vector for stored in await ledger.chunks(note.note_id))
    assert not any(c.stored.has_vector for c in await ledger.candidates([first, second], ALL))
    assert (await ledger.unindexed(ALL, EMBEDDING, 10))[0] == []  # nothing to compare with
    assert await found_by(ledger, "tea") == [note.note_id]  # by its words it is found at once

    await ledger.attach_vectors(note, {second: vector_of("b")}, None, EMBEDDING)
    await ledger.attach_vectors(note, {first: vector_of("a"), second: vector_of("c")}, vector_of("pooled"), EMBEDDING)

    vectors = await ledger.vectors([first, second], EMBEDDING)
    assert vectors[first].tobytes() == vector_of("a").tobytes()
    assert vectors[second].tobytes() == vector_of("b").tobytes()  # the one that was there first
    assert await ledger.missing_vectors(note.note_id, EMBEDDING) == []
    assert len(await ledger.missing_vectors(note.note_id, OTHER_EMBEDDING)) == 2
    assert sorted((await ledger.unindexed(ALL, EMBEDDING, 10))[0]) == [first, second]
    assert all(c.stored.has_vector for c in await ledger.candidates([first, second], ALL))
    pooled = store.pooled(note.note_id)
    assert pooled is not None
    assert pooled.tobytes() == vector_of("pooled").tobytes()


async def test_vectors_for_a_text_that_is_gone_are_refused(ledger: Ledger) -> None:
    written = await ledger.write(creation(a_note(), embedded=False))
    late = {written.chunk_keys[0]: vector_of("late")}
    note = await keep(ledger, replacement(await existing(ledger, written.note), "Coffee.", embedded=False))

    with pytest.raises(Conflict):
        await ledger.attach_vectors(written.note, late, None, EMBEDDING)
    assert len(await ledger.missing_vectors(note.note_id, EMBEDDING)) == 1

    await remove(ledger, note)
    with pytest.raises(Conflict):
        await ledger.attach_vectors(note, {}, vector_of("late"), EMBEDDING)


async def test_an_index_that_lost_everything_has_every_active_note_queued_the_oldest_first(
    ledger: Ledger, clock: ManualClock
) -> None:
    notes = []
    for days in (1, 3, 2, 4):
        note = a_note(f"Text {days}.", ingested_at=START - days * DAY)
        notes.append(await keep(ledger, creation(note, f"Text {days}.", indexed=True)))
    await ledger.remove(notes.pop(), action="delete", principal="ann", indexed=True)
    assert await ledger.count_indexed(EMBEDDING) == 3

    assert await ledger.mark_all_unindexed(EMBEDDING) == 3

    assert await ledger.count_indexed(EMBEDDING) == 0
    assert await ledger.sample_indexed(EMBEDDING, 10) == []
    assert len((await ledger.unindexed(ALL, EMBEDDING, 10))[0]) == 3
    jobs = await ledger.lease("w", 10, clock.now(), 60)
    assert [job.note_id for job in jobs] == [notes[place].note_id for place in (1, 2, 0)]


async def test_samples_are_chunks_that_the_index_holds_as_they_are_now(ledger: Ledger) -> None:
    kept = [await keep(ledger, creation(a_note(f"Text {i}."), f"Text {i}.", indexed=True)) for i in range(8)]
    await ledger.write(creation(a_note("Never indexed."), "Never indexed."))
    await ledger.write(description(kept.pop(), title="Indexed as it was before"))

    samples = await ledger.sample_indexed(EMBEDDING, 100)

    assert {sample.note.note_id for sample in samples} == {note.note_id for note in kept}
    assert len(await ledger.sample_indexed(EMBEDDING, 3)) == 3
    assert await ledger.sample_indexed(OTHER_EMBEDDING, 3) == []
    assert await ledger.count_indexed(EMBEDDING) == 8  # a record of the former state is a record


async def test_pages_of_chunks_give_every_active_one_with_a_vector_once(ledger: Ledger) -> None:
    for i in range(4):
        text = f"Text {i}."
        await ledger.write(creation(a_note(text, pieces=3, tenant=f"t{i % 2}"), text))
    await ledger.write(creation(a_note("No vector."), "No vector.", embedded=False))
    await remove(ledger, await keep(ledger, creation(a_note("Gone."), "Gone.")))

    keys: list[ChunkKey] = []
    while page := await ledger.pages(EMBEDDING, keys[-1] if keys else ChunkKey(0), 5):
        keys += [candidate.stored.chunk_key for candidate in page]

    assert len(keys) == 12
    assert keys == sorted(set(keys))
    assert await ledger.pages(OTHER_EMBEDDING, ChunkKey(0), 5) == []


# The outbox


async def leased(ledger: Ledger, now: datetime, worker: str = "w") -> list[tuple[NoteId, int, int]]:
    jobs = await ledger.lease(worker, 10, now, 60)
    return [(job.note_id, job.revision, job.attempts) for job in jobs]


async def test_every_write_that_no_index_follows_is_queued(ledger: Ledger) -> None:
    note = await keep(ledger, creation(a_note()))
    (job,) = await ledger.lease("w", 10, START, 60)
    assert (job.note_id, job.revision, job.attempts) == (note.note_id, 1, 0)
    await ledger.finish(job, START)
    assert await leased(ledger, START) == []

    note = await keep(ledger, description(note, title="Tea"))
    (job,) = await ledger.lease("w", 10, START, 60)
    assert job.revision == 2
    await ledger.finish(job, START)

    await remove(ledger, note)  # a removal is to be applied too
    assert await leased(ledger, START) == [(note.note_id, 3, 0)]


async def test_later_writes_of_a_note_raise_its_open_job(ledger: Ledger) -> None:
    note = await keep(ledger, creation(a_note()))
    note = await keep(ledger, replacement(note, "Coffee."))
    await ledger.write(description(note, title="Coffee"))

    assert (await ledger.backlog(START)).pending == 1
    assert await leased(ledger, START) == [(note.note_id, 3, 0)]


async def test_jobs_are_leased_oldest_first_and_to_one_worker_at_a_time(ledger: Ledger, clock: ManualClock) -> None:
    notes = []
    for i in range(4):
        notes.append(await keep(ledger, creation(a_note(f"Text {i}."), f"Text {i}.")))
        clock.advance(1)

    batches = await asyncio.gather(*(ledger.lease(f"w{i}", 2, clock.now(), 60) for i in range(3)))

    taken = [job.note_id for batch in batches for job in batch]
    assert sorted(map(len, batches)) == [0, 2, 2]
    assert sorted(taken) == sorted(note.note_id for note in notes)
    assert [job.note_id for job in max(batches, key=len)] in (
        [note.note_id for note in notes[:2]],
        [note.note_id for note in notes[2:]],
    )


async def test_a_lease_that_runs_out_frees_the_job(ledger: Ledger, clock: ManualClock) -> None:
    note = await keep(ledger, creation(a_note()))
    assert await leased(ledger, clock.now()) == [(note.note_id, 1, 0)]
    clock.advance(59)
    assert await leased(ledger, clock.now()) == []
    clock.advance(1)
    assert await leased(ledger, clock.now()) == [(note.note_id, 1, 0)]


async def test_a_job_is_not_done_when_its_note_was_written_again_meanwhile(ledger: Ledger) -> None:
    note = await keep(ledger, creation(a_note()))
    (job,) = await ledger.lease("w", 10, START, 60)
    await ledger.write(description(note, title="Tea"))
    assert await leased(ledger, START) == []  # still leased: two workers never have one note at once

    await ledger.finish(job, START)

    assert await leased(ledger, START) == [(note.note_id, 2, 0)]


async def test_a_failed_job_comes_back_at_its_time(ledger: Ledger, clock: ManualClock) -> None:
    note = await keep(ledger, creation(a_note()))
    (job,) = await ledger.lease("w", 10, clock.now(), 60)

    await ledger.postpone(job, "the index is down", clock.now() + timedelta(seconds=5))

    assert await leased(ledger, clock.now()) == []
    clock.advance(5)
    assert await leased(ledger, clock.now()) == [(note.note_id, 1, 1)]
    assert await ledger.backlog(clock.now()) == Backlog(1, 0, 5.0, "the index is down")


async def test_a_failure_of_an_old_revision_does_not_put_the_new_one_off(ledger: Ledger, clock: ManualClock) -> None:
    note = await keep(ledger, creation(a_note()))
    (job,) = await ledger.lease("w", 10, clock.now(), 60)
    await ledger.write(description(note, title="Tea"))

    await ledger.postpone(job, "refused", None)

    assert await leased(ledger, clock.now()) == [(note.note_id, 2, 0)]
    assert await ledger.backlog(clock.now()) == Backlog(1, 0, 0.0, None)


async def test_a_dead_letter_is_left_alone_until_its_note_is_written_again(ledger: Ledger, clock: ManualClock) -> None:
    note = await keep(ledger, creation(a_note()))
    (job,) = await ledger.lease("w", 10, clock.now(), 60)
    await ledger.postpone(job, "refused", None)
    clock.advance(1_000_000)
    assert await leased(ledger, clock.now()) == []
    assert await ledger.backlog(clock.now()) == Backlog(0, 1, 0.0, "refused")

    await ledger.write(description(note, title="Tea"))

    assert await leased(ledger, clock.now()) == [(note.note_id, 2, 0)]
    backlog = await ledger.backlog(clock.now())
    assert (backlog.pending, backlog.dead, backlog.last_error) == (1, 0, None)


async def test_a_job_that_is_done_stays_done(ledger: Ledger) -> None:
    await ledger.write(creation(a_note()))
    (job,) = await ledger.lease("w", 10, START, 0)
    (same,) = await ledger.lease("other", 10, START, 60)  # the lease ended at once
    assert same.job_id == job.job_id
    await ledger.finish(same, START)

    await ledger.postpone(job, "too late", START)
    await ledger.finish(job, START)

    assert await ledger.backlog(START) == Backlog(0, 0, 0.0, None)


async def test_the_backlog_tells_the_age_of_the_oldest_job(ledger: Ledger, clock: ManualClock) -> None:
    assert await ledger.backlog(clock.now()) == Backlog(0, 0, 0.0, None)
    await ledger.write(creation(a_note()))
    clock.advance(30)
    await ledger.write(creation(a_note("Coffee."), "Coffee."))
    assert await ledger.backlog(clock.now()) == Backlog(2, 0, 30.0, None)


# Facts


async def test_a_fact_is_settled_once_and_set_any_time(ledger: Ledger) -> None:
    assert await ledger.fact("embedding_version") is None
    assert await ledger.set_if_absent("embedding_version", "a") == "a"
    assert await ledger.set_if_absent("embedding_version", "b") == "a"
    await ledger.set_fact("embedding_version", "c")
    await ledger.set_fact("other", "d")
    assert await ledger.fact("embedding_version") == "c"
    assert await ledger.fact("other") == "d"


async def test_of_many_who_settle_a_fact_at_once_all_get_the_same(ledger: Ledger) -> None:
    answers = await asyncio.gather(*(ledger.set_if_absent("a_fact", f"s{i}") for i in range(16)))
    assert set(answers) == {await ledger.fact("a_fact")}


def test_the_words_of_these_tests_are_what_lexical_rows_hold() -> None:
    assert words("Tea at four.") == ["tea", "at", "four"]

"""Which notes are near duplicates of one, by cosines that the test chooses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from nur.domain.access import Caller, Principal
from nur.domain.chunks import Chunk, StoredChunk
from nur.domain.filters import NoteFilter, PrivacyFilter
from nur.domain.notes import ChunkKey, Kind, NoteId
from nur.domain.writes import NearDuplicate
from nur.ports.chunks import ChunkWithNote
from nur.ports.vector_index import Neighbour
from nur.services.notes.find_duplicates import FindDuplicates
from tests.doubles.clock import ManualClock
from tests.doubles.embedder import InMemoryEmbedder
from tests.store_notes import a_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nur.domain.notes import Note
    from nur.ports.embedder import Floats

ANN = Caller(Principal("ann", "default"), "call")
JUST = 1e-4  #: more than a cosine loses in float32


def at(cosine: float) -> Floats:
    """A unit vector with this cosine to the first axis."""
    return np.array([cosine, np.sqrt(max(0.0, 1 - cosine**2))], np.float32)


@dataclass
class Store:
    """Notes with their vectors: stands for every port that is read."""

    notes: dict[NoteId, Note] = field(default_factory=dict)
    bodies: dict[NoteId, str] = field(default_factory=dict)
    pooled: dict[NoteId, Floats] = field(default_factory=dict)
    chunks: dict[NoteId, list[ChunkKey]] = field(default_factory=dict)
    vectors: dict[ChunkKey, Floats] = field(default_factory=dict)
    copies: list[NoteId] = field(default_factory=list)
    unknown_to_index: set[NoteId] = field(default_factory=set)
    asked: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, *cosines: float, text: str = "Tea.", pooled: float | None = None, **fields: Any) -> Note:
        """A note with one chunk for each cosine; its own vector has `pooled`, or the first chunk's."""
        note = a_note(text, pieces=len(cosines), **fields)
        self.notes[note.note_id], self.bodies[note.note_id] = note, text
        keys = [ChunkKey(len(self.vectors) + place + 1) for place in range(len(cosines))]
        self.chunks[note.note_id] = keys
        self.vectors.update((key, at(cosine)) for key, cosine in zip(keys, cosines, strict=True))
        self.pooled[note.note_id] = at(cosines[0] if pooled is None else pooled)
        return note

    def _stored(self, note_id: NoteId, key: ChunkKey) -> StoredChunk:
        return StoredChunk(
            chunk_key=key, note_id=note_id, chunk=Chunk(0, "", 0, 0, 0), content_hash="", has_vector=True
        )

    async def of_note(self, note_id: NoteId) -> list[StoredChunk]:
        return [self._stored(note_id, key) for key in self.chunks.get(note_id, [])]

    async def of_chunks(self, keys: Sequence[ChunkKey], _: str) -> dict[ChunkKey, Floats]:
        return {key: self.vectors[key] for key in keys if key in self.vectors}

    async def of_notes(self, note_ids: Sequence[NoteId], _: str) -> dict[NoteId, Floats]:
        return {note_id: self.pooled[note_id] for note_id in note_ids if note_id in self.pooled}

    async def by_ids(self, note_ids: Sequence[NoteId]) -> dict[NoteId, Note]:
        return {note_id: self.notes[note_id] for note_id in note_ids if note_id in self.notes}

    async def texts(self, note_ids: Sequence[NoteId]) -> dict[NoteId, str]:
        return {note_id: self.bodies[note_id] for note_id in note_ids if note_id in self.bodies}

    async def similar(self, note_id: NoteId, where: NoteFilter, _: object, limit: int) -> list[NoteId]:
        self.asked.append(("similar", note_id, where, limit))
        return self.copies

    async def query(self, vector: Floats, where: NoteFilter, limit: int) -> list[Neighbour]:
        self.asked.append(("query", vector, where, limit))
        found = [
            Neighbour(key, note_id, float(vector @ self.vectors[key]))
            for note_id, keys in self.chunks.items()
            for key in keys
            if note_id not in self.unknown_to_index
        ]
        return sorted(found, key=lambda one: -one.similarity)

    async def show(
        self, chunks: Mapping[ChunkKey, NoteId], where: NoteFilter, _: object
    ) -> dict[ChunkKey, ChunkWithNote]:
        return {
            key: ChunkWithNote(stored=self._stored(note_id, key), note=self.notes[note_id])
            for key, note_id in chunks.items()
            if note_id in self.notes
        }


async def near(store: Store, note: Note, *, enforced: bool = False) -> list[NearDuplicate]:
    any_store = cast("Any", store)
    find = FindDuplicates(*(any_store,) * 5, InMemoryEmbedder(2), PrivacyFilter(enforced), ManualClock())
    return await find(note, ANN)


def names(found: Iterable[NearDuplicate]) -> list[str]:
    return [one.public_id for one in found]


@pytest.fixture
def store() -> Store:
    return Store()


async def test_a_whole_note_is_near_from_a_cosine_on(store: Store) -> None:
    asked = store.add(1.0)
    close, _ = store.add(0.8 + JUST), store.add(0.8 - JUST)
    found = await near(store, asked)
    assert found == [NearDuplicate(close.public_id, round(0.8 + JUST, 4), round(0.8 + JUST, 4))]


async def test_whole_notes_with_other_numbers_are_not_the_same(store: Store) -> None:
    asked = store.add(1.0, text="Tea at 4.")
    same = store.add(0.9, text="The tea is at 4.")
    store.add(0.95, text="Tea at 5.")
    assert names(await near(store, asked)) == [same.public_id]


async def test_a_text_that_was_purged_meanwhile_is_not_compared(store: Store) -> None:
    asked, other = store.add(1.0), store.add(0.9)
    del store.bodies[other.note_id]
    assert await near(store, asked) == []


@pytest.mark.parametrize(
    ("pooled", "best", "is_near"),
    [
        (0.94 + JUST, 0.97 + JUST, True),
        (0.94 - JUST, 0.97 + JUST, False),
        (0.94 + JUST, 0.97 - JUST, False),
    ],
)
async def test_notes_of_several_chunks_must_be_near_as_a_whole_and_in_a_part(
    store: Store, pooled: float, best: float, is_near: bool
) -> None:
    asked = store.add(1.0, 1.0, text="Tea at 4.", pooled=1.0)
    other = store.add(0.1, best, text="Tea at 5.", pooled=pooled)  # numbers do not matter here
    found = await near(store, asked)
    assert found == ([NearDuplicate(other.public_id, round(pooled, 4), round(best, 4))] if is_near else [])
    whole = store.add(1.0, text="Tea at 6.", pooled=1.0)  # one of the two is cut: that is enough
    assert whole.public_id in names(await near(store, asked))


async def test_cosines_are_rounded_to_four_digits(store: Store) -> None:
    asked, other = store.add(1.0), store.add(0.987654, pooled=0.912346)
    assert await near(store, asked) == [NearDuplicate(other.public_id, 0.9123, 0.9877)]


async def test_a_note_that_is_purged_or_loses_its_vector_meanwhile_is_left_out(store: Store) -> None:
    asked, purged, bare = store.add(1.0), store.add(0.9), store.add(0.9)
    store.copies, store.unknown_to_index = [purged.note_id], {purged.note_id}
    del store.notes[purged.note_id], store.pooled[bare.note_id]
    assert await near(store, asked) == []


async def test_the_nearest_come_first_and_only_some_are_reported(store: Store) -> None:
    asked = store.add(1.0)
    others = [store.add(0.99 - place / 100, public_id=f"mem_{place}") for place in range(5 + 1)]
    tie = store.add(0.99, public_id="mem_")
    assert names(await near(store, asked)) == [tie.public_id, *(one.public_id for one in others)][:5]


async def test_a_note_is_no_duplicate_of_itself(store: Store) -> None:
    asked = store.add(1.0)
    assert await near(store, asked) == []


async def test_a_note_without_all_its_vectors_has_no_duplicates_yet(store: Store) -> None:
    asked = store.add(1.0, 1.0)
    store.add(1.0)
    del store.vectors[store.chunks[asked.note_id][1]]
    assert await near(store, asked) == []
    assert store.asked == []


async def test_a_note_without_chunks_has_no_duplicates(store: Store) -> None:
    asked = store.add(1.0)
    store.add(1.0)
    store.chunks[asked.note_id] = []
    assert await near(store, asked) == []


async def test_a_note_without_its_own_vector_is_compared_by_the_mean_of_its_chunks(store: Store) -> None:
    asked, other = store.add(1.0, 1.0, pooled=0.0), store.add(1.0, pooled=1.0)
    assert await near(store, asked) == []
    del store.pooled[asked.note_id]
    assert names(await near(store, asked)) == [other.public_id]


async def test_the_beginning_middle_and_end_of_a_long_note_are_compared(store: Store) -> None:
    count = 15
    asked = store.add(*(place / count for place in range(count)))
    await near(store, asked)
    asked_for = [vector for name, vector, *_ in store.asked if name == "query"]
    assert [round(float(vector[0]) * count) for vector in asked_for] == [0, 2, 4, 6, 8, 10, 12, 14]
    assert len(asked_for) == 8


async def test_copies_by_their_words_are_found_where_the_index_has_nearer_notes(store: Store) -> None:
    asked = store.add(1.0)
    copy = store.add(0.3, 0.98, pooled=0.97)
    store.copies = [copy.note_id, NoteId(a_note().note_id)]  # one is purged meanwhile
    store.unknown_to_index = {copy.note_id}
    assert await near(store, asked) == [NearDuplicate(copy.public_id, 0.97, 0.98)]
    [(_, note_id, _, limit)] = [one for one in store.asked if one[0] == "similar"]
    assert (note_id, limit) == (asked.note_id, 20)


async def test_what_the_index_found_is_not_compared_again(store: Store) -> None:
    asked, other = store.add(1.0), store.add(0.9)
    store.copies = [other.note_id]
    assert names(await near(store, asked)) == [other.public_id]


@pytest.mark.parametrize(("enforced", "visible_to"), [(False, None), (True, "ann")])
async def test_only_notes_of_its_kind_and_belongings_are_compared(
    store: Store, enforced: bool, visible_to: str | None
) -> None:
    asked = store.add(1.0, kind=Kind.NOTE, project="nur", agent="codex", scope="work")
    await near(store, asked, enforced=enforced)
    where = NoteFilter(
        tenant="default",
        kinds=frozenset({Kind.NOTE}),
        project="nur",
        agent="codex",
        scope="work",
        visible_to=visible_to,
    )
    assert [(one[0], one[2], one[3]) for one in store.asked] == [
        ("query", where, 10),
        ("similar", where, 20),
    ]

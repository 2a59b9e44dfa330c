"""Writing notes: at once, without the provider, and each of them once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nur.domain.errors import BadRequest
from nur.domain.notes import Retention
from nur.domain.search import Mode
from nur.domain.writes import IndexState, Outcome
from tests.note_world import LONG, ME

if TYPE_CHECKING:
    from tests.unit.services.conftest import OpenWorld


async def test_a_write_asks_the_provider_nothing_and_is_found_by_its_words_at_once(open_world: OpenWorld) -> None:
    world = await open_world()
    world.embedder.down = True
    stored = await world.add("The lamp in the hall is green.")
    assert stored.note.public_id.startswith("note_")
    assert (stored.outcome, stored.index_state) == (Outcome.CREATED, IndexState.PENDING)
    assert world.embedder.embedded == 0
    assert await world.found("green lamp", Mode.LEXICAL) == [stored.note.public_id]


async def test_one_write_leaves_one_outbox_row(open_world: OpenWorld) -> None:
    world = await open_world()
    await world.add(LONG)
    assert (await world.stores.outbox.backlog(world.clock.now())).pending == 1


async def test_a_long_note_is_cut_by_sentences_and_each_chunk_embedded_once(open_world: OpenWorld) -> None:
    world = await open_world()
    stored = await world.add(LONG)
    assert stored.note.is_chunked
    assert stored.note.chunking_version == "sentences:512:512:128"
    await world.drain()
    assert world.embedder.embedded == stored.note.chunk_count == await world.index.count()


async def test_a_notes_own_vector_is_the_normalised_mean_of_its_chunks_without_another_call(
    open_world: OpenWorld,
) -> None:
    world = await open_world()
    note = (await world.add(LONG)).note
    version = world.embedder.model.version
    assert await world.stores.vectors.of_notes([note.note_id], version) == {}
    await world.drain()
    keys = [stored.chunk_key for stored in await world.stores.chunks.of_note(note.note_id)]
    vectors = await world.stores.vectors.of_chunks(keys, version)
    mean = np.mean([vectors[key] for key in keys], axis=0)
    own = (await world.stores.vectors.of_notes([note.note_id], version))[note.note_id]
    assert own == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert world.embedder.embedded == len(keys)


async def test_a_notes_chunks_have_the_same_ids_whenever_it_is_cut(open_world: OpenWorld) -> None:
    world = await open_world()
    first = await world.add(LONG)
    await world.services.forget(first.note.public_id, None, ME)
    again = await world.add(LONG)
    assert again.note.public_id == first.note.public_id
    assert again.chunk_ids == first.chunk_ids
    assert len(set(first.chunk_ids)) == first.note.chunk_count > 1


async def test_the_same_text_again_is_known_by_its_hash(open_world: OpenWorld) -> None:
    world = await open_world()
    first = await world.add("Tea at four.")
    await world.drain()
    calls = world.embedder.embedded
    again = await world.add("Tea at four.")
    assert (again.outcome, again.note.public_id) == (Outcome.UNCHANGED, first.note.public_id)
    assert again.index_state is IndexState.INDEXED
    assert world.embedder.embedded == calls


async def test_a_keyed_note_is_replaced_under_its_id(open_world: OpenWorld) -> None:
    world = await open_world()
    first = await world.add("The code is 12.", key="door")
    other = await world.add("The code is 34.", key="door")
    assert other.outcome is Outcome.REPLACED
    assert (other.note.public_id, other.note.version) == (first.note.public_id, 2)
    await world.drain()
    assert await world.index.count() == 1
    assert await world.found("12", Mode.LEXICAL) == []


@pytest.mark.parametrize("field", ["project", "agent", "scope"])
async def test_a_key_and_a_text_belong_to_their_project_agent_and_scope(open_world: OpenWorld, field: str) -> None:
    world = await open_world()
    one = await world.add("Tea.", key="k")
    place: dict[str, Any] = {field: "elsewhere"}
    other = await world.add("Tea.", key="k", **place)
    assert one.note.public_id != other.note.public_id
    assert other.outcome is Outcome.CREATED


async def test_other_metadata_is_updated_without_the_provider(open_world: OpenWorld) -> None:
    world = await open_world()
    await world.add("Tea at four.")
    await world.drain()
    calls = world.embedder.embedded
    again = await world.add("Tea at four.", importance=0.9)
    assert (again.outcome, again.note.meta.importance) == (Outcome.METADATA_UPDATED, 0.9)
    await world.drain()
    assert world.embedder.embedded == calls


async def test_a_note_disappears_at_its_second(open_world: OpenWorld) -> None:
    world = await open_world()
    await world.add("Tea for a day.", ttl_days=1)
    world.clock.advance(86_399)
    assert len(await world.found("tea", Mode.LEXICAL)) == 1
    world.clock.advance(1)
    assert await world.found("tea", Mode.LEXICAL) == []


@pytest.mark.parametrize(
    ("meta", "ttl_days"),
    [
        ({"expires_at": timedelta(days=2)}, 1.0),  # two ends
        ({"expires_at": timedelta(0)}, None),  # over already
        ({"retention": Retention.CUSTOM}, None),  # custom without an end
    ],
)
async def test_times_that_make_no_sense_are_refused(
    open_world: OpenWorld, meta: dict[str, Any], ttl_days: float | None
) -> None:
    world = await open_world()
    if isinstance(after := meta.get("expires_at"), timedelta):
        meta = {"expires_at": world.clock.now() + after}
    with pytest.raises(BadRequest):
        await world.add("Tea.", ttl_days=ttl_days, **meta)


async def test_the_same_event_at_another_time_is_another_event(open_world: OpenWorld) -> None:
    world = await open_world()
    first = await world.happened("The bell rang.")
    same = await world.happened("The bell rang.")
    world.clock.advance(1)
    later = await world.happened("The bell rang.")
    assert first.note.public_id.startswith("evt_")
    assert same.outcome is Outcome.UNCHANGED
    assert later.outcome is Outcome.CREATED


async def test_near_duplicates_are_told_and_not_merged(open_world: OpenWorld) -> None:
    world = await open_world()
    first = await world.add("The green lamp in the long hall burns all night until morning comes.")
    second = await world.add("The green lamp in the long hall burns all night until the morning comes.")
    await world.add("Nobody has fed the cat since Tuesday.")
    assert await world.services.read_note.find_duplicates(second.note, ME) == []  # not embedded yet
    await world.drain()
    calls = world.embedder.embedded
    (near,) = await world.services.read_note.find_duplicates(second.note, ME)
    assert near.public_id == first.note.public_id
    assert near.similarity == near.best_chunk >= 0.8
    assert world.embedder.embedded == calls
    assert await world.index.count() == 3

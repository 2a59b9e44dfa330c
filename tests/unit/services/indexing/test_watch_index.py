"""An index behind a wire that loses records, hangs or comes back, seen by searches and by the watch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nur.domain.notes import ChunkKey
from nur.domain.search import Mode, SearchRequest
from nur.services.indexing.watch_index import MANY_TIES, REBUILDING, SAMPLE_EVERY, TIES
from tests.note_world import EVERYTHING, ME, FailingIndex

if TYPE_CHECKING:
    from tests.note_world import World
    from tests.unit.services.conftest import OpenWorld


async def _world(open_world: OpenWorld, notes: int = 3) -> World:
    world = await open_world(follows=False)
    await world.services.watch_index.open()
    for number in range(notes):
        await world.add(f"Harbour {number} has {number} cranes.")
    await world.drain()
    return world


def _lose(world: World, kept: int = 0) -> None:
    assert isinstance(world.index, FailingIndex)
    for note_id in list(world.index._latest)[kept:]:
        del world.index._latest[note_id]


def _exchange(index: FailingIndex) -> None:
    """As many records as before, but of other chunks."""
    for note_id, op in index._latest.items():
        others = [replace(record, chunk_key=ChunkKey(record.chunk_key + 100)) for record in op.records]
        index._latest[note_id] = replace(op, records=others)


async def test_a_search_that_gets_fewer_than_asked_compares_with_everything(open_world: OpenWorld) -> None:
    world = await _world(open_world)
    _lose(world)
    found = await world.find("Harbour 1", Mode.DENSE)
    assert (len(found.hits), found.degraded) == (3, ())
    assert world.services.watch_index._doubted.is_set()  # the next look is at once


async def test_a_complete_answer_raises_no_doubt(open_world: OpenWorld) -> None:
    world = await _world(open_world)
    assert len((await world.find("Harbour 1", Mode.DENSE)).hits) == 3
    assert not world.services.watch_index._doubted.is_set()


async def test_a_loss_is_noticed_by_counting_told_and_rebuilt(open_world: OpenWorld) -> None:
    world = await _world(open_world)
    watch = world.services.watch_index
    await watch.look()
    assert watch.health.healthy
    _lose(world, kept=2)
    await watch.look()
    assert (watch.health.healthy, watch.health.error) == (False, REBUILDING)
    assert (await world.services.health()).status == "degraded"
    assert len((await world.find("Harbour 1", Mode.DENSE)).hits) == 3
    await world.settle()
    await watch.look()
    assert watch.health.healthy
    assert await world.index.count() == 3


async def test_an_index_that_is_down_is_asked_once_until_it_has_proven_itself(open_world: OpenWorld) -> None:
    world = await _world(open_world)
    watch, index = world.services.watch_index, world.index
    assert isinstance(index, FailingIndex)
    index.down = True
    first = await world.find("Harbour 1", Mode.DENSE)
    assert (len(first.hits), first.degraded) == (3, ("dense",))
    index.down = False
    assert (await world.find("Harbour 1", Mode.DENSE)).degraded == ("dense",)  # nobody has looked yet
    await watch.look()
    assert (await world.find("Harbour 1", Mode.DENSE)).degraded == ()


async def test_an_index_that_is_back_with_other_records_is_rebuilt(open_world: OpenWorld) -> None:
    world = await _world(open_world)
    watch, index = world.services.watch_index, world.index
    assert isinstance(index, FailingIndex)
    index.down = True
    await world.find("Harbour 1")
    index.down = False
    _exchange(index)
    await watch.look()
    assert watch.health.error == REBUILDING


async def test_other_records_of_the_same_number_are_noticed_when_samples_are_drawn(open_world: OpenWorld) -> None:
    world = await _world(open_world)
    watch, index = world.services.watch_index, world.index
    assert isinstance(index, FailingIndex)
    await watch.look()
    _exchange(index)
    for _ in range(SAMPLE_EVERY - 2):
        await watch.look()
    assert watch.health.healthy  # counting alone shows nothing
    await watch.look()
    assert watch.health.error == REBUILDING


async def test_an_approximate_index_that_overlooks_a_chunk_is_asked_for_more(open_world: OpenWorld) -> None:
    world = await _world(open_world)
    assert isinstance(world.index, FailingIndex)
    world.index.overlooks_nearest_of = TIES
    await world.services.watch_index.open()
    assert (world.services.watch_index.health.healthy, await world.index.count()) == (True, 3)
    world.index.overlooks_nearest_of = MANY_TIES
    await world.services.watch_index.open()
    assert await world.index.count() == 0  # reset: it finds nothing that it should


async def test_a_text_that_is_stored_often_is_no_loss(open_world: OpenWorld) -> None:
    world = await _world(open_world, notes=0)
    for number in range(2 * TIES):
        await world.add("Yes, that is fine.", key=f"reply-{number}", type="fact")
    await world.drain()
    await world.services.watch_index.open()
    assert await world.index.count() == 2 * TIES


async def test_more_than_can_be_compared_is_degraded_and_never_a_subset(open_world: OpenWorld) -> None:
    world = await _world(open_world)
    _lose(world, kept=1)
    search = replace(world.services.search, retrieve=replace(world.services.search.retrieve, max_compared=2))
    found = await search(SearchRequest(query="Harbour 1", caller=ME, where=EVERYTHING, mode=Mode.DENSE))
    assert (found.hits, found.degraded) == ((), ("dense",))

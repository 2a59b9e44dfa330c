"""Re-embedding: beside the current model, resumed after a crash, switched in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.services.indexing.embed_missing import EmbedMissing
from nur.services.jobs.reembed import Reembed
from tests.doubles.embedder import InMemoryEmbedder
from tests.note_world import LONG

if TYPE_CHECKING:
    from tests.note_world import World
    from tests.unit.services.conftest import OpenWorld


def silent(done: int, total: int) -> None:
    assert done <= total


async def a_store(open_world: OpenWorld) -> tuple[World, str]:
    world = await open_world()
    version = world.embedder.model.version
    await world.stores.facts.set("embedding_version", version)
    await world.add(LONG)
    for i in range(30):
        await world.add(f"Note {i} speaks of tower{i} and river{i}.")
    await world.drain()
    return world, version


async def test_everything_is_embedded_beside_and_switched_in_one_step(open_world: OpenWorld) -> None:
    world, version = await a_store(open_world)
    new = InMemoryEmbedder(dimensions=128)
    result = await Reembed(world.stores, world.embedder, new, world.clock)(version, silent)
    chunks = await world.chunk_count()
    assert (result.switched, result.embedded, new.embedded) == (True, chunks, chunks)
    assert await world.stores.facts.get("embedding_version") == new.model.version
    assert await world.stores.vectors.versions() == {version: chunks, new.model.version: chunks}
    assert result.comparison is not None
    assert result.comparison.questions == 20
    assert result.comparison.found_itself == 1.0
    assert result.comparison.same_top > 0.3

    back = await Reembed(world.stores, new, world.embedder, world.clock)(new.model.version, silent)
    assert (back.switched, back.embedded) == (True, 0)
    assert await world.stores.facts.get("embedding_version") == version


async def test_what_a_stopped_run_embedded_is_not_embedded_again(open_world: OpenWorld) -> None:
    world, version = await a_store(open_world)
    new = InMemoryEmbedder(dimensions=128)
    notes = await world.stores.notes.all(None, 10)
    await EmbedMissing(world.stores.chunks, world.stores.vectors, world.clock, new)(notes)
    done = new.embedded
    assert done
    result = await Reembed(world.stores, None, new, world.clock)(version, silent)
    assert result.switched
    assert result.comparison is None
    assert new.embedded == await world.chunk_count()
    assert result.embedded == new.embedded - done


async def test_a_provider_that_fails_leaves_the_store_as_it_was(open_world: OpenWorld) -> None:
    world, version = await a_store(open_world)
    new = InMemoryEmbedder(dimensions=128)
    new.down = True
    result = await Reembed(world.stores, world.embedder, new, world.clock)(version, silent)
    assert not result.switched
    assert result.error == "The embedding provider is down."
    assert await world.stores.facts.get("embedding_version") == version


async def test_after_the_switch_the_old_vectors_can_be_purged(open_world: OpenWorld) -> None:
    world, version = await a_store(open_world)
    new = InMemoryEmbedder(dimensions=128)
    await Reembed(world.stores, world.embedder, new, world.clock)(version, silent)
    assert await world.stores.vectors.drop(version) == await world.chunk_count()
    assert list(await world.stores.vectors.versions()) == [new.model.version]

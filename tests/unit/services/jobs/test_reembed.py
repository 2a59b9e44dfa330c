"""Re-embedding: beside the present model, resumed after a crash, switched in one step."""

from __future__ import annotations

from nur.adapters.in_memory.embedder import InMemoryEmbedder
from nur.services.jobs.reembed import Reembed
from tests.note_world import LONG, World


def silent(done: int, total: int) -> None:
    assert done <= total


async def a_store() -> tuple[World, str]:
    world = World()
    version = world.embedder.model.version
    await world.ledger.set_fact("embedding_version", version)
    await world.add(LONG)
    for i in range(30):
        await world.add(f"Note {i} speaks of tower{i} and river{i}.")
    await world.drain()
    return world, version


async def test_everything_is_embedded_beside_and_switched_in_one_step() -> None:
    world, version = await a_store()
    new = InMemoryEmbedder(dimensions=128)
    result = await Reembed(world.ledger, world.embedder, new, world.clock)(version, silent)
    chunks = await world.chunk_count()
    assert (result.switched, result.embedded, new.embedded) == (True, chunks, chunks)
    assert await world.ledger.fact("embedding_version") == new.model.version
    assert await world.ledger.vector_counts() == {version: chunks, new.model.version: chunks}
    assert result.comparison is not None
    assert result.comparison.questions == 20
    assert result.comparison.found_itself == 1.0
    assert result.comparison.same_top > 0.3

    back = await Reembed(world.ledger, new, world.embedder, world.clock)(new.model.version, silent)
    assert (back.switched, back.embedded) == (True, 0)
    assert await world.ledger.fact("embedding_version") == version


async def test_what_a_stopped_run_embedded_is_not_embedded_again() -> None:
    world, version = await a_store()
    new = InMemoryEmbedder(dimensions=128)
    notes = await world.ledger.all_notes(None, 10)
    from nur.services.indexing.embed_missing import EmbedMissing

    await EmbedMissing(world.ledger, new)(notes)
    done = new.embedded
    assert done
    result = await Reembed(world.ledger, None, new, world.clock)(version, silent)
    assert result.switched
    assert result.comparison is None
    assert new.embedded == await world.chunk_count()
    assert result.embedded == new.embedded - done


async def test_a_provider_that_fails_leaves_the_store_as_it_was() -> None:
    world, version = await a_store()
    new = InMemoryEmbedder(dimensions=128)
    new.down = True
    result = await Reembed(world.ledger, world.embedder, new, world.clock)(version, silent)
    assert not result.switched
    assert result.error == "The embedding provider is down."
    assert await world.ledger.fact("embedding_version") == version


async def test_after_the_switch_the_old_vectors_can_be_purged() -> None:
    world, version = await a_store()
    new = InMemoryEmbedder(dimensions=128)
    await Reembed(world.ledger, world.embedder, new, world.clock)(version, silent)
    assert await world.ledger.drop_vectors(version) == await world.chunk_count()
    assert list(await world.ledger.vector_counts()) == [new.model.version]

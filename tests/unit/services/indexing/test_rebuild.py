"""Rebuilding: from the stored vectors alone, while searches go on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from nur.bootstrap.chunking import policies
from nur.domain.errors import EmbedderDown
from nur.domain.search import Mode
from nur.ports.vector_index import IndexOp, IndexRecord
from nur.services.indexing.rebuild import RebuildReport, RebuildState
from nur.settings import Settings
from tests.index_notes import a_note as a_foreign_note
from tests.note_world import LONG, FailingIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.ports.embedder import Floats
    from tests.note_world import World
    from tests.unit.services.conftest import OpenWorld


async def rebuilt(world: World, *, rechunk: bool = False) -> RebuildReport:
    """Rebuild beside a worker, as in a server."""
    working = asyncio.create_task(world.services.index_worker.forever())
    try:
        return await world.services.rebuild(rechunk=rechunk)
    finally:
        working.cancel()


def refuse_everything(world: World) -> None:
    """A provider that fails every call, and counts them."""

    async def fails(texts: Sequence[str], progress: object = None) -> Floats:
        world.embedder.embedded += 1_000_000
        raise EmbedderDown("The embedding provider is down.")

    world.embedder.embed = fails  # type: ignore[method-assign]


class IndexedMeanwhile(FailingIndex):
    """Before it is emptied, the worker does what is queued."""

    world: World

    async def reset(self) -> None:
        await self.world.drain()
        await super().reset()


async def test_what_is_indexed_while_the_index_is_being_emptied_is_indexed_again(open_world: OpenWorld) -> None:
    world = await open_world()
    index = IndexedMeanwhile(world.clock)
    index.world = world
    world.use_index(index)
    await world.add("Tea at four.")
    await world.drain()

    await rebuilt(world)
    await world.indexed_as_stored()

    await world.services.watch_index.open()
    index._latest.clear()
    await world.services.watch_index.look()  # it finds the loss and starts over
    await world.settle()
    await world.indexed_as_stored()


class SlowlyCounted:
    """Stores whose chunks take a second to count."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.vectors = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world.stores, name)

    async def count_missing(self, embedding_version: str) -> int:
        self._world.clock.advance(1)
        return await self._world.stores.vectors.count_missing(embedding_version)


async def test_progress_is_counted_a_tenth_of_the_time(open_world: OpenWorld) -> None:
    world = await open_world()
    await world.add("Tea at four.")
    world.services.rebuild.stores = SlowlyCounted(world)

    await rebuilt(world)
    assert 9 in world.clock.sleeps


@pytest.mark.parametrize("follows", [True, False])
async def test_an_index_is_rebuilt_without_an_embedding_call(open_world: OpenWorld, follows: bool) -> None:
    world = await open_world(follows=follows)
    stored = await world.add(LONG)
    await world.add("Tea at four.")
    await world.drain()
    chunks = stored.note.chunk_count + 1
    refuse_everything(world)
    before = world.embedder.embedded
    report = await rebuilt(world)
    assert report == RebuildReport(RebuildState.DONE, chunks=chunks, rebuilt=chunks)
    assert await world.index.count() == chunks
    assert world.embedder.embedded == before


async def test_orphans_are_gone_afterwards(open_world: OpenWorld) -> None:
    world = await open_world(follows=False)
    await world.add("Tea at four.")
    await world.drain()
    foreign = a_foreign_note(7)
    record = IndexRecord(99, "x", 0, 0, 1, 1, "x", "x", await world.embedder.embed_query("x"))  # type: ignore[arg-type]
    await world.index.apply([IndexOp(foreign.note_id, 1, foreign, [record])])
    assert await world.index.count() == 2
    await rebuilt(world)
    assert await world.index.count() == 1


async def test_chunks_without_vectors_are_counted_and_left_to_the_worker(open_world: OpenWorld) -> None:
    world = await open_world(follows=False)
    await world.add("Tea at four.")
    await world.drain()
    world.embedder.down = True
    await world.add("Milk at five.")
    report = await rebuilt(world)
    assert (report.state, report.chunks, report.rebuilt) == (RebuildState.DONE, 2, 1)
    assert (report.missing_vectors, report.errors) == (1, 0)


async def test_an_index_that_fails_is_reported_and_retried_later(open_world: OpenWorld) -> None:
    world = await open_world(follows=False)
    assert isinstance(world.index, FailingIndex)
    await world.add("Tea at four.")
    await world.drain()
    world.index.down = True
    report = await rebuilt(world)
    assert report.state is RebuildState.FAILED
    assert report.error == "The index is down."
    world.index.down = False
    await world.settle()
    assert await world.index.count() == 1


async def test_searches_find_everything_while_the_index_is_empty(open_world: OpenWorld) -> None:
    world = await open_world(follows=False)
    stored = await world.add("The lamp in the hall is green.")
    await world.drain()
    await world.stores.index_marks.clear(world.clock.now())
    await world.index.reset()
    result = await world.find("The lamp in the hall is green.", Mode.DENSE)
    assert [hit.note.public_id for hit in result.hits] == [stored.note.public_id]
    assert result.degraded == ()


async def test_notes_are_chunked_again_by_the_current_policy(open_world: OpenWorld) -> None:
    world = await open_world()
    stored = await world.add(LONG)
    short = await world.add("Tea at four.")
    await world.drain()
    embedded = world.embedder.embedded
    finer = policies(Settings(chunking={"max_tokens": 64, "overlap_tokens": 8}))
    world.services.rebuild.policies = finer
    object.__setattr__(world.services.rebuild.store_note, "policies", finer)

    report = await rebuilt(world, rechunk=True)
    assert report.rechunked == 2
    cut = (await world.stores.notes.by_ids([stored.note.note_id]))[stored.note.note_id]
    assert cut.chunking_version == "sentences:64:64:8"
    assert cut.chunk_count > stored.note.chunk_count
    assert (cut.version, cut.ingested_at) == (stored.note.version, stored.note.ingested_at)
    await world.settle()
    assert await world.index.count() == await world.chunk_count() == cut.chunk_count + 1
    assert world.embedder.embedded == embedded + cut.chunk_count  # the short note kept its vector
    assert short.note.chunk_count == 1
    assert (await rebuilt(world, rechunk=True)).rechunked == 0


async def test_after_a_change_of_the_analyzer_every_note_is_analysed_again_and_keeps_its_vectors(
    open_world: OpenWorld,
) -> None:
    world = await open_world()
    await world.add(LONG)
    await world.add("Tea at four.")
    await world.drain()
    embedded = world.embedder.embedded
    await world.stores.facts.set("analyzer_version", "0")
    assert (await rebuilt(world, rechunk=True)).rechunked == 2
    assert (await rebuilt(world, rechunk=True)).rechunked == 0
    await world.settle()
    assert world.embedder.embedded == embedded


async def test_a_note_that_was_just_indexed_when_the_index_is_emptied_is_indexed_again(open_world: OpenWorld) -> None:
    world = await open_world(follows=False)
    apply = world.index.apply
    emptied: list[int] = []

    async def emptied_afterwards(ops: Sequence[IndexOp]) -> None:
        await apply(ops)
        if not emptied:
            emptied.append(await world.stores.index_marks.clear(world.clock.now()))
            await world.index.reset()

    world.index.apply = emptied_afterwards  # type: ignore[method-assign]
    await world.add("Tea at four.")
    await world.drain()
    assert emptied == [1]
    assert await world.index.count() == 1


async def test_a_second_rebuild_joins_the_first(open_world: OpenWorld) -> None:
    world = await open_world(follows=False)
    await world.add("Tea at four.")
    await world.drain()
    first = await world.services.rebuild.start()
    assert first.is_running
    assert (await world.services.rebuild.start()).is_running
    await world.services.rebuild.stop()

"""What is the flat index's own: growing, using rows again, signs, and searches during writes."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.adapters.flat.loading import LoadedRow
from nur.adapters.flat.table import BLOCK_ROWS
from nur.adapters.flat.vector_index import VECTORS_FOR_A_MEAN, FlatVectorIndex
from tests.doubles.clock import ManualClock
from tests.index_backends import ALL
from tests.index_notes import NOW, a_note, a_removal, an_upsert

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from nur.domain.notes import ChunkKey
    from nur.ports.embedder import Floats
    from nur.ports.vector_index import IndexOp

DIMENSIONS = 1024


class Vectors:
    """A store of vectors, one note each; counts what is read back."""

    def __init__(self, vectors: Floats) -> None:
        self.ops = [an_upsert(a_note(n), [vector], first_key=n) for n, vector in enumerate(vectors, 1)]
        self.fetched = 0

    async def load(self, after: ChunkKey, limit: int) -> list[LoadedRow]:
        rows = self.ops[max(after, 0) : max(after, 0) + limit]
        return [LoadedRow(op.note, op.records[0].chunk_key, op.records[0].vector) for op in rows if op.note]

    async def fetch(self, keys: Sequence[ChunkKey]) -> dict[ChunkKey, Floats]:
        self.fetched += len(keys)
        return {key: self.ops[key - 1].records[0].vector for key in keys}

    def index(self, dimensions: int, executor: Executor | None = None) -> FlatVectorIndex:
        return FlatVectorIndex(dimensions, self.load, self.fetch, clock=ManualClock(NOW), executor=executor)


def random_vectors(rows: int, dimensions: int, seed: int = 0) -> Floats:
    """Vectors that share a direction and vary along a few others, as those of real models do."""
    model = np.random.default_rng(dimensions)
    shared, axes = model.standard_normal(dimensions), model.standard_normal((32, dimensions))
    meanings = np.random.default_rng(seed).standard_normal((rows, 32))
    return np.asarray(5 * shared + meanings @ axes, np.float32)


async def nearest(index: FlatVectorIndex, vector: Floats) -> int:
    return (await index.query(vector, ALL, 1))[0].chunk_key


async def test_more_rows_than_a_block_are_all_found() -> None:
    vectors = random_vectors(BLOCK_ROWS + 10, 4)
    index = Vectors(vectors).index(4)
    await index.open()
    assert await index.count() == BLOCK_ROWS + 10
    for number in (1, BLOCK_ROWS, BLOCK_ROWS + 1, BLOCK_ROWS + 10):
        assert await nearest(index, vectors[number - 1]) == number


async def test_rows_of_removed_notes_are_used_again() -> None:
    stored = Vectors(random_vectors(3, 4))
    index = stored.index(4)
    for turn in range(1, BLOCK_ROWS):
        await index.apply([an_upsert(a_note(1, revision=2 * turn), [stored.ops[0].records[0].vector])])
        await index.apply([a_removal(1, revision=2 * turn + 1)])
    assert index._table._used == 1


async def test_signs_find_nearly_all_that_an_exact_scan_finds() -> None:
    vectors = random_vectors(2_000, DIMENSIONS)
    stored = Vectors(vectors)
    index = stored.index(DIMENSIONS)
    await index.open()
    assert not index._table.encoding.exact
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    hits = 0
    for query in random_vectors(10, DIMENSIONS, seed=1):
        exact = np.argsort(-(units @ query))[:10] + 1
        found = await index.query(query, ALL, 10)
        hits += len({neighbour.chunk_key for neighbour in found} & set(exact.tolist()))
    assert hits >= 95
    assert stored.fetched == 10 * 200, "only candidates are read from the store"


async def test_vectors_are_kept_whole_until_there_are_enough_for_a_mean() -> None:
    vectors = random_vectors(VECTORS_FOR_A_MEAN, DIMENSIONS)
    stored = Vectors(vectors)
    index = stored.index(DIMENSIONS)
    await index.apply(stored.ops[:-1])
    assert await nearest(index, vectors[7]) == 8
    assert stored.fetched == 0
    await index.apply(stored.ops[-1:])
    assert await nearest(index, vectors[7]) == 8
    assert stored.fetched > 0


async def test_a_reset_and_an_open_take_the_mean_anew() -> None:
    stored = Vectors(random_vectors(300, DIMENSIONS))
    index = stored.index(DIMENSIONS)
    await index.open()
    before = index._table.encoding
    await index.reset()
    await index.open()
    assert await index.count() == 300
    assert index._table.encoding is not before
    assert not index._table.encoding.exact


async def test_what_was_removed_while_the_index_was_filled_stays_removed() -> None:
    stored = Vectors(random_vectors(3, 4))
    index = stored.index(4)
    await index.apply([a_removal(2, revision=2), an_upsert(a_note(3, revision=2), [np.ones(4, np.float32)])])
    await index.open()
    assert await index.count() == 2
    assert await nearest(index, np.ones(4, np.float32)) == 3000


class Gate(ThreadPoolExecutor):
    """Holds work back until it is opened."""

    def __init__(self) -> None:
        super().__init__(1)
        self.opened = threading.Event()
        super().submit(self.opened.wait, 60)


@pytest.mark.parametrize("rewrite", [True, False])
async def test_a_write_during_a_search_never_gives_one_chunks_key_to_anothers_vector(rewrite: bool) -> None:
    vectors = random_vectors(BLOCK_ROWS, 64)
    stored = Vectors(vectors)
    gate = Gate()
    index = stored.index(64)
    await index.open()
    index._executor = gate
    searching = asyncio.create_task(index.query(vectors[0], ALL, 1))
    await asyncio.sleep(0)
    ops: list[IndexOp] = [a_removal(1, revision=2)]
    if rewrite:  # another note, elsewhere, which must not get the row that the search may be reading
        ops.append(an_upsert(a_note(9_999), [-vectors[0]]))
    await index.apply(ops)
    gate.opened.set()
    (found,) = await searching
    assert found.chunk_key not in (1, 9_999_000), "gone, and on the other side"
    assert found.similarity < 1
    await index.apply([an_upsert(a_note(10_000), [vectors[0]])])
    assert index._table._used == BLOCK_ROWS + rewrite, "the row is used again after the search"
    gate.shutdown()


async def test_a_write_is_finished_though_its_caller_is_cancelled() -> None:
    stored = Vectors(random_vectors(300, DIMENSIONS))  # enough to be encoded in a thread
    gate = Gate()
    index = stored.index(DIMENSIONS, gate)
    many = an_upsert(a_note(9_999), [op.records[0].vector for op in stored.ops])
    writing = asyncio.create_task(index.apply([many]))
    await asyncio.sleep(0)
    writing.cancel()
    gate.opened.set()
    await index.apply([])  # waits for its turn
    assert await index.count() == 300
    gate.shutdown()
